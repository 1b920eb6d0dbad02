"""What systems say of what they know: records, shares, the area, and who may keep silent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.errors import InvalidInput
from demem_agent.evaluate import BASELINES, Dialogue, Probe, evaluate, report
from demem_agent.evaluate.ranks import area
from demem_agent.turns import Turn

SHARES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20)
TALK = Dialogue(
    "talk",
    (Turn("The boiler has a brass valve.", source_id="1"),),
    (
        Probe("Which valve?", "brass", ("1",)),
        Probe("Which boiler?", "brass", ("1",)),
        Probe("Which dog?", "", (), "abstention"),
        Probe("Which cat?", "", (), "pets", answerable=False),
    ),
)
#: What the fake says of each question.
SAID = {
    "Which valve?": (True, 0.9),
    "Which boiler?": (False, 0.4),
    "Which dog?": (False, 0.1),
    "Which cat?": (True, 0.5),
}


class Sure:
    """Read nothing, and say of each question what is written down here."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ingest(self, turns: Sequence[Turn]) -> None:
        pass

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        return ""

    def knows(self, query: str, at: datetime | None = None) -> tuple[bool, float]:
        self.asked.append(query)
        return SAID[query]


class TooSure(Sure):
    def knows(self, query: str, at: datetime | None = None) -> tuple[bool, float]:
        return True, 2.0


def test_shares_and_area_worked_by_hand() -> None:
    found = report(evaluate([TALK], {"sure": Sure}, [10, 20]))["abstention"]["sure"]
    assert (found["answerable"], found["unanswerable"]) == (2, 2)
    assert found["false_alarms"]["mean"] == 0.5  # the boiler
    assert found["caught"]["mean"] == 0.5  # the dog
    assert found["auc"] == 0.75  # .9 beats both, .4 beats .1 and not .5


def test_a_system_is_asked_once_a_question_whatever_the_limits() -> None:
    systems: list[Sure] = []

    def make() -> Sure:
        systems.append(Sure())
        return systems[-1]

    records = evaluate([TALK], {"sure": make}, [10, 20])
    assert systems[0].asked == [probe.question for probe in TALK.probes]
    assert [record.known for record in records[:2]] == [True, True]
    assert [record.answerable for record in records[::2]] == [True, True, False, False]


def test_a_system_that_does_not_say_is_not_among_them() -> None:
    measured = evaluate([TALK], {"bm25": BASELINES["bm25"], "demem": BASELINES["demem"]}, [100])
    assert set(report(measured)["abstention"]) == {"demem"}
    assert {record.known for record in measured if record.system == "bm25"} == {None}


def test_without_questions_of_one_kind_there_is_no_area() -> None:
    for probes in (TALK.probes[:2], TALK.probes[2:]):
        found = report(evaluate([replace(TALK, probes=probes)], {"sure": Sure}, [10]))
        said = found["abstention"]["sure"]
        assert said["auc"] is None
        assert (said["false_alarms"] is None) != (said["caught"] is None)


def test_a_probability_that_is_none_is_an_error_that_names_the_system() -> None:
    with pytest.raises(InvalidInput, match="sure"):
        evaluate([TALK], {"sure": TooSure}, [10])


@given(SHARES, SHARES)
def test_the_area_is_the_share_of_pairs_in_order(first: list[float], second: list[float]) -> None:
    pairs = [(a > b) + 0.5 * (a == b) for a in first for b in second]
    assert area(first, second) == pytest.approx(sum(pairs) / len(pairs))
    assert area(second, first) == pytest.approx(1 - sum(pairs) / len(pairs))
