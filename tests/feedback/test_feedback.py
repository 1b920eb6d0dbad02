"""Feedback: what rewards and references make known, repeating it, and the home of a context."""

from __future__ import annotations

from typing import Any

import pytest

from demem_agent import Answer, SlotMemory
from demem_agent.answering.scorers import Contained, TokenF1
from demem_agent.errors import CollaboratorError, IdempotencyConflict
from demem_agent.testing import (
    BagEncoder,
    Failing,
    ReadingAnswerer,
    ScriptedAnswerer,
    ScriptedScorer,
)
from demem_agent.types import Context


def memory_of(**options: Any) -> SlotMemory:
    memory = SlotMemory(
        **{
            "encoder": BagEncoder(),
            "answerer": ReadingAnswerer(),
            "slots": 4,
            "near": 0.9,
            **options,
        }
    )
    memory.ingest("Rex ate the red apple", session="s")
    memory.ingest("Bella flew to Lisbon", session="t")
    return memory


def asked(memory: SlotMemory, query: str = "What did Rex eat?") -> Answer:
    return memory.answer(query)


def context_of(memory: SlotMemory, answer: Answer) -> Context:
    return next(context for context in memory.contexts() if context.id == answer.id)


# What it makes known


def test_a_reward_alone_is_kept_as_it_is() -> None:
    memory = memory_of()
    answer = asked(memory)
    report = memory.feedback(answer, reward=0.3)
    assert (report.rewards, report.reward) == ({"reward": 0.3}, 0.3)
    assert context_of(memory, answer).rewards == (0.3,)


def test_a_low_reward_makes_nothing_else_known() -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.feedback(answer, reward=0.2)
    context = context_of(memory, answer)
    assert (context.channel, context.reference) == ("reward", None)


@pytest.mark.parametrize("reward", [0.5, 1])
def test_an_answer_with_a_high_reward_stands_in_for_the_reference(reward: float) -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.feedback(answer, reward=reward)
    context = context_of(memory, answer)
    assert (context.channel, context.reference) == ("stand-in", answer.text)


def test_an_empty_answer_stands_in_for_nothing() -> None:
    memory = memory_of(answerer=ScriptedAnswerer({}))
    answer = asked(memory)
    memory.feedback(answer, reward=1.0)
    assert context_of(memory, answer).channel == "reward"


def test_a_reference_is_turned_into_one_reward_a_scorer() -> None:
    memory = memory_of(answerer=ScriptedAnswerer({}, "an apple, I think"))
    report = memory.feedback(asked(memory), reference="red apple")
    assert report.rewards == {TokenF1.name: pytest.approx(2 / 4), Contained.name: 1.0}
    assert report.reward == pytest.approx(0.75)


def test_a_reference_is_stored_with_the_context() -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.feedback(answer, reference="red apple")
    context = context_of(memory, answer)
    assert (context.channel, context.reference) == ("reference", "red apple")


def test_with_a_reward_and_a_reference_both_are_reported() -> None:
    memory = memory_of(scorers=(ScriptedScorer(0.5, "one"), ScriptedScorer(0.7, "two")))
    answer = asked(memory)
    report = memory.feedback(answer, reward=0.0, reference="red apple")
    assert report.rewards == {"reward": 0.0, "one": 0.5, "two": 0.7}
    assert context_of(memory, answer).rewards == (report.reward,)


def test_of_a_reward_and_a_reference_the_callers_own_reward_counts() -> None:
    memory = memory_of(scorers=(ScriptedScorer(0.5, "one"), ScriptedScorer(0.7, "two")))
    assert memory.feedback(asked(memory), reward=0.0, reference="red apple").reward == 0.0


def test_the_evidence_that_holds_the_reference_is_what_the_context_rests_on() -> None:
    memory = memory_of()
    answer = asked(memory, "What did Rex and Bella do?")
    assert set(context_of(memory, answer).supports) == {"e1", "e2"}
    memory.feedback(answer, reference="she flew to Lisbon")
    assert context_of(memory, answer).supports == ("e2",)


def test_a_reference_that_was_not_read_rests_on_nothing() -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.feedback(answer, reference="Momo won the marathon")
    assert context_of(memory, answer).supports == ()


# Repeating it


def test_rewards_of_one_answer_add_up_in_order() -> None:
    memory = memory_of()
    answer = asked(memory)
    for reward in (0.2, 1.0, 0.6):
        memory.feedback(answer, reward=reward)
    assert context_of(memory, answer).rewards == (0.2, 1.0, 0.6)


def test_a_reference_once_given_stays_the_better_knowledge() -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.feedback(answer, reference="red apple")
    memory.feedback(answer, reward=1.0)
    context = context_of(memory, answer)
    assert (context.channel, context.reference, len(context.rewards)) == (
        "reference",
        "red apple",
        2,
    )


def test_the_same_key_with_the_same_request_gives_the_stored_report() -> None:
    memory = memory_of()
    answer = asked(memory)
    first = memory.feedback(answer, reference="red apple", key="k")
    fingerprint = memory.fingerprint()
    assert memory.feedback(answer, reference="red apple", key="k") == first
    assert (memory.fingerprint(), len(context_of(memory, answer).rewards)) == (fingerprint, 1)


@pytest.mark.parametrize(
    "other", [{"reward": 0.5}, {"reference": "red"}, {"reward": 1.0, "reference": "red apple"}]
)
def test_the_same_key_with_another_request_is_a_conflict(other: dict[str, Any]) -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.feedback(answer, reward=1.0, key="k")
    with pytest.raises(IdempotencyConflict, match="'k'"):
        memory.feedback(answer, key="k", **other)
    assert context_of(memory, answer).rewards == (1.0,)


def test_a_key_of_ingest_is_taken_for_feedback_too() -> None:
    memory = memory_of()
    memory.ingest("Momo sleeps", key="k")
    with pytest.raises(IdempotencyConflict):
        memory.feedback(asked(memory), reward=1.0, key="k")


def test_the_replayed_report_has_the_certificate_of_the_first() -> None:
    right = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
    memory = memory_of(slots=1, slot_limit=44, read_limit=90, scorers=(right, right))
    memory.feedback(asked(memory), reference="red apple")
    answer = asked(memory, "Where did Bella fly, Lisbon?")
    first = memory.feedback(answer, reference="to Lisbon", key="k")
    assert first.certificate is not None
    assert memory.feedback(answer, reference="to Lisbon", key="k") == first


# What it does


def test_an_answer_is_given_by_its_id_or_as_it_came() -> None:
    memory = memory_of()
    answer = asked(memory)
    assert (
        memory.feedback(answer, reward=1.0).answer_id
        == memory.feedback(answer.id, reward=1.0).answer_id
        == "a1"
    )


def test_a_context_is_at_home_where_its_evidence_is() -> None:
    memory = memory_of()
    assert [slot.evidence for slot in memory.slots] == [("e1",), ("e2",)]
    answer = asked(memory, "What did Rex eat, and where is Bella?")
    for reference, slot in (("the red apple", 0), ("flew to Lisbon", 1)):
        memory.feedback(answer, reference=reference)
        assert context_of(memory, answer).slot == slot
        assert answer.id in memory.slots[slot].contexts


def test_a_context_that_rests_on_nothing_stays_where_it_was_routed() -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.feedback(answer, reference="Momo won the marathon")
    assert context_of(memory, answer).slot == answer.route.slot


def test_a_question_asked_again_goes_to_the_slot_where_it_was_served() -> None:
    memory = memory_of()
    first = asked(memory, "Is Rex in Lisbon?")
    assert first.route.slot is not None
    other = 1 - first.route.slot
    memory.feedback(first, reference=["the red apple", "flew to Lisbon"][other])
    assert context_of(memory, first).slot == other
    assert memory.route("Is Rex in Lisbon?").slot == other


def test_a_reward_draws_like_questions_nearer_to_its_slot() -> None:
    memory = memory_of()
    before = memory.route("Did Rex sleep in Lisbon?").scores
    answer = asked(memory, "Is Rex in Lisbon?")
    memory.feedback(answer, reward=1.0)
    home = context_of(memory, answer).slot
    assert home is not None
    after = memory.route("Did Rex sleep in Lisbon?").scores
    assert after[home] > before[home]
    assert after[1 - home] == before[1 - home]


def test_an_answer_that_was_rewarded_badly_draws_nothing() -> None:
    memory = memory_of()
    before = asked(memory, "Tell me about Lisbon").route.scores
    memory.feedback("a1", reward=0.0)
    assert memory.route("Tell me about Lisbon").scores == before


def test_a_scorer_that_fails_leaves_nothing_behind() -> None:
    memory = memory_of(scorers=(ScriptedScorer(1.0), Failing()))
    answer = asked(memory)
    fingerprint = memory.fingerprint()
    with pytest.raises(CollaboratorError, match="the scorer failed: RuntimeError"):
        memory.feedback(answer, reference="red apple", key="k")
    assert memory.fingerprint() == fingerprint


@pytest.mark.parametrize("score", [float("nan"), 1.5, -0.1, True, "high", None])
def test_a_scorer_that_gives_no_number_from_0_to_1_is_named(score: Any) -> None:
    memory = memory_of(scorers=(ScriptedScorer(1.0, "fine"), ScriptedScorer(score, "odd")))
    with pytest.raises(CollaboratorError, match="the scorer odd gave"):
        memory.feedback(asked(memory), reference="red apple")
