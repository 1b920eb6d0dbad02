"""An audit log: who did what to which memory and items, and when; a line each, and never a text.

The log is a file of its own that is only ever added to, so that it outlives what is forgotten. A
server writes one of its requests; :func:`audited` has one written of a memory's calls.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from demem_agent.errors import InvalidInput, StoreError
from demem_agent.memory import MemoryHandle
from demem_agent.turns import text_field

__all__ = ["Audit", "Noted", "audited", "noted_in"]

_Memory = TypeVar("_Memory")

#: An id that a memory has given: of an item, an answer, a certificate, a decision and so on.
_ID = re.compile(r"[a-z]\d{1,15}")
#: Arguments that name such ids, and what results have them in.
_ARGUMENTS = ("evidence_id", "id", "item", "answer", "decision", "old", "new")
_RESULTS = {
    *("id", "evidence_id", "answer_id", "certificate", "evidence", "contexts", "certificates"),
    *("successions", "situations", "remembered", "replaced", "succession", "situation", "read"),
    *("new", "gone", "changed", "receipt", "old", "items", "decision", "reading"),
}
#: What is noted of one call at most; of how many more there were, the number.
_MOST = 100


class Audit:
    """A file of JSON lines that is only ever added to; its owner alone may read it.

    Several threads and processes may add to one. It is not synced: a machine that stops may lose
    the last lines.

    Raises:
        StoreError: if it cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self._lock = threading.Lock()
        try:
            self._file = os.open(self.path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        except (OSError, ValueError) as error:
            says = error.strerror if isinstance(error, OSError) else str(error)
            raise StoreError(f"cannot open the audit log {self.path}: {says}") from error

    def note(self, **told: object) -> None:
        """Write a line, with the time in UTC.

        Raises:
            StoreError: if it cannot be written.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"at": at, **told}).encode() + b"\n"
        try:
            with self._lock:
                os.write(self._file, line)
        except OSError as error:
            says = f"cannot write the audit log {self.path}: {error.strerror}"
            raise StoreError(says) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


@dataclass(frozen=True, slots=True)
class Noted:
    """One call, as the log of a memory has it.

    Attributes:
        at: when it was over, in UTC.
        actor: who made it, as :func:`audited` was told.
        operation: the method; ``tenant`` and ``memory_id`` say of which memory.
        ids: of what it named, gave or changed, at most 100; ``more``: how many more there were.
        error: the kind of error that it ended with; "" without one.
    """

    at: datetime
    actor: str
    operation: str
    tenant: str
    memory_id: str
    ids: tuple[str, ...] = ()
    more: int = 0
    error: str = ""


def audited(memory: _Memory, log: Audit, *, actor: str) -> _Memory:
    """Return a memory of which every call is noted down, with who makes it.

    It has the same methods, or coroutines, and is no instance of their class. Make one for each
    actor: it costs nothing. A call that was carried out and cannot be noted raises StoreError.

    Args:
        actor: whose calls these are: an id of yours, and no text that is to be forgotten.

    Raises:
        InvalidInput: if the actor is no text, or blank, or the memory is that of a server.

    Examples:
        >>> import tempfile
        >>> from demem_agent import SlotMemory
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     log = Audit(f"{folder}/audit.jsonl")
        ...     memory = audited(SlotMemory(), log, actor="ana")
        ...     told = memory.ingest("I moved to Lisbon.")
        ...     gone = memory.forget("e1")
        ...     [(one.actor, one.operation, one.ids) for one in noted_in(log.path)]
        [('ana', 'ingest', ('e1',)), ('ana', 'forget', ('e1',))]
    """
    if not isinstance(memory, MemoryHandle):
        raise InvalidInput("memory", memory, "a SlotMemory or an AsyncSlotMemory")
    return cast(_Memory, _Audited(memory, log, text_field("actor", actor)))


class _Audited:
    """A memory of which calls are noted down."""

    def __init__(self, memory: MemoryHandle, log: Audit, actor: str) -> None:
        self._memory: Any = memory
        self._log = log
        self._actor = actor

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._memory, name)
        if name.startswith("_"):
            return found
        if not callable(found):
            if ids := _ids_in(found):
                self._note(name, ids, "")
            return found
        if inspect.iscoroutinefunction(found):
            return self._awaited(name, found)
        return self._called(name, found)

    def __len__(self) -> int:
        return len(self._memory)

    def __enter__(self) -> Any:
        self._memory.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._memory.__exit__(*raised)

    async def __aenter__(self) -> Any:
        await self._memory.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._memory.__aexit__(*raised)

    def _called(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*given: Any, **named: Any) -> Any:
            asked = _asked(method, given, named)
            try:
                result = method(*given, **named)
            except Exception as error:
                self._note(name, asked, type(error).__name__)
                raise
            self._note(name, [*asked, *_ids_in(result)], "")
            return result

        return call

    def _awaited(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        async def call(*given: Any, **named: Any) -> Any:
            asked = _asked(method, given, named)
            try:
                result = await method(*given, **named)
            except Exception as error:
                self._note(name, asked, type(error).__name__)
                raise
            self._note(name, [*asked, *_ids_in(result)], "")
            return result

        return call

    def _note(self, operation: str, ids: Iterable[str], error: str) -> None:
        known = list(dict.fromkeys(ids))
        address = self._memory._held.team.address
        self._log.note(
            actor=self._actor,
            operation=operation,
            tenant=address.tenant,
            memory_id=address.memory_id,
            ids=known[:_MOST],
            more=len(known[_MOST:]),
            error=error,
        )


def noted_in(
    path: str | Path,
    *,
    actor: str | None = None,
    memory_id: str | None = None,
    item: str | None = None,
) -> Iterator[Noted]:
    """Yield what a log says of calls, in order.

    Args:
        actor, memory_id, item: those that are meant: who called, which memory, an id that was named
            or changed; None for any.

    Raises:
        StoreError: if it cannot be read.
        InvalidInput: naming a line that is none of such a log.
    """
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read the audit log {path}: {error}") from error
    for number, line in enumerate(lines, 1):
        one = _noted(number, line)
        is_meant = actor in (None, one.actor) and memory_id in (None, one.memory_id)
        if is_meant and (item is None or item in one.ids):
            yield one


def _noted(number: int, line: str) -> Noted:
    try:
        told = json.loads(line)
        told["at"] = datetime.fromisoformat(told["at"])
        told["ids"] = tuple(told["ids"])
        return Noted(**told)
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(f"line {number}", line[:80], "a line of an audit log") from error


def _asked(
    method: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]
) -> list[str]:
    """Return the ids that arguments name; those that do not fit are for the method to refuse."""
    try:
        bound = inspect.signature(method).bind_partial(*given, **named).arguments
    except TypeError:
        return []
    found: list[str] = []
    for name in _ARGUMENTS:
        found += _ids_in(bound.get(name))
    return found


def _ids_in(told: object) -> list[str]:
    """Return the ids in what a call takes or gives; no text passes for one."""
    if isinstance(told, str):
        return [told] if _ID.fullmatch(told) else []
    found: list[str] = []
    if is_dataclass(told) and not isinstance(told, type):
        for one in fields(told):
            if one.name in _RESULTS:
                found += _ids_in(getattr(told, one.name))
    elif isinstance(told, list | tuple):
        for part in told:
            found += _ids_in(part)
    return found
