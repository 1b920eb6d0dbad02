"""The kinds of background work, and one piece of it: a kind for a memory.

A kind finds out by itself whether anything is due. There is none for packed rows, since whoever
closes a memory packs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from demem_agent.errors import DeMemError, InvalidInput, MemoryGone
from demem_agent.later import dataclass
from demem_agent.memory import SlotMemory
from demem_agent.options import Options
from demem_agent.slots.due import CHANGES, NOTES, SUMMARIES
from demem_agent.stores import Address, Store
from demem_agent.stores.aside import itself

__all__ = ["KINDS", "RETENTION", "Done", "Means", "Opened", "Rule", "attempted", "kinds_of"]

RETENTION = "retention"


@dataclass(frozen=True, slots=True)
class Rule:
    """For how long memories are kept at most.

    Attributes:
        days: today counted, >= 1, as ``keep_days`` of a memory.
        prefix: what the ids of the memories begin with; "" for all.
    """

    days: int
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Means:
    """By whom work is done, and by which rules. Not hashable: its options are a mapping.

    Attributes:
        options: that memories are opened with: an encoder, a compressor, a note taker, a judge of
            changes.
        rules: how long memories are kept, beside their own ``keep_days``; the shortest holds.
    """

    options: Options = field(default_factory=dict)  # type: ignore[assignment]  # all are optional
    rules: Sequence[Rule] = ()

    def days(self, memory_id: str) -> int | None:
        """Return for how many days the rules have a memory kept; None for any time."""
        days = [rule.days for rule in self.rules if memory_id.startswith(rule.prefix)]
        return min(days, default=None)


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a piece of work.

    Attributes:
        count: notes or summaries that were written, pairs of lines that were judged, or items and
            questions that were forgotten.
        failed: why some of it is still due, without any text of memory; "" where all is done.
    """

    count: int = 0
    failed: str = ""


class Opened:
    """A memory that there is, opened for a piece of work when it is first needed.

    Args:
        means: whose options it is opened with.

    Attributes:
        version: of the memory when it was first opened here; "" before, and where it cannot be.
    """

    def __init__(self, store: Store, address: Address, means: Means) -> None:
        self.address = address
        self.means = means
        self.version = ""
        self._store = store
        self._memory: SlotMemory | None = None

    @property
    def memory(self) -> SlotMemory:
        """The memory, as its own settings have it.

        Raises:
            MemoryGone: if there is none any more, or it is put aside; none is made.
        """
        if self._memory is None:
            self._memory = self._open()
        return self._memory

    @contextmanager
    def under(self, **settings: Any) -> Iterator[SlotMemory]:
        """Give the memory as it is under other settings; they are not stored.

        Raises:
            MemoryGone: if there is none any more.
        """
        with self._open(**settings) as memory:
            yield memory

    def close(self) -> None:
        """Let go of the memory."""
        if self._memory is not None:
            self._memory.close()

    def _open(self, **settings: Any) -> SlotMemory:
        if not itself(self._store).holds(self.address):
            raise MemoryGone(self.address.memory_id)
        tenant, memory_id = self.address
        options: dict[str, Any] = {**self.means.options, **settings}
        memory = SlotMemory.open(self._store, memory_id=memory_id, tenant=tenant, **options)
        self.version = self.version or memory.version
        return memory


def _notes(opened: Opened) -> Done:
    """Have notes taken of all of which none were."""
    taken = opened.memory.take_notes()
    return Done(sum(len(one.notes) for one in taken), taken[-1].failed if taken else "")


def _changes(opened: Opened) -> Done:
    """Have it judged which lines later ones have taken the place of."""
    done = opened.memory.judge_changes()
    reasons = [one.failed for one in done if one.failed]
    return Done(len(done) - len(reasons), reasons[0] if reasons else "")


def _summaries(opened: Opened) -> Done:
    """Have summaries written of slots that want one."""
    done = opened.memory.summarise()
    reasons = [one.reason for one in done if not one.kept]
    return Done(sum(one.kept for one in done), reasons[0] if reasons else "")


def _retention(opened: Opened) -> Done:
    """Have what is too old forgotten, which opening a memory does.

    It is opened without any rule first, which tells what was forgotten before.
    """
    with opened.under(keep_days=None) as bare:
        before = len(bare.receipts())
    receipts = opened.memory.receipts()
    own = opened.memory.settings.keep_days
    days = opened.means.days(opened.address.memory_id)
    if days is not None and (own is None or days < own):
        with opened.under(keep_days=days) as ruled:
            receipts = ruled.receipts()
    new = receipts[before:]
    return Done(sum(len(one.evidence) for one in new))


#: By name, in the order in which they are done: of what goes nothing is written first.
KINDS: Mapping[str, Callable[[Opened], Done]] = {
    RETENTION: _retention,
    NOTES: _notes,
    CHANGES: _changes,
    SUMMARIES: _summaries,
}


def kinds_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return kinds of work in the order in which they are done, each once.

    Raises:
        InvalidInput: for another name, or none.
    """
    unknown = [name for name in names if name not in KINDS]
    if unknown or not names:
        raise InvalidInput("kinds", unknown[0] if unknown else "", f"among {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in names)


def attempted(kind: str, opened: Opened) -> Done:
    """Do what is due of a kind; where the memory is gone, nothing is.

    What this library raises is told as a failure, so that one memory does not stop the work on
    others.
    """
    try:
        return KINDS[kind](opened)
    except MemoryGone:
        return Done()
    except DeMemError as error:
        return Done(failed=f"{type(error).__name__}: {error}")
