"""The split trigger: what fires it, its arithmetic by hand, its budget, where things go.

The pair used throughout: one slot whose summary has room for one line, two items, a question about
each. Asked from a content, a question is scored by which of the two items that content holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from often import often

from demem_agent import FeedbackReport, Scorer, SlotMemory, SplitCertificate, SplitSettings
from demem_agent.decision import candidate_radius, guard_band
from demem_agent.slots.records import StoredContext
from demem_agent.splitting.conflict import Content, bearable, judge
from demem_agent.splitting.division import divide
from demem_agent.summaries.compress import Summary
from demem_agent.testing import BagEncoder, Failing, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Attempt, Context

BOILER, VIOLIN = "the boiler has a brass valve", "the violin has a broken bow"
ABOUT_BOILER, ABOUT_VIOLIN = "Which valve has the boiler?", "Which bow has the violin?"
#: Scores of the question about the boiler, then of the one about the violin, each from the boiler's
#: and the violin's content.
Table = tuple[tuple[float, float], tuple[float, float]]
APART: Table = ((1.0, 0.0), (0.0, 1.0))
#: Half-width of the guard band where both scorers agree, with the settings below: 0.2 * 0.1 /
#: sqrt(2) + 0.02.
WIDTH = 0.02 * math.sqrt(2) / 2 + 0.02
BAND: dict[str, Any] = {"c_beta": 0.2, "sigma_0": 0.1, "eta_cal": 0.02}


def scorers(table: Table) -> tuple[Scorer, Scorer]:
    def score(attempt: Attempt) -> float:
        return table[attempt.query == ABOUT_VIOLIN]["violin" in attempt.reading]

    return ScriptedScorer(score, "one"), ScriptedScorer(score, "two")


def memory_of(
    table: Table = APART, slots: int = 4, more: dict[str, Any] | None = None, **split: Any
) -> SlotMemory:
    chosen = SplitSettings(**{**BAND, "tau_split": 0.1, "tau_sat": 0.2, **split})
    options: dict[str, Any] = {
        "clock": None,
        "initial_slots": 1,
        "slot_limit": 44,
        "read_limit": 90,
        "encoder": BagEncoder(),
        "answerer": ReadingAnswerer(),
        "scorers": scorers(table),
        "stale": "show",
    }
    memory = SlotMemory(slots=slots, split=chosen, **{**options, **(more or {})})
    memory.ingest(BOILER)
    memory.ingest(VIOLIN)
    return memory


def told_both(memory: SlotMemory) -> FeedbackReport:
    """Ask both questions and give both references; the second feedback meets the first context."""
    memory.feedback(memory.answer(ABOUT_BOILER), reference="a brass valve")
    report = memory.feedback(memory.answer(ABOUT_VIOLIN), reference="a broken bow")
    memory.check()
    return report


def certificate_of(report: FeedbackReport) -> SplitCertificate:
    assert report.certificate is not None
    return report.certificate


# When it fires


@pytest.mark.parametrize(
    ("table", "fires"),
    [
        (APART, True),  # each content serves one of the two alone
        (((1.0, 1.0), (0.0, 1.0)), False),  # the violin's content serves both
        (((1.0, 0.0), (1.0, 1.0)), False),  # the boiler's does
        (((1.0, 1.0), (1.0, 1.0)), False),
        (((1.0, 0.5), (0.5, 1.0)), True),  # sharing costs 0.5, less twice the guard band
        (((0.6, 0.5), (0.5, 0.6)), False),  # sharing costs no more than the band allows for
        (((0.5, 0.5), (0.0, 1.0)), False),  # the first question does not care
    ],
)
def test_it_fires_exactly_when_no_content_serves_both(table: Table, fires: bool) -> None:
    report = told_both(memory_of(table))
    assert (report.tested, report.certificate is not None, report.split) == (1, fires, fires)


def test_a_slot_that_holds_what_both_need_is_not_tested() -> None:
    report = told_both(memory_of(more={"slot_limit": 200}))
    assert (report.tested, report.counterfactuals, report.certificate) == (0, 0, None)


def test_contexts_of_different_slots_are_not_tested() -> None:
    report = told_both(memory_of(more={"initial_slots": 2, "near": 1.0}))
    assert (report.tested, report.certificate) == (0, None)


@pytest.mark.parametrize(
    "rewards", [(), (0.0,), (0.49,), (1.0, 0.0)], ids=["none", "bad", "hardly good", "no longer"]
)
def test_a_context_whose_right_answer_is_unknown_certifies_nothing(
    rewards: tuple[float, ...],
) -> None:
    memory = memory_of()
    answer = memory.answer(ABOUT_BOILER)
    for reward in rewards:
        memory.feedback(answer, reward=reward)
    report = memory.feedback(memory.answer(ABOUT_VIOLIN), reference="a broken bow")
    assert (report.tested, report.certificate) == (0, None)


def test_an_answer_that_was_rewarded_stands_in_for_the_reference() -> None:
    memory = memory_of()
    memory.feedback(memory.answer(ABOUT_BOILER), reward=1.0)
    report = memory.feedback(memory.answer(ABOUT_VIOLIN), reward=0.8)
    assert certificate_of(report).channels == ("stand-in", "stand-in")


def test_a_pair_with_a_certificate_is_not_tested_again() -> None:
    memory = memory_of(slots=1)
    certificate_of(told_both(memory))
    report = memory.feedback("a2", reference="a broken bow")
    assert (report.tested, len(memory.certificates())) == (0, 1)


def test_a_pair_whose_split_was_undone_may_be_split_again() -> None:
    memory = memory_of()
    memory.undo(certificate_of(told_both(memory)).id)
    assert memory.feedback("a2", reference="a broken bow").split


def test_no_pairs_to_test_switches_splitting_off() -> None:
    report = told_both(memory_of(pairs=0))
    assert (report.tested, report.certificate) == (0, None)


def test_the_least_similar_partner_is_tested_first() -> None:
    right = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
    options = {"scorers": (right, right), "decisions": False}
    memory = memory_of(slots=1, pairs=1, more=options)
    memory.ingest("the violin has a new string")
    memory.feedback(memory.answer("Which string has the violin?"), reference="a new string")
    report = told_both(memory)
    assert certificate_of(report).pair == (
        "a2",
        "a3",
    )  # not ("a1", "a3"), two questions about the violin


# The arithmetic


def test_the_radius_is_what_hand_calculation_gives() -> None:
    certificate = certificate_of(told_both(memory_of(((1.0, 0.5), (0.5, 1.0)))))
    # Best lower bound 1 - WIDTH, upper bound of the other content 0.5 + WIDTH.
    assert certificate.radius == pytest.approx(0.5 - 2 * WIDTH)


def test_the_guard_band_is_what_hand_calculation_gives() -> None:
    # Mean 0.8; unbiased dispersion of (1, 0.6) is 0.08, of which with 0.1 squared the root is 0.3,
    # over sqrt(2), times 0.2, plus 0.02: 0.0624264.
    candidate = judged([[[1.0, 0.6]], [[0.0, 0.0]]])[1][0]
    assert candidate["lower"] == pytest.approx((0.7375736, 0.0), abs=1e-6)
    assert candidate["upper"] == pytest.approx((0.8624264, WIDTH), abs=1e-6)


def judged(scores: object) -> tuple[float, list[dict[str, Any]]]:
    table = np.asarray(scores, np.float64)
    contents = [Content(f"c{u}", u, 1, Summary()) for u in range(table.shape[1])]
    verdict = judge(contents, [("", "")] * table.shape[1], table, SplitSettings(**BAND))
    return verdict.radius, [
        {name: getattr(candidate, name) for name in ("scores", "lower", "upper", "losses")}
        for candidate in verdict.candidates
    ]


QUARTERS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
SCORES = st.integers(1, 5).flatmap(lambda u: arrays(np.float64, (2, u, 2), elements=QUARTERS))


@given(SCORES)
def test_the_radius_is_the_least_over_contents_of_the_larger_loss(
    scores: NDArray[np.float64],
) -> None:
    radius, candidates = judged(scores)
    assert radius == min(max(candidate["losses"]) for candidate in candidates)


@given(SCORES)
def test_a_loss_is_the_best_lower_bound_less_the_own_upper_bound(
    scores: NDArray[np.float64],
) -> None:
    _, candidates = judged(scores)
    for context in (0, 1):
        best = max(candidate["lower"][context] for candidate in candidates)
        for candidate in candidates:
            assert candidate["losses"][context] == pytest.approx(
                max(best - candidate["upper"][context], 0.0)
            )


@given(SCORES, st.integers(0, 1))
def test_a_context_of_which_nothing_is_known_loses_nothing_by_any_content(
    scores: NDArray[np.float64], blank: int
) -> None:
    scores[blank] = np.nan
    _, candidates = judged(scores)
    assert {candidate["losses"][blank] for candidate in candidates} == {0.0}
    assert {candidate["scores"][blank] for candidate in candidates} == {()}


def test_a_certificate_can_be_checked_from_its_own_numbers() -> None:
    certificate = certificate_of(told_both(memory_of()))
    assert certificate.radius == min(max(candidate.losses) for candidate in certificate.candidates)
    assert certificate.radius > certificate.threshold
    for candidate in certificate.candidates:
        for n in (0, 1):
            mean = sum(candidate.scores[n]) / 2
            assert candidate.lower[n] == pytest.approx(max(mean - WIDTH, 0.0))
            assert candidate.upper[n] == pytest.approx(min(mean + WIDTH, 1.0))


def test_a_certificate_says_what_was_tested_on_what_and_under_which_conditions() -> None:
    certificate = certificate_of(told_both(memory_of()))
    assert (certificate.pair, certificate.queries) == (("a1", "a2"), (ABOUT_BOILER, ABOUT_VIOLIN))
    assert [candidate.name for candidate in certificate.candidates] == [
        "current",
        "split first",
        "split second",
    ]
    assert [candidate.cover for candidate in certificate.candidates] == [("e2",), ("e1",), ("e2",)]
    assert certificate.scorers == ("one", "two")
    assert "not a probability" in certificate.conditions
    assert "c_beta=0.2" in certificate.conditions


# Thresholds


@pytest.mark.parametrize(("tau_sat", "fires"), [(0.2, True), (0.43, True), (0.44, False)])
def test_once_k_slots_are_active_the_higher_threshold_applies(tau_sat: float, fires: bool) -> None:
    memory = memory_of(
        ((1.0, 0.5), (0.5, 1.0)), slots=1, tau_sat=tau_sat
    )  # the radius is 0.5 - 2 * WIDTH = 0.4317
    assert (told_both(memory).certificate is not None) is fires


def test_while_slots_are_free_the_lower_threshold_applies() -> None:
    certificate = certificate_of(
        told_both(memory_of(((1.0, 0.5), (0.5, 1.0)), slots=2, tau_sat=0.9))
    )
    assert (certificate.saturated, certificate.threshold, certificate.decision) == (
        False,
        0.1,
        "split",
    )


def test_a_full_memory_logs_the_conflict_and_stays_as_it_is() -> None:
    memory = memory_of(slots=1)
    report = told_both(memory)
    certificate = certificate_of(report)
    assert (certificate.decision, certificate.new_slot, certificate.saturated) == (
        "suppressed",
        None,
        True,
    )
    assert (certificate.threshold, report.split, len(memory.slots)) == (0.2, False, 1)
    assert memory.certificates() == (certificate,)


# Where things go


def test_the_evidence_of_each_of_the_pair_ends_on_its_own_side() -> None:
    memory = memory_of()
    for n in range(8):
        memory.ingest(f"boiler valve boiler valve {n}")
    certificate = certificate_of(told_both(memory))
    home = {item: slot.number for slot in memory.slots for item in slot.evidence}
    assert (home["e1"], home["e2"]) == (certificate.slot, certificate.new_slot)


SOME = st.sets(st.integers(1, 8).map(lambda n: f"e{n}"), min_size=1)


@settings(deadline=None)
@given(SOME, SOME)
def test_what_one_of_the_pair_rests_on_goes_with_it_however_near_it_is_to_the_other(
    first: set[str], second: set[str]
) -> None:
    memory = memory_of()
    for n in range(6):
        memory.ingest(f"the {'boiler' if n % 2 else 'violin'} has number {n}")
    state = memory._held.state
    pair = [
        StoredContext(
            Context(f"a{n}", "?", None, 0, "", (), supports=tuple(sorted(rests_on))),
            state.item_vector(f"e{n}"),
        )
        for n, rests_on in enumerate((first, second), 1)
    ]
    moved = set(divide(state, 0, (pair[0], pair[1]), {}, 1).moved)
    assert moved.isdisjoint(first - second)
    assert moved >= second - first


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from([BOILER, VIOLIN, "the bow of the boiler", "a valve for the violin"]),
        max_size=6,
    )
)
def test_a_split_leaves_every_item_and_every_context_in_exactly_one_of_the_two(
    texts: list[str],
) -> None:
    memory = memory_of(tau_split=0.0, tau_sat=0.0)
    for text in texts:
        memory.ingest(text)
    report = told_both(memory)
    for held in ("evidence", "contexts"):
        names = [name for slot in memory.slots for name in getattr(slot, held)]
        assert sorted(names) == sorted(
            {f"{held[0].replace('c', 'a')}{n + 1}" for n in range(len(names))}
        )
    assert len(memory.slots) == (2 if report.split else 1)


def test_each_of_the_pair_is_found_in_the_slot_of_its_evidence() -> None:
    memory = memory_of()
    certificate = certificate_of(told_both(memory))
    assert [context.slot for context in memory.contexts()] == [
        certificate.slot,
        certificate.new_slot,
    ]
    assert memory.route(ABOUT_BOILER).slot == certificate.slot
    assert memory.route(ABOUT_VIOLIN).slot == certificate.new_slot


def test_the_new_slot_knows_which_it_was_split_from() -> None:
    memory = memory_of()
    certificate = certificate_of(told_both(memory))
    assert {slot.number: slot.parent for slot in memory.slots} == {
        certificate.slot: None,
        certificate.new_slot: 0,
    }


def test_both_contents_are_rebuilt_from_their_own_part() -> None:
    memory = memory_of()
    told_both(memory)
    assert [slot.summary for slot in memory.slots] == [f"- {BOILER}", f"- {VIOLIN}"]


# Others at work meanwhile


class Meddling:
    """Score as another scorer does, and have something happen at one of the calls."""

    name = "meddling"

    def __init__(self, inner: ScriptedScorer, call: int, happen: Callable[[], object]) -> None:
        self._inner = inner
        self._left = call
        self._happen = happen

    def score(self, attempt: Attempt) -> float:
        self._left -= 1
        if self._left == 0:
            self._happen()
        return self._inner.score(attempt)


@pytest.mark.parametrize("call", [2, 5, 9, 10, 12, 15])
def test_what_is_forgotten_during_the_tests_is_not_tested_any_more(call: int) -> None:
    # The third feedback scores its own answer at the 9th call, and its tests at the next ones.
    good = ScriptedScorer(1.0)
    meddling = Meddling(good, call, lambda: memory.forget("e2"))
    memory = memory_of(more={"scorers": (meddling, good)})
    memory.ingest("the violin has a new string")
    memory.feedback(memory.answer("Which string has the violin?"), reference="a new string")
    report = told_both(memory)
    assert (report.failed, report.certificate, len(memory)) == (None, None, 2)


@pytest.mark.parametrize("call", [1, 2, 3, 8])
def test_a_split_is_certified_on_what_is_there_when_it_is_made(call: int) -> None:
    right = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
    meddling = Meddling(right, call, lambda: memory.ingest("the train has a ticket"))
    memory = memory_of(more={"scorers": (meddling, right)})
    assert certificate_of(told_both(memory)).decision == "split"
    assert sorted(item for slot in memory.slots for item in slot.evidence) == ["e1", "e2", "e3"]


# The budget


@pytest.mark.parametrize(("budget", "produced"), [(0, 0), (3, 2), (4, 4)])
def test_the_budget_of_counterfactuals_caps_the_tests_and_is_reported(
    budget: int, produced: int
) -> None:
    # Two questions from two different texts: the current content is that of the second would-be
    # slot.
    report = told_both(memory_of(counterfactuals=budget))
    capped = budget < 4
    assert (report.capped, report.certificate is None, report.queued) == (
        capped,
        capped,
        int(capped),
    )
    assert (report.tested, report.counterfactuals) == (int(not capped), produced)


def test_an_answer_is_given_anew_where_other_lines_of_the_same_content_are_read() -> None:
    """A strict reading may have no room for all of a content: what ranks first is read.

    By a counter that measures more for a whole than for its parts, this reading holds one of the
    two lines of the summary: that of the answer that proved right last.
    """
    more = {"slot_limit": 60, "unit": "tokens", "counter": lambda text: len(text) ** 2 // 80}
    memory = memory_of(slots=1, more=more)
    memory.ingest("the piano has a golden key")
    told_both(memory)
    memory.feedback(memory.answer("Which key has the piano?"), reference="a golden key")
    contents = memory.slots[0].summary
    answer = memory.answer(ABOUT_VIOLIN)
    reopened = SlotMemory.restore(
        memory.export(),
        encoder=BagEncoder(),
        answerer=ReadingAnswerer(),
        scorers=scorers(APART),
        counter=more["counter"],
    )
    reports = [one.feedback(answer.id, reference="a broken bow") for one in (memory, reopened)]
    assert memory.slots[0].summary == contents
    assert reports[0].certificate == reports[1].certificate
    current, *_ = certificate_of(reports[0]).candidates
    assert current.cover == ("e2", "e3")
    assert all("violin" in answered for answered in current.answers)


def test_an_answerer_that_fails_ends_the_tests_and_the_reward_is_kept() -> None:
    memory = memory_of(more={"answerer": Failing(ReadingAnswerer(), good=3)})
    report = told_both(memory)
    assert report.failed == "the answerer failed: RuntimeError"
    assert (report.certificate, memory.contexts()[1].rewards) == (None, (1.0,))


# Ending a test early


@settings(max_examples=often(50), deadline=None)
@given(
    arrays(np.float64, (2, 2, 2), elements=QUARTERS),
    st.sampled_from([0.05, 0.1, 0.3, 0.5, 0.9]),
    st.integers(1, 2),
)
def test_early_ending_changes_no_decision(
    scores: NDArray[np.float64], threshold: float, slots: int
) -> None:
    # Scores by context, content (the boiler's, the violin's) and scorer.
    one, two = (scorers(_table(scores[:, :, b]))[0] for b in range(2))
    memory = memory_of(
        slots=slots, tau_split=threshold, tau_sat=threshold, more={"scorers": (one, two)}
    )
    report = told_both(memory)
    # The slot as it is holds one of the two lines, so that a full test adds nothing to the would-be
    # slots.
    band = guard_band(scores, **BAND)
    own = max(band.lower[0, 0], band.lower[1, 1])
    assert report.tested == 1
    assert (report.certificate is not None) == (
        candidate_radius(band).radius > threshold and own > threshold
    )


def _table(scores: NDArray[np.float64]) -> Table:
    (a, b), (c, d) = scores.tolist()
    return (a, b), (c, d)


@pytest.mark.parametrize(
    ("table", "needed"),
    [
        (((0.0, 1.0), (1.0, 0.0)), 2),  # neither would-be slot serves its own question
        (((1.0, 1.0), (0.0, 1.0)), 4),  # the violin's content serves both
        (APART, 4),
    ],
)
def test_a_test_asks_for_no_more_answers_than_settle_it(table: Table, needed: int) -> None:
    report = told_both(memory_of(table))
    assert (report.tested, report.counterfactuals) == (1, needed)


@given(SCORES, st.floats(0, 1))
def test_a_bearable_content_rules_out_every_radius_above_the_threshold(
    scores: NDArray[np.float64], threshold: float
) -> None:
    one = SplitSettings(**BAND)
    if any(bearable(scores[:, [u]], one, threshold) for u in range(scores.shape[1])):
        assert judged(scores)[0] <= threshold


# What waits


def waiting(**split: Any) -> SlotMemory:
    """Return a memory with one pair in its queue, restored with settings that may be others."""
    memory = memory_of(counterfactuals=0)
    assert told_both(memory).queued == 1
    chosen = SplitSettings(**{**BAND, "tau_split": 0.1, "tau_sat": 0.2, **split})
    return SlotMemory.restore(
        memory.export(),
        encoder=BagEncoder(),
        answerer=ReadingAnswerer(),
        scorers=scorers(APART),
        split=chosen,
    )


def queues(memory: SlotMemory) -> dict[str, tuple[str, ...]]:
    return {context.id: context.untested for context in memory.contexts() if context.untested}


def test_a_pair_that_there_was_no_budget_for_waits_with_the_later_of_the_two() -> None:
    assert queues(waiting()) == {"a2": ("a1",)}


def test_the_queue_is_tested_at_the_next_feedback_of_the_slot_and_emptied() -> None:
    memory = waiting()
    answer = memory.answer("Which key has the piano?")
    report = memory.feedback(answer, reward=0.0)  # which has no pair of its own to test
    assert (report.tested, certificate_of(report).pair, report.queued) == (1, ("a1", "a2"), 0)
    assert queues(memory) == {}
    memory.check()


def test_what_was_tested_from_the_queue_is_not_tested_again() -> None:
    memory = waiting(tau_split=0.99, tau_sat=0.99)
    answer = memory.answer("Which key has the piano?")
    assert [memory.feedback(answer, reward=0.0).tested for _ in range(2)] == [1, 0]


def test_one_of_a_waiting_pair_that_is_told_again_meets_its_partner_once() -> None:
    memory = waiting(tau_split=0.99, tau_sat=0.99)
    assert memory.feedback("a2", reference="a broken bow").tested == 1
    assert queues(memory) == {}


def test_a_pair_waits_on_while_the_budget_stays_too_small() -> None:
    memory = waiting(counterfactuals=3)
    for _ in range(2):
        report = memory.feedback("a2", reference="a broken bow")
        assert (report.tested, report.capped, queues(memory)) == (0, True, {"a2": ("a1",)})
