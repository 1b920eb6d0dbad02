"""What a sub-task of MemoryArena rests on, by what the paper says of its subset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from demem_agent.evaluate.data.arena_tasks import TRAVEL, Task
from demem_agent.text.sentences import sentences

__all__ = ["evidence_of"]

_INTRODUCTION = re.compile(r"I(?: a|['’])m ")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_DAY = re.compile(rf"\bday (\d+)|\b({'|'.join(_ORDINALS)})[ -]day\b", re.IGNORECASE)
_REFERRED = re.compile(
    r"\b(?:question|problem|sub-?task)s?\s+(\d+(?:\s*(?:,\s*and|,|and|&)\s*\d+)*)(?!\.\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")


def evidence_of(subset: str, task: Task, before: Sequence[Task], *, last: bool) -> Iterable[str]:
    """Return the ids of the turns that a sub-task rests on; some may come twice.

    Args:
        before: the earlier sub-tasks.
        last: whether it is the last of its row.
    """
    if subset.startswith("formal_reasoning"):
        return _referred(task, before)
    if subset == TRAVEL:
        return _joined(task, before)
    if last or subset == "bundled_shopping":
        return _all(before)
    return ()


def _all(before: Sequence[Task]) -> Iterator[str]:
    for earlier in before:
        yield from earlier.ids()


def _referred(task: Task, before: Sequence[Task]) -> Iterator[str]:
    """Yield the results of the earlier questions that a question names by number."""
    named: set[int] = set()
    for found in _REFERRED.findall(task.question):
        named.update(map(int, _NUMBER.findall(found)))
    for earlier in before:
        if earlier.number in named:
            yield from earlier.ids()


def _joined(task: Task, before: Sequence[Task]) -> Iterator[str]:
    """Yield the base plan, and the days of other plans that a wish names.

    The greeting names everybody, for nothing.
    """
    for earlier in before:
        if earlier.number == 0:
            yield from earlier.ids()
    for wish in _wishes(task.question):
        days = frozenset(_days(wish))
        for earlier in before:
            if _names(wish, earlier.person):
                yield from earlier.ids(days)


def _names(wish: str, person: str) -> bool:
    if not person:
        return False
    return re.search(rf"\b{re.escape(person)}\b", wish) is not None


def _days(wish: str) -> Iterator[str]:
    """Yield the numbers of the days that a wish names: "day 2", "the second day"."""
    for number, word in _DAY.findall(wish):
        yield number or str(_ORDINALS.index(word.lower()) + 1)


def _wishes(question: str) -> list[str]:
    """Return the sentences after the greeting: "I am Emma. I'm traveling with Eric." """
    found = [question[start:end] for start, end in sentences(question)]
    greeting = 0
    for sentence in found[:2]:
        if not _INTRODUCTION.match(sentence):
            break
        greeting += 1
    return found[greeting:]
