"""Threads that take turns as a schedule says: every order of their steps can be gone through.

A step ends where a thread wants the memory's lock: what it does without the lock nobody sees.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["Turns", "explored"]

#: Seconds after which a thread that does not come back has deadlocked.
WAIT = 20.0


class Turns:
    """A lock for which the threads of a schedule queue, each let in when its turn comes.

    Args:
        schedule: numbers of threads; when it is used up, or names one that has ended, the thread
            with the lowest number goes on.

    Attributes:
        taken: the thread of each step that was taken.
        choices: per step, which threads could have taken it.
    """

    def __init__(self, schedule: Sequence[int]) -> None:
        self.taken: list[int] = []
        self.choices: list[tuple[int, ...]] = []
        self._schedule = schedule
        self._changed = threading.Condition()
        self._waiting: set[int] = set()
        self._running: int | None = None
        self._depth = 0
        self._mine = threading.local()

    def __enter__(self) -> Turns:
        number = getattr(self._mine, "number", None)
        if number is None:  # not one of the threads: nobody else is at work
            return self
        if self._depth == 0:
            self._wait(number)
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        if getattr(self._mine, "number", None) is not None:
            self._depth -= 1

    def run(self, programs: Sequence[Sequence[Callable[[], Any]]]) -> list[list[Any]]:
        """Run each program in a thread of its own; return what the calls of each gave or raised."""
        results: list[list[Any]] = [[] for _ in programs]
        threads = [
            threading.Thread(target=self._live, args=(n, calls, results[n]), daemon=True)
            for n, calls in enumerate(programs)
        ]
        self._alive = set(range(len(programs)))
        for thread in threads:
            thread.start()
        with self._changed:
            while self._alive:
                self._let_one_in()
        for thread in threads:
            thread.join(WAIT)
        return results

    def _live(self, number: int, calls: Sequence[Callable[[], Any]], results: list[Any]) -> None:
        self._mine.number = number
        for call in calls:
            try:
                results.append(call())
            except Exception as error:  # it is a result like others
                results.append(error)
        with self._changed:
            self._alive.discard(number)
            self._running = None
            self._changed.notify_all()

    def _wait(self, number: int) -> None:
        with self._changed:
            self._waiting.add(number)
            if self._running == number:
                self._running = None
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: self._running == number, WAIT):
                raise AssertionError("a thread was never let in")

    def _let_one_in(self) -> None:
        """Wait until all threads want the lock or have ended; let one of them go on."""
        settled = self._changed.wait_for(
            lambda: self._running is None and self._waiting == self._alive, WAIT
        )
        if not settled:
            raise AssertionError("the threads stand still")
        if not self._alive:
            return
        could = tuple(sorted(self._waiting))
        place = len(self.taken)
        wanted = self._schedule[place] if place < len(self._schedule) else could[0]
        chosen = wanted if wanted in could else could[0]
        self.taken.append(chosen)
        self.choices.append(could)
        self._waiting.discard(chosen)
        self._running = chosen
        self._changed.notify_all()
        self._changed.wait_for(lambda: self._running != chosen, WAIT)


def explored(
    run: Callable[[Sequence[int]], Turns], switches: int | None = None
) -> Iterator[tuple[int, ...]]:
    """Yield every order in which threads can take their steps, after running each.

    Args:
        run: runs a schedule, and returns how it went.
        switches: orders in which a thread is left more often than this, while it could go on, are
            left out; None for all.
    """
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        schedule = waiting.pop()
        turns = run(schedule)
        yield tuple(turns.taken)
        for place in range(len(schedule), len(turns.taken)):
            for other in turns.choices[place]:
                found = (*turns.taken[:place], other)
                is_new = other != turns.taken[place]
                if is_new and (switches is None or _switches(turns, found) <= switches):
                    waiting.append(found)


def _switches(turns: Turns, schedule: tuple[int, ...]) -> int:
    """Return how often a thread was left that could have gone on."""
    left = 0
    for place in range(1, len(schedule)):
        before = schedule[place - 1]
        left += schedule[place] != before and before in turns.choices[place]
    return left
