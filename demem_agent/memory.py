"""SlotMemory and AsyncSlotMemory: what a user holds. Both are thin; what happens is in the flows."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Self, TypeVar, Unpack

from demem_agent.door import MemoryCore, Numbers, When
from demem_agent.drivers import drive, drive_async
from demem_agent.errors import StaleState
from demem_agent.feedback.channels import Told
from demem_agent.options import Options
from demem_agent.requests import Flow
from demem_agent.stores import Store, portable
from demem_agent.turns import Turn, as_turn
from demem_agent.types import (
    Answer,
    Context,
    Encoder,
    Evidence,
    FeedbackReport,
    Ingested,
    Mode,
    Reading,
    Receipt,
    Route,
    SplitCertificate,
    Summarised,
)

__all__ = ["AsyncSlotMemory", "SlotMemory"]

Result = TypeVar("Result")
Progress = Callable[[int, int], object]

#: Turns that ``ingest_many`` encodes and commits at a time.
BATCH = 512
#: Times an operation is tried again when another process has moved the memory on.
RETRIES = 5


class SlotMemory(MemoryCore):
    """Agent memory in K bounded slots: remember, route, read, answer, learn from feedback.

    Safe to share between threads. Made by its constructor it lives in RAM; ``SlotMemory.open``
    keeps it in a store. Keyword arguments of both, all optional:

    * the budget: ``slots`` (10), ``slot_limit`` (2000), ``read_limit`` (6000), ``unit`` ("chars"),
      ``counter`` for ``unit="tokens"``;
    * placement and reading: ``initial_slots`` (5), ``near`` (0.9), ``mode`` ("evidence"), ``learn``
      (False), ``split`` (:class:`~demem_agent.settings.SplitSettings`);
    * who does the work, sync or async: ``encoder``, ``answerer``, ``scorers`` (two at least);
    * ``clock``: dates turns and queries that come without ``at``;
    * ``memory_id``, ``tenant``: which memory of a store.

    :class:`~demem_agent.options.Options` and :class:`~demem_agent.settings.Settings` say more about
        each.

    Example:
        >>> memory = SlotMemory(slots=4)
        >>> memory.ingest("I moved to Lisbon yesterday.", speaker="Ana", at="2024-03-02").evidence_id
        'e1'
        >>> memory.answer("When did Ana move to Lisbon?").text
        'Ana: I moved to Lisbon yesterday (1 March 2024).'
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(options)

    def _make_lock(self) -> None:
        self._lock = threading.RLock()

    @classmethod
    def open(
        cls,
        url: str | Store,
        *,
        skip_damaged: bool = False,
        reembed: bool = False,
        **options: Unpack[Options],
    ) -> Self:
        """Open a memory in a store, making it if it does not exist.

        Args:
            url: ``sqlite:///bot.db``, ``memory://``, or a store object.
            skip_damaged: load what can be read of a damaged memory, instead of raising.
            reembed: encode everything anew if the memory was built with another encoder.

        Raises:
            InvalidInput: for a setting that contradicts the stored one.
            EncoderMismatch: if the memory was built with another encoder.
            StoreError: if the store cannot be opened or a row is damaged.
        """
        memory = cls._opened(url, options, skip_damaged=skip_damaged, reembed=reembed)
        if reembed and memory._built_with_another():
            with memory._closed_on_error():
                memory.reembed(memory._team.encoder)
        return memory

    def ingest(
        self,
        text: str,
        *,
        speaker: str | None = None,
        at: When = None,
        session: str | None = None,
        source: str | None = None,
        source_id: str | None = None,
        trust: float = 1.0,
        key: str | None = None,
    ) -> Ingested:
        """Remember a text.

        Args:
            at: when it happened: a datetime, a date or an ISO 8601 string.
            source_id: your own id of the turn; it comes back in ``Reading.evidence``.
            trust: in [0, 1].
            key: idempotency key: the same key with the same request gives the stored result, also
                when its item was forgotten since; it is not remembered again.

        Raises:
            InvalidInput: naming the field and its range; nothing was stored.
            IdempotencyConflict: if the key was used for another request.
        """
        turn = as_turn(Turn(text, speaker, at, session, source, source_id, trust, key))
        return self._run(self._ingesting([turn]))[0]

    def ingest_many(
        self, turns: Iterable[Turn | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> list[Ingested]:
        """Remember many turns, faster than one by one and with the same result.

        Args:
            turns: :class:`~demem_agent.turns.Turn` records, or mappings with the arguments of
                ``ingest``.
            progress: called with (done, total) after each batch of 512, which is one transaction.

        Raises:
            InvalidInput: naming the turn and the field; then none of the turns was stored.
        """
        checked = self._turns(turns)
        done: list[Ingested] = []
        for start in range(0, len(checked), BATCH):
            done += self._run(self._ingesting(checked[start : start + BATCH]))
            if progress:
                progress(len(done), len(checked))
        return done

    def route(self, query: str, *, at: When = None, vector: Numbers | None = None) -> Route:
        """Choose the slot that a query goes to, and tell whether any is adequate; ``vector`` as of
        :meth:`read`.
        """
        return self._run(self._routing(query, at, vector))

    def read(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: Mode | None = None,
        at: When = None,
        slot: int | None = None,
        vector: Numbers | None = None,
        without: Iterable[str] = (),
    ) -> Reading:
        """Give the text to put before a model: at most ``limit`` in the memory's unit, marks
        included.

        Args:
            mode: ``evidence`` fills the limit with the best evidence, the routed slot's ahead;
                ``strict`` gives the routed slot's summary alone, as in the paper.
            at: when the query is asked; "last week" in it then means something.
            slot: read this one as if the query had been routed there.
            vector: of the query by the memory's own encoder, where you have it already, of any
                length but 0; the query may then be "", and is found by its meaning alone.
            without: ids of evidence to leave out, such as what the model is shown anyway; a strict
                reading, which is a summary, is given as it is.

        A limit too small for the marks and one line gives an empty text.
        """
        return self._run(self._reading(query, limit, mode, at, slot, vector, without))

    def answer(self, query: str, *, at: When = None) -> Answer:
        """Answer from memory alone and remember the decision, so that feedback can refer to it."""
        return self._run(self._answering(query, at))

    def answered(
        self, query: str, text: str, *, reading: Reading | None = None, at: When = None
    ) -> Answer:
        """Record an answer that was produced elsewhere, such as by your own model, so that feedback
        can refer to it.

        Args:
            text: the answer as it was given; it is not remembered as evidence.
            reading: what it was given from; give what ``read`` gave, or what rewards say of
                evidence is guesswork.

        Raises:
            InvalidInput: for a blank query, or a text that is none.
        """
        return self._run(self._recording(query, text, reading, at))

    def feedback(
        self, answer: Answer | str, *, key: str | None = None, **told: Unpack[Told]
    ) -> FeedbackReport:
        """Learn from how an answer did; split a slot if a conflict is certified.

        Give one of these; ``reward`` may go with ``reference`` or ``correction``.

        Args:
            answer: the answer or its id.
            reward: in [0, 1].
            reference: what would have been right; the scorers turn it into rewards. The shipped
                ones look at the answer's words and at whether the reading held the reference, so
                their mean says that memory could have answered rather than that the answer was
                right.
            thumbs: True for up, False for down.
            correction: what a user says would have been right. It is remembered as evidence, with
                its question and with ``source`` "correction"; what was remembered before stays
                beside it.
            outcome: of the tool or task the answer was used for: True, False, or a score in [0, 1].
            agreement: other answers to the same question; the reward is how far they agree with
                this one.
            judge: True to have the memory's ``judges`` rate it.
            key: the same key again changes nothing.

        Raises:
            InvalidInput: for nothing told, two that do not go together, or a value outside its
                range.
            NotFound: for an unknown answer.
        """
        return self._run(self._learning(answer, told, key))

    def forget(
        self, evidence_id: str | None = None, *, source_id: str | None = None, before: When = None
    ) -> Receipt:
        """Erase evidence and every text that came from it; when this returns it is in no file
        either.

        Every answer whose reading held an item is blanked, since nobody can tell what it drew on;
        so is a reference that rests on the item or quotes it. Rewards stay.

        Give exactly one of: an evidence id, the caller's own ``source_id``, or ``before``, which
        means everything dated earlier.

        Raises:
            NotFound: for an unknown evidence id or source id.
        """
        return self._run(self._forgetting(evidence_id, source_id, before))

    def undo(self, certificate_id: str) -> None:
        """Take a split back: exactly if nothing came after it, else by merging and keeping what
        came after.

        Raises:
            NotFound: for an unknown certificate.
            InvalidInput: if it did not split, or was undone before.
        """
        self._run(self._undoing(certificate_id))

    def summarise(self, slot: int | None = None) -> tuple[Summarised, ...]:
        """Have the memory's ``compressor`` write summaries: of one slot, or of all that changed
        since it last did.

        Ingest and read never wait for it: nothing is locked while it works, and what it gives is
        kept only if the slot has not changed meanwhile and everything in it stands in the evidence
        that it names. Else the slot keeps the excerpts it has, and the result says why. Strict
        readings give what was written; its next change drops it.

        Raises:
            InvalidInput: if the memory has no compressor.
            NotFound: for a slot that is not active.
        """
        with self._still():
            numbers = self._due(slot)
        return tuple(self._run(self._summarising(number)) for number in numbers)

    def rename(self, slot: int, name: str | None) -> None:
        """Give a slot a name, for people; None takes it away. Nothing else depends on it.

        Raises:
            NotFound: for a slot that is not active.
        """
        self._run(self._naming(slot, name))

    def pin(self, slot: int, pinned: bool = True) -> None:
        """Have a slot stay as it is divided: it is neither split nor merged, and still takes in
        what is placed there.

        A conflict certified in it is logged as suppressed, and acted on once the slot is no longer
        pinned.

        Raises:
            NotFound: for a slot that is not active.
        """
        self._run(self._pinning(slot, pinned))

    def merge(self, slot: int, *, into: int) -> None:
        """Move all that is in one slot into another and close it, which frees its number for a
        later split.

        Splits that this takes back are marked as undone.

        Raises:
            NotFound: for a slot that is not active.
            InvalidInput: if one of them is pinned, or both are the same.
        """
        self._run(self._merging(slot, into))

    def reembed(self, encoder: Encoder) -> int:
        """Encode everything anew with another encoder; gives the number of items."""
        return self._run(self._reembedding(encoder), encoder)

    def evidence(self) -> tuple[Evidence, ...]:
        """Give every live item, in order of ingestion."""
        with self._still():
            return self._evidence()

    def contexts(self) -> tuple[Context, ...]:
        """Give every decision so far: one for each answer."""
        with self._still():
            return self._contexts()

    def certificates(self) -> tuple[SplitCertificate, ...]:
        """Give every certificate, of splits carried out, undone and suppressed alike."""
        with self._still():
            return self._certificates()

    def fingerprint(self) -> str:
        """Digest what is remembered: the same operations in the same order give the same 64 hex
        digits.
        """
        with self._still():
            return self._state.fingerprint()

    def export(self) -> list[dict[str, Any]]:
        """Give the whole memory as JSON values, the first with the format and the settings."""
        with self._still():
            return list(portable.export(self._state))

    @classmethod
    def restore(
        cls,
        lines: Iterable[Mapping[str, Any]],
        url: str | Store = "memory://",
        **options: Unpack[Options],
    ) -> Self:
        """Make a memory from what ``export`` gave, in a store that does not hold it yet.

        Raises:
            InvalidInput: naming the line that is not as ``export`` writes it.
            StoreError: if the store holds a memory of that id already.
        """
        return cls._opened(url, options, lines=lines)

    def check(self) -> None:
        """Assert every invariant.

        Raises:
            InvariantBroken: naming the first that does not hold.
        """
        with self._still():
            self._state.check()

    def close(self) -> None:
        """Release the store, if ``open`` made it from a URL; a store object belongs to whoever made
        it.
        """
        with self._lock:
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _still(self) -> Generator[None]:
        with self._lock:
            self._refresh()
            yield

    def _run(self, make: Callable[[], Flow[Result]], encoder: Encoder | None = None) -> Result:
        for attempt in range(RETRIES):
            with self._lock:
                self._refresh()
                flow, team = make(), self._team_with(encoder)
            try:
                return drive(flow, self._lock, team)
            except StaleState:
                if attempt == RETRIES - 1:
                    raise
        raise AssertionError("the loop above returns or raises")


class AsyncSlotMemory(MemoryCore):
    """The same memory with coroutines; what blocks runs in threads, never on the event loop.

    Every method does what the one of :class:`SlotMemory` with its name does, with the same
    arguments and errors. ``settings``, ``slots`` and ``len()`` are plain, and as of the last
    operation.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(options)

    def _make_lock(self) -> None:
        self._lock = asyncio.Lock()

    @classmethod
    async def open(
        cls,
        url: str | Store,
        *,
        skip_damaged: bool = False,
        reembed: bool = False,
        **options: Unpack[Options],
    ) -> Self:
        """Open a memory in a store, as ``SlotMemory.open`` does."""
        opening = functools.partial(
            cls._opened, url, options, skip_damaged=skip_damaged, reembed=reembed
        )
        memory = await asyncio.to_thread(opening)
        if reembed and memory._built_with_another():
            with memory._closed_on_error():
                await memory.reembed(memory._team.encoder)
        return memory

    async def ingest(
        self,
        text: str,
        *,
        speaker: str | None = None,
        at: When = None,
        session: str | None = None,
        source: str | None = None,
        source_id: str | None = None,
        trust: float = 1.0,
        key: str | None = None,
    ) -> Ingested:
        """Remember a text."""
        turn = as_turn(Turn(text, speaker, at, session, source, source_id, trust, key))
        return (await self._run(self._ingesting([turn])))[0]

    async def ingest_many(
        self, turns: Iterable[Turn | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> list[Ingested]:
        """Remember many turns."""
        checked = self._turns(turns)
        done: list[Ingested] = []
        for start in range(0, len(checked), BATCH):
            done += await self._run(self._ingesting(checked[start : start + BATCH]))
            if progress:
                progress(len(done), len(checked))
        return done

    async def route(self, query: str, *, at: When = None, vector: Numbers | None = None) -> Route:
        """Choose the slot that a query goes to."""
        return await self._run(self._routing(query, at, vector))

    async def read(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: Mode | None = None,
        at: When = None,
        slot: int | None = None,
        vector: Numbers | None = None,
        without: Iterable[str] = (),
    ) -> Reading:
        """Give the text to put before a model."""
        return await self._run(self._reading(query, limit, mode, at, slot, vector, without))

    async def answer(self, query: str, *, at: When = None) -> Answer:
        """Answer from memory alone and remember the decision."""
        return await self._run(self._answering(query, at))

    async def answered(
        self, query: str, text: str, *, reading: Reading | None = None, at: When = None
    ) -> Answer:
        """Record an answer that was produced elsewhere."""
        return await self._run(self._recording(query, text, reading, at))

    async def feedback(
        self, answer: Answer | str, *, key: str | None = None, **told: Unpack[Told]
    ) -> FeedbackReport:
        """Learn from how an answer did."""
        return await self._run(self._learning(answer, told, key))

    async def forget(
        self, evidence_id: str | None = None, *, source_id: str | None = None, before: When = None
    ) -> Receipt:
        """Erase evidence and every text that came from it."""
        return await self._run(self._forgetting(evidence_id, source_id, before))

    async def undo(self, certificate_id: str) -> None:
        """Take a split back."""
        await self._run(self._undoing(certificate_id))

    async def summarise(self, slot: int | None = None) -> tuple[Summarised, ...]:
        """Have the memory's ``compressor`` write summaries."""
        return tuple([await self._run(self._summarising(number)) for number in self._due(slot)])

    async def rename(self, slot: int, name: str | None) -> None:
        """Give a slot a name."""
        await self._run(self._naming(slot, name))

    async def pin(self, slot: int, pinned: bool = True) -> None:
        """Have a slot stay as it is divided."""
        await self._run(self._pinning(slot, pinned))

    async def merge(self, slot: int, *, into: int) -> None:
        """Move all that is in one slot into another and close it."""
        await self._run(self._merging(slot, into))

    async def reembed(self, encoder: Encoder) -> int:
        """Encode everything anew with another encoder."""
        return await self._run(self._reembedding(encoder), encoder)

    async def evidence(self) -> tuple[Evidence, ...]:
        """Give every live item, in order of ingestion."""
        async with self._fresh():
            return self._evidence()

    async def contexts(self) -> tuple[Context, ...]:
        """Give every decision so far: one for each answer."""
        async with self._fresh():
            return self._contexts()

    async def certificates(self) -> tuple[SplitCertificate, ...]:
        """Give every certificate, of splits carried out, undone and suppressed alike."""
        async with self._fresh():
            return self._certificates()

    async def fingerprint(self) -> str:
        """Digest what is remembered: the same operations in the same order give the same 64 hex
        digits.
        """
        async with self._fresh():
            return self._state.fingerprint()

    async def export(self) -> list[dict[str, Any]]:
        """Give the whole memory as JSON values."""
        async with self._fresh():
            return list(portable.export(self._state))

    @classmethod
    async def restore(
        cls,
        lines: Iterable[Mapping[str, Any]],
        url: str | Store = "memory://",
        **options: Unpack[Options],
    ) -> Self:
        """Make a memory from what ``export`` gave."""
        return await asyncio.to_thread(functools.partial(cls._opened, url, options, lines=lines))

    async def check(self) -> None:
        """Assert every invariant."""
        async with self._fresh():
            self._state.check()

    async def close(self) -> None:
        """Release the store, if ``open`` made it from a URL."""
        async with self._lock:
            await asyncio.to_thread(self._release)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def _fresh(self) -> AsyncGenerator[None]:
        async with self._lock:
            await asyncio.to_thread(self._refresh)
            yield

    async def _run(
        self, make: Callable[[], Flow[Result]], encoder: Encoder | None = None
    ) -> Result:
        for attempt in range(RETRIES):
            async with self._lock:
                await asyncio.to_thread(self._refresh)
                flow, team = make(), self._team_with(encoder)
            try:
                return await drive_async(flow, self._lock, team)
            except StaleState:
                if attempt == RETRIES - 1:
                    raise
        raise AssertionError("the loop above returns or raises")
