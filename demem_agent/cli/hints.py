"""What helps behind an error: what ids look like and where to see them, and options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from demem_agent.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from demem_agent import SlotMemory

__all__ = ["by_own_id", "hint_of"]

#: By kind: what an id looks like, and the commands that show those there are.
_IDS = {
    "evidence": ("e12", "demem items lists them"),
    "answer": ("a3", "demem ask prints one with each answer"),
    "certificate": ("c1", "demem certificates lists them"),
    "decision": ("d1", "demem decisions lists them"),
}
_KINDS = {id[0]: kind for kind, (id, _) in _IDS.items()}


def hint_of(error: BaseException) -> str:
    """Return what helps whoever typed an id that is not there, or a file with more than turns have.

    It is "" for any other error.
    """
    if isinstance(error, InvalidInput):
        words = "; ".join([str(error), *getattr(error, "__notes__", ())])
        return "here --extra drop or --extra metadata" if 'extra="drop"' in words else ""
    if not isinstance(error, NotFound):
        return ""
    if error.kind == "slot":
        return "demem slots lists them"
    if error.by != "id":
        return "it is what your own file calls the turn; demem export shows them"
    known = _IDS.get(error.kind)
    if known is None:
        return ""
    example, where = known
    if error.id != error.id.lower() and error.id[1:].isdigit():
        return f"ids are written small: {error.id.lower()}"
    other = _KINDS.get(error.id[:1]) if error.id[1:].isdigit() else None
    if other and other != error.kind:
        return f"{error.id} would be {_a(other)}; ids of {_many(error.kind)} look like {example}"
    return f"ids look like {example}; {where}"


@contextmanager
def by_own_id(memory: SlotMemory, id: str | None) -> Iterator[None]:
    """Say of an id that is not there how it is told, where it is one of the caller's own."""
    try:
        yield
    except NotFound as error:
        if error.by == "id" and any(item.source_id == id for item in memory.evidence()):
            error.add_note(f"it is an id of your own: --source-id {id}")
        raise


def _a(kind: str) -> str:
    return {"evidence": "evidence", "answer": "an answer"}.get(kind, f"a {kind}")


def _many(kind: str) -> str:
    return kind if kind == "evidence" else f"{kind}s"
