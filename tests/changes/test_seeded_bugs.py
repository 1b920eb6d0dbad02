"""What must hold of changes, and that each breaks where a bug is put in on purpose."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from demem_agent import SlotMemory
from demem_agent.changes import following, judge
from demem_agent.changes.network import VERDICTS, Network
from demem_agent.reading import current
from demem_agent.slots import cache
from demem_agent.types import number_of

Patch = pytest.MonkeyPatch

RAO, LEVIN = "My dentist is Dr Rao.", "My dentist is Dr Levin."
DENTIST = "Who is my dentist?"
PORTS = ('{"host": "mail", "port": 25}', '{"host": "mail", "port": 587}')


def memory_of(*lines: tuple[str, str], **more: Any) -> SlotMemory:
    """Return a memory of what Ana said on some days, the last line with what else is given."""
    memory = SlotMemory(clock=None)
    for text, at in lines[:-1]:
        memory.ingest(text, speaker="Ana", at=at)
    text, at = lines[-1]
    memory.ingest(text, **{"speaker": "Ana", "at": at, **more})
    return memory


def best(memory: SlotMemory, question: str = DENTIST) -> str:
    return max(memory.read(question).lines, key=lambda line: line.score).text


def the_later_said_is_ahead_however_it_arrives() -> None:
    said = [(RAO, "2024-03-01"), (LEVIN, "2024-06-01")]
    for lines in itertools.permutations(said):
        assert best(memory_of(*lines)) == LEVIN


def another_subject_replaces_nothing() -> None:
    front, back = "The front door code is 4471.", "The back door code is 9982."
    memory = memory_of((front, "2024-03-01"), (back, "2024-06-01"))
    assert best(memory, "What is the front door code?") == front


def what_is_trusted_less_replaces_nothing() -> None:
    assert best(memory_of((RAO, "2024-03-01"), (LEVIN, "2024-06-01"), trust=0.0)) == RAO


def an_echo_stands_behind_what_holds() -> None:
    memory = memory_of((RAO, "2024-03-01"), (LEVIN, "2024-06-01"))
    memory.ingest("Noted, Dr Rao is your dentist.", speaker="assistant", at="2024-07-01")
    assert best(memory) == LEVIN
    (_, second, *_) = sorted(memory.read(DENTIST).lines, key=lambda line: -line.score)
    assert second.text == RAO
    assert len(memory.read(DENTIST).replaced) == 2


def what_is_forgotten_replaces_nothing() -> None:
    memory = memory_of((PORTS[0], "2024-03-01"), (PORTS[1], "2024-06-01"))
    assert [item.id for item in memory.evidence(where={"holds": False})] == ["e1"]
    memory.forget("e2")
    assert memory.evidence(where={"holds": False}) == ()


def no_mark_ends_before_its_line() -> None:
    memory = memory_of((RAO, "2024-06-01"), (LEVIN, "2024-03-01"))
    memory.supersede("e1", "e2")
    marks = [over.at for line in memory.read(DENTIST).lines for over in line.superseded]
    assert marks == [None]


def comes_as_it_arrives(patch: Patch) -> None:
    patch.setattr(following, "said_later", lambda new, old: number_of(new.id) > number_of(old.id))


def takes_other_for_replaced(patch: Patch) -> None:
    verdicts = Network.verdicts

    def mixed(self: Network, pairs: Any) -> Any:
        found = verdicts(self, pairs)
        return np.roll(found, -VERDICTS.index("other"), axis=1)

    patch.setattr(Network, "verdicts", mixed)


def trusts_everybody(patch: Patch) -> None:
    patch.setattr(judge, "_by_trust", lambda likely, _: (likely, []))


def hears_no_echo(patch: Patch) -> None:
    patch.setattr(judge.Said, "repeats", lambda *_: False)


def keeps_what_it_found(patch: Patch) -> None:
    standing_of = cache.Cache.standing_of
    kept: list[Any] = []

    def once(self: cache.Cache, *given: Any) -> Any:
        kept[:] = kept or [standing_of(self, *given)]
        return kept[0]

    patch.setattr(cache.Cache, "standing_of", once)


def takes_any_day(patch: Patch) -> None:
    days = itertools.count(0, -1)
    patch.setattr(current, "moment", lambda _: next(days))


BUGS = [
    (comes_as_it_arrives, the_later_said_is_ahead_however_it_arrives),
    (takes_other_for_replaced, another_subject_replaces_nothing),
    (trusts_everybody, what_is_trusted_less_replaces_nothing),
    (hears_no_echo, an_echo_stands_behind_what_holds),
    (keeps_what_it_found, what_is_forgotten_replaces_nothing),
    (takes_any_day, no_mark_ends_before_its_line),
]


@pytest.mark.parametrize("holds", [holds for _, holds in BUGS])
def test_it_holds(holds: Callable[[], None]) -> None:
    holds()


@pytest.mark.parametrize(("bug", "holds"), BUGS)
def test_a_bug_breaks_it(
    bug: Callable[[Patch], None], holds: Callable[[], None], monkeypatch: Patch
) -> None:
    bug(monkeypatch)
    with pytest.raises((AssertionError, IndexError)):
        holds()
