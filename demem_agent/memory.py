"""SlotMemory and AsyncSlotMemory: what a user holds. Both are thin; what happens is in the flows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Self, TypeVar, Unpack

from demem_agent import erase, flows, portable, refine
from demem_agent.drivers import drive, drive_async
from demem_agent.encoders import describe
from demem_agent.errors import EncoderMismatch, InvalidInput, StaleState
from demem_agent.loading import load_state
from demem_agent.options import Options, checked_encoder, collaborators, settings_given
from demem_agent.requests import Flow
from demem_agent.settings import Settings, check_mode
from demem_agent.state import State
from demem_agent.stores import Rows, Store, open_store
from demem_agent.turns import Turn, as_turn, request_hash, text_field, time_field, unit_field, whole_field
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
    Slot,
    SplitCertificate,
)
from demem_agent.units import measure

__all__ = ["AsyncSlotMemory", "SlotMemory"]

Result = TypeVar("Result")
When = datetime | date | str | None
Progress = Callable[[int, int], object]

#: Turns that ``ingest_many`` encodes and commits at a time.
BATCH = 512
#: Times an operation is tried again when another process has moved the memory on.
RETRIES = 5
#: Settings that may differ from those a memory was made with: no invariant rests on them.
_CHANGEABLE = frozenset({"read_limit", "mode", "split"})


class _Memory:
    """What both memories share: settings, state, collaborators, and the checks at the door."""

    def __init__(
        self, options: Options, store: Store | None = None, *, skip_damaged: bool = False, reembed: bool = False
    ) -> None:
        self._given = settings_given(options)
        self._counter = options.get("counter")
        self._clock = options.get("clock")
        self._skip_damaged = skip_damaged
        self._team = collaborators(options, store)
        self._encoder = describe(self._team.encoder)
        rows = self._team.store.load(self._team.address)
        self._state = self._state_of(rows if rows is not None else self._made())
        if not reembed:
            self._check_encoder()

    # -- inspecting; the same in both ------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The budget, and how what comes in is placed."""
        return self._state.settings

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The active slots, by number."""
        return tuple(self._state.slot_view(number) for number in sorted(self._state.slots))

    def __len__(self) -> int:
        """Give the number of live evidence items."""
        return len(self._state.evidence)

    def evidence(self) -> tuple[Evidence, ...]:
        """Give every live item, in order of ingestion."""
        return tuple(self._state.evidence.values())

    def contexts(self) -> tuple[Context, ...]:
        """Give every decision so far: one for each answer."""
        return tuple(stored.context for stored in self._state.contexts.values())

    def certificates(self) -> tuple[SplitCertificate, ...]:
        """Give every certificate, of splits carried out, undone and suppressed alike."""
        return tuple(certified.certificate for certified in self._state.certificates.values())

    def fingerprint(self) -> str:
        """Digest what is remembered: the same operations in the same order give the same 64 hex digits."""
        return self._state.fingerprint()

    # -- settings and state ----------------------------------------------------------------------------------

    def _made(self) -> Rows:
        settings = Settings(**self._given)
        measure(settings.unit, self._counter)
        self._team.store.create(self._team.address, settings)
        return Rows(settings, State(settings, len).head)

    def _state_of(self, rows: Rows) -> State:
        for name, value in self._given.items():
            stored = getattr(rows.settings, name)
            if name not in _CHANGEABLE and value != stored and not (name == "initial_slots" and "slots" in self._given):
                raise InvalidInput(name, value, f"{stored!r}, as the stored memory was made with, or left out")
        changed = {name: value for name, value in self._given.items() if name in _CHANGEABLE}
        settings = replace(rows.settings, **changed)
        return load_state(replace(rows, settings=settings), measure(settings.unit, self._counter), self._skip_damaged)

    def _check_encoder(self) -> None:
        head = self._state.head
        if head.encoder and (head.encoder, head.encoder_fingerprint) != (self._encoder.name, self._encoder.fingerprint):
            raise EncoderMismatch(
                f"{head.encoder} {head.encoder_fingerprint}".strip(),
                f"{self._encoder.name} {self._encoder.fingerprint}".strip(),
            )

    def _reload(self) -> None:
        rows = self._team.store.load(self._team.address)
        if rows is None:
            raise StaleState(f"the memory {self._team.address.memory_id!r} is gone from its store")
        self._state = self._state_of(rows)
        self._check_encoder()

    def _refresh(self) -> None:
        """Load the state again if another process has moved the memory on; called under the lock."""
        if self._team.store.seq(self._team.address) != self._state.head.seq:
            self._reload()

    # -- the checks at the door: each gives a maker of flows, since a stale one is made anew -------------------

    def _turns(self, turns: Iterable[Turn | Mapping[str, Any]]) -> list[Turn]:
        return [self._dated(as_turn(turn, f"turns[{n}].")) for n, turn in enumerate(turns)]

    def _dated(self, turn: Turn) -> Turn:
        return replace(turn, at=self._clock()) if turn.at is None and self._clock else turn

    def _when(self, at: When) -> datetime | None:
        when = time_field("at", at)
        return self._clock() if when is None and self._clock else when

    def _ingesting(self, turns: list[Turn]) -> Callable[[], Flow[list[Ingested]]]:
        return lambda: flows.ingest(self._state, self._encoder, turns)

    def _routing(self, query: str, at: When) -> Callable[[], Flow[Route]]:
        text_field("query", query)
        when = self._when(at)
        return lambda: flows.route(self._state, query, when)

    def _reading(self, query: str, limit: int | None, mode: Mode | None, at: When) -> Callable[[], Flow[Reading]]:
        text_field("query", query)
        size, chosen, when = self._limit(limit), self._mode(mode), self._when(at)
        return lambda: flows.read(self._state, query, when, size, chosen)

    def _answering(self, query: str, at: When) -> Callable[[], Flow[Answer]]:
        text_field("query", query)
        when = self._when(at)
        settings = self._state.settings
        return lambda: flows.answer(self._state, query, when, settings.read_limit, settings.mode)

    def _learning(
        self, given: Answer | str, reward: float | None, reference: str | None, key: str | None
    ) -> Callable[[], Flow[FeedbackReport]]:
        answer_id = given.id if isinstance(given, Answer) else given
        if reward is None and reference is None:
            raise InvalidInput("reward", reward, "given, or else reference")
        level = None if reward is None else unit_field("reward", reward)
        if reference is not None:
            text_field("reference", reference)
        if key is not None:
            text_field("key", key)
        request = request_hash("feedback", [answer_id, level, reference])
        names = [scorer.name for scorer in self._team.scorers]
        return lambda: refine.feedback(self._state, answer_id, level, reference, key, request, names)

    def _forgetting(self, evidence_id: str | None, source_id: str | None, before: When) -> Callable[[], Flow[Receipt]]:
        limit = time_field("before", before)
        if sum(selector is not None for selector in (evidence_id, source_id, limit)) != 1:
            raise InvalidInput("evidence_id", evidence_id, "given, or else one of source_id and before")
        return lambda: erase.forget(self._state, evidence_id, source_id, limit)

    def _undoing(self, certificate_id: str) -> Callable[[], Flow[None]]:
        return lambda: refine.undo(self._state, certificate_id)

    def _reembedding(self, encoder: Encoder) -> Callable[[], Flow[int]]:
        info = describe(checked_encoder(encoder))
        return lambda: flows.reembed(self._state, info)

    def _adopt(self, encoder: Encoder) -> None:
        self._team = replace(self._team, encoder=encoder)
        self._encoder = describe(encoder)

    def _limit(self, limit: int | None) -> int:
        return self._state.settings.read_limit if limit is None else whole_field("limit", limit, 1)

    def _mode(self, mode: Mode | None) -> Mode:
        if mode is not None:
            check_mode(mode)
        return mode or self._state.settings.mode


class SlotMemory(_Memory):
    """Agent memory in K bounded slots: remember, route, read, answer, learn from feedback.

    Keyword arguments: :class:`~demem_agent.options.Options`. Safe to share between threads. Without
    ``SlotMemory.open`` it lives in RAM.

    Example:
        >>> memory = SlotMemory(slots=4)
        >>> memory.ingest("I moved to Lisbon yesterday.", speaker="Ana", at="2024-03-02").evidence_id
        'e1'
        >>> memory.answer("When did Ana move to Lisbon?").text
        'Ana: I moved to Lisbon yesterday (1 March 2024).'
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(options)
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
        memory = cls.__new__(cls)
        store = open_store(url) if isinstance(url, str) else url
        _Memory.__init__(memory, options, store, skip_damaged=skip_damaged, reembed=reembed)
        memory._lock = threading.RLock()
        if reembed and memory._state.head.encoder:
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
            key: idempotency key: the same key with the same request gives the stored result.

        Raises:
            InvalidInput: naming the field and its range; nothing was stored.
            IdempotencyConflict: if the key was used for another request.
        """
        turn = self._dated(as_turn(Turn(text, speaker, at, session, source, source_id, trust, key)))
        return self._run(self._ingesting([turn]))[0]

    def ingest_many(
        self, turns: Iterable[Turn | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> list[Ingested]:
        """Remember many turns, faster than one by one and with the same result.

        Args:
            turns: :class:`~demem_agent.turns.Turn` records, or mappings with the arguments of ``ingest``.
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

    def route(self, query: str, *, at: When = None) -> Route:
        """Choose the slot that a query goes to, and tell whether any is adequate."""
        return self._run(self._routing(query, at))

    def read(self, query: str, *, limit: int | None = None, mode: Mode | None = None, at: When = None) -> Reading:
        """Give the text to put before a model: at most ``limit`` in the memory's unit, marks included.

        Args:
            mode: ``evidence`` fills the limit with the best evidence, the routed slot's ahead; ``strict``
                gives the routed slot's summary alone, as in the paper.
            at: when the query is asked; "last week" in it then means something.
        """
        return self._run(self._reading(query, limit, mode, at))

    def answer(self, query: str, *, at: When = None) -> Answer:
        """Answer from memory alone and remember the decision, so that feedback can refer to it."""
        return self._run(self._answering(query, at))

    def feedback(
        self,
        answer: Answer | str,
        *,
        reward: float | None = None,
        reference: str | None = None,
        key: str | None = None,
    ) -> FeedbackReport:
        """Learn from how an answer did; split a slot if a conflict is certified.

        Args:
            answer: the answer or its id.
            reward: in [0, 1].
            reference: what would have been right; the scorers turn it into rewards.

        Raises:
            InvalidInput: without reward and reference, or for a reward outside [0, 1].
            NotFound: for an unknown answer.
        """
        return self._run(self._learning(answer, reward, reference, key))

    def forget(self, evidence_id: str | None = None, *, source_id: str | None = None, before: When = None) -> Receipt:
        """Erase evidence and every text that came from it; when this returns it is in no file either.

        Give exactly one of: an evidence id, the caller's own ``source_id``, or ``before``, which means
        everything dated earlier.

        Raises:
            NotFound: for an unknown evidence id or source id.
        """
        return self._run(self._forgetting(evidence_id, source_id, before))

    def undo(self, certificate_id: str) -> None:
        """Take a split back: exactly if nothing came after it, else by merging and keeping what came after.

        Raises:
            NotFound: for an unknown certificate.
            InvalidInput: if it did not split, or was undone before.
        """
        self._run(self._undoing(certificate_id))

    def reembed(self, encoder: Encoder) -> int:
        """Encode everything anew with another encoder; gives the number of items."""
        make = self._reembedding(encoder)
        with self._lock:
            before = self._team.encoder
            self._adopt(encoder)
            try:
                return self._run(make)
            except BaseException:
                self._adopt(before)
                raise

    def export(self) -> list[dict[str, Any]]:
        """Give the whole memory as JSON values, the first with the format and the settings."""
        with self._lock:
            return list(portable.export(self._state))

    @classmethod
    def restore(
        cls, lines: Iterable[Mapping[str, Any]], url: str | Store = "memory://", **options: Unpack[Options]
    ) -> Self:
        """Make a memory from what ``export`` gave, in a store that does not hold it yet.

        Raises:
            InvalidInput: naming the line that is not as ``export`` writes it.
            StoreError: if the store holds a memory of that id already.
        """
        store = open_store(url) if isinstance(url, str) else url
        portable.restore(lines, store, collaborators(options, store).address)
        return cls.open(store, **options)

    def check(self) -> None:
        """Assert every invariant.

        Raises:
            InvariantBroken: naming the first that does not hold.
        """
        with self._lock:
            self._state.check()

    def close(self) -> None:
        """Release the store."""
        with self._lock:
            self._team.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, make: Callable[[], Flow[Result]]) -> Result:
        for attempt in range(RETRIES):
            with self._lock:
                self._refresh()
                flow = make()
            try:
                return drive(flow, self._lock, self._team)
            except StaleState:
                if attempt == RETRIES - 1:
                    raise
        raise AssertionError("the loop above returns or raises")


class AsyncSlotMemory(_Memory):
    """The same memory with coroutines; what blocks runs in threads, never on the event loop.

    Every method does what the one of :class:`SlotMemory` with its name does.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(options)
        self._lock = asyncio.Lock()

    @classmethod
    async def open(
        cls, url: str | Store, *, skip_damaged: bool = False, reembed: bool = False, **options: Unpack[Options]
    ) -> Self:
        """Open a memory in a store, as ``SlotMemory.open`` does."""
        memory = cls.__new__(cls)
        store = await asyncio.to_thread(open_store, url) if isinstance(url, str) else url
        await asyncio.to_thread(
            lambda: _Memory.__init__(memory, options, store, skip_damaged=skip_damaged, reembed=reembed)
        )
        memory._lock = asyncio.Lock()
        if reembed and memory._state.head.encoder:
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
        turn = self._dated(as_turn(Turn(text, speaker, at, session, source, source_id, trust, key)))
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

    async def route(self, query: str, *, at: When = None) -> Route:
        """Choose the slot that a query goes to."""
        return await self._run(self._routing(query, at))

    async def read(self, query: str, *, limit: int | None = None, mode: Mode | None = None, at: When = None) -> Reading:
        """Give the text to put before a model."""
        return await self._run(self._reading(query, limit, mode, at))

    async def answer(self, query: str, *, at: When = None) -> Answer:
        """Answer from memory alone and remember the decision."""
        return await self._run(self._answering(query, at))

    async def feedback(
        self,
        answer: Answer | str,
        *,
        reward: float | None = None,
        reference: str | None = None,
        key: str | None = None,
    ) -> FeedbackReport:
        """Learn from how an answer did."""
        return await self._run(self._learning(answer, reward, reference, key))

    async def forget(
        self, evidence_id: str | None = None, *, source_id: str | None = None, before: When = None
    ) -> Receipt:
        """Erase evidence and every text that came from it."""
        return await self._run(self._forgetting(evidence_id, source_id, before))

    async def undo(self, certificate_id: str) -> None:
        """Take a split back."""
        await self._run(self._undoing(certificate_id))

    async def reembed(self, encoder: Encoder) -> int:
        """Encode everything anew with another encoder."""
        make = self._reembedding(encoder)
        before = self._team.encoder
        self._adopt(encoder)
        try:
            return await self._run(make)
        except BaseException:
            self._adopt(before)
            raise

    async def export(self) -> list[dict[str, Any]]:
        """Give the whole memory as JSON values."""
        async with self._lock:
            return list(portable.export(self._state))

    @classmethod
    async def restore(
        cls, lines: Iterable[Mapping[str, Any]], url: str | Store = "memory://", **options: Unpack[Options]
    ) -> Self:
        """Make a memory from what ``export`` gave."""
        store = await asyncio.to_thread(open_store, url) if isinstance(url, str) else url
        await asyncio.to_thread(lambda: portable.restore(lines, store, collaborators(options, store).address))
        return await cls.open(store, **options)

    async def check(self) -> None:
        """Assert every invariant."""
        async with self._lock:
            self._state.check()

    async def close(self) -> None:
        """Release the store."""
        async with self._lock:
            await asyncio.to_thread(self._team.store.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, make: Callable[[], Flow[Result]]) -> Result:
        for attempt in range(RETRIES):
            async with self._lock:
                await asyncio.to_thread(self._refresh)
                flow = make()
            try:
                return await drive_async(flow, self._lock, self._team)
            except StaleState:
                if attempt == RETRIES - 1:
                    raise
        raise AssertionError("the loop above returns or raises")
