"""What a feedback says of lines of memory: which were right for a decision, and which were not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.feedback.verdicts import FOUND
from demem_agent.testing import BagEncoder, ReadingAnswerer
from demem_agent.text.language.numbers import digits
from demem_agent.types import Reading, Verdict

TOLD = (
    "Keep to sixty on the long bridge.",
    "Keep to 80 on the motorway.",
    "The violin has a broken bow.",
    "The boiler has a brass valve.",
)
QUESTION = "How fast may I go on the bridge?"
OPTIONS: dict[str, Any] = {
    "clock": None,
    "decisions": True,
    "slots": 1,
    "initial_slots": 1,
    "encoder": BagEncoder(),
    "answerer": ReadingAnswerer(),
}


def memory_of(**options: Any) -> SlotMemory:
    memory = SlotMemory(**OPTIONS | options)
    for text in TOLD:
        memory.ingest(text)
    memory.answer(QUESTION)
    return memory


def verdicts(memory: SlotMemory) -> tuple[Verdict, ...]:
    return memory.contexts()[0].verdicts


def judged(memory: SlotMemory) -> dict[str, float]:
    """Return what was said of each item."""
    return {item: weight for item, _, _, weight in verdicts(memory)}


def first(reading: Reading) -> str:
    """Return the item whose line stands first."""
    return max(reading.lines, key=lambda line: line.score).evidence.id


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sixty", "60"),
        ("Sixty-five or seventy two", "65 or 72"),
        ("at sixty and five", "at 60 and 5"),
        ("nineteen, twenty, ninety-nine", "19, 20, 99"),
        ("someone often weighs a stone", "someone often weighs a stone"),
        ("one hundred", "1 hundred"),
        ("60", "60"),
        ("", ""),
    ],
)
def test_number_words_become_digits_and_all_else_stays(text: str, said: str) -> None:
    assert digits(text) == said


@pytest.mark.parametrize("reference", ["sixty on the bridge", "60 on the bridge", "Sixty", "60"])
def test_a_reference_speaks_for_the_line_that_holds_it_however_its_numbers_are_written(
    reference: str,
) -> None:
    memory = memory_of()
    memory.feedback("a1", reference=reference)
    assert verdicts(memory)[0][:3] == ("e1", 0, len(TOLD[0]))
    assert judged(memory)["e1"] > 3
    memory.check()


@pytest.mark.parametrize("reference", ["80", "eighty", "eighty on the motorway"])
def test_a_number_in_digits_is_found_by_its_word_too(reference: str) -> None:
    memory = memory_of()
    memory.feedback("a1", reference=reference)
    assert list(judged(memory)) == ["e2"]


def test_a_reference_that_no_line_holds_speaks_for_none() -> None:
    memory = memory_of()
    memory.feedback("a1", reference="a purple elephant")
    assert verdicts(memory) == ()


def test_a_correction_speaks_for_itself() -> None:
    memory = memory_of()
    remembered = memory.feedback("a1", correction="Forty since the works.").remembered
    assert remembered is not None
    assert list(judged(memory)) == [remembered]
    assert first(memory.read(QUESTION)) == remembered


def test_a_reward_of_nothing_puts_what_stood_first_behind() -> None:
    memory = memory_of()
    before = memory.read(QUESTION)
    memory.feedback("a1", reward=0.0)
    assert judged(memory) == {first(before): -3.0}
    lines = sorted(memory.read(QUESTION).lines, key=lambda line: line.score)
    assert first(memory.read(QUESTION)) != first(before)
    assert {line.evidence.id for line in lines} == {item.id for item in before.evidence}


def test_a_full_reward_speaks_for_what_stood_first() -> None:
    memory = memory_of()
    memory.feedback("a1", reward=1.0)
    assert judged(memory) == {"e1": 3.0}


def test_a_reward_in_the_middle_says_nothing() -> None:
    memory = memory_of()
    memory.feedback("a1", reward=0.5)
    assert verdicts(memory) == ()


def test_five_thumbs_down_change_what_is_read_first() -> None:
    memory = memory_of()
    before = first(memory.read(QUESTION))
    for _ in range(5):
        memory.feedback("a1", thumbs=False)
    assert judged(memory) == {before: -15.0}
    assert first(memory.read(QUESTION)) != before


def test_what_speaks_for_a_line_and_against_it_adds_up_to_nothing() -> None:
    memory = memory_of()
    memory.feedback("a1", thumbs=True)
    memory.feedback("a1", thumbs=False)
    assert verdicts(memory) == ()


def test_a_full_reward_with_a_text_makes_the_first_line_the_right_one() -> None:
    memory = memory_of()
    memory.ingest("Keep to sixty on the long bridge, says the sign at sixty.")
    lead = first(memory.answer(QUESTION).reading)
    memory.feedback("a2", reward=1.0, reference="sixty on the bridge")
    found = {item: weight for item, *_, weight in memory.contexts()[1].verdicts}
    assert found == {lead: 6.0}


def test_no_reward_with_a_text_leaves_out_the_first_line_though_it_holds_the_text() -> None:
    memory = memory_of()
    memory.ingest("It is sixty, they say at the bridge toll.")
    lead = first(memory.answer(QUESTION).reading)
    memory.feedback("a2", reward=0.0, reference="sixty at the bridge")
    found = {item: weight for item, *_, weight in memory.contexts()[1].verdicts}
    assert found.pop(lead) == -3.0
    assert list(found) == [{"e1": "e5", "e5": "e1"}[lead]]


@pytest.mark.parametrize(
    "told",
    [{"reference": "sixty"}, {"reward": 1.0}, {"thumbs": False}, {"correction": "Forty."}],
)
def test_a_memory_that_keeps_no_decisions_has_no_verdict(told: dict[str, Any]) -> None:
    memory = memory_of(decisions=False)
    memory.feedback("a1", **told)
    assert verdicts(memory) == ()
    reading = memory.read(QUESTION)
    assert (reading.recognised, reading.decisions) == (0.0, ())


SHARES = st.sampled_from((0.0, 0.123, 0.25, 0.3333333, 0.5, 0.87654, 1.0))
TEXTS = st.sampled_from(("sixty", "60 on the bridge", "eighty", "a long bow", "nothing of this"))
#: Feedback that remembers nothing: a correction is evidence for what comes later.
GIVEN = st.one_of(
    SHARES.map(lambda reward: {"reward": reward}),
    st.booleans().map(lambda up: {"thumbs": up}),
    SHARES.map(lambda score: {"outcome": score}),
    TEXTS.map(lambda text: {"reference": text}),
    st.builds(lambda text, reward: {"reference": text, "reward": reward}, TEXTS, SHARES),
)


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Draw the same feedback in two orders."""
    told = draw(st.lists(GIVEN, min_size=2, max_size=6))
    return told, draw(st.permutations(told))


LINES = memory_of().export()


def after(told: list[dict[str, Any]]) -> tuple[Verdict, ...]:
    memory = SlotMemory.restore(LINES, **OPTIONS)
    for each in told:
        memory.feedback("a1", **each)
    memory.check()
    return verdicts(memory)


@settings(deadline=None, max_examples=often(40))
@given(both=orders())
def test_feedback_in_another_order_comes_to_the_same_verdicts(
    both: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    assert after(both[0]) == after(both[1])


def test_what_was_read_is_looked_through_too_for_a_line_that_a_text_speaks_for() -> None:
    memory = SlotMemory(**OPTIONS)
    for n in range(FOUND):  # no line has a word of the text: as many as are looked for come first
        memory.ingest(f"The drawer number {n} is empty.")
    memory.ingest("I take the ferry at nine.", speaker="Ana")
    memory.answer("When does the ferry leave?")
    memory.feedback("a1", reference="Ana")
    assert list(judged(memory)) == [memory.evidence()[-1].id]


def lines_told_of(rated: bool, question: str) -> set[str]:
    """Return the items that a text speaks for, where the first line of the memory holds it."""
    memory = memory_of()
    if rated:
        memory.feedback("a1", reward=0.0)
    memory.answer(question)
    memory.feedback("a2", reference=TOLD[0])
    return {item for item, *_ in memory.contexts()[1].verdicts}


@pytest.mark.parametrize("question", [QUESTION, "How fast, then, may I go on the bridge?"])
def test_what_ratings_spoke_against_when_the_same_was_decided_is_not_what_a_text_speaks_for(
    question: str,
) -> None:
    assert lines_told_of(rated=False, question=question) == {"e1"}
    assert "e1" not in lines_told_of(rated=True, question=question)
