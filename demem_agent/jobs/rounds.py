"""Work on the memories of any store, which are looked through one after the other.

Nothing is queued: what is due follows from each memory, so that a crash loses nothing. What was
looked at is remembered by its version, and looked at again when that has changed, or the day.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date

from demem_agent.errors import DeMemError, MemoryGone
from demem_agent.held import version_now
from demem_agent.jobs.kinds import Done, Means, Opened, attempted, kinds_of
from demem_agent.jobs.telling import tell
from demem_agent.jobs.trying import wait_after
from demem_agent.later import dataclass
from demem_agent.stores import Address, Store
from demem_agent.stores.aside import itself
from demem_agent.stores.backlog import Backlog
from demem_agent.turns import whole_field

__all__ = ["Rounds"]

_log = logging.getLogger("demem.work")


@dataclass(slots=True)
class _Waiting:
    """Work that is due, or may be.

    Attributes:
        since: when it was first found, in seconds since 1970.
        after: when it is tried, in the same.
        tries: how often it failed.
    """

    since: float
    after: float
    tries: int = 0


@dataclass(frozen=True, slots=True)
class _Settled:
    """What nothing is left to do for.

    Attributes:
        version: of the memory; "" where it could not be opened.
        day: on which.
        given_up: whether it was tried as often as it is.
    """

    version: str
    day: date
    given_up: bool = False


#: The id of a memory, and a kind of work.
_Key = tuple[str, str]


class Rounds:
    """Background work on all memories of a tenant, by this process.

    Two that work on one store at once do each other no harm, but ask a model twice.

    Args:
        store: where the memories live.
        kinds: names of :data:`~demem_agent.jobs.kinds.KINDS`.
        means: by whom and by which rules; nobody, and none, unless given.
        tenant: whose memories.
        concurrency: memories that are worked on at once, >= 1.
        clock: tells the time in seconds since 1970.

    Raises:
        InvalidInput: for a kind that there is not, or a concurrency below 1.

    Examples:
        >>> from demem_agent import SlotMemory
        >>> from demem_agent.stores import MemoryStore
        >>> from demem_agent.types import Proposal
        >>> class Noting:
        ...     name = "noting"
        ...     def take_notes(self, task):
        ...         return Proposal(("Ana moved to Lisbon.",), (("e1",),))
        >>> store = MemoryStore()
        >>> told = SlotMemory.open(store).ingest("I moved to Lisbon.", speaker="Ana")
        >>> rounds = Rounds(store, ["notes"], Means({"note_taker": Noting()}))
        >>> rounds.once()
        {'notes': 1}
    """

    def __init__(
        self,
        store: Store,
        kinds: Sequence[str],
        means: Means | None = None,
        *,
        tenant: str = "default",
        concurrency: int = 1,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._kinds = kinds_of(kinds)
        self._means = means or Means()
        self._tenant = tenant
        self._concurrency = whole_field("concurrency", concurrency, 1)
        self._clock = clock
        self._waiting: dict[_Key, _Waiting] = {}
        self._settled: dict[_Key, _Settled] = {}
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._ending = threading.Event()

    @property
    def backlog(self) -> Backlog:
        """What waits, as of the last look at the memories."""
        now = self._clock()
        with self._lock:
            counted = Counter(kind for _, kind in self._waiting)
            since = min((one.since for one in self._waiting.values()), default=now)
            given_up = sum(one.given_up for one in self._settled.values())
        waiting = {kind: counted[kind] for kind in self._kinds}
        return Backlog(waiting, max(now - since, 0.0), given_up)

    @property
    def counts(self) -> dict[str, int]:
        """How much was done since this began, by kind, as :class:`Done` counts."""
        with self._lock:
            return {kind: self._counts[kind] for kind in self._kinds}

    def once(self) -> dict[str, int]:
        """Look at all memories and do what is due, until nothing more can be done now.

        Returns:
            How much was done, by kind. What failed waits.
        """
        before = self.counts
        while self._is_round_of_use() and not self._ending.is_set():
            pass
        return {kind: count - before[kind] for kind, count in self.counts.items()}

    def run(self, every: float = 10.0) -> None:
        """Look at all memories again and again, until :meth:`end` is called.

        A store that fails is looked at again the next time.

        Args:
            every: seconds between two looks, > 0.
        """
        while not self._ending.is_set():
            try:
                self._is_round_of_use()
            except DeMemError as error:
                _log.error("the store cannot be looked at: %s", error)
            self._ending.wait(every)

    def end(self) -> None:
        """Have :meth:`run` and :meth:`once` end, once what is at hand is done."""
        self._ending.set()

    def _is_round_of_use(self) -> bool:
        """Look at all memories and do what is due; return whether anything came of it."""
        before = self.counts
        names = self._look()
        with ThreadPoolExecutor(self._concurrency, "demem-work") as threads:
            for _ in threads.map(self._work_on, names):
                pass
        return self.counts != before

    def _look(self) -> list[str]:
        """Note down what may be due; return the ids of memories of which something is now."""
        names = itself(self._store).memories(self._tenant)  # what is put aside stays there
        self._leave_out_others(names)
        now = self._clock()
        due: list[str] = []
        for name in names:
            for kind in self._kinds:
                if not self._is_settled((name, kind)):
                    with self._lock:
                        self._waiting.setdefault((name, kind), _Waiting(now, now))
            if self._due(name):
                due.append(name)
        return due

    def _leave_out_others(self, names: Sequence[str]) -> None:
        """Forget of memories that are gone what waited, and what was settled."""
        there = frozenset(names)
        with self._lock:
            for known in (self._waiting, self._settled):
                for key in [key for key in known if key[0] not in there]:
                    del known[key]

    def _due(self, name: str) -> list[str]:
        """Return the kinds of work on a memory that may be tried now."""
        now = self._clock()
        with self._lock:
            found = [(kind, self._waiting.get((name, kind))) for kind in self._kinds]
        return [kind for kind, waiting in found if waiting is not None and waiting.after <= now]

    def _is_settled(self, key: _Key) -> bool:
        settled = self._settled.get(key)
        if settled is None or settled.day != self._today():
            return False
        if not settled.version:
            return True
        try:
            now = version_now(self._store, Address(self._tenant, key[0]), settled.version)
        except MemoryGone:
            return False
        return now == settled.version

    def _today(self) -> date:
        return date.fromtimestamp(self._clock())

    def _work_on(self, name: str) -> None:
        """Do what is due for a memory, a kind at a time until this is to end."""
        opened = Opened(self._store, Address(self._tenant, name), self._means)
        try:
            for kind in self._due(name):
                if self._ending.is_set():
                    return
                done = attempted(kind, opened)
                self._note((name, kind), done, opened.version)
        finally:
            opened.close()

    def _note(self, key: _Key, done: Done, version: str) -> None:
        """Note down what came of a piece of work.

        Args:
            version: of the memory before it.
        """
        name, kind = key
        wait: float | None = None
        with self._lock:
            waiting = self._waiting[key]
            self._counts[kind] += done.count
            if done.failed:
                waiting.tries += 1
                wait = wait_after(waiting.tries)
            if wait is not None:
                waiting.after = self._clock() + wait
            else:
                del self._waiting[key]
                self._settled.pop(key, None)
                if done.failed or not done.count:
                    given_up = bool(done.failed)
                    self._settled[key] = _Settled(version, self._today(), given_up)
        tell(kind, name, done, wait)
