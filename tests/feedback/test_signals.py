"""The channels of feedback: what each records, what goes together, what knows more.

None is lost or mixed up.
"""

from __future__ import annotations

import asyncio
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from demem_agent import Answer, AsyncSlotMemory, FeedbackReport, Scorer, SlotMemory, SplitSettings
from demem_agent.channels import Signal
from demem_agent.errors import IdempotencyConflict, InvalidInput
from demem_agent.feedback.signals import signal_of
from demem_agent.slots import experience
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Attempt, Channel, Context

BOILER, VIOLIN = "the boiler has a brass valve", "the violin has a broken bow"
ABOUT_BOILER, ABOUT_VIOLIN = "Which valve has the boiler?", "Which bow has the violin?"

#: What is told, by channel, with the reward that it comes to for an answer that is the whole
#: reading.
TOLD: dict[str, tuple[dict[str, Any], float]] = {
    "reward": ({"reward": 0.3}, 0.3),
    "reference": ({"reference": "a brass valve"}, 0.9),
    "thumbs": ({"thumbs": True}, 1.0),
    "correction": ({"correction": "a brass valve"}, 0.9),
    "outcome": ({"outcome": 0.6}, 0.6),
    "agreement": ({"agreement": ["an answer of other words", "nothing shared"]}, 0.0),
    "judge": ({"judge": True}, 0.7),
}
every_channel = pytest.mark.parametrize("channel", list(TOLD))


def pair_of(score: float, name: str) -> tuple[Scorer, Scorer]:
    return ScriptedScorer(score, f"{name} one"), ScriptedScorer(score, f"{name} two")


def options_of(**more: Any) -> dict[str, Any]:
    return {
        "clock": None,
        "slots": 4,
        "initial_slots": 1,
        "slot_limit": 44,
        "read_limit": 200,
        "encoder": BagEncoder(),
        "answerer": ReadingAnswerer(),
        "scorers": pair_of(0.9, "scorer"),
        "judges": pair_of(0.7, "judge"),
        **more,
    }


def filled(memory: SlotMemory) -> SlotMemory:
    memory.ingest(BOILER)
    memory.ingest(VIOLIN)
    return memory


def memory_of(**more: Any) -> SlotMemory:
    return filled(SlotMemory(**options_of(**more)))


def told(memory: SlotMemory, *signals: dict[str, Any], query: str = ABOUT_BOILER) -> Context:
    """Ask once, tell all of it in this order, and give the context as it is then."""
    answer = memory.answer(query)
    for signal in signals:
        memory.feedback(answer, **signal)
    memory.check()
    return context_of(memory, answer)


def context_of(memory: SlotMemory, answer: Answer) -> Context:
    return next(context for context in memory.contexts() if context.id == answer.id)


def refused(**given: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        signal_of(given)
    return caught.value.field


# Every channel is recorded and reported


@every_channel
def test_what_is_told_in_a_channel_is_kept_under_its_name(channel: str) -> None:
    given, reward = TOLD[channel]
    context = told(memory_of(), given)
    assert context.told == (channel,)
    assert context.rewards == pytest.approx((reward,))


@every_channel
def test_the_report_says_by_which_channel_the_reward_is_known(channel: str) -> None:
    given, reward = TOLD[channel]
    memory = memory_of()
    report = memory.feedback(memory.answer(ABOUT_BOILER), **given)
    assert report.channel == channel
    assert report.reward == pytest.approx(reward)


@pytest.mark.parametrize(
    ("channel", "names"),
    [
        *((name, {name}) for name in ("reward", "thumbs", "outcome", "agreement")),
        ("judge", {"judge one", "judge two"}),
        *((name, {"scorer one", "scorer two"}) for name in ("reference", "correction")),
    ],
)
def test_rewards_are_reported_under_the_name_of_whoever_gave_them(
    channel: str, names: set[str]
) -> None:
    memory = memory_of()
    assert set(memory.feedback(memory.answer(ABOUT_BOILER), **TOLD[channel][0]).rewards) == names


@pytest.mark.parametrize(
    ("given", "reward"),
    [
        ({"thumbs": True}, 1.0),
        ({"thumbs": False}, 0.0),
        ({"outcome": True}, 1.0),
        ({"outcome": False}, 0.0),
        ({"outcome": 0}, 0.0),
        ({"outcome": 0.25}, 0.25),
    ],
)
def test_what_is_told_without_a_number_becomes_one(given: dict[str, Any], reward: float) -> None:
    assert signal_of(given).reward == reward


def test_the_reward_of_agreement_is_how_far_the_other_answers_share_words() -> None:
    memory = memory_of()
    answer = memory.answer(ABOUT_BOILER)
    assert memory.feedback(answer, agreement=[answer.text, "xylophone"]).reward == pytest.approx(
        0.5
    )


def test_judges_see_no_reference() -> None:
    blind = ScriptedScorer(lambda attempt: float(not attempt.reference))
    memory = memory_of(judges=(blind, blind))
    assert told(memory, {"reference": "a brass valve"}, {"judge": True}).rewards[-1] == 1.0


# What goes together


@pytest.mark.parametrize("other", ["reference", "correction"])
def test_a_reward_goes_with_what_should_have_been_answered(other: Channel) -> None:
    assert signal_of({"reward": 0.2, other: "brass"}) == Signal(other, 0.2, "brass")


@pytest.mark.parametrize("other", ["thumbs", "outcome", "agreement", "judge"])
def test_a_reward_goes_with_nothing_else(other: str) -> None:
    assert refused(reward=0.2, **TOLD[other][0]) == other


@pytest.mark.parametrize(
    ("one", "other"),
    [(a, b) for a in TOLD for b in TOLD if a != b and "reward" not in (a, b)],
    ids=str,
)
def test_two_channels_do_not_go_together(one: str, other: str) -> None:
    assert refused(**TOLD[one][0], **TOLD[other][0]) in (one, other)


@pytest.mark.parametrize(
    "given", [{}, {"reward": None}, {"judge": False}, {"judge": False, "thumbs": None}]
)
def test_nothing_told_is_refused(given: dict[str, Any]) -> None:
    assert refused(**given) == "reward"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"reward": 1.1}, "reward"),
        ({"reward": True}, "reward"),
        ({"reward": float("nan")}, "reward"),
        ({"reference": ""}, "reference"),
        ({"reference": 7}, "reference"),
        ({"correction": " "}, "correction"),
        ({"thumbs": 1}, "thumbs"),
        ({"thumbs": "up"}, "thumbs"),
        ({"outcome": "success"}, "outcome"),
        ({"outcome": -0.1}, "outcome"),
        ({"agreement": "one text"}, "agreement"),
        ({"agreement": 3}, "agreement"),
        ({"agreement": []}, "agreement"),
        ({"agreement": ()}, "agreement"),
        ({"agreement": ["fine", ""]}, "agreement[1]"),
        ({"judge": 1}, "judge"),
        ({"judge": "yes"}, "judge"),
    ],
    ids=str,
)
def test_a_value_outside_its_range_is_refused_by_name(given: dict[str, Any], field: str) -> None:
    assert refused(**given) == field


def test_a_channel_that_does_not_exist_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="'thumb'"):
        signal_of({"thumb": True})


@pytest.mark.parametrize(
    "given", [{"thumbs": 2}, {"agreement": []}, {"reward": 1.0, "judge": True}], ids=str
)
def test_what_is_refused_leaves_nothing_behind(given: dict[str, Any]) -> None:
    memory = memory_of()
    answer = memory.answer(ABOUT_BOILER)
    before = memory.fingerprint()
    with pytest.raises(InvalidInput):
        memory.feedback(answer, **given)
    assert memory.fingerprint() == before


def test_judging_is_refused_by_a_memory_without_judges() -> None:
    memory = memory_of(judges=())
    with pytest.raises(InvalidInput, match="without judges") as caught:
        memory.feedback(memory.answer(ABOUT_BOILER), judge=True)
    assert caught.value.field == "judge"


def test_a_single_judge_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        memory_of(judges=(ScriptedScorer(0.5),))
    assert caught.value.field == "judges"


# What knows more

REFERENCE, CORRECTION, JUDGE, GOOD, BAD = (
    {"reference": "a brass valve"},
    {"correction": "a broken bow"},
    {"judge": True},
    {"reward": 1.0},
    {"reward": 0.0},
)


@pytest.mark.parametrize(
    ("signals", "channel", "reference"),
    [
        ((REFERENCE, CORRECTION, JUDGE, GOOD), "reference", "a brass valve"),
        ((REFERENCE, BAD), "reference", "a brass valve"),
        ((CORRECTION, JUDGE, GOOD), "correction", "a broken bow"),
        ((CORRECTION, BAD), "correction", "a broken bow"),
    ],
)
def test_what_knows_more_stays_whatever_the_order(
    signals: tuple[dict[str, Any], ...], channel: str, reference: str
) -> None:
    found = {
        (context.channel, experience.known_reference(context))
        for order in permutations(signals)
        for context in [told(memory_of(), *order)]
    }
    assert found == {(channel, reference)}


@pytest.mark.parametrize("order", list(permutations((JUDGE, GOOD, BAD))), ids=str)
def test_judges_know_more_than_a_reward(order: tuple[dict[str, Any], ...]) -> None:
    assert experience.testable(told(memory_of(), *order)) == "judges"


@pytest.mark.parametrize("channel", ["reference", "correction"])
def test_of_two_texts_by_one_channel_the_later_counts(channel: str) -> None:
    context = told(memory_of(), {channel: "a broken bow"}, {channel: "a brass valve"})
    assert experience.known_reference(context) == "a brass valve"


@pytest.mark.parametrize(
    "good", [{"reward": 1.0}, {"thumbs": True}, {"outcome": True}, {"outcome": 0.5}], ids=str
)
def test_a_good_answer_stands_in_by_whichever_channel_it_is_known_to_be(
    good: dict[str, Any],
) -> None:
    context = told(memory_of(), good)
    assert (context.channel, experience.known_reference(context)) == ("stand-in", context.answer)


@pytest.mark.parametrize("bad", [{"reward": 0.0}, {"thumbs": False}, {"outcome": False}], ids=str)
def test_a_low_reward_after_a_stand_in_makes_it_unknown_again(bad: dict[str, Any]) -> None:
    context = told(memory_of(), {"thumbs": True}, bad)
    assert context.channel != "stand-in"
    assert (context.reference, experience.testable(context)) == (None, None)


def test_agreement_however_full_makes_no_answer_known() -> None:
    memory = memory_of()
    answer = memory.answer(ABOUT_BOILER)
    assert memory.feedback(answer, agreement=[answer.text] * 9).reward == 1.0
    assert experience.testable(context_of(memory, answer)) is None


# What is certified

SPLITTING = {
    "read_limit": 90,
    "split": SplitSettings(c_beta=0.2, sigma_0=0.1, eta_cal=0.02, tau_split=0.1, tau_sat=0.2),
}


def apart(attempt: Attempt) -> float:
    return float(("violin" in attempt.query) == ("violin" in attempt.reading))


def both_told(memory: SlotMemory, given: dict[str, Any]) -> FeedbackReport:
    told(memory, given)
    return memory.feedback(memory.answer(ABOUT_VIOLIN), **given)


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({"thumbs": True}, "stand-in"),
        ({"outcome": True}, "stand-in"),
    ],
    ids=str,
)
def test_a_conflict_is_certified_by_every_channel_that_knows_an_answer(
    given: dict[str, Any], known: str
) -> None:
    scorer = ScriptedScorer(apart)
    report = both_told(memory_of(scorers=(scorer, scorer), **SPLITTING), given)
    assert report.certificate is not None
    assert report.certificate.channels == (known, known)


@pytest.mark.parametrize(
    "given",
    [
        {"thumbs": False},
        {"outcome": False},
        {"reward": 0.4},
        {"agreement": ["a brass valve", BOILER]},
    ],
    ids=str,
)
def test_channels_that_know_no_answer_test_and_certify_nothing(given: dict[str, Any]) -> None:
    scorer = ScriptedScorer(apart)
    report = both_told(memory_of(scorers=(scorer, scorer), **SPLITTING), given)
    assert (report.tested, report.counterfactuals, report.certificate) == (0, 0, None)


def test_counterfactual_answers_to_judged_contexts_are_rated_by_the_judges() -> None:
    judges = ScriptedScorer(apart, "judge one"), ScriptedScorer(apart, "judge two")
    report = both_told(
        memory_of(judges=judges, scorers=pair_of(0.5, "scorer"), **SPLITTING), {"judge": True}
    )
    assert report.certificate is not None
    assert report.certificate.scorers == ("judge one", "judge two")
    assert {
        score for c in report.certificate.candidates for side in c.scores for score in side
    } == {0.0, 1.0}


def test_what_judges_rated_is_not_tested_against_what_scorers_rate() -> None:
    scorer = ScriptedScorer(apart)
    memory = memory_of(scorers=(scorer, scorer), judges=(scorer, scorer), **SPLITTING)
    told(memory, {"judge": True})
    report = memory.feedback(memory.answer(ABOUT_VIOLIN), reference="a broken bow")
    assert (report.tested, report.certificate) == (0, None)


# Repeating and reordering


@every_channel
def test_the_same_key_gives_the_stored_report_and_changes_nothing(channel: str) -> None:
    memory = memory_of()
    answer = memory.answer(ABOUT_BOILER)
    first = memory.feedback(answer, key="k", **TOLD[channel][0])
    before = memory.fingerprint()
    assert memory.feedback(answer, key="k", **TOLD[channel][0]) == first
    assert memory.fingerprint() == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"reward": 1.0}, {"thumbs": True}),
        ({"thumbs": True}, {"outcome": True}),
        ({"reference": "brass"}, {"correction": "brass"}),
        ({"judge": True}, {"reward": 0.7}),
        ({"agreement": ["one"]}, {"agreement": ["one", "one"]}),
    ],
    ids=str,
)
def test_the_same_key_in_another_channel_is_a_conflict(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    memory = memory_of()
    answer = memory.answer(ABOUT_BOILER)
    memory.feedback(answer, key="k", **one)
    with pytest.raises(IdempotencyConflict):
        memory.feedback(answer, key="k", **other)
    assert len(context_of(memory, answer).rewards) == 1


def test_rewards_of_different_answers_that_arrive_in_another_order_give_the_same_memory() -> None:
    signals: list[dict[str, Any]] = [{"reward": 1.0}, {"thumbs": False}, {"outcome": 0.4}]
    contexts = set()
    for order in permutations(range(3)):
        memory = memory_of()
        answers = [memory.answer(query) for query in (ABOUT_BOILER, ABOUT_VIOLIN, "Which bow?")]
        for n in order:
            memory.feedback(answers[n], **signals[n])
        contexts.add(memory.contexts())
    assert len(contexts) == 1


def test_contradictory_rewards_of_one_answer_keep_their_sum_whatever_the_order() -> None:
    signals: list[dict[str, Any]] = [{"reward": 1.0}, {"thumbs": False}, {"outcome": 0.4}]
    found = {
        tuple(sorted(zip(context.told, context.rewards, strict=True)))
        for order in permutations(signals)
        for context in [told(memory_of(), *order)]
    }
    assert found == {(("outcome", 0.4), ("reward", 1.0), ("thumbs", 0.0))}


# Nothing is lost on the way


def everything_told(memory: SlotMemory) -> None:
    for n, (given, _) in enumerate(TOLD.values()):
        memory.feedback(memory.answer(f"{ABOUT_BOILER} {n}"), **given)
    told(memory, *(given for given, _ in TOLD.values()))


def test_every_channel_survives_the_reopening_of_a_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with SlotMemory.open(url, **options_of()) as memory:
        everything_told(filled(memory))
        before = memory.contexts(), memory.fingerprint()
    with SlotMemory.open(url, **options_of()) as again:
        assert (again.contexts(), again.fingerprint()) == before


def test_every_channel_survives_export_and_restore() -> None:
    memory = memory_of()
    everything_told(memory)
    again = SlotMemory.restore(memory.export(), **options_of())
    assert (again.contexts(), again.fingerprint()) == (memory.contexts(), memory.fingerprint())


@every_channel
def test_an_async_memory_learns_the_same(channel: str) -> None:
    given = TOLD[channel][0]

    async def learned() -> tuple[FeedbackReport, str]:
        memory = AsyncSlotMemory(**options_of())
        await memory.ingest(BOILER)
        await memory.ingest(VIOLIN)
        report = await memory.feedback(await memory.answer(ABOUT_BOILER), **given)
        return report, await memory.fingerprint()

    memory = memory_of()
    report = memory.feedback(memory.answer(ABOUT_BOILER), **given)
    assert asyncio.run(learned()) == (report, memory.fingerprint())
