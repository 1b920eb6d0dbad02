"""Repeated rewards: what they certify without a model, what they do not, that the claim is true.

Two questions live in one slot, and two answers were tried for each. Where the answer that is right
for one is wrong for the other, no answer serves both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import FeedbackReport, SlotMemory, SplitSettings
from demem_agent.decision import betting, candidate_radius
from demem_agent.errors import CertificateRefused
from demem_agent.settings import Settings
from demem_agent.slots.records import Head, StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.repeated_rewards import IN_COMMON, LEAST, Judged, repeated_rewards
from demem_agent.splitting.replaying import envelope_of, replay, sealed
from demem_agent.testing import BagEncoder, Failing
from demem_agent.types import Channel, Context, Question

BOILER, VIOLIN = "the boiler has a brass valve", "the violin has a broken bow"
ABOUT_BOILER, ABOUT_VIOLIN = "Which valve has the boiler?", "Which bow has the violin?"
#: Equal rewards that each of the four combinations needs before the lower threshold below is
#: exceeded.
ENOUGH = 16

Told = tuple[str, str, float]
APART: tuple[Told, ...] = (
    (ABOUT_BOILER, "brass", 1.0),
    (ABOUT_BOILER, "broken", 0.0),
    (ABOUT_VIOLIN, "brass", 0.0),
    (ABOUT_VIOLIN, "broken", 1.0),
)


class Saying:
    """Answer with what ``text`` is at the time; ``calls`` counts."""

    def __init__(self) -> None:
        self.text = ""
        self.calls = 0

    def answer(self, question: Question) -> str:
        self.calls += 1
        return self.text


def memory_of(
    saying: Saying, slots: int = 4, delta: float = 0.05, pairs: int = 2, **more: Any
) -> SlotMemory:
    split = SplitSettings(tau_split=0.1, tau_sat=0.2, delta=delta, pairs=pairs)
    options: dict[str, Any] = {
        "initial_slots": 1,
        "slot_limit": 44,
        "read_limit": 90,
        "encoder": BagEncoder(),
        **more,
    }
    memory = SlotMemory(slots=slots, split=split, answerer=saying, **options)
    memory.ingest(BOILER)
    memory.ingest(VIOLIN)
    return memory


def lived(
    memory: SlotMemory, saying: Saying, told: Iterable[Told], **also: Any
) -> list[FeedbackReport]:
    """Ask, answer and reward, one after the other, and give the reports."""
    reports = []
    for query, text, reward in told:
        saying.text = text
        reports.append(memory.feedback(memory.answer(query), reward=reward, **also))
    memory.check()
    return reports


def certified(told: Iterable[Told], **options: Any) -> list[FeedbackReport]:
    saying = Saying()
    return [
        report for report in lived(memory_of(saying, **options), saying, told) if report.certificate
    ]


@pytest.fixture(scope="module")
def report() -> FeedbackReport:
    """Return what is reported where two questions were found apart."""
    (found,) = certified(APART * ENOUGH)
    return found


# What they certify


def test_repeated_rewards_certify_a_split(report: FeedbackReport) -> None:
    assert report.split
    assert report.certificate is not None
    parameters = (("delta", 0.05), ("growing", 1.0))
    assert (report.certificate.regime, report.certificate.parameters) == (
        "confidence sequence",
        parameters,
    )


def test_no_pair_to_be_tested_switches_them_off_too() -> None:
    assert certified(APART * ENOUGH, pairs=0) == []


def test_no_model_and_no_scorer_is_called_for_it() -> None:
    saying, unused = Saying(), Failing()
    reports = lived(memory_of(saying, scorers=(unused, unused)), saying, APART * ENOUGH)
    assert (saying.calls, {report.failed for report in reports}) == (len(reports), {None})
    assert any(report.split for report in reports)


def test_a_certificate_holds_every_reward_by_question_and_answer(report: FeedbackReport) -> None:
    assert report.certificate is not None
    found = {
        c.answers[0]: tuple(set(scores) for scores in c.scores)
        for c in report.certificate.candidates
    }
    first = report.certificate.queries[0] == ABOUT_BOILER
    right = {"brass": ({1.0}, {0.0}), "broken": ({0.0}, {1.0})}
    assert found == (right if first else {answer: sides[::-1] for answer, sides in right.items()})


def test_its_numbers_are_those_of_the_decision_core(report: FeedbackReport) -> None:
    assert report.certificate is not None
    result = candidate_radius(envelope_of(report.certificate))
    assert result.radius == report.certificate.radius > report.certificate.threshold


def test_the_same_question_in_other_letters_is_the_same_question() -> None:
    told = [
        (q.upper() if n % 8 < 4 else f"  {q.rstrip('?')} ", a, r)
        for n, (q, a, r) in enumerate(APART * ENOUGH)
    ]
    assert len(certified(told)) == 1


def test_a_full_memory_logs_the_conflict_once() -> None:
    (report,) = certified(APART * (2 * ENOUGH), slots=1)
    assert report.certificate is not None
    assert report.certificate.decision == "suppressed"


def test_it_is_certified_again_after_an_undo() -> None:
    saying = Saying()
    memory = memory_of(saying)
    lived(memory, saying, APART * ENOUGH)
    memory.undo(memory.certificates()[0].id)
    assert lived(memory, saying, APART[:1])[0].split


@pytest.mark.parametrize("channel", ["thumbs", "outcome"])
def test_thumbs_and_outcomes_count_as_rewards(channel: str) -> None:
    saying = Saying()
    memory = memory_of(saying)
    for query, text, reward in APART * ENOUGH:
        saying.text = text
        memory.feedback(memory.answer(query), **{channel: bool(reward)})  # type: ignore[arg-type]  # of a table
    assert [certificate.regime for certificate in memory.certificates()] == ["confidence sequence"]


def test_rewards_that_arrive_in_another_order_certify_the_same() -> None:
    saying = Saying()
    radii = []
    for step in (1, -1):
        memory = memory_of(saying, delta=0.05)
        answers = []
        for query, text, reward in APART * ENOUGH:
            saying.text = text
            answers.append((memory.answer(query), reward))
        reports = [memory.feedback(answer, reward=reward) for answer, reward in answers[::step]]
        radii.append([report.certificate.radius for report in reports if report.certificate])
    assert radii[0] == radii[1]


# What certifies nothing


@pytest.mark.parametrize(
    "told",
    [
        (APART[0], APART[3]),  # each question saw its own answer alone
        APART[:2],  # only one of the questions came up
        (APART[0], APART[1], (ABOUT_VIOLIN, "other", 1.0), (ABOUT_VIOLIN, "another", 0.0)),
    ],
    ids=["own answers", "one question", "no answer in common"],
)
def test_combinations_that_were_never_tried_certify_nothing(told: tuple[Told, ...]) -> None:
    assert certified(told * (2 * ENOUGH)) == []


def test_fewer_rewards_than_the_least_are_not_looked_at() -> None:
    few: dict[tuple[int, int], list[float]] = {(0, 0): [1.0], (0, 1): [0.0] * (LEAST - 2)}
    many = {(1, 0): [0.0] * LEAST, (1, 1): [1.0] * LEAST}
    assert judged(few | many) == []
    assert judged(few | {(0, 1): [0.0] * (LEAST - 1)} | many) == [0.0]


def test_equal_rewards_of_every_answer_certify_nothing() -> None:
    told = [(query, answer, 0.5) for query, answer, _ in APART]
    assert certified(told * ENOUGH) == []


def test_one_answer_that_serves_both_certifies_nothing() -> None:
    told = [*APART, (ABOUT_BOILER, "both", 1.0), (ABOUT_VIOLIN, "both", 1.0)]
    assert certified(told * ENOUGH) == []


@pytest.mark.parametrize("channel", ["reference", "correction", "judge", "agreement", "stand-in"])
def test_what_scorers_say_does_not_count(channel: Channel) -> None:
    rewards = {(x, u): [float(x == u)] * ENOUGH for x in (0, 1) for u in (0, 1)}
    assert [verdict > 0.1 for verdict in judged(rewards)] == [True]
    assert judged(rewards, told=channel) == []


@pytest.mark.parametrize(
    ("told", "counted"), [((), []), (("reward",), [({1.0}, {0.0}), ({0.0}, {1.0})])]
)
def test_rewards_from_before_channels_were_kept_do_not_count(
    told: tuple[Channel, ...], counted: list[tuple[set[float], set[float]]]
) -> None:
    state = State(Settings(), len, head=Head(dimensions=1))
    state.begin_index()
    for n, (query, text, reward) in enumerate(APART * ENOUGH):
        context = Context(f"a{n}", query, None, 0, text, (), rewards=(0.5, reward), told=told)
        state.put_context(StoredContext(context, np.zeros(1, np.float32)))
    last = next(reversed(state.contexts.values()))
    found = [
        candidate.scores
        for _, one in repeated_rewards(state, last, 0.05)
        for candidate in one.verdict.candidates
    ]
    assert [(set(first), set(second)) for first, second in found] == counted


def test_contexts_of_another_slot_do_not_count() -> None:
    rewards = {(x, u): [float(x == u)] * ENOUGH for x in (0, 1) for u in (0, 1)}
    assert judged(rewards, slots=(0, 1)) == []


def test_a_forgotten_question_does_not_count() -> None:
    rewards = {(x, u): [float(x == u)] * ENOUGH for x in (0, 1) for u in (0, 1)}
    assert judged(rewards, redacted=True) == []


# The claim


def judged(
    rewards: dict[tuple[int, int], list[float]],
    *,
    told: Channel = "reward",
    slots: tuple[int, int] = (0, 0),
    redacted: bool = False,
    delta: float = 0.05,
) -> list[float]:
    """Return the radii for two questions, from the rewards of (question, answer)."""
    found = judged_of(rewards, told=told, slots=slots, redacted=redacted, delta=delta)
    return [one.verdict.radius for one in found]


def judged_of(
    rewards: dict[tuple[int, int], list[float]],
    *,
    told: Channel = "reward",
    slots: tuple[int, int] = (0, 0),
    redacted: bool = False,
    delta: float = 0.05,
) -> list[Judged]:
    """Return what the rewards of (question, answer) certify of two questions."""
    state = State(Settings(), len, head=Head(dimensions=1))
    state.begin_index()
    for n, ((x, u), given_) in enumerate(rewards.items()):
        context = Context(
            f"a{n + 1}",
            f"question {x}",
            None,
            slots[x],
            f"answer {u}",
            (),
            rewards=tuple(given_),
            told=(told,) * len(given_),
            redacted=redacted and x == 0,
        )
        state.put_context(StoredContext(context, np.zeros(1, np.float32)))
    last = next(reversed(state.contexts.values()))
    return [found for _, found in repeated_rewards(state, last, delta)]


@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_false_certificates_are_no_more_frequent_than_delta(mean: float) -> None:
    # Equal means: sharing costs nothing, so that any radius above zero is false.
    delta, seeds = 0.05, 500
    false = 0
    for seed in range(seeds):
        draws = np.random.default_rng(seed).random((2, 2, 24)) < mean
        (radius,) = judged(
            {(x, u): [float(r) for r in draws[x, u]] for x in (0, 1) for u in (0, 1)}, delta=delta
        )
        false += radius > 0
    assert false / seeds <= delta + 3 * np.sqrt(delta * (1 - delta) / seeds)


def test_a_true_conflict_is_found_in_noise() -> None:
    found = 0
    for seed in range(20):
        draws = np.random.default_rng(seed).random((2, 2, 120))
        rewards = {
            (x, u): [float(r < (0.9 if x == u else 0.1)) for r in draws[x, u]]
            for x in (0, 1)
            for u in (0, 1)
        }
        (radius,) = judged(rewards)
        assert radius <= 0.8
        found += radius > 0.3
    assert found == 20


REWARDS = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=LEAST, max_size=12)


@given(REWARDS, REWARDS, st.integers(1, 40))
def test_an_answer_that_never_failed_either_question_rules_a_certificate_out(
    first: list[float], second: list[float], times: int
) -> None:
    rewards = {(0, 0): first, (1, 0): second, (0, 1): [1.0] * times, (1, 1): [1.0] * times}
    assert judged(rewards) == [0.0]


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 1), st.integers(0, 2)),
        st.lists(st.sampled_from([0.0, 1.0]), min_size=20, max_size=40),
    )
)
def test_questions_with_fewer_answers_in_common_never_certify(
    tried: dict[tuple[int, int], list[float]],
) -> None:
    tables = np.full((2, 3, 40), np.nan)
    for (x, u), rewards in tried.items():
        tables[x, u, : len(rewards)] = rewards
    common = sum((0, u) in tried and (1, u) in tried for u in range(3))
    assert common >= IN_COMMON or candidate_radius(betting(tables, delta=0.5)).radius == 0


def test_a_question_that_one_of_the_pair_never_answered_alike_is_not_looked_at() -> None:
    rewards = {(0, 0): [1.0] * 40, (0, 1): [0.0] * 40, (1, 1): [1.0] * 40, (1, 2): [0.0] * 40}
    assert judged(rewards) == []


# Two answers alone


def odd(times: int = 1) -> dict[tuple[int, int], list[float]]:
    """Return rewards that certify, but for an odd third answer that either question tried."""
    told = {(x, u): [float(x == u)] * (2 * ENOUGH) for x in (0, 1) for u in (0, 1)}
    return told | {(0, 2): [1.0] * times, (1, 2): [1.0] * times}


def found_of(rewards: dict[tuple[int, int], list[float]]) -> Judged:
    (found,) = judged_of(rewards)
    return found


def test_one_odd_answer_does_not_block_what_two_others_certify() -> None:
    found = found_of(odd())
    assert (found.regime, found.places) == ("pairwise preference", (1, 2))
    assert [candidate.answers[0] for candidate in found.verdict.candidates] == [
        "answer 0",
        "answer 1",
    ]
    assert found.verdict.radius > 0.1


def test_an_answer_that_is_known_to_serve_both_certifies_nothing() -> None:
    assert found_of(odd(3 * ENOUGH)).verdict.radius == 0


def test_without_an_odd_answer_the_radius_is_over_all() -> None:
    rewards = {answer: told for answer, told in odd().items() if answer[1] < 2}
    assert found_of(rewards).regime == "confidence sequence"


def test_a_pairwise_preference_replays_and_with_another_place_does_not() -> None:
    saying = Saying()
    memory = memory_of(saying)
    lived(memory, saying, [(ABOUT_BOILER, "odd", 1.0), (ABOUT_VIOLIN, "odd", 1.0)])
    lived(memory, saying, APART * (4 * ENOUGH))
    (made,) = memory.certificates()
    assert made.regime == "pairwise preference"
    assert "cannotlink-test" in made.conditions
    assert replay(made).radius == made.radius
    with pytest.raises(CertificateRefused):
        replay(sealed(replace(made, parameters=(*made.parameters[:-1], ("second", 9.0)))))


@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_false_preferences_are_no_more_frequent_than_delta(mean: float) -> None:
    # Equal means of all three answers, the third one rare: any radius above zero is false.
    delta, seeds = 0.05, 400
    false = 0
    for seed in range(seeds):
        draws = np.random.default_rng(seed).random((2, 3, 24)) < mean
        rewards = {
            (x, u): [float(r) for r in draws[x, u][: 2 if u == 2 else 24]]
            for x in (0, 1)
            for u in (0, 1, 2)
        }
        (radius,) = judged(rewards, delta=delta)
        false += radius > 0
    assert false / seeds <= delta + 3 * np.sqrt(delta * (1 - delta) / seeds)


# Nothing to divide


def test_a_conflict_over_the_same_evidence_is_logged_once_and_moves_nothing() -> None:
    saying = Saying()
    split = SplitSettings(tau_split=0.1, tau_sat=0.2)
    memory = SlotMemory(slots=4, split=split, answerer=saying, encoder=BagEncoder())
    memory.ingest(BOILER)
    reports = lived(memory, saying, APART * (2 * ENOUGH))
    (made,) = [report.certificate for report in reports if report.certificate]
    assert (made.decision, made.undivided, made.new_slot) == ("suppressed", True, None)
    assert (made.saturated, made.pinned) == (False, False)
    assert replay(made).decision == "suppressed"
    assert [slot.evidence for slot in memory.slots] == [("e1",)]


def test_a_certificate_that_says_otherwise_why_nothing_was_divided_is_refused() -> None:
    saying = Saying()
    memory = SlotMemory(slots=4, answerer=saying, encoder=BagEncoder())
    memory.ingest(BOILER)
    lived(memory, saying, APART * (2 * ENOUGH))
    (made,) = memory.certificates()
    with pytest.raises(CertificateRefused):
        replay(sealed(replace(made, undivided=False)))
