"""What both memories share: settings, state, collaborators, and the checks at the door."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import astuple, replace
from datetime import date, datetime
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demem_agent.drivers import Collaborators
from demem_agent.encoders import as_matrix, describe
from demem_agent.errors import (
    CollaboratorError,
    EncoderMismatch,
    InvalidInput,
    NotFound,
    StaleState,
    StoreError,
)
from demem_agent.feedback.channels import Told
from demem_agent.feedback.signals import signal_of
from demem_agent.flows import answer as answering
from demem_agent.flows import arrange as arranging
from demem_agent.flows import feedback, ingest, reembed, undo
from demem_agent.flows import forget as erase
from demem_agent.flows import read as flows
from demem_agent.flows import summarise as summarising
from demem_agent.options import Options, checked_encoder, collaborators, settings_given
from demem_agent.requests import Flow
from demem_agent.settings import Settings, check_mode
from demem_agent.slots.state import State
from demem_agent.splitting.trigger import Trigger, certified
from demem_agent.stores import MemoryStore, Rows, Store, open_store, portable
from demem_agent.stores.loading import load_state
from demem_agent.text.units import measure
from demem_agent.turns import Turn, as_turn, request_hash, text_field, time_field, whole_field
from demem_agent.types import (
    Answer,
    Context,
    Encoder,
    Evidence,
    FeedbackReport,
    Ingested,
    Line,
    Mode,
    Reading,
    Receipt,
    Route,
    Slot,
    SplitCertificate,
    Summarised,
)

__all__ = ["MemoryCore", "Numbers", "When"]

When = datetime | date | str | None
#: A vector as its encoder gave it.
Numbers = Sequence[float] | NDArray[Any]

#: Settings that may differ from those a memory was made with: no invariant rests on them.
_CHANGEABLE = frozenset({"read_limit", "mode", "learn", "split"})


class MemoryCore:
    """What both memories share: settings, state, collaborators, and the checks at the door."""

    def __init__(
        self,
        options: Options,
        store: Store | None = None,
        *,
        skip_damaged: bool = False,
        reembed: bool = False,
    ) -> None:
        self._given = settings_given(options)
        self._counter = options.get("counter")
        self._clock = options.get("clock")
        self._skip_damaged = skip_damaged
        self._team = collaborators(options, store)
        self._encoder = describe(self._team.encoder)
        self._owns_store = False
        self._make_lock()
        self._state = self._state_of(self._team.store.load(self._team.address) or self._made())
        if not reembed:
            self._check_encoder()

    @classmethod
    def _opened(
        cls,
        url: str | Store,
        options: Options,
        *,
        lines: Iterable[Mapping[str, Any]] | None = None,
        skip_damaged: bool = False,
        reembed: bool = False,
    ) -> Self:
        """Open a store and a memory in it, first made of exported ``lines`` if these are given."""
        if not isinstance(url, str | Store):
            raise InvalidInput("url", url, "'memory://', 'sqlite:///path/to/file.db' or a store")
        store = open_store(url) if isinstance(url, str) else url
        try:
            if lines is not None:
                portable.restore(
                    lines, store, collaborators(options, store).address, options.get("counter")
                )
            memory = cls.__new__(cls)
            MemoryCore.__init__(memory, options, store, skip_damaged=skip_damaged, reembed=reembed)
        except BaseException:
            if isinstance(url, str):
                store.close()
            raise
        memory._owns_store = isinstance(url, str)
        return memory

    # -- copying
    # ---------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Give what makes the memory again elsewhere: all it holds if it lives in RAM, else its
        store.
        """
        options = {
            name: value for name, value in self._plain_options().items() if value is not None
        }
        if not isinstance(self._team.store, MemoryStore):
            return {"options": options, "store": self._team.store, "lines": None}
        with self._still():
            return {"options": options, "store": None, "lines": list(portable.export(self._state))}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        store = kept["store"]
        if store is None:
            store = MemoryStore()
            team = collaborators(kept["options"], store)
            portable.restore(kept["lines"], store, team.address, kept["options"].get("counter"))
        MemoryCore.__init__(self, kept["options"], store)
        self._owns_store = True  # unpickled, it is nobody else's

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """Copy a memory in RAM with all it holds; one in a store becomes another handle on the same
        memory.

        Who does the work (encoder, answerer, ...) is shared, not copied.
        """
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        made._owns_store = False
        return made

    def _plain_options(self) -> dict[str, Any]:
        team = self._team
        return {
            **self._given,
            "encoder": team.encoder,
            "answerer": team.answerer,
            "scorers": team.scorers,
            "judges": team.judges,
            "compressor": team.compressor,
            "counter": self._counter,
            "clock": self._clock,
            "memory_id": team.address.memory_id,
            "tenant": team.address.tenant,
        }

    def _make_lock(self) -> None:
        raise TypeError("use SlotMemory or AsyncSlotMemory")

    def _release(self) -> None:
        if self._owns_store:
            self._team.store.close()

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._release()
            raise

    # -- inspecting; the same in both
    # ------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The budget, and how what comes in is placed."""
        return self._state.settings

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The active slots, by number."""
        with self._still():
            return tuple(self._state.slot_view(number) for number in sorted(self._state.slots))

    def __len__(self) -> int:
        """Give the number of live evidence items."""
        with self._still():
            return len(self._state.evidence)

    def _still(self) -> AbstractContextManager[Any]:
        """Keep the state still, and up to date, while it is inspected."""
        return nullcontext()

    def _evidence(self) -> tuple[Evidence, ...]:
        return tuple(self._state.evidence.values())

    def _contexts(self) -> tuple[Context, ...]:
        return tuple(stored.context for stored in self._state.contexts.values())

    def _certificates(self) -> tuple[SplitCertificate, ...]:
        return tuple(certified.certificate for certified in self._state.certificates.values())

    # -- settings and state
    # ----------------------------------------------------------------------------------

    def _made(self) -> Rows:
        settings = Settings(**self._given)
        measure(settings.unit, self._counter)
        try:
            self._team.store.create(self._team.address, settings)
        except StoreError:
            made = self._team.store.load(self._team.address)
            if made is None:
                raise
            return made  # by another process, in the meantime
        return Rows(settings, State(settings, len).head)

    def _state_of(self, rows: Rows) -> State:
        for name, value in self._given.items():
            stored = getattr(rows.settings, name)
            if (
                name not in _CHANGEABLE
                and value != stored
                and not (name == "initial_slots" and "slots" in self._given)
            ):
                raise InvalidInput(
                    name, value, f"{stored!r}, as the stored memory was made with, or left out"
                )
        changed = {name: value for name, value in self._given.items() if name in _CHANGEABLE}
        settings = replace(rows.settings, **changed)
        return load_state(
            replace(rows, settings=settings),
            measure(settings.unit, self._counter),
            self._skip_damaged,
        )

    def _built_with_another(self) -> bool:
        return not self._state.head.fits(self._encoder.name, self._encoder.fingerprint)

    def _team_with(self, encoder: Encoder | None) -> Collaborators:
        return self._team if encoder is None else replace(self._team, encoder=encoder)

    def _check_encoder(self) -> None:
        head = self._state.head
        if self._built_with_another():
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

    # -- the checks at the door: each gives a maker of flows, since a stale one is made anew
    # -------------------

    def _turns(self, turns: Iterable[Turn | Mapping[str, Any]]) -> list[Turn]:
        if not isinstance(turns, Iterable) or isinstance(turns, str | Mapping):
            raise InvalidInput("turns", turns, "a list of Turn records or mappings")
        return [as_turn(turn, f"turns[{n}].") for n, turn in enumerate(turns)]

    def _dated(self, turn: Turn) -> Turn:
        return (
            replace(turn, at=time_field("clock", self._clock()))
            if turn.at is None and self._clock
            else turn
        )

    def _when(self, at: When) -> datetime | None:
        when = time_field("at", at)
        return time_field("clock", self._clock()) if when is None and self._clock else when

    def _ingesting(self, turns: Sequence[Turn]) -> Callable[[], Flow[list[Ingested]]]:
        # Hashed before they are dated: a retry comes at another time and is the same request.
        hashes = ["" if turn.key is None else request_hash("ingest", turn) for turn in turns]
        dated = [self._dated(turn) for turn in turns]
        return lambda: ingest.ingest(self._state, self._encoder, dated, hashes)

    def _routing(self, query: str, at: When, given: Numbers | None) -> Callable[[], Flow[Route]]:
        vector, when = _asked(query, given), self._when(at)
        return lambda: flows.route(self._state, self._encoder, query, when, vector)

    def _reading(
        self,
        query: str,
        limit: int | None,
        mode: Mode | None,
        at: When,
        slot: int | None,
        given: Numbers | None,
        without: Iterable[str],
    ) -> Callable[[], Flow[Reading]]:
        vector = _asked(query, given)
        size, chosen, when = self._limit(limit), self._mode(mode), self._when(at)
        number = None if slot is None else whole_field("slot", slot, 0)
        left_out = _ids("without", without)
        return lambda: flows.read(
            self._state, self._encoder, query, when, size, chosen, number, vector, left_out
        )

    def _answering(self, query: str, at: When) -> Callable[[], Flow[Answer]]:
        text_field("query", query)
        when = self._when(at)
        settings = self._state.settings
        return lambda: answering.answer(
            self._state, self._encoder, query, when, settings.read_limit, settings.mode
        )

    def _recording(
        self, query: str, text: str, reading: Reading | None, at: When
    ) -> Callable[[], Flow[Answer]]:
        text_field("query", query)
        if not isinstance(text, str):
            raise InvalidInput("text", text, "a text, empty where nothing was answered")
        if reading is not None and not isinstance(reading, Reading):
            raise InvalidInput("reading", reading, "what read gave, or left out")
        limit, mode, when = (
            self._state.settings.read_limit,
            self._state.settings.mode,
            self._when(at),
        )
        if reading is not None:
            self._own_reading(reading)
        return lambda: answering.answered(
            self._state, self._encoder, query, text, when, reading, limit, mode
        )

    def _own_reading(self, reading: Reading) -> None:
        """Refuse a reading of another memory: ids are counted anew in each. What was forgotten
        since is no matter.
        """
        for line in reading.lines:
            if not isinstance(line, Line) or not isinstance(line.evidence, Evidence):
                raise InvalidInput("reading", line, "a reading that this memory gave")
            held = self._state.evidence.get(line.evidence.id)
            fits = 0 <= line.start < line.end <= len(line.evidence.text)
            if not fits or (held is not None and held.text != line.evidence.text):
                raise InvalidInput("reading", line.evidence.id, "a reading that this memory gave")

    def _learning(
        self, given: Answer | str, told: Told, key: str | None, trigger: Trigger = certified
    ) -> Callable[[], Flow[FeedbackReport]]:
        answer_id = text_field("answer", given.id if isinstance(given, Answer) else given)
        signal = signal_of(told)
        if signal.judged and not self._team.judges:
            raise InvalidInput("judge", True, "left out, as the memory was made without judges")
        if key is not None:
            text_field("key", key)
        request = request_hash("feedback", [answer_id, *astuple(signal)])
        expected, when = (given if isinstance(given, Answer) else None), self._when(None)

        def make() -> Flow[FeedbackReport]:
            if expected is not None:
                self._own(expected)
            asked = feedback.Given(answer_id, signal, key, request, self._raters(), when)
            return feedback.feedback(self._state, asked, trigger)

        return make

    def _raters(self) -> feedback.Raters:
        team = self._team
        answerer = str(getattr(team.answerer, "name", type(team.answerer).__name__))
        scorers, judges = (
            _distinct(rater.name for rater in raters) for raters in (team.scorers, team.judges)
        )
        return feedback.Raters(self._encoder, scorers, judges, (answerer, self._encoder.name))

    def _own(self, answer: Answer) -> None:
        """Refuse an answer that another memory gave: ids are counted anew in each."""
        stored = self._state.context(answer.id).context
        if not stored.redacted and (stored.query, stored.answer) != (answer.query, answer.text):
            raise InvalidInput("answer", answer.id, "an answer that this memory gave")

    def _forgetting(
        self, evidence_id: str | None, source_id: str | None, before: When
    ) -> Callable[[], Flow[Receipt]]:
        limit = time_field("before", before)
        for name, selector in (("evidence_id", evidence_id), ("source_id", source_id)):
            if selector is not None:
                text_field(name, selector)
        if sum(selector is not None for selector in (evidence_id, source_id, limit)) != 1:
            raise InvalidInput(
                "evidence_id", evidence_id, "given, or else one of source_id and before"
            )
        return lambda: erase.forget(self._state, evidence_id, source_id, limit)

    def _undoing(self, certificate_id: str) -> Callable[[], Flow[None]]:
        text_field("certificate_id", certificate_id)
        return lambda: undo.undo(self._state, certificate_id)

    def _summarising(self, slot: int) -> Callable[[], Flow[Summarised]]:
        author = self._team.compressor.name if self._team.compressor else ""
        return lambda: summarising.summarise(self._state, slot, author)

    def _due(self, slot: int | None) -> list[int]:
        if self._team.compressor is None:
            raise InvalidInput("compressor", None, "given when the memory is made or opened")
        if slot is None:
            return summarising.due(self._state)
        if whole_field("slot", slot, 0) not in self._state.slots:
            raise NotFound("slot", str(slot))
        return [slot]

    def _naming(self, slot: int, name: str | None) -> Callable[[], Flow[None]]:
        number = whole_field("slot", slot, 0)
        if name is not None:
            text_field("name", name)
        return lambda: arranging.rename(self._state, number, name)

    def _pinning(self, slot: int, pinned: bool) -> Callable[[], Flow[None]]:
        number = whole_field("slot", slot, 0)
        if not isinstance(pinned, bool):
            raise InvalidInput("pinned", pinned, "True or False")
        return lambda: arranging.pin(self._state, number, pinned)

    def _merging(self, slot: int, into: int) -> Callable[[], Flow[None]]:
        number, target = whole_field("slot", slot, 0), whole_field("into", into, 0)
        return lambda: arranging.merge(self._state, number, target)

    def _reembedding(self, encoder: Encoder) -> Callable[[], Flow[int]]:
        info = describe(checked_encoder(encoder))

        def adopt() -> None:
            self._team = replace(self._team, encoder=encoder)
            self._encoder = info

        return lambda: reembed.reembed(self._state, info, adopt)

    def _limit(self, limit: int | None) -> int:
        return self._state.settings.read_limit if limit is None else whole_field("limit", limit, 1)

    def _mode(self, mode: Mode | None) -> Mode:
        if mode is not None:
            check_mode(mode)
        return mode or self._state.settings.mode


def _asked(query: str, given: Numbers | None) -> NDArray[np.float32] | None:
    """Check what is asked; give its vector as the scorer wants it, or None where it is not known
    yet.
    """
    if given is None:
        text_field("query", query)
        return None
    if not isinstance(query, str):
        raise InvalidInput("query", query, "a text; with a vector it may be blank")
    try:
        vector: NDArray[np.float32] = as_matrix(given, 1)[0]
    except CollaboratorError as error:
        raise InvalidInput("vector", given, "a row of finite numbers") from error
    if not vector.any():
        raise InvalidInput("vector", given, "numbers that are not all 0")
    return vector


def _ids(field: str, given: Iterable[str]) -> frozenset[str]:
    ids = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (None,)
    if not all(isinstance(id, str) for id in ids):
        raise InvalidInput(field, given, "a list of ids of evidence")
    return frozenset(filter(None, ids))


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Number the second and later of equal names, so that what each rater gave can be told apart."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return tuple(found)
