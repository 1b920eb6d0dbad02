"""What is recalled from memories before a model is called."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from demem_adapters.common.asking import as_asked
from demem_adapters.common.failures import LOG, Outage
from demem_adapters.common.injecting import BESIDE
from demem_adapters.common.patience import patient
from demem_adapters.common.said import kept_as, left_behind
from demem_adapters.common.turns import Heard
from demem_adapters.common.writing import seconds_field
from demem_adapters.common.written import Written
from demem_agent import Evidence, Reading, SlotMemory
from demem_agent.errors import DeMemError, InvalidInput, NotFound
from demem_agent.reading import Asking
from demem_agent.stores import waiting_at_most
from demem_agent.text import Measure
from demem_agent.turns import whole_field

__all__ = ["Matching", "Recalls", "erased_of", "has"]

#: Whether an item may be read.
Matching = Callable[[Evidence], bool]
#: Of the patience of a recall, what what is to be written before it may take.
_FOR_WRITES = 0.5
#: Seconds that a recall waits as long as others have come to nothing.
_AGAIN = 0.1
#: Where nothing was read, whether there is anything is looked up with so many times the limit.
_AMPLE = 8


class Recalls(Written):
    """The part of :class:`~demem_adapters.common.Memories` that recalls.

    Args:
        limit, recall_patience, gate: as in :class:`~demem_adapters.common.Memories`.
        options: as its other parts take them.
    """

    def __init__(
        self,
        *about: Any,
        limit: int | None = None,
        recall_patience: float = 0.5,
        gate: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(*about, **options)
        self.gate = gate
        self.limit = None if limit is None else whole_field("limit", limit, 1)
        self._has_told_least = False
        self.recall_patience = seconds_field("recall_patience", recall_patience)
        self._outage = Outage()

    @patient
    def recall(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        vector: Sequence[float] | None = None,
        shown: Iterable[str] = (),
        matching: Matching | None = None,
        beside: str = "",
        anew: bool = False,
        **asking: Unpack[Asking],
    ) -> Reading | None:
        """Read for a query; None where there is nothing to put before a model. Never makes a
        namespace.

        Args:
            query: of one above 8,000 characters, as of a message into which a log was pasted, the
                beginning and the end are asked for.
            vector: of the query by the memories' own encoder, where it is known; the query may then
                be blank.
            shown: texts that are left out, as in :meth:`prepare`.
            matching: tells whether an item may be read, where a filter of a framework asks for what
                ``where`` cannot: all items are gone through. Where ``where`` can it is to be
                preferred: there, what may not be read has no say in which lines hold no longer.
            beside: what is put before a model with the reading, and counts for the limit:
                ``BESIDE`` where that is a ``block``.
            anew: leave out what was answered to this today, unless the user has gone on from it:
                who asks for another answer does not want the first one again.
            asking: who asks, when, under which conditions and after what; ``where``: which items
                may be read, as :class:`~demem_agent.where.Where` says.

        Raises:
            InvalidInput: naming the field and its range; also for a filter on a strict reading,
                which is a summary and holds what others said.
        """
        if vector is None and not query.strip():
            return None
        memory = self.known(namespace)
        if memory is None:
            return None
        most = self.limit if limit is None else limit
        without = [*_ids_of(memory, shown), *_ids_but(memory, matching)]
        if anew:
            without += [item.id for item in left_behind(memory.evidence(), kept_as(query))]

        def read(most: int | None) -> Reading:
            asked = as_asked(query)
            return memory.read(asked, limit=most, vector=vector, without=without, **asking)

        reading = self._read_beside(beside, read, memory, most) if beside else read(most)
        return reading if reading is not None and reading.text else None

    def _read_beside(
        self,
        beside: str,
        read: Callable[[int], Reading],
        memory: SlotMemory,
        limit: int | None,
    ) -> Reading | None:
        """Return a reading that is within the limit with what is put in beside it."""
        size = self.measure(memory.settings.unit)
        most = memory.settings.read_limit if limit is None else whole_field("limit", limit, 1)
        reading = _within(most, beside, read, size)
        if reading is None and not self._has_told_least:
            ample = max(_AMPLE * most, memory.settings.read_limit)
            least = _least(most, ample, lambda one: _within(one, beside, read, size) is not None)
            if least is not None:
                self._has_told_least = True
                unit = memory.settings.unit
                LOG.warning(
                    "nothing was recalled: a limit of %d %s has no room for a line, %d has",
                    most,
                    unit,
                    least,
                )
        return reading

    def prepare(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        shown: Iterable[str] = (),
        **asking: Unpack[Asking],
    ) -> Reading | None:
        """Recall for a model that can answer without; the limit holds for the ``block`` of it.

        Unless these memories were made with ``gate=False`` nothing is recalled for a message on
        which nothing remembered probably bears.

        None where there is nothing, and where the memory fails, or others hold it or its store for
        longer than ``recall_patience``: that is logged by its kind, of a store once until it is
        well again.

        Args:
            shown: texts of the messages that the model is shown anyway. What was remembered of
                these is left out, and so is the query itself, of a call that failed or an earlier
                time; but not of a strict reading, which is a summary.
            asking: as in :meth:`recall`, ``where`` included.
        """
        shown = [*shown, kept_as(query)]
        about: Any = {"limit": limit, "shown": shown, "beside": BESIDE, "anew": True}
        asking.setdefault("gate", self.gate)
        with self._outage.logged("nothing was recalled"), self._in_time(namespace):
            return self.recall(namespace, query, **about, **asking)
        return None

    @contextmanager
    def _in_time(self, namespace: str | None) -> Iterator[None]:
        """Have what is recalled wait no longer than a call may, and less after what was waited for
        in vain.
        """
        patience = min(self.recall_patience, _AGAIN if self._outage.lasts else math.inf)
        with waiting_at_most(patience):
            with waiting_at_most(patience * _FOR_WRITES):
                self._settle(namespace)
            yield

    async def arecall(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        beside: str = "",
        **asking: Unpack[Asking],
    ) -> Reading | None:
        """Read for a query as :meth:`recall` does, without blocking the event loop."""
        return await asyncio.to_thread(
            self.recall, namespace, query, limit=limit, beside=beside, **asking
        )

    async def aprepare(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        shown: Iterable[str] = (),
        **asking: Unpack[Asking],
    ) -> Reading | None:
        """Recall for a model that can answer without, without blocking the event loop."""
        return await asyncio.to_thread(
            self.prepare, namespace, query, limit=limit, shown=shown, **asking
        )

    def still_holds(
        self, namespace: str | None, reading: Reading | None, heard: Heard | None = None
    ) -> bool:
        """Return whether nothing that was read has been forgotten since.

        For what is recalled once and put before a model again, as while tools answer it.

        Args:
            heard: the turn, which keeps what has been: an answer that tells of it is not
                remembered.
        """
        if namespace is None or reading is None:
            return True
        try:
            with self._in_time(namespace):
                erased = erased_of(self.known(namespace), reading)
        except DeMemError:
            return True
        if heard is not None:
            heard.erased += erased
        return not erased

    def __getstate__(self) -> dict[str, Any]:
        kept = super().__getstate__()
        own = {
            "limit": self.limit,
            "recall_patience": self.recall_patience,
            "gate": self.gate,
        }
        return {**kept, "about": {**kept["about"], **own}}


def _within(
    limit: int, beside: str, read: Callable[[int], Reading], size: Measure
) -> Reading | None:
    """Return a reading that is within a limit with what is put in beside it.

    None where there is room for nothing; one that is gated is no matter of room.
    """
    room = limit - size(beside)
    while room > 0:
        reading = read(room)
        over = size(beside + reading.text) - limit
        if over <= 0:
            return reading if reading.text or reading.gated is not None else None
        room -= over  # a counter of tokens may find more in both together
    return None


def _least(low: int, high: int, has_room: Callable[[int], bool]) -> int | None:
    """Return the least limit that has room; None where the higher of these has none either."""
    if not has_room(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if has_room(middle):
            high = middle
        else:
            low = middle
    return high


def _ids_of(memory: SlotMemory, texts: Iterable[str]) -> Sequence[str]:
    """Return the ids of the items that are one of these texts."""
    shown = frozenset(texts)
    if not shown:
        return ()
    return [item.id for item in memory.evidence() if item.text in shown]


def _ids_but(memory: SlotMemory, matching: Matching | None) -> Sequence[str]:
    """Return the ids of the items that do not match."""
    if matching is None:
        return ()
    if memory.settings.mode == "strict":
        raise InvalidInput("filters", matching, "left out where memories are read by summaries")
    return [item.id for item in memory.evidence() if not matching(item)]


def has(memory: SlotMemory | None, evidence_id: str, text: str) -> bool:
    """Whether an item is there; in a memory that was made anew another may have its id."""
    try:
        return memory is not None and memory.item(evidence_id).text == text
    except NotFound:
        return False


def erased_of(memory: SlotMemory | None, reading: Reading) -> list[Evidence]:
    return [item for item in reading.evidence if not has(memory, item.id, item.text)]
