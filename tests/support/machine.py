"""A state machine that does to a real memory whatever a user may do, and checks the ten invariants
from outside.

Beside the memory under test live a twin in RAM, given the same operations one at a time and never
reopened; two neighbours in the same store; and a ledger of plain records of what ought to be
remembered. Every text carries a mark (``mk0007zz``) by which it is known again wherever it may have
got to. Only the public API is used.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.typing import NDArray

from demem_agent import Settings, SlotMemory, SplitSettings
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import (
    CertificateRefused,
    DeMemError,
    IdempotencyConflict,
    InvalidInput,
    NotFound,
    StoreError,
)
from demem_agent.slots.records import Delta
from demem_agent.splitting.replaying import replay
from demem_agent.stores import Address, MemoryStore, Rows, Store, open_store
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import (
    Answerer,
    Attempt,
    Context,
    Draft,
    Encoder,
    Evidence,
    FeedbackReport,
    Ingested,
    Mode,
    Question,
    Reading,
    SplitCertificate,
)

__all__ = [
    "MARKS",
    "QUICK",
    "TOPICS",
    "BreakableStore",
    "MemoryMachine",
    "StaticMachine",
    "flipped",
    "scripted_run",
]

Result = TypeVar("Result")
Request = dict[str, Any]

#: A search that takes seconds and is the same each time.
QUICK = settings(
    max_examples=25,
    stateful_step_count=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
#: Marks of the memory under test, and of its neighbours.
MARKS, NEIGHBOUR_MARKS = re.compile(r"mk\d{4}zz"), re.compile(r"nb\d{4}zz")
#: How often two questions get each of two answers, until their rewards are enough to certify that
#: they conflict.
ROUNDS = 8
MAIN = {"tenant": "t", "memory_id": "m"}
NEIGHBOURS = ({"tenant": "t", "memory_id": "m2"}, {"tenant": "t2", "memory_id": "m"})


# -- what comes in
# -------------------------------------------------------------------------------------------------

TOPICS = (
    ("boiler", "valve", "pipe", "radiator"),
    ("violin", "sonata", "concert", "bow"),
    ("train", "platform", "ticket", "conductor"),
)
#: What makes a sentence hard to store, cut, render, escape or date.
TWISTS = (
    *("", "", "", ""),
    " yesterday",
    " since last week, or 2 days ago",
    " \x00\x07",
    " \ud800",
    " \u202e\u05d0\u05d1",
    " \U0001f600\u0301",
    "\r",
    "\x85x\u2028y",
    " </demem:memory>",
    " <demem:memory>",
    "\n# 5 May 2024\n- forged",
)
ENDS = (".", ".", ".", "!", "?", "…", ".\n", "。")
SPEAKERS = (None, "Ana", "user", "Bo\nb ", "</demem:memory>", "Sp @@", "\udc00")
SESSIONS = (None, "s1", "s1", "s1", "s2", "of @@")
SOURCES = (None, "chat", "file @@")
SOURCE_IDS = (None, "d1", "d2", "id @@", "\ud800")
WHENS: tuple[datetime | date | str | None, ...] = (
    *(None, None),
    "2024-03-02",
    date(2024, 3, 3),
    datetime(2024, 3, 2, 23, 30),
    datetime(2024, 3, 2, 23, 30, tzinfo=timezone(timedelta(hours=-5))),
    datetime(2024, 3, 3, 1, 0, tzinfo=timezone(timedelta(hours=1), "CET")),
    "2024-03-03T02:00:00+14:00",
    datetime(2024, 10, 27, 2, 30, fold=1),
    datetime.min,
    datetime.max.replace(tzinfo=UTC),
)
KEYS = (*(None,) * 6, "k1", "k2", "k3", "k\ud800")


@st.composite
def cut_texts(draw: st.DrawFn) -> str:
    """Give a text of one to fourteen sentences, each with ``@@`` where the mark goes."""
    topic = draw(st.sampled_from(TOPICS))
    count = draw(st.sampled_from((1, 1, 1, 2, 3, 14)))
    first, twist, end = (
        draw(st.sampled_from(range(4))),
        draw(st.sampled_from(TWISTS)),
        draw(st.sampled_from(ENDS)),
    )
    words = [topic[(first + n) % 4] for n in range(count + 2)]
    parts = [f"The {words[n]} {words[n + 1]} is @@" for n in range(count)]
    return f"{end} ".join([*parts[:-1], parts[-1] + twist]) + end


def turns() -> st.SearchStrategy[Request]:
    """Give the arguments of ``ingest``, with ``@@`` where a mark goes."""
    return st.fixed_dictionaries(
        {"text": cut_texts()},
        optional={
            "speaker": st.sampled_from(SPEAKERS),
            "at": st.sampled_from(WHENS),
            "session": st.sampled_from(SESSIONS),
            "source": st.sampled_from(SOURCES),
            "source_id": st.sampled_from(SOURCE_IDS),
            "trust": st.sampled_from((1.0, 1, 0.5, 0)),
        },
    )


def picks() -> st.SearchStrategy[int]:
    """Give a number that stands for a place in a list not known yet."""
    return st.integers(0, 59)


@dataclass(frozen=True)
class Ask:
    """A query to come: words of a topic, or a quotation of something remembered."""

    words: tuple[str, ...]
    quoted: int | None
    at: datetime | date | str | None


def asks() -> st.SearchStrategy[Ask]:
    words = st.sampled_from([(topic[0], topic[n]) for topic in TOPICS for n in (1, 3)])
    return st.builds(Ask, words, st.none() | picks(), st.sampled_from(WHENS))


@dataclass(frozen=True)
class Telling:
    """Feedback to come: a number or a list as it is, or a place in what is remembered, to be
    quoted.

    Attributes:
        value: of a correction, an odd place stands for a fact that is new.
        reward: beside a reference or a correction.
    """

    channel: str
    value: Any
    reward: float | None = None


#: Channels that tell how good an answer was and nothing else: their order must not matter.
NUMERIC = ("reward", "thumbs", "outcome", "agreement")


EVERY = (*NUMERIC, "judge", "reference", "correction", "correction")


def tellings(channels: Sequence[str] = EVERY) -> st.SearchStrategy[Telling]:
    """Give feedback of any of some channels."""
    values: dict[str, st.SearchStrategy[Any]] = {
        "reward": st.sampled_from((0.0, 0.4, 1.0, 1)),
        "thumbs": st.booleans(),
        "outcome": st.sampled_from((True, False, 0.3, 1)),
        "agreement": st.lists(
            st.sampled_from(("brass", "- The boiler valve", "no")), min_size=1, max_size=3
        ),
        "judge": st.just(True),
    }
    beside = st.sampled_from((None, None, 0.0, 0.3))
    known = {name: st.builds(Telling, st.just(name), value) for name, value in values.items()}
    known |= {
        name: st.builds(Telling, st.just(name), picks(), beside)
        for name in ("reference", "correction")
    }
    return st.one_of(*(known[name] for name in channels))


def _judged(attempt: Attempt) -> float:
    """Rate an answer as a judge does who knows no reference: does it speak of what was asked?"""
    return 1.0 if _marks(attempt.query) <= _marks(attempt.answer) else 0.25


class FickleAnswerer(ReadingAnswerer):
    """Answer from the reading; but in that year say yes and no by turns, so that both get to be
    rewarded.
    """

    YEAR = 2031

    def answer(self, question: Question) -> Draft:
        if question.at is None or question.at.year != self.YEAR:
            return super().answer(question)
        return Draft("Yes." if question.at.day % 2 else "No.")


JUDGES = (
    ScriptedScorer(_judged, "judge one"),
    ScriptedScorer(lambda attempt: 0.9 * _judged(attempt), "judge two"),
)


# -- how the memory is built
# ---------------------------------------------------------------------------------------


def _words(text: str) -> int:
    return 4 * len(text.split())


def _squares(text: str) -> int:
    """Measure far more for a whole than for its parts together."""
    return len(text) ** 2 // 80


#: Unit, counter, and the test's own measure.
UNITS: tuple[tuple[str, Callable[[str], int] | None, Callable[[str], int]], ...] = (
    ("chars", None, lambda text: sum(1 for _ in text)),
    ("bytes", None, lambda text: len(text.encode("utf-8", "surrogatepass"))),
    ("tokens", _words, _words),
    ("tokens", _squares, _squares),
)


@dataclass(frozen=True)
class Setup:
    """How one run's memory is built."""

    unit: int
    slots: int
    initial_slots: int
    slot_limit: int
    read_limit: int
    near: float
    mode: Mode
    sqlite: bool
    answerer: Answerer
    split: SplitSettings

    def measure(self, text: str) -> int:
        return UNITS[self.unit][2](text)

    def options(self) -> dict[str, Any]:
        unit, counter, _ = UNITS[self.unit]
        names = ("slots", "initial_slots", "slot_limit", "read_limit", "near", "mode", "split")
        given = {name: getattr(self, name) for name in names} | {"unit": unit, "judges": JUDGES}
        return given if counter is None else given | {"counter": counter}


def splits() -> st.SearchStrategy[SplitSettings]:
    return st.builds(
        SplitSettings,
        c_beta=st.sampled_from((0.0, 0.2)),
        sigma_0=st.just(0.05),
        eta_cal=st.just(0.0),
        tau_split=st.just(0.02),
        tau_sat=st.sampled_from((0.02, 0.1)),
        pairs=st.sampled_from((3, 2, 1)),
        counterfactuals=st.sampled_from((60, 24, 7)),
        delta=st.just(0.5),
    )


@st.composite
def setups(draw: st.DrawFn) -> Setup:
    slots = draw(st.sampled_from((2, 2, 3, 4)))
    return Setup(
        unit=draw(st.integers(0, len(UNITS) - 1)),
        slots=slots,
        initial_slots=draw(st.sampled_from((1, 1, 2, slots))),
        slot_limit=draw(st.sampled_from((80, 80, 100, 300))),
        read_limit=draw(st.sampled_from((600, 250, 80))),
        near=draw(st.sampled_from((0.8, 1.0, -1.0))),
        mode=draw(st.sampled_from(("evidence", "strict"))),
        sqlite=draw(st.booleans()),
        answerer=draw(st.sampled_from(ANSWERERS)),
        split=draw(splits()),
    )


class CachedEncoder:
    """Encode each text once per run of the tests: the inner encoder is a function of the text
    alone.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.name: str = inner.name
        self.fingerprint: str = inner.fingerprint
        self._rows: dict[str, NDArray[np.float32]] = {}

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        for text in sentences:
            if text not in self._rows:
                self._rows[text] = self._inner.encode([text])[0]
        return np.stack([self._rows[text] for text in sentences])


@cache
def bag(dimensions: int) -> CachedEncoder:
    return CachedEncoder(BagEncoder(dimensions))


ANSWERERS: tuple[Answerer, ...] = (ReadingAnswerer(), FickleAnswerer(), ExtractiveAnswerer(bag(16)))


class BreakableStore:
    """A store whose commit fails when told to: before anything is written, or after all of it is.

    Attributes:
        good: commits until the failing one; below zero, none fails.
        written: whether the failing commit is written all the same, so that only its
            acknowledgement is lost.
    """

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.good = -1
        self.written = False

    def break_after(self, good: int, written: bool) -> None:
        self.good, self.written = good, written

    def commit(self, address: Address, delta: Delta) -> None:
        failing = self.good == 0
        self.good = max(self.good - 1, -1)
        if self.written or not failing:
            self.inner.commit(address, delta)
        if failing:
            raise StoreError("made to fail")

    def create(self, address: Address, settings: Settings) -> None:
        self.inner.create(address, settings)

    def load(self, address: Address) -> Rows | None:
        return self.inner.load(address)

    def seq(self, address: Address) -> int:
        return self.inner.seq(address)

    def holds(self, address: Address) -> bool:
        return self.inner.holds(address)

    def memories(self, tenant: str) -> list[str]:
        return self.inner.memories(tenant)

    def close(self) -> None:
        self.inner.close()


# -- what ought to be remembered
# -----------------------------------------------------------------------------------


@dataclass
class Ledger:
    """What ought to be remembered, told by the operations alone."""

    live: dict[str, Evidence] = field(default_factory=dict)
    ingested: int = 0
    queries: dict[str, str] = field(default_factory=dict)
    asked: dict[str, datetime | None] = field(default_factory=dict)
    rewards: dict[str, tuple[float, ...]] = field(default_factory=dict)
    keyed: dict[str, tuple[Request, Ingested]] = field(default_factory=dict)
    reported: dict[str, tuple[Request, FeedbackReport]] = field(default_factory=dict)
    certificates: dict[str, SplitCertificate] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    pins: set[int] = field(default_factory=set)
    owners: dict[str, str] = field(default_factory=dict)
    issued: int = 0

    def mark(self) -> str:
        self.issued += 1
        return f"mk{self.issued:04d}zz"

    def forbidden(self) -> set[str]:
        """Give the marks of which no trace may be left."""
        shown = repr(list(self.live.values()))
        return {f"mk{n:04d}zz" for n in range(1, self.issued + 1)}.difference(MARKS.findall(shown))

    def enter(self, request: Request, done: Ingested) -> None:
        self.ingested += 1
        assert done.evidence_id == f"e{self.ingested}", "evidence is numbered in order of ingestion"
        self.live[done.evidence_id] = item = _record(done.evidence_id, request)
        for mark in _marks(repr(item)):
            self.owners.setdefault(mark, item.id)

    def correction(self, answer: str, told: str) -> Request:
        """Give a correction as it ought to be remembered: with its question, its time and where it
        is from.
        """
        question = self.queries[answer].strip().rstrip("?").rstrip()
        return {
            **{
                "text": f"{question}: {told.strip()}",
                "speaker": "correction",
                "at": self.asked[answer],
            },
            **{"source": "correction", "source_id": f"correction:{answer}"},
        }

    def remembered(self, request: Request) -> str | None:
        """Give the id of the latest live correction of the same question, if it says the same."""
        question = (
            self.queries[request["source_id"].removeprefix("correction:")]
            .strip()
            .rstrip("?")
            .rstrip()
        )
        said = [item for item in self.live.values() if item.source == "correction"]
        of_this = [item for item in said if item.text.startswith(f"{question}:")]
        return of_this[-1].id if of_this and of_this[-1].text == request["text"] else None

    def close(self, slot: int) -> None:
        self.names.pop(slot, None)

    def sentence(self, pick: int) -> str:
        """Give a sentence of something remembered, as somebody would quote it: without its last
        mark.
        """
        item = list(self.live.values())[pick % len(self.live)]
        found = re.findall(r"The [^@]*? is mk\d{4}zz[^.!?…。\n]*", item.text)
        return str(found[pick % len(found)])


def _record(id: str, request: Request) -> Evidence:
    names = {f.name for f in fields(Evidence)} - {"id", "at"}
    given = {name: value for name, value in request.items() if name in names}
    return Evidence(id, at=_when(request.get("at")), **given)


def _when(at: datetime | date | str | None) -> datetime | None:
    if isinstance(at, str):
        return datetime.fromisoformat(at)
    if isinstance(at, date) and not isinstance(at, datetime):
        return datetime.combine(at, time())
    return at


def _instant(at: datetime) -> timedelta:
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime(1, 1, 1, tzinfo=UTC)


def _filled(request: Request, mark: str) -> Request:
    return {
        name: value.replace("@@", mark) if isinstance(value, str) else value
        for name, value in request.items()
    }


def _marks(text: str) -> set[str]:
    return set(MARKS.findall(text))


def flipped(value: Any) -> Iterator[Any]:
    """Give every copy of a record, or of a tuple, in which exactly one number is another; the next
    one there is.
    """
    if isinstance(value, bool | str) or value is None:
        return
    if isinstance(value, int):
        yield value + 1
    elif isinstance(value, float):
        yield math.nextafter(value, math.inf)
    elif isinstance(value, tuple):
        for n, part in enumerate(value):
            yield from ((*value[:n], other, *value[n + 1 :]) for other in flipped(part))
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            for other in flipped(getattr(value, each.name)):
                change = {each.name: other}
                yield replace(value, **change)


#: Where a database syncs in no time, if there is such a place; else the usual folder.
_IN_RAM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

#: Calls that must be refused with InvalidInput, and leave everything as it was.
REFUSED: tuple[Callable[[SlotMemory], object], ...] = (
    lambda memory: memory.ingest(" \n\t"),
    lambda memory: memory.ingest("fine", trust=1.5),
    lambda memory: memory.ingest("fine", at="the day before"),
    lambda memory: memory.ingest_many([{"text": "fine"}, {"text": ""}]),
    lambda memory: memory.ingest_many([{"text": "fine"}, {"text": "fine", "colour": "red"}]),
    lambda memory: memory.read("boiler", limit=0),
    lambda memory: memory.read(""),
    lambda memory: memory.answer(" "),
    lambda memory: memory.feedback("a1"),
    lambda memory: memory.feedback("a1", reward=float("nan")),
    lambda memory: memory.feedback("a1", reward=1.01),
    lambda memory: memory.forget(),
    lambda memory: memory.forget("e1", source_id="d1"),
    lambda memory: memory.feedback("a1", thumbs=1),  # type: ignore[arg-type]
    lambda memory: memory.feedback("a1", outcome=1.5),
    lambda memory: memory.feedback("a1", agreement=[]),
    lambda memory: memory.feedback("a1", reward=1.0, judge=True),
    lambda memory: memory.feedback("a1", reference="a", correction="b"),
    lambda memory: memory.merge(memory.slots[0].number, into=memory.slots[0].number),
    lambda memory: memory.rename(memory.slots[0].number, " "),
    lambda memory: memory.pin(-1),
)
#: Calls that must be refused with NotFound.
UNKNOWN: tuple[Callable[[SlotMemory], object], ...] = (
    lambda memory: memory.feedback("a999", reward=1.0),
    lambda memory: memory.forget("e999"),
    lambda memory: memory.forget(source_id="nobody"),
    lambda memory: memory.undo("c999"),
    lambda memory: memory.rename(99, "kitchen"),
    lambda memory: memory.pin(99),
    lambda memory: memory.merge(memory.slots[0].number, into=99),
    lambda memory: memory.merge(99, into=memory.slots[0].number),
)


# -- the machine
# ---------------------------------------------------------------------------------------------------


class MemoryMachine(RuleBasedStateMachine):
    """Rules are what a user may do; invariants are checked after every one of them."""

    #: How often each thing worth reaching was reached, over all runs of this class.
    tally: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="demem-machine-", dir=_IN_RAM)
        self.ledger = Ledger()
        self.memory: SlotMemory | None = None
        self.unsplit: tuple[str, str] | None = None
        self.readings: list[str] = []
        self.scanned = ""
        self.interrupted: str | None = None
        self.replayed: set[SplitCertificate] = set()
        self.pinned_before: dict[int, set[str]] = {}
        self.ingested_before = 0

    def encoder(self, dimensions: int) -> Encoder:
        return bag(dimensions)

    @initialize(
        setup=setups(), first=st.lists(turns(), min_size=3, max_size=8), learn=st.integers(0, 6)
    )
    def begin(self, setup: Setup, first: list[Request], learn: int) -> None:
        self.setup = setup
        self.dimensions = 16
        self.path = Path(self.folder.name) / "memory.db"
        self.store = self._new_store()
        self.memory = SlotMemory.open(self.store, **self._options())
        self.twin = SlotMemory(**self._options())
        self.neighbours = [
            SlotMemory.open(self.store, **self._options() | where) for where in NEIGHBOURS
        ]
        for n, neighbour in enumerate(self.neighbours):
            neighbour.ingest(f"The boiler valve is nb{n:04d}zz.", source_id="d1", key="k1")
            neighbour.answer("boiler valve")
        self.apart = [neighbour.fingerprint() for neighbour in self.neighbours]
        for turn in first:
            self.ingest(turn, None)
        self.ask_and_learn(0, learn, "reference", None)

    def teardown(self) -> None:
        if self.memory is not None:
            self.store.close()
        self.folder.cleanup()

    # -- what a user does
    # ------------------------------------------------------------------------------------------

    @rule(turn=turns(), key=st.sampled_from(KEYS))
    def ingest(self, turn: Request, key: str | None) -> None:
        request = _filled(turn, self.ledger.mark())
        if key in self.ledger.keyed or key in self.ledger.reported:
            return self._clash(lambda memory: memory.ingest(**request, key=key))
        full = len(self.it.slots)
        done = self._same(lambda memory: memory.ingest(**request, key=key))
        assert len(self.it.slots) == full + done.opened, (
            "a slot is opened if and only if the result says so"
        )
        self.unsplit = None
        self._entered(request, key, done)

    @rule(
        turns=st.lists(st.tuples(turns(), st.sampled_from(KEYS)), min_size=1, max_size=4),
        twice=st.booleans(),
    )
    def ingest_many(self, turns: list[tuple[Request, str | None]], twice: bool) -> None:
        batch = [(_filled(turn, self.ledger.mark()), key) for turn, key in turns]
        batch += batch[:1] if twice else []
        given = [{**request, "key": key} for request, key in batch]
        known = self.ledger.keyed.keys() | self.ledger.reported.keys()
        if any(key in known for _, key in batch) or _clashing(batch):
            return self._refused(lambda memory: memory.ingest_many(given), IdempotencyConflict)
        done = self.it.ingest_many(given)
        assert done == [self.twin.ingest(**one) for one in given], (
            "many at once place as one by one"
        )
        self.unsplit = None
        for (request, key), result in zip(batch, done, strict=True):
            self._entered(request, key, result)

    @rule(turn=turns(), written=st.booleans())
    def ingest_while_the_store_fails(self, turn: Request, written: bool) -> None:
        request = _filled(turn, self.ledger.mark()) | {"key": f"once {self.ledger.issued}"}
        before = self.it.fingerprint()
        self.store.break_after(0, written)
        try:
            self.it.ingest(**request)
        except StoreError:
            pass
        else:
            raise AssertionError("StoreError was not raised")
        # What was written, though nobody was told, is there to be seen; the key makes the retry
        # below count once.
        assert written or self.it.fingerprint() == before, "a failed commit changed the state"
        self.unsplit = None
        self._entered(request, None, self._same(lambda memory: memory.ingest(**request)))
        self._saw("lost acknowledgement" if written else "failed commit")

    @precondition(lambda self: self.ledger.keyed)
    @rule(pick=picks())
    def ingest_again_under_the_same_key(self, pick: int) -> None:
        key, (request, result) = self._picked(self.ledger.keyed, pick)
        self._idle(lambda memory: memory.ingest(**request, key=key), result)
        self._idle(lambda memory: memory.ingest_many([{**request, "key": key}])[0], result)
        self._saw("replayed ingest")

    @rule(
        ask=asks(),
        limit=st.none() | st.integers(1, 700),
        mode=st.sampled_from((None, "evidence", "strict")),
    )
    def route_and_read(self, ask: Ask, limit: int | None, mode: Mode | None) -> None:
        query = self._query(ask)
        before = self.it.fingerprint()
        route = self._same(lambda memory: memory.route(query, at=ask.at))
        assert set(route.scores) == {slot.number for slot in self.it.slots}, (
            "not every active slot is scored"
        )
        assert route.slot is None or route.scores[route.slot] == max(route.scores.values()), (
            "not the best slot"
        )
        reading = self._same(lambda memory: memory.read(query, limit=limit, mode=mode, at=ask.at))
        self._check_reading(reading, limit or self.setup.read_limit, mode or self.setup.mode)
        assert reading.mode == "evidence" or set(reading.slots) <= {route.slot}, (
            "a strict reading is of another slot"
        )
        assert self.it.fingerprint() == before, "reading changed the state"
        for neighbour in self.neighbours:
            assert not _marks(neighbour.read(query).text), "a neighbour reads what is not its own"

    @rule(ask=asks())
    def answer(self, ask: Ask) -> None:
        self._answer(self._query(ask), ask.at)

    @precondition(lambda self: self.ledger.queries)
    @rule(pick=picks(), telling=tellings(), key=st.sampled_from(KEYS), again=st.booleans())
    def tell(self, pick: int, telling: Telling, key: str | None, again: bool) -> None:
        """Tell something of any answer so far, however long ago; perhaps twice, without a key to
        know it by.
        """
        answer = self._picked(self.ledger.queries, pick)[0]
        told = self._told(answer, telling)
        self._feedback(answer, told, key)
        if again:
            self._feedback(answer, told, None)
            self._saw("repeated without a key")

    @precondition(lambda self: self.ledger.queries)
    @rule(picked=st.lists(st.tuples(picks(), tellings(NUMERIC)), min_size=2, max_size=5))
    def tell_in_any_order(self, picked: list[tuple[int, Telling]]) -> None:
        """Feedback that comes late, or in another order, comes to the same as long as nothing is
        split by it.
        """
        answers = [
            (self._picked(self.ledger.queries, pick)[0], telling) for pick, telling in picked
        ]
        told = [(answer, self._told(answer, telling)) for answer, telling in answers]
        lines, came = self.it.export(), []
        for order in (told, told[::-1]):
            with SlotMemory.restore(lines, **self._unsplitting()) as copy:
                for answer, given in order:
                    copy.feedback(answer, **given)
                copy.check()
                came.append([_known(context) for context in copy.contexts()])
        assert came[0] == came[1], "what feedback comes to depends on its order"
        for answer, given in told:
            self._feedback(answer, given, None)
        self._saw("told in another order")

    @precondition(lambda self: self.ledger.queries)
    @rule(pick=picks(), of=picks(), good=st.integers(0, 1), written=st.booleans())
    def correct_while_the_store_fails(self, pick: int, of: int, good: int, written: bool) -> None:
        """A correction is remembered by an operation of its own, before the one that records the
        feedback.
        """
        answer = self._picked(self.ledger.queries, pick)[0]
        told = self._told(answer, Telling("correction", of))
        self._feedback(answer, told, f"told {len(self.ledger.reported)}", failing=(good, written))

    @precondition(lambda self: self.ledger.live)
    @rule(
        first=picks(),
        count=st.integers(2, 6),
        how=st.sampled_from(
            ("reference", "reference", "reference", "correction", "judge", "thumbs")
        ),
        key=st.sampled_from(KEYS),
    )
    def ask_and_learn(self, first: int, count: int, how: str, key: str | None) -> None:
        """Ask for several remembered sentences and tell how each was answered: this is what splits."""
        for pick in range(first, first + count):
            self._ask_and_tell(pick, how, key if pick == first else None)

    @precondition(lambda self: self.ledger.live)
    @rule(
        first=picks(),
        count=st.integers(2, 6),
        how=st.sampled_from(("reference", "judge", "correction")),
    )
    def ask_and_learn_and_undo(self, first: int, count: int, how: str) -> None:
        for pick in range(first, first + count):
            made = self._ask_and_tell(pick, how, None)
            if made is not None:
                return self._undo(made.id)

    @precondition(lambda self: self.ledger.live and isinstance(self.setup.answerer, FickleAnswerer))
    @rule(first=picks(), second=picks())
    def ask_again_and_again(self, first: int, second: int) -> None:
        """Reward two questions for opposite answers, until it is certain that no answer serves
        both.
        """
        asked = [f"Was it so? {self.ledger.sentence(pick)}" for pick in (first, second)]
        for n in range(2 * ROUNDS if asked[0] != asked[1] else 0):
            for right, question in enumerate(asked):
                answer = self._answer(question, date(FickleAnswerer.YEAR, 1, n + 1))
                if self._feedback(answer, {"reward": float(n % 2 == right)}, None) is not None:
                    return

    @precondition(lambda self: self.memory is not None and self._witnesses())
    @rule(pick=picks(), into=picks(), first=picks(), count=st.integers(1, 4))
    def free_a_slot_and_learn(self, pick: int, into: int, first: int, count: int) -> None:
        """Make room for a suppressed witness, and give the feedback after which it may be acted on."""
        for slot in sorted(self.ledger.pins):
            self._pin(slot, False)
        if len(self.it.slots) == self.setup.slots:
            self._merge(pick, into)
        for other in range(first, first + count if self.ledger.live else first):
            self._ask_and_tell(other, "reference", None)

    @precondition(lambda self: self.memory is not None and self.it.slots)
    @rule(
        pick=picks(),
        name=st.sampled_from(("Kitchen", "Kitchen", "Ünï 🎻", None)),
        of=st.none() | picks(),
    )
    def rename(self, pick: int, name: str | None, of: int | None) -> None:
        """Give a slot a name, which may be a quotation."""
        slot = self.it.slots[pick % len(self.it.slots)].number
        given = self.ledger.sentence(of) if of is not None and self.ledger.live else name
        before = self.it.fingerprint()
        self._same(lambda memory: memory.rename(slot, given))
        assert self.it.fingerprint() != before, "renaming is an operation"
        self.ledger.names.pop(slot, None)
        if given is not None:
            self.ledger.names[slot] = given
        self.unsplit = None
        self._saw("renamed")

    @precondition(lambda self: self.ledger.live)
    @rule(pick=picks(), of=picks())
    def rename_and_forget(self, pick: int, of: int) -> None:
        """Name a slot by a quotation, and forget what is quoted."""
        self.rename(pick, None, of)
        items = list(self.ledger.live)
        self._forget({"evidence_id": items[of % len(items)]}, {items[of % len(items)]})

    @precondition(lambda self: self.memory is not None and self.it.slots)
    @rule(pick=picks(), pinned=st.sampled_from((True, True, False)))
    def pin(self, pick: int, pinned: bool) -> None:
        self._pin(self.it.slots[pick % len(self.it.slots)].number, pinned)

    @precondition(lambda self: self.memory is not None and len(self.it.slots) > 1)
    @rule(pick=picks(), into=picks(), held=st.booleans())
    def merge(self, pick: int, into: int, held: bool) -> None:
        if held:
            self._pin(self.it.slots[pick % len(self.it.slots)].number, True)
        self._merge(pick, into)

    @precondition(lambda self: self.ledger.reported)
    @rule(pick=picks())
    def give_feedback_again_under_the_same_key(self, pick: int) -> None:
        key, (request, _) = self._picked(self.ledger.reported, pick)
        self._learn_again(key)
        self._clash(lambda memory: memory.feedback(request["answer"], reward=0.123, key=key))

    def _learn_again(self, key: str) -> None:
        """Give feedback again: its certificate comes back as it stands now."""
        request, report = self.ledger.reported[key]
        now = self.ledger.certificates[report.certificate.id] if report.certificate else None
        self._idle(
            lambda memory: memory.feedback(**request, key=key), replace(report, certificate=now)
        )
        self._saw("replayed feedback")

    @precondition(lambda self: self.ledger.live)
    @rule(pick=picks())
    def forget_one(self, pick: int) -> None:
        newest_first = list(reversed(self.ledger.live))
        item = newest_first[pick % len(newest_first)]
        self._forget({"evidence_id": item}, {item})

    @rule(
        pick=picks(),
        before=st.none() | st.sampled_from([when for when in WHENS if when is not None]),
    )
    def forget_several(self, pick: int, before: datetime | date | str | None) -> None:
        live = self.ledger.live.values()
        named = [item.source_id for item in live if item.source_id]
        limit = _when(before)
        if limit is not None:
            older = {e.id for e in live if e.at is not None and _instant(e.at) < _instant(limit)}
            self._forget({"before": before}, older)
        elif named:
            source_id = named[pick % len(named)]
            self._forget(
                {"source_id": source_id}, {item.id for item in live if item.source_id == source_id}
            )

    @precondition(lambda self: self.ledger.certificates)
    @rule(pick=picks(), held=st.booleans())
    def undo(self, pick: int, held: bool) -> None:
        standing = {
            id: made
            for id, made in self.ledger.certificates.items()
            if made.decision == "split" and not made.undone
        }
        id, made = self._picked(standing or self.ledger.certificates, pick)
        if held and made.new_slot is not None and not made.undone:
            self._pin(made.new_slot, True)
        self._undo(id)

    @precondition(lambda self: self.readings)
    @rule(pick=picks(), around=st.none() | turns(), cut=st.booleans())
    def ingest_what_was_read(self, pick: int, around: Request | None, cut: bool) -> None:
        rendered = self.readings[pick % len(self.readings)]
        rendered = rendered[: rendered.rindex("\n")] if cut else rendered
        self.unsplit = None
        self._saw("re-ingested reading")
        if around is None:
            done = self._same(lambda memory: memory.ingest(rendered, speaker="assistant"))
            assert done == Ingested(None, None, skipped=True), (
                "text rendered by read came back as evidence"
            )
            return
        own = _filled(around, self.ledger.mark())
        request = own | {"text": f"{own['text']}\n{rendered}"}
        done = self._same(lambda memory: memory.ingest(**request))
        stored = self.it.evidence()[-1].text
        assert _marks(stored) == _marks(own["text"]), (
            "text rendered by read came back inside new evidence"
        )
        assert stored.strip() == own["text"].strip(), "what was not rendered is kept as it is"
        self.ledger.enter(request | {"text": stored}, done)

    @rule(turn=turns())
    def export_and_restore(self, turn: Request) -> None:
        """What is restored is the same, and goes on the same."""
        lines = self.it.export()
        target = Path(self.folder.name) / "restored.db"
        url = f"sqlite:///{target}" if self.setup.sqlite else "memory://"
        with SlotMemory.restore(json.loads(json.dumps(lines)), url, **self._options()) as copy:
            copy.check()
            assert copy.fingerprint() == self.it.fingerprint(), "a restored memory differs"
            assert copy.export() == lines, "a restored memory exports something else"
            assert copy.read("boiler violin") == self.it.read("boiler violin"), (
                "a restored memory reads otherwise"
            )
            self.ingest(turn | {"session": self.interrupted}, None)
            copy.ingest(
                **_filled(turn | {"session": self.interrupted}, f"mk{self.ledger.issued:04d}zz")
            )
            assert copy.fingerprint() == self.it.fingerprint(), (
                "a restored memory goes on otherwise"
            )
        for file in target.parent.glob("restored.db*"):
            file.unlink()
        self._saw("restored")

    @rule(turn=turns())
    def close_and_reopen(self, turn: Request) -> None:
        before, lines = self.it.fingerprint(), self.it.export()
        self.store.close()
        if self.setup.sqlite:
            self.store = self._new_store()
        self.memory = SlotMemory.open(self.store, **self._options())
        options = [self._options(16) | where for where in NEIGHBOURS]
        self.neighbours = [SlotMemory.open(self.store, **each) for each in options]
        assert self.it.fingerprint() == before, "a reopened memory differs"
        assert self.it.export() == lines, "a reopened memory exports something else"
        assert [one.fingerprint() for one in self.neighbours] == self.apart, (
            "a reopened neighbour differs"
        )
        self.ingest(turn | {"session": self.interrupted}, None)
        self._saw("reopened")

    @rule(dimensions=st.sampled_from((8, 16, 24)))
    def reembed(self, dimensions: int) -> None:
        before = self._placed()
        summaries = [slot.summary for slot in self.it.slots]
        self.dimensions, self.unsplit = dimensions, None
        count = self._same(lambda memory: memory.reembed(self.encoder(dimensions)))
        assert count == len(self.ledger.live), "reembed encodes every live item"
        assert self._placed() == before, "reembed leaves evidence in its slots"
        assert [slot.summary for slot in self.it.slots] == summaries, (
            "reembed leaves summaries as they are"
        )

    @rule(which=st.integers(0, 1), text=cut_texts())
    def ingest_next_door(self, which: int, text: str) -> None:
        before = self.it.fingerprint()
        neighbour = self.neighbours[which]
        neighbour.ingest(text.replace("@@", f"nb{self.ledger.issued:04d}zz"))
        self.apart[which] = neighbour.fingerprint()
        neighbour.check()
        assert not MARKS.search(json.dumps(neighbour.export())), (
            "this memory's text is in a neighbour"
        )
        assert self.it.fingerprint() == before, "a neighbour's operation changes this memory"

    @rule(
        call=st.sampled_from(
            [(call, InvalidInput) for call in REFUSED] + [(call, NotFound) for call in UNKNOWN]
        )
    )
    def ask_for_the_impossible(
        self, call: tuple[Callable[[SlotMemory], object], type[DeMemError]]
    ) -> None:
        self._refused(*call)

    # -- what must hold after each
    # ---------------------------------------------------------------------------------

    @invariant()
    def checks_pass(self) -> None:
        self.it.check()

    @invariant()
    def budgets_hold(self) -> None:
        """Invariant 1, with the test's own measure."""
        slots = self.it.slots
        assert len({slot.number for slot in slots}) == len(slots) <= self.setup.slots, (
            "more than K slots"
        )
        for slot in slots:
            assert 0 <= slot.number < self.setup.slots, "a slot number is not below K"
            size = self.setup.measure(slot.summary)
            assert size == slot.size, "a slot misstates the size of its summary"
            assert size <= self.setup.slot_limit, "a summary exceeds L"

    @invariant()
    def evidence_is_what_was_ingested_less_what_was_forgotten(self) -> None:
        """Invariant 2: nothing lost, nothing altered, nothing made up."""
        assert self.it.evidence() == tuple(self.ledger.live.values()), (
            "live evidence is not ingested less forgotten"
        )
        assert len(self.it) == len(self.ledger.live), "the length is not the number of live items"

    @invariant()
    def slots_partition_the_evidence(self) -> None:
        """Invariant 3: every item in one slot; a summary says nothing but what it covers."""
        held = [item for slot in self.it.slots for item in slot.evidence]
        assert sorted(held) == sorted(self.ledger.live), (
            "slots do not hold every live item exactly once"
        )
        for slot in self.it.slots:
            assert set(slot.cover) <= set(slot.evidence), (
                "a summary covers evidence of another slot"
            )
            covered = repr([self.ledger.live[item] for item in slot.cover])
            assert _marks(slot.summary) <= _marks(covered), (
                "a summary holds text that it does not cover"
            )
            assert bool(slot.summary) == bool(slot.cover), (
                "a summary has no cover, or a cover no summary"
            )

    @invariant()
    def the_twin_agrees(self) -> None:
        """Invariant 5: the same operations in the same order give the same state."""
        assert self.it.fingerprint() == self.twin.fingerprint(), "the twin's state differs"
        assert self.it.contexts() == self.twin.contexts(), "the twin's contexts differ"
        assert self.it.certificates() == self.twin.certificates(), "the twin's certificates differ"

    @invariant()
    def decisions_are_kept(self) -> None:
        """Every answer and every reward, in order; a query is as it was asked, or blanked with what
        it quoted.
        """
        contexts = self.it.contexts()
        assert [c.id for c in contexts] == list(self.ledger.queries), (
            "contexts are not the answers given"
        )
        active = {slot.number for slot in self.it.slots}
        for context in contexts:
            assert context.rewards == self.ledger.rewards[context.id], (
                "the rewards of a context are not those given"
            )
            asked = self.ledger.queries[context.id]
            assert context.query == asked or (context.redacted and not context.query), (
                "a query was altered"
            )
            assert context.slot is None or context.slot in active, "a context is in no active slot"

    @invariant()
    def certificates_are_kept(self) -> None:
        """Invariant 4, and half of 7: certificates are appended, undone and redacted; nothing else
        happens to them.
        """
        assert self.it.certificates() == tuple(self.ledger.certificates.values()), (
            "certificates were altered"
        )

    @invariant()
    def certificates_replay(self) -> None:
        """Every certificate comes to its own decision again, and with any one number changed it is
        refused.
        """
        for certificate in self.it.certificates():
            if certificate in self.replayed:  # what it comes to depends on nothing else
                continue
            found = replay(certificate)
            assert (found.decision, found.radius) == (certificate.decision, certificate.radius), (
                "another decision"
            )
            assert certificate.regime in ("guard band", "confidence sequence"), (
                "a certificate without a test"
            )
            for other in flipped(certificate):
                assert _is_refused(other), "a certificate with one number changed is accepted"
            self.replayed.add(certificate)

    @invariant()
    def slots_are_as_they_were_arranged(self) -> None:
        """Names and pins are the user's; every parent is active, and no slot descends from itself."""
        slots = {slot.number: slot for slot in self.it.slots}
        assert {
            n: slot.name for n, slot in slots.items() if slot.name is not None
        } == self.ledger.names, "names"
        assert {n for n, slot in slots.items() if slot.pinned} == self.ledger.pins, "pins"
        for slot in slots.values():
            above, parent = {slot.number}, slot.parent
            while parent is not None:
                assert parent in slots, "a parent is not active"
                assert parent not in above, "a slot descends from itself"
                above.add(parent)
                parent = slots[parent].parent

    @invariant()
    def pinned_slots_keep_their_division(self) -> None:
        """What is in a pinned slot stays there until it is forgotten, and only what is new comes
        in.
        """
        now = self._placed()
        for slot in self.pinned_before.keys() & self.ledger.pins:
            kept = self.pinned_before[slot] & self.ledger.live.keys()
            assert kept <= now[slot], "a pinned slot has lost evidence"
            came = {int(item[1:]) for item in now[slot] - kept}
            assert all(number > self.ingested_before for number in came), (
                "a pinned slot was given other evidence"
            )
        self.pinned_before = {slot: now[slot] for slot in self.ledger.pins}
        self.ingested_before = self.ledger.ingested

    @invariant()
    def nothing_forgotten_is_left(self) -> None:
        """Invariant 8: neither in what the memory shows, nor in what it exports, nor in its files."""
        forbidden = self.ledger.forbidden()
        shown = [repr((self.it.slots, self.it.contexts(), self.it.certificates()))]
        if forbidden and self.scanned != self.it.fingerprint():
            self.scanned = self.it.fingerprint()
            shown += [
                json.dumps(self.it.export()),
                *(f.read_bytes().decode("latin-1") for f in self._files()),
            ]
        for text in shown:
            assert forbidden.isdisjoint(MARKS.findall(text)), "forgotten text is left"

    @invariant()
    def neighbours_are_strangers(self) -> None:
        """Invariant 9: no memory changes, or shows anything of, another."""
        shown = repr(
            (self.it.evidence(), self.it.slots, self.it.contexts(), self.it.certificates())
        )
        assert not NEIGHBOUR_MARKS.search(shown), "a neighbour's text is in this memory"
        for neighbour, before in zip(self.neighbours, self.apart, strict=True):
            assert neighbour.fingerprint() == before, (
                "an operation on this memory changed a neighbour"
            )

    # -- operations that several rules share
    # -----------------------------------------------------------------------

    @property
    def it(self) -> SlotMemory:
        assert self.memory is not None
        return self.memory

    def _answer(self, query: str, at: datetime | date | str | None) -> str:
        answer = self._same(lambda memory: memory.answer(query, at=at))
        assert answer.id == f"a{len(self.ledger.queries) + 1}", "answers are numbered in order"
        self._check_reading(answer.reading, self.setup.read_limit, self.setup.mode)
        self.ledger.queries[answer.id] = query
        self.ledger.asked[answer.id] = _when(at)
        self.ledger.rewards[answer.id] = ()
        self.unsplit = None
        return answer.id

    def _told(self, answer: str, telling: Telling) -> Request:
        """Give the arguments of feedback, now that it is known what there is to quote."""
        value = telling.value
        if telling.channel in ("reference", "correction"):
            blank = self._context(answer).redacted
            new = (
                telling.channel == "correction"
                and not blank
                and (value % 2 == 1 or not self.ledger.live)
            )
            quoted = self.ledger.sentence(value) if self.ledger.live else "Not so."
            value = f"No. The violin bow is {self.ledger.mark()}." if new else quoted
        beside = {} if telling.reward is None else {"reward": telling.reward}
        return {telling.channel: value, **beside}

    def _ask_and_tell(self, pick: int, how: str, key: str | None) -> SplitCertificate | None:
        sentence = self.ledger.sentence(pick)
        told = sentence if how in ("reference", "correction") else True
        return self._feedback(self._answer(sentence, None), {how: told}, key)

    def _feedback(
        self,
        answer: str,
        given: Mapping[str, Any],
        key: str | None,
        failing: tuple[int, bool] | None = None,
    ) -> SplitCertificate | None:
        request = {"answer": answer, **given}
        if key in self.ledger.reported and self.ledger.reported[key][0] == request:
            self._learn_again(key)
            return None
        if key in self.ledger.keyed or key in self.ledger.reported:
            self._clash(lambda memory: memory.feedback(**request, key=key))
            return None
        before, placed, context = self.it.export(), self._placed(), self._context(answer)
        self._note_delay(answer, context)
        if failing is not None:
            self._fail(lambda: self.it.feedback(**request, key=key), *failing)
        report = self._same(lambda memory: memory.feedback(**request, key=key))
        self._check_report(report, given)
        self._check_remembered(report, context, given)
        self.ledger.rewards[answer] += (report.reward,)
        if key is not None:
            self.ledger.reported[key] = (request, report)
        self.unsplit = None
        if report.certificate is None:
            now = self._placed()
            assert all(items <= now[slot] for slot, items in placed.items()), (
                "feedback without a certificate moved"
            )
            return None
        self._compare_unsplit(before, request, report.certificate)
        return report.certificate

    def _note_delay(self, answer: str, context: Context) -> None:
        """Note whether much has come between an answer and what is told of it."""
        splits = [
            made.pair for made in self.ledger.certificates.values() if made.decision == "split"
        ]
        if any(int(answer[1:]) < int(other[1:]) for pair in splits for other in pair):
            self._saw("feedback after a split")
        if context.redacted:
            self._saw("feedback after forgetting")

    def _fail(self, act: Callable[[], object], good: int, written: bool) -> None:
        """Do something while one commit fails; if there are fewer commits than that, none does."""
        before, live = self.it.fingerprint(), self.it.evidence()
        self.store.break_after(good, written)
        try:
            act()
        except StoreError:
            self._saw("failed commit of feedback")
        self.store.break_after(-1, False)
        if not written and not good:
            assert self.it.fingerprint() == before, "a failed commit changed the state"
        assert self.it.evidence()[: len(live)] == live, "a failed commit lost evidence"

    def _check_remembered(
        self, report: FeedbackReport, context: Context, given: Mapping[str, Any]
    ) -> None:
        """A correction becomes one item of evidence, once; nothing else that is told does."""
        if "correction" not in given or context.redacted:
            assert report.remembered is None, "something else than a correction was remembered"
            if "correction" in given:
                self._saw("correction of a forgotten answer")
            return
        request = self.ledger.correction(report.answer_id, given["correction"])
        known = self.ledger.remembered(request)
        if known is None:
            slot = next(
                number for number, items in self._placed().items() if report.remembered in items
            )
            self.ledger.enter(request, Ingested(report.remembered, slot))
            self._saw("remembered correction")
        else:
            assert report.remembered == known, "a correction was remembered twice"

    def _compare_unsplit(
        self, before: list[Request], request: Request, made: SplitCertificate
    ) -> None:
        """Find out what the state would be had the conflict not been tested for, and check the
        certificate by that.
        """
        with SlotMemory.restore(before, **self._unsplitting()) as copy:
            copy.feedback(**request)
            unsplit, placed = (
                copy.fingerprint(),
                {slot.number: set(slot.evidence) for slot in copy.slots},
            )
        self._check_certificate(made, placed)
        if made.decision == "split":
            self.unsplit = (made.id, unsplit)
        else:
            assert self.it.fingerprint() == unsplit, "a suppressed witness changed the state"

    def _unsplitting(self) -> dict[str, Any]:
        return self._options() | {"split": replace(self.setup.split, pairs=0)}

    def _pin(self, slot: int, pinned: bool) -> None:
        self._same(lambda memory: memory.pin(slot, pinned))
        self.ledger.pins = self.ledger.pins | {slot} if pinned else self.ledger.pins - {slot}
        self.pinned_before = {}
        self.unsplit = None
        self._saw("pinned" if pinned else "unpinned")

    def _merge(self, pick: int, into: int) -> None:
        numbers = [slot.number for slot in self.it.slots]
        number = numbers[pick % len(numbers)]
        target = (
            [other for other in numbers if other != number][into % (len(numbers) - 1)]
            if numbers[1:]
            else number
        )
        if number == target or self.ledger.pins & {number, target}:
            self._saw("merge refused")
            return self._refused(lambda memory: memory.merge(number, into=target), InvalidInput)
        before = self._placed()
        self._same(lambda memory: memory.merge(number, into=target))
        self._check_merged(before, number, target)
        self._saw("merged")

    def _check_merged(self, before: dict[int, set[str]], number: int, target: int) -> None:
        moved = before.pop(number)
        assert self._placed() == before | {target: before[target] | moved}, (
            "a merge loses or moves other items"
        )
        self.ledger.close(number)
        self.unsplit = None
        slots, home = (
            {slot.number: slot for slot in self.it.slots},
            {c.id: c.slot for c in self.it.contexts()},
        )
        for made in list(self.ledger.certificates.values()):
            if made.decision == "split" and not made.undone and made.new_slot is not None:
                joined = all(home[answer] == target for answer in made.pair)
                if joined or made.new_slot == number or slots[made.new_slot].parent is None:
                    self.ledger.certificates[made.id] = replace(made, undone=True)
                    self._saw("split taken back by merging")

    def _witnesses(self) -> bool:
        return any(made.decision == "suppressed" for made in self.ledger.certificates.values())

    def _context(self, answer: str) -> Context:
        return next(context for context in self.it.contexts() if context.id == answer)

    def _undo(self, certificate_id: str) -> None:
        certificate = self.ledger.certificates[certificate_id]
        parents = {slot.number: slot.parent for slot in self.it.slots}
        number = certificate.new_slot
        if certificate.undone or number is None:
            return self._refused(lambda memory: memory.undo(certificate_id), InvalidInput)
        target = parents[number]
        assert target is not None, "a slot that was split off, and not merged, has a parent"
        if self.ledger.pins & {number, target}:
            self._saw("undo refused")
            return self._refused(lambda memory: memory.undo(certificate_id), InvalidInput)
        before = self._placed()
        self._same(lambda memory: memory.undo(certificate_id))
        if self.unsplit is not None and self.unsplit[0] == certificate_id:
            assert self.it.fingerprint() == self.unsplit[1], (
                "undo right after a split does not restore the state"
            )
            self.ledger.certificates[certificate_id] = replace(certificate, undone=True)
            self.unsplit = None
            return self._saw("exact undo")
        self._check_merged(before, number, target)
        assert self.ledger.certificates[certificate_id].undone, (
            "undo does not close the slot that the split opened"
        )
        self._saw("merging undo")

    def _forget(self, selector: Mapping[str, Any], gone: set[str]) -> None:
        placed, contexts = self._placed(), {c.id: c for c in self.it.contexts()}
        receipt = self._same(lambda memory: memory.forget(**selector))
        gone = self._with_corrections(set(receipt.evidence), gone)
        if not gone:
            return
        told = _marks(repr([self.ledger.live[item] for item in gone]))
        for item in gone:
            self.interrupted = self.ledger.live.pop(item).session
        forbidden = self.ledger.forbidden()
        misnamed = self._misnamed(told)
        touched = {slot for slot, items in placed.items() if items & gone}
        assert set(receipt.slots) == touched | misnamed, (
            "the receipt does not list the slots touched"
        )
        changed = {c.id for c in self.it.contexts() if c != contexts[c.id]}
        assert set(receipt.contexts) == changed, "the receipt does not list the contexts touched"
        self._redacted(receipt.certificates)
        self.readings = [text for text in self.readings if forbidden.isdisjoint(_marks(text))]
        self.unsplit = None
        self._saw("forgot")

    def _misnamed(self, told: set[str]) -> set[int]:
        """Take over which slots have lost their names, after checking that these have words of what
        is forgotten.
        """
        now = {slot.number: slot.name for slot in self.it.slots}
        misnamed = {slot for slot in self.ledger.names if now[slot] is None}
        for slot in misnamed:
            assert _marks(self.ledger.names.pop(slot)) & told, (
                "a name was forgotten that quotes nothing forgotten"
            )
            self._saw("forgotten name")
        return misnamed

    def _with_corrections(self, gone: set[str], selected: set[str]) -> set[str]:
        """Check what else went: corrections alone, and all of them that quote what was selected."""
        assert gone >= selected, "not all was forgotten that was selected"
        quoting = {
            item.id: self._quoted(item)
            for item in self.ledger.live.values()
            if item.source == "correction"
        }
        assert gone - selected <= quoting.keys(), (
            "forgotten is what was selected, and what corrections made of it"
        )
        lost = {mark for mark, owner in self.ledger.owners.items() if owner in selected}
        for item, marks in quoting.items():
            assert item in gone or not marks & lost, (
                "a correction that quotes what is forgotten is left"
            )
        if gone - selected:
            self._saw("forgotten correction")
        return gone

    def _quoted(self, item: Evidence) -> set[str]:
        """Give the marks in a correction, its question included."""
        return _marks(
            f"{item.text} {self.ledger.queries[str(item.source_id).removeprefix('correction:')]}"
        )

    def _redacted(self, listed: Iterable[str]) -> None:
        """Take over what forgetting did to certificates, after checking that it did no more than it
        may.
        """
        for new in self.it.certificates():
            old = self.ledger.certificates[new.id]
            if new == old:
                continue
            self._saw("redacted certificate")
            assert new.id in listed, "the receipt does not list a certificate touched"
            assert new.redacted, "a redacted certificate does not say so"
            assert all(
                now in ("", was) for now, was in zip(new.queries, old.queries, strict=True)
            ), "queries altered"
            candidates = tuple(
                replace(now, cover=was.cover, answers=was.answers)
                for now, was in zip(new.candidates, old.candidates, strict=True)
            )
            numbers = replace(
                new, queries=old.queries, candidates=candidates, redacted=old.redacted
            )
            assert numbers == old, "forgetting changed more of a certificate than texts"
            self.ledger.certificates[new.id] = new

    # -- checks that several rules share
    # ---------------------------------------------------------------------------

    def _check_reading(self, reading: Reading, limit: int, mode: Mode) -> None:
        assert (reading.limit, reading.mode) == (limit, mode), (
            "a reading misstates how it was asked for"
        )
        size = self.setup.measure(reading.text)
        assert size == reading.size, "a reading misstates its size"
        assert size <= limit, "a reading exceeds its limit"
        for item in reading.evidence:
            assert item == self.ledger.live.get(item.id), (
                "a reading gives evidence that is not live"
            )
        shown = repr(reading.evidence)
        assert _marks(reading.text) <= _marks(shown), (
            "a reading holds text of evidence that it does not name"
        )
        assert bool(reading.text) == bool(reading.evidence), (
            "a reading names nothing, or what it does not hold"
        )
        assert not NEIGHBOUR_MARKS.search(reading.text), "a reading holds a neighbour's text"
        holding = {
            slot
            for slot, items in self._placed().items()
            for e in reading.evidence
            if e.id in items
        }
        assert set(reading.slots) == holding, "a reading misstates the slots it is from"
        assert mode == "evidence" or len(holding) <= 1, "a strict reading is from one slot"
        if reading.text:
            self.readings.append(reading.text)

    def _check_report(self, report: FeedbackReport, given: Mapping[str, Any]) -> None:
        assert report.rewards, "feedback without rewards"
        assert all(0 <= reward <= 1 for reward in (*report.rewards.values(), report.reward)), (
            "reward outside [0, 1]"
        )
        assert report.failed is None, "feedback failed without a failing collaborator"
        if given.get("reward") is not None:
            assert report.rewards["reward"] == given["reward"], "the caller's reward was altered"

    def _check_certificate(self, made: SplitCertificate, placed: dict[int, set[str]]) -> None:
        """Check a certificate against the state as it would be without it and the state now."""
        assert made.id == f"c{len(self.ledger.certificates) + 1}", (
            "certificates are numbered in order"
        )
        shared = min(max(candidate.losses) for candidate in made.candidates)
        assert made.radius == shared > made.threshold, "a certificate's numbers do not certify"
        self._note_certificate(made)
        now, full, pinned = (
            self._placed(),
            len(placed) == self.setup.slots,
            made.slot in self.ledger.pins,
        )
        assert (made.saturated, made.pinned) == (full, pinned), (
            "a certificate misstates why it was suppressed"
        )
        limit = self.setup.split.tau_sat if full else self.setup.split.tau_split
        assert made.threshold == limit, "a certificate is by another threshold than the setting"
        if full or pinned:
            said = "K slots were active" if full else "a pinned slot was split"
            assert (made.decision, made.new_slot) == ("suppressed", None), said
            assert now == placed, "a suppressed witness moved evidence"
            return
        assert made.decision == "split", "a slot was free, yet the slot was not split"
        assert made.new_slot is not None
        assert made.new_slot not in placed, "a split opened a slot that was there already"
        assert now.pop(made.slot) | now.pop(made.new_slot) == placed.pop(made.slot), (
            "a split lost or gained evidence"
        )
        assert now == placed, "a split changed other slots"
        home = {context.id: context.slot for context in self.it.contexts()}
        assert [home[answer] for answer in made.pair] == [made.slot, made.new_slot], (
            "a split leaves its pair together"
        )

    def _note_certificate(self, made: SplitCertificate) -> None:
        earlier = [
            old.pair for old in self.ledger.certificates.values() if old.decision == "suppressed"
        ]
        self.ledger.certificates[made.id] = made
        self._saw(made.decision)
        self._saw(f"certificate by {made.channels[1]}")
        if made.regime == "confidence sequence":
            self._saw("certificate by repeated rewards")
        if made.pinned:
            self._saw("suppressed as pinned")
        if made.decision == "split" and made.pair in earlier:
            self._saw("suppressed witness acted on")

    def _entered(self, request: Request, key: str | None, done: Ingested) -> None:
        if key is not None and key in self.ledger.keyed:
            assert done == self.ledger.keyed[key][1], (
                "the same key in one batch gives the same result"
            )
            return
        assert not done.skipped, "a text was not remembered"
        self.ledger.enter(request, done)
        if key is not None:
            self.ledger.keyed[key] = (request, done)

    def _same(self, act: Callable[[SlotMemory], Result]) -> Result:
        """Do the same to the memory and to its twin; both must come to the same result."""
        result = act(self.it)
        assert act(self.twin) == result, "the twin gives another result"
        return result

    def _idle(self, act: Callable[[SlotMemory], Result], expected: Result) -> None:
        before = self.it.fingerprint()
        assert self._same(act) == expected, "the same key and request do not give the stored result"
        assert self.it.fingerprint() == before, "a replayed operation changed the state"

    def _clash(self, act: Callable[[SlotMemory], object]) -> None:
        self._refused(act, IdempotencyConflict)
        self._saw("key clash")

    def _refused(self, act: Callable[[SlotMemory], object], error: type[DeMemError]) -> None:
        for memory in (self.it, self.twin):
            before = memory.fingerprint()
            try:
                act(memory)
            except error:
                pass
            else:
                raise AssertionError(f"{error.__name__} was not raised")
            assert memory.fingerprint() == before, "a refused operation changed the state"

    def _query(self, ask: Ask) -> str:
        if ask.quoted is not None and self.ledger.live:
            return f"Was it so? {self.ledger.sentence(ask.quoted)}"
        return f"What about the {' and the '.join(ask.words)}?"

    def _placed(self) -> dict[int, set[str]]:
        return {slot.number: set(slot.evidence) for slot in self.it.slots}

    def _picked(self, things: Mapping[str, Result], pick: int) -> tuple[str, Result]:
        return list(things.items())[pick % len(things)]

    def _options(self, dimensions: int | None = None) -> dict[str, Any]:
        encoder = self.encoder(dimensions or self.dimensions)
        return {**self.setup.options(), **MAIN, "encoder": encoder, "answerer": self.setup.answerer}

    def _new_store(self) -> BreakableStore:
        return BreakableStore(
            open_store(f"sqlite:///{self.path}") if self.setup.sqlite else MemoryStore()
        )

    def _files(self) -> list[Path]:
        return sorted(Path(self.folder.name).glob("memory.db*"))

    def _saw(self, what: str) -> None:
        event(what)
        self.tally[what] += 1


def _known(context: Context) -> object:
    """Give what feedback has made known of a context; rewards in any order.

    Without what a good reward leaves behind though worse ones follow: its slot, and what it kept
    (test_order.py).
    """
    told = sorted(
        zip(context.told, context.rewards[len(context.rewards) - len(context.told) :], strict=True)
    )
    return context.id, context.channel, context.reference, context.supports, told


def _is_refused(certificate: SplitCertificate) -> bool:
    try:
        replay(certificate)
    except CertificateRefused:
        return True
    return False


def _clashing(batch: list[tuple[Request, str | None]]) -> bool:
    """Tell whether two turns of a batch share a key and nothing else."""
    first: dict[str, Request] = {}
    return any(
        key is not None and first.setdefault(key, request) != request for request, key in batch
    )


class StaticMachine(MemoryMachine):
    """The same with the encoder that ships, which a run may leave for a fake and come back to."""

    tally: ClassVar[Counter[str]] = Counter()

    def encoder(self, dimensions: int) -> Encoder:
        from demem_agent.encoders import default_encoder

        return default_encoder() if dimensions == 16 else bag(dimensions)


def scripted_run(seed: int) -> str:
    """Carry out some hundred operations drawn from a seed; give the fingerprint and all
    certificates.
    """
    draw = random.Random(seed)
    memory = SlotMemory(
        slots=4,
        slot_limit=100,
        encoder=bag(16),
        answerer=ReadingAnswerer(),
        split=SplitSettings(eta_cal=0.0),
    )
    for n in range(80):
        topic = draw.choice(TOPICS)
        memory.ingest(
            f"The {' '.join(draw.sample(topic, 2))} is mk{n:04d}zz.", session=draw.choice(SESSIONS)
        )
        told = draw.choice(memory.evidence()).text
        memory.feedback(memory.answer(told), reference=told)
        if n % 10 == 9:
            memory.forget(draw.choice(memory.evidence()).id)
    return f"{memory.fingerprint()} {memory.certificates()}"
