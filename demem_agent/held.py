"""One memory as its store has it: loaded, made if it is new, brought up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar

from demem_agent import flows, tracing
from demem_agent.drivers import Collaborators, Steps, drive
from demem_agent.encoders import describe
from demem_agent.errors import (
    EncoderMismatch,
    InvalidInput,
    MemoryGone,
    StaleState,
    StoreError,
)
from demem_agent.later import dataclass
from demem_agent.options import (
    Options,
    checked_encoder,
    clock_of,
    collaborators,
    score_theta_of,
    settings_given,
)
from demem_agent.settings import Settings
from demem_agent.slots.experiment import Experiment
from demem_agent.slots.records import Head
from demem_agent.slots.state import State
from demem_agent.stores import Address, DeletionReceipt, Rows, Store
from demem_agent.stores.ages import age_allowed
from demem_agent.stores.following import follow
from demem_agent.stores.loading import load_state
from demem_agent.stores.unencoded import unencoded
from demem_agent.text.remembered import forget_texts
from demem_agent.text.times.dates import moment
from demem_agent.text.units import measure, uncounted, warn_of_uncounted
from demem_agent.turns import time_field
from demem_agent.types import Context, Encoder, Evidence, Scorer, ScoreTheta, number_of

__all__ = ["LOOSE", "RETRIES", "Held", "only_if", "only_reads", "version_now"]

_Result = TypeVar("_Result")

#: Times an operation is tried again when another process has moved the memory on.
RETRIES = 5
#: Operations after which what they brought is packed.
LOOSE = 512

#: Settings that may differ from those a memory was made with: no invariant rests on them.
_CHANGEABLE = frozenset(
    {
        "read_limit",
        "mode",
        "decisions",
        "stale",
        "unknown",
        "known_from",
        "order",
        "floor",
        "split",
        "storage",
        "most_items",
        "when_full",
        "keep_days",
        "tenant_items",
    }
)


#: Flows that change nothing, by their rooms and names.
_READS = frozenset({"read.read", "read.route", "read.weigh", "advise.advise", "advise.tried"})


def only_reads(flow: Callable[..., object]) -> bool:
    """Whether a flow changes nothing, so that it may begin with what is a little old."""
    room = flow.__module__.rpartition(".")[2]
    return f"{room}.{flow.__name__}" in _READS


def version_now(store: Store, address: Address, seen: str) -> str:
    """Return the version of a memory now; none is loaded for that.

    Args:
        seen: its version when it was last looked at.

    Raises:
        MemoryGone: if it was deleted or renamed since.
    """
    era, _, _ = seen.rpartition("-")
    return f"{era}-{store.seq(address, int(era))}"


@dataclass(slots=True)
class _Condition:
    """What must hold of the version of a memory for it to be written to; once it was, no more."""

    require: Callable[[str], None]
    is_over: bool = False


#: That of the thread or task, if it has one.
_CONDITION: ContextVar[_Condition | None] = ContextVar("demem_condition", default=None)


@contextmanager
def only_if(require: Callable[[str], None]) -> Iterator[None]:
    """Have a memory be changed meanwhile only at a version that was looked at.

    Whoever writes in between, in this process or another, has the change be refused: it is written
    by the store for the version that was looked at and for no other.

    Args:
        require: raises what is to be raised where the version of the memory is another. It is asked
            as often as the memory is looked at, up to the first write.
    """
    token = _CONDITION.set(_Condition(require))
    try:
        yield
    finally:
        _CONDITION.reset(token)


class Held:
    """The state of one memory, and who carries out what its flows ask for.

    Not safe between threads: the memory that holds it has the lock.

    Args:
        options: as the user gave them.
        store: where the memory lives; in RAM unless given.
        skip_damaged: load what can be read of a damaged memory, instead of raising.
        reembed: accept a memory that was built with another encoder; it is encoded anew next.

    Raises:
        InvalidInput: for a setting that contradicts the stored one.
        EncoderMismatch: if the memory was built with another encoder.
        StoreError: if a row is damaged.
    """

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
        self._experiment = options.get("experiment", Experiment())
        self._skip_damaged = skip_damaged
        self._score_theta: ScoreTheta = options.get("score_theta", "linear")
        self._form = score_theta_of(self._score_theta)
        self.clock = clock_of(options)
        self.team = collaborators(options, store)
        self.reranking: Counter[str] | None = None if self.team.reranker is None else Counter()
        self.routing: Counter[str] | None = None if self.team.router is None else Counter()
        self.owns_store = False
        self._is_ahead = False
        found = self._look_at_copy(self._loaded_of) or self._loaded_of(self.team.store)
        self.state = found or self._state_of(self._made())
        if not reembed:
            self._check_encoder()
        self.pack()
        self._swept: _Swept | None = None
        if self.state.settings.keep_days is not None:
            self.refresh()

    @property
    def built_with_another(self) -> bool:
        """Whether the vectors of the memory are another encoder's than the one at work."""
        encoder = self.team.encoder_info
        return not self.state.head.fits(encoder.name, encoder.fingerprint)

    @property
    def version(self) -> str:
        """Which state the memory is in: which of its id it is, and after which operation."""
        return f"{self.state.head.era}-{self.state.head.seq}"

    def refresh(self, *, newest: bool = False) -> None:
        """Load the state again if another process has moved the memory on; forget what is too old.

        Args:
            newest: whether it must lack nothing, also where the reader allows that it is old.

        Raises:
            MemoryGone: if the memory is gone from its store.
            EncoderMismatch: if it was encoded anew with another encoder.
        """
        self.catch_up(newest=newest)
        try:
            self._lapse()
        except StaleState:
            with self.alone():
                self.catch_up()
                self._lapse()

    def before_a_flow(self, *, newest: bool) -> None:
        """Forget what is too old; else its first step brings the state up to date, as each does.

        Args:
            newest: as for :meth:`refresh`.

        Raises:
            MemoryGone, EncoderMismatch: as :meth:`refresh` does.
        """
        if self.state.settings.keep_days is not None:
            self.refresh(newest=newest)

    def steps(self, attempt: int, *, newest: bool) -> Steps:
        """Return how the steps of a flow are taken when it is begun for the first time, or again.

        At first another process may write at the same time, and who comes second begins again; then
        with nobody beside.

        Args:
            newest: as for :meth:`refresh`.
        """
        alone = self.alone if attempt else None
        catch_up = partial(self.catch_up, newest=newest)
        return Steps(catch_up, alone, wrote=_no_longer_asked, settle=self._settle)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep all other writers from the store, where it can do that."""
        writing = getattr(self.team.store, "writing", nullcontext)
        try:
            with writing():
                yield
        except BaseException:
            self._is_ahead = True  # perhaps: what was applied may not have come to the disk
            raise

    def catch_up(self, *, newest: bool = True) -> None:
        """Take in what another process has written since, or load the state again.

        It stays the same object, since a flow that is under way holds it.

        Args:
            newest: as for :meth:`refresh`.

        Raises:
            MemoryGone: if the memory is gone from its store.
            EncoderMismatch: if it was encoded anew with another encoder.
        """
        condition = _CONDITION.get()
        if condition is not None and condition.is_over:
            condition = None
        needs_newest = newest or condition is not None or self._is_ahead
        if needs_newest or not self._look_at_copy(self._followed_to):
            self._follow_others()
        if condition is not None:
            condition.require(self.version)

    def delete(self) -> DeletionReceipt:
        """Delete the memory from its store, and let go of what is in RAM.

        Raises:
            MemoryGone: if it is gone already.
            StoreError: also where its text cannot leave the file yet.
        """
        self._seq()
        store = self.team.store
        try:
            with tracing.of_a_store("delete_memory_store", self.team.address):
                return store.delete(self.team.address.tenant, self.team.address.memory_id)
        finally:
            if not store.holds(self.team.address):
                self._let_go()

    def team_with(self, encoder: Encoder | None) -> Collaborators:
        """Return who does the work, with another encoder if one is given."""
        if encoder is None:
            return self.team
        info = describe(checked_encoder(encoder))
        return replace(self.team, encoder=encoder, encoder_info=info)

    def adopting(self, team: Collaborators) -> Callable[[], None]:
        """Return what makes a team that of the memory, once the memory is encoded by it."""

        def adopt() -> None:
            self.team = team

        return adopt

    def raters(self) -> flows.feedback.Raters:
        """Return the names of those who rate answers, and of the models behind them."""
        answerer = self.team.answerer
        answering = str(getattr(answerer, "name", type(answerer).__name__))
        return flows.feedback.Raters(
            scorers=_distinct(self.team.scorers),
            judges=_distinct(self.team.judges),
            models=(answering, self.team.encoder_info.name),
        )

    def options(self) -> Options:
        """Return the options that make the same memory again."""
        team = self.team
        given: Options = {
            **self._given,  # type: ignore[typeddict-item]  # checked when they were given
            "encoder": team.encoder,
            "answerer": team.answerer,
            "scorers": team.scorers,
            "judges": team.judges,
            "score_theta": self._score_theta,
            "memory_id": team.address.memory_id,
            "tenant": team.address.tenant,
            "experiment": self._experiment,
            "clock": self.clock,
        }
        if team.compressor is not None:
            given["compressor"] = team.compressor
        if team.note_taker is not None:
            given["note_taker"] = team.note_taker
        if team.judge_change is not None:
            given["judge_change"] = team.judge_change
        if team.reranker is not None:
            given["reranker"] = team.reranker
        if team.router is not None:
            given["router"] = team.router
        if self._counter is not None:
            given["counter"] = self._counter
        return given

    def pack(self) -> None:
        """Have the store keep items packed, where it can and they are not, for who opens it next.

        It is for speed alone: where it cannot be, nothing is said.
        """
        self._packed_at = self.state.head.seq
        keep = getattr(self.team.store, "pack", None)
        if keep is not None and not self.damaged and not self._is_ahead:
            with suppress(StoreError):
                keep(self.team.address, self.state)

    def _settle(self) -> None:
        """Pack what has come, once it is much: a process that is killed leaves no more unpacked."""
        if self.state.head.seq - self._packed_at >= LOOSE:
            self.pack()

    def release(self) -> None:
        """Close the store, if it was opened for this memory."""
        self.pack()
        if self.owns_store:
            self.team.store.close()

    def _look_at_copy(self, look: Callable[[Store], _Result]) -> _Result | None:
        """Return what comes of a look at a copy of the store; None where none may be asked."""
        age = age_allowed()
        copy = getattr(self.team.store, "look_at_copy", None)
        if age is None or copy is None:
            return None
        found: _Result | None = copy(self.team.address, age, look)
        return found

    def _followed_to(self, copy: Store) -> bool:
        """Take in what a copy has; return whether it has all that is known here already."""
        known = self.state.head.seq
        seq = copy.seq(self.team.address, self.state.head.era)
        return seq >= known and self._follow(copy, seq, known)

    def _follow_others(self) -> None:
        if not self._follow(self.team.store, self._seq()):
            self._let_go()
            raise MemoryGone(self.team.address.memory_id)

    def _follow(self, store: Store, seq: int, least: int = 0) -> bool:
        """Bring the state to where a store has the memory; return whether it is there.

        Args:
            seq: how far the store has it.
            least: how far it must be where it is loaded.
        """
        if not self._is_ahead and (seq == self.state.head.seq or self._followed(store)):
            return True
        state = self._loaded_of(store)
        if state is None or state.head.era != self.state.head.era or state.head.seq < least:
            return False
        self.state.become(state)
        self._is_ahead = False
        self._check_encoder()
        return True

    def _followed(self, store: Store) -> bool:
        """Take in what others have written row by row; return whether that could be done."""
        tell = getattr(store, "news", None)
        if tell is None or self.damaged:
            return False
        head = self.state.head
        news = tell(self.team.address, head.seq)
        if news is None or news.rows.head.era != head.era or news.rows.head.seq < head.seq:
            return False
        if news.rows.damaged:
            return False
        self._is_ahead = not follow(self.state, news)  # what was taken in is not all
        return not self._is_ahead

    def _seq(self) -> int:
        """Return how far the memory has come in its store; let go of it where it is gone."""
        try:
            return self.team.store.seq(self.team.address, self.state.head.era)
        except MemoryGone:
            self._let_go()
            raise

    def _loaded_of(self, store: Store) -> State | None:
        """Return the memory as a store has it; None where there is none.

        Where anything is wrong with it, all rows are read, which tell what.
        """
        quickly = getattr(store, "load_packed", None)
        if quickly is not None and not self._skip_damaged:
            rows = quickly(self.team.address)
            if rows is None:
                return None
            with suppress(StoreError):
                return self._state_of(self._encoded(rows))
        rows = store.load(self.team.address)
        return None if rows is None else self._state_of(self._encoded(rows))

    def _encoded(self, rows: Rows) -> Rows:
        """Return rows of which lost vectors are made anew, where the encoder is the same."""
        if not unencoded(rows):
            return rows
        flow = flows.encode.lost_vectors(rows, self.team.encoder_info)
        return drive(flow, nullcontext(), self.team)

    def _made(self) -> Rows:
        """Make the memory in its store and return its rows."""
        settings = Settings(**self._given)
        measure(settings.unit, self._counter)
        try:
            with tracing.of_a_store("create_memory_store", self.team.address):
                self.team.store.create(self.team.address, settings)
        except StoreError:
            if not self.team.store.holds(self.team.address):
                raise  # else another process has made it in the meantime
        made = self.team.store.load(self.team.address)
        if made is None:
            raise MemoryGone(self.team.address.memory_id)
        return made

    def _lapse(self) -> None:
        """Forget what was kept for as many days as it was to be.

        All that is there is looked through once a day, and then only what is new.
        """
        days = self.state.settings.keep_days
        if days is None or self._skip_damaged:
            return
        head = self.state.head
        sweep = _Swept(self._first_day(days), self.state.kept, head.evidence, head.contexts)
        if self._swept is None or not self._swept.covers(sweep, self.state):
            drive(flows.room.lapse(self.state, sweep.limit), nullcontext(), self.team)
        self._swept = sweep

    def _first_day(self, days: int) -> float:
        """Return the beginning of the first of so many days, of which today is the last.

        A memory whose clock is None does not date what comes in, but days pass for it as well.
        """
        tell = datetime.now if self.clock is None else self.clock
        now = time_field("clock", tell())
        if now is None:
            raise InvalidInput("clock", None, "a function that gives the time now")
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return moment(today - timedelta(days=min(days, today.toordinal()) - 1))

    def _let_go(self) -> None:
        """Keep nothing of a memory that is gone but what tells that it is."""
        head = Head(era=self.state.head.era)
        self.state.become(State(self.state.settings, self.state.measure, head=head))
        forget_texts()

    def _state_of(self, rows: Rows) -> State:
        settings = replace(rows.settings, **self._changes(rows.settings))
        counted = measure(settings.unit, self._counter)
        warn_of_uncounted(uncounted(settings.unit, counted))
        damaged: list[str] = []
        whole = replace(rows, settings=settings)
        state = load_state(whole, counted, self._skip_damaged, damaged)
        self.damaged = tuple(damaged)
        state.experiment = self._experiment
        state.score_theta = self._form
        state.reranking = self.reranking
        state.routing = self.routing
        return state

    def _changes(self, stored: Settings) -> dict[str, Any]:
        """Return the given settings that may differ from the stored ones; refuse any other."""
        changes: dict[str, Any] = {}
        for name, value in self._given.items():
            made_with = getattr(stored, name)
            if name in _CHANGEABLE:
                changes[name] = value
            elif value != made_with and not self._follows_from_slots(name):
                allowed = f"{made_with!r}, as the stored memory was made with"
                raise InvalidInput(name, value, f"{allowed}, or left out")
        return changes

    def _follows_from_slots(self, name: str) -> bool:
        # Not given, it was derived from slots: the stored one holds.
        return name == "initial_slots" and "slots" in self._given

    def _check_encoder(self) -> None:
        if self.built_with_another:
            head = self.state.head
            encoder = self.team.encoder_info
            raise EncoderMismatch(
                f"{head.encoder} {head.encoder_fingerprint}".strip(),
                f"{encoder.name} {encoder.fingerprint}".strip(),
            )


@dataclass(frozen=True, slots=True)
class _Swept:
    """What was looked through for what is too old.

    Attributes:
        limit: the moment before which it is.
        kept: ids of the items that stay all the same.
        items, contexts: the numbers of the last ones.
    """

    limit: float
    kept: frozenset[str]
    items: int
    contexts: int

    def covers(self, now: _Swept, state: State) -> bool:
        """Whether there is nothing too old now either."""
        if (self.limit, self.kept) != (now.limit, now.kept):
            return False
        contexts = (stored.context for stored in reversed(state.contexts.values()))
        items = takewhile(partial(_is_after, self.items), reversed(state.evidence.values()))
        asked = takewhile(partial(_is_after, self.contexts), contexts)
        is_old = partial(flows.room.is_old, state, limit=self.limit)
        return not any(map(is_old, items)) and not any(map(is_old, asked))


def _no_longer_asked() -> None:
    """Note that something was written under the condition of this thread or task."""
    condition = _CONDITION.get()
    if condition is not None:
        condition.is_over = True


def _is_after(number: int, record: Evidence | Context) -> bool:
    return number_of(record.id) > number


def _distinct(raters: Iterable[Scorer]) -> tuple[str, ...]:
    """Return names by which each rater can be told apart: the later of equal ones are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for rater in raters:
        name = rater.name
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return tuple(found)
