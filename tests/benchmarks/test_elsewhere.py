"""Harm elsewhere: which questions are told of, and what is measured on the others."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from benchmark_files import benchmark
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory, Turn
from demem_agent.evaluate import Dialogue, Probe
from demem_agent.types import Evidence, Line, Reading

elsewhere = benchmark("elsewhere")

PROBES = (
    Probe("What is the cat called?", "Miso", ("t0",)),
    Probe("What is the dog called?", "Rex", ("t1",)),
    Probe("When did the boiler break?", "Tuesday", ("t2",)),
)
DIALOGUE = Dialogue(
    "home",
    (
        Turn("The cat is called Miso.", source_id="t0"),
        Turn("The dog is called Rex.", source_id="t1"),
        Turn("The boiler broke on Tuesday.", source_id="t2"),
    ),
    PROBES,
)


@given(st.integers(0, 9), st.integers(0, 50))
def test_no_question_is_both_told_of_and_measured(count: int, seed: int) -> None:
    probes = [Probe(f"{number}?", "yes") for number in range(count)]
    told, others = elsewhere.halves(probes, seed)
    assert sorted(map(str, told + others)) == sorted(map(str, probes))
    assert len(others) - len(told) in (0, 1)


def test_questions_without_evidence_or_an_answer_are_left_out() -> None:
    further = (
        Probe("Who is the bird?", "Ada"),
        Probe("Why?", " ", ("t0",)),
        Probe("Which?", "Rex", ("t0",), "adversarial"),
    )
    dialogue = Dialogue("home", DIALOGUE.turns, (*PROBES, *further))
    assert elsewhere.answerable(dialogue).probes == PROBES


def haystack(number: int) -> Dialogue:
    day = datetime(2024, 1, 28) - timedelta(days=number)
    shared = Turn("The same for all.", at=datetime(2024, 1, 1), source_id="shared")
    own = Turn(f"Only in {number}.", at=day, source_id=f"own {number}")
    return Dialogue(f"h{number}", (own, shared), (Probe(f"{number}?", "yes", (f"own {number}",)),))


def test_haystacks_are_remembered_in_fives_with_what_they_share_once() -> None:
    found = elsewhere.together([haystack(number) for number in range(6)])
    assert [len(dialogue.probes) for dialogue in found] == [5, 1]
    first = found[0].turns
    assert len(first) == 6
    assert [turn.at for turn in first] == sorted(turn.at for turn in first)


def reading(*turns: str, recognised: float = 0.0) -> Reading:
    """A reading of lines of these turns, best first, in the opposite order."""
    lines = []
    for place, turn in enumerate(turns):
        lines.insert(0, Line(Evidence(f"e{place}", "Said.", source_id=turn), 0, 5, 9.0 - place))
    return Reading("", 0, 0, "chars", "evidence", (), (), tuple(lines), recognised=recognised)


@pytest.mark.parametrize(
    ("turns", "first", "five", "read"),
    [
        (("a", "x", "b"), 1.0, 1.0, 1.0),
        (("x", "a", "y", "z", "w", "b"), 0.0, 0.5, 1.0),
        (("a", "a", "a", "a", "a", "b"), 1.0, 0.5, 1.0),
        (("x",), 0.0, 0.0, 0.0),
        ((), 0.0, 0.0, 0.0),
    ],
)
def test_lines_are_judged_in_the_order_of_their_scores(
    turns: tuple[str, ...], first: float, five: float, read: float
) -> None:
    found = elsewhere.seen(reading(*turns), Probe("?", "yes", ("a", "b")))
    assert (found.first, found.five, found.read) == (first, five, read)


def test_a_question_is_known_again_from_one_half_on() -> None:
    probe = PROBES[0]
    assert elsewhere.seen(reading("t0", recognised=0.5), probe).known == 1.0
    assert elsewhere.seen(reading("t0", recognised=0.4), probe).known == 0.0


@pytest.mark.parametrize("told", ["reference", "reward", "correction"])
def test_two_of_three_questions_are_read_once_the_third_was_told_of(told: str) -> None:
    subject = elsewhere.Subject(DIALOGUE, {"decisions": True})
    pairs = list(subject.pairs(told, 0))
    assert [pair.told for pair in pairs] == [told] * 2
    assert all(pair.before.known == 0.0 for pair in pairs)


def test_what_is_told_never_reaches_the_memory_that_was_told_nothing() -> None:
    subject = elsewhere.Subject(DIALOGUE, {"decisions": True})
    first = list(subject.pairs("correction", 0))
    assert list(subject.pairs("correction", 0)) == first


def test_a_right_first_line_is_rewarded_and_a_wrong_one_corrected() -> None:
    memory = SlotMemory()
    memory.ingest_many(DIALOGUE.turns)
    elsewhere.tell(memory, PROBES[0], "correction")
    elsewhere.tell(memory, Probe("What is the cat called?", "Nori", ("t9",)), "correction")
    right, wrong = memory.contexts()
    assert (right.told, right.rewards) == (("reward",), (1.0,))
    assert (wrong.told, wrong.reference) == (("correction",), "Nori")


def test_changes_are_told_beside_what_was_before_and_after() -> None:
    poor = elsewhere.Seen(0.0, 0.5, 1.0, 0.0)
    good = elsewhere.Seen(1.0, 0.5, 0.0, 1.0)
    pairs = [elsewhere.Pair("a", "reward", poor, good), elsewhere.Pair("b", "reward", poor, poor)]
    table = elsewhere.tabled(pairs)
    assert table["first"]["before"] == 0.0
    assert table["first"]["after"] == 0.5
    assert table["first"]["change"] == 0.5
    assert table["read"]["change"] == -0.5
    assert table["in five"]["change"] == 0.0
