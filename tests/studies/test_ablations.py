"""Ablations: a variant is the memory but for the one part that is replaced, and a replay measures
before it teaches.

The split is that of ``test_conflict``: one slot whose summary has room for one line, two items, a
question about each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import FeedbackReport, SlotMemory, SplitSettings
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.system import System
from demem_agent.slots.experiment import Experiment
from demem_agent.splitting.trigger import Trigger, find_conflict
from demem_agent.studies.ablations.replay import Learner, Learning, Replay, Step, replay
from demem_agent.studies.ablations.run import (
    ABLATIONS,
    AsOften,
    ablation_table,
    replayed,
    summed_up,
)
from demem_agent.studies.ablations.triggers import always, as_often, at_random, least_similar
from demem_agent.studies.ablations.variants import BY_DESCRIPTION, BY_FEATURES
from demem_agent.testing import BagEncoder, ReadingAnswerer
from demem_agent.turns import Turn

BOILER, VIOLIN = "the boiler has a brass valve", "the violin has a broken bow"
ASKED = {
    "Which valve has the boiler?": "a brass valve",
    "Which bow has the violin?": "a broken bow",
}
SMALL: dict[str, Any] = {
    "clock": None, "slots": 4, "initial_slots": 1, "slot_limit": 44, "read_limit": 90,
    "encoder": BagEncoder(), "answerer": ReadingAnswerer(),
    "split": SplitSettings(tau_split=0.1),
}  # fmt: skip
TURNS = tuple(Turn(text, "Ana", source_id=name) for name, text in (("b", BOILER), ("v", VIOLIN)))
PROBES = tuple(
    Probe(query, reference, (name,))
    for (query, reference), name in zip(ASKED.items(), "bv", strict=True)
)
DIALOGUE = Dialogue("d1", TURNS, PROBES)
#: The same in one session, which goes to one slot.
TOGETHER = replace(DIALOGUE, turns=tuple(replace(turn, session="s") for turn in TURNS))


def small(trigger: Trigger | None = None, **options: Any) -> SlotMemory:
    given = {**SMALL, **options}
    memory = SlotMemory(experiment=Experiment(trigger=trigger), **given)
    for text in (BOILER, VIOLIN):
        memory.ingest(text)
    return memory


def taught(memory: SlotMemory) -> list[FeedbackReport]:
    reports = [
        memory.feedback(memory.answer(query), reference=reference)
        for query, reference in ASKED.items()
    ]
    memory.check()
    return reports


# Parts exchanged


def test_a_variant_without_a_change_is_the_memory_byte_for_byte() -> None:
    plain, variant = small(), small(find_conflict)
    taught(plain)
    taught(variant)
    assert plain.certificates() == variant.certificates() != ()
    assert plain.fingerprint() == variant.fingerprint()


def test_a_split_without_a_test_claims_no_certificate() -> None:
    memory = small(always())
    (certificate,) = (report.certificate for report in taught(memory) if report.split)
    assert certificate is not None
    assert (certificate.radius, certificate.threshold, certificate.saturated) == (0.0, -1.0, False)
    assert certificate.conditions.startswith("no certificate")
    assert [candidate.name for candidate in certificate.candidates] == [
        "current",
        "split first",
        "split second",
    ]
    assert all(candidate.scores == ((), ()) for candidate in certificate.candidates)


def test_a_split_without_a_test_can_be_undone() -> None:
    memory, plain = small(always()), small(split=SplitSettings(pairs=0))
    taught(plain)
    certificate = taught(memory)[-1].certificate
    assert certificate is not None
    assert memory.fingerprint() != plain.fingerprint()
    memory.undo(certificate.id)
    memory.check()
    assert memory.fingerprint() == plain.fingerprint()


def test_a_variant_checks_what_it_is_given_as_the_memory_does() -> None:
    memory = small(always())
    answer = memory.answer("Which valve has the boiler?")
    for reward in (2.0, float("nan")):
        with pytest.raises(InvalidInput, match="reward"):
            memory.feedback(answer, reward=reward)
    with pytest.raises(InvalidInput, match="given"):
        memory.feedback(answer)
    with pytest.raises(InvalidInput, match="this memory gave"):
        memory.feedback(small().answer("Which bow has the violin?"), reward=1.0)


@pytest.mark.parametrize(
    ("trigger", "splits"),
    [
        (always, 1),
        (lambda: as_often([1], least_similar), 1),
        (lambda: as_often([2], at_random(0)), 1),
        (lambda: as_often([3], least_similar), 0),
        (lambda: as_often([], at_random(0)), 0),
    ],
)
def test_a_trigger_splits_as_it_says(trigger: Callable[[], Trigger], splits: int) -> None:
    assert sum(report.split for report in taught(small(trigger()))) == splits


def test_splitting_always_stops_at_k_without_a_word() -> None:
    memory = small(always(), slots=2)
    for _ in range(3):
        taught(memory)
    assert len(memory.slots) == 2
    assert [certificate.decision for certificate in memory.certificates()] == ["split"]


def many(trigger: Trigger, count: int) -> SlotMemory:
    """Fill one slot with items about different things, and teach a question about each."""
    memory = SlotMemory(
        experiment=Experiment(trigger=trigger),
        **{**SMALL, "slots": 6, "slot_limit": 200, "read_limit": 400},
    )
    things = [f"thing{number}" for number in range(count)]
    memory.ingest_many(
        [{"text": f"the {thing} is owned by owner{number}"} for number, thing in enumerate(things)]
    )
    for number, thing in enumerate(things):
        memory.feedback(memory.answer(f"Who owns the {thing}?"), reference=f"owner{number}")
    memory.check()
    return memory


@settings(max_examples=often(10), deadline=None)
@given(st.integers(0, 5), st.sampled_from([(2,), (3, 5)]))
def test_random_splits_are_the_same_for_the_same_seed(seed: int, times: tuple[int, ...]) -> None:
    first, second = (many(as_often(times, at_random(seed)), 6) for _ in range(2))
    assert first.certificates() == second.certificates()
    assert first.fingerprint() == second.fingerprint()


def test_random_splits_differ_between_seeds() -> None:
    found = {many(as_often([3, 5], at_random(seed)), 6).fingerprint() for seed in range(4)}
    assert len(found) > 1


@settings(max_examples=often(10), deadline=None)
@given(st.sets(st.integers(1, 6), max_size=4))
def test_no_split_comes_before_its_time_and_none_beyond_as_many_as_said(times: set[int]) -> None:
    wanted = sorted(times)
    memory = many(as_often(wanted, least_similar), 6)
    asked = [context.id for context in memory.contexts()]
    made = [asked.index(certificate.pair[1]) + 1 for certificate in memory.certificates()]
    assert len(made) <= len(wanted)
    assert all(at >= time for at, time in zip(made, wanted, strict=False))
    if len(wanted) == 1:  # at the first question there is no other yet, at any later one there is
        assert made == [max(2, *wanted)]


def test_features_route_by_prototypes_alone() -> None:
    """One session holds the answer among other things; the other nothing but the boiler, so its
    prototype is nearer.
    """
    query = "Which valve has the boiler?"
    encoder = BagEncoder()
    others = [
        "rain on the roof",
        "lunch was late",
        "the violin has a broken bow",
        "music in the garden",
    ]
    turns = [{"text": text, "session": "x"} for text in (BOILER, *others)]
    turns.append({"text": "boilers", "session": "y"})
    options: dict[str, Any] = {**SMALL, "initial_slots": 2, "near": 1.0, "read_limit": 400}
    plain, features = SlotMemory(**options), SlotMemory(experiment=BY_FEATURES, **options)
    for memory in (plain, features):
        memory.ingest_many(turns)
    vector = _unit(encoder.encode([query]))[0]
    texts = {item.id: item.text for item in features.evidence()}
    cosine = {}
    for slot in features.slots:
        vectors = _unit(encoder.encode([texts[item] for item in slot.evidence]))
        prototype = _unit(vectors.sum(axis=0))
        cosine[slot.number] = float(prototype @ vector)
    nearest = max(cosine, key=lambda slot: cosine[slot])
    assert plain.route(query).slot != nearest
    assert features.route(query).slot == nearest
    features.feedback(features.answer(query), reward=1.0, reference="a brass valve")
    # It rests on the other slot: a router that learns would follow.
    assert features.contexts()[0].slot != nearest
    assert features.route(query).slot == nearest


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def test_descriptions_keep_what_is_central_whatever_was_used() -> None:
    central, odd = "the boiler valve is brass", "a broken violin"
    options: dict[str, Any] = {**SMALL, "slots": 1, "slot_limit": 40}
    described, plain = SlotMemory(experiment=BY_DESCRIPTION, **options), SlotMemory(**options)
    for memory in (described, plain):
        memory.ingest_many(
            [{"text": text} for text in (central, "the brass valve of the boiler", odd)]
        )
        memory.feedback(memory.answer("What is broken?"), reference="violin")
        memory.check()
    assert odd in plain.slots[0].summary
    assert odd not in described.slots[0].summary
    assert "brass" in described.slots[0].summary


def test_descriptions_keep_the_invariants_through_splits() -> None:
    memory = SlotMemory(experiment=replace(BY_DESCRIPTION, trigger=always()), **SMALL)
    for text in (BOILER, VIOLIN):
        memory.ingest(text)
    taught(memory)
    assert len(memory.slots) == 2
    assert all(0 < slot.size <= 44 for slot in memory.slots)


# Replays


class Watched(Learning):
    """Notes what is done to it, in order."""

    def __init__(self, memory: SlotMemory) -> None:
        super().__init__(memory)
        self.learned: list[tuple[str, str, datetime | None]] = []
        self.sizes: list[int] = []

    def learn(self, query: str, reference: str, at: datetime | None = None) -> None:
        self.learned.append((query, reference, at))
        super().learn(query, reference, at)


def test_a_question_is_measured_before_its_own_feedback_and_again_at_the_end() -> None:
    def build() -> Learning:
        return Learning(SlotMemory(**{**SMALL, "slots": 1}))

    run = replay(DIALOGUE, build, limits=(90,))
    still = replay(Dialogue("d1", TURNS, PROBES[:1]), build, limits=(90,))
    asked = [(step.question, step.again) for step in run.steps]
    assert asked == [(0, False), (1, False), (0, True), (1, True)]
    untaught = Learning(SlotMemory(**{**SMALL, "slots": 1}), learns=False)
    first = replay(DIALOGUE, lambda: untaught, limits=(90,)).steps[0]
    assert run.steps[0].measures == still.steps[0].measures == first.measures
    # One line fits the summary: the question taught last has its evidence there, at the cost of the
    # first.
    assert [step.measures["summary"] for step in run.steps[2:]] == [0.0, 1.0]


def test_measures_are_those_of_the_slot_its_summary_and_readings() -> None:
    run = replay(DIALOGUE, lambda: Learning(SlotMemory(**SMALL)), limits=(90, 200))
    measures = run.steps[0].measures
    assert set(measures) == {"slot", "summary", "summary words", "reading 90", "reading 200"}
    assert measures["slot"] == 1.0
    assert measures["reading 200"] == 1.0


def test_only_questions_with_an_answer_and_a_reference_teach() -> None:
    at = datetime(2024, 3, 2)
    probes = (
        Probe("Which valve?", "brass", ("b",), at=at),
        Probe("Which roof?", "none", ("b",), "adversarial"),
        Probe("Which car?", "not told", (), "abstention"),
        Probe("Which bow?", " ", ("v",)),
        Probe("Which colour?", "brass", ()),
    )
    watched = Watched(SlotMemory(**SMALL))
    run = replay(Dialogue("d1", TURNS, probes), lambda: watched)
    assert watched.learned == [("Which valve?", "brass", at), ("Which colour?", "brass", None)]
    assert run.feedbacks == 2
    assert [step.question for step in run.steps] == [0, 3, 0, 3]


def test_a_replay_counts_and_judges_its_splits() -> None:
    run = replay(
        DIALOGUE, lambda: Learning(SlotMemory(experiment=Experiment(trigger=always()), **SMALL))
    )
    (judged,) = run.judged
    assert (run.splits, run.slots, run.largest) == (1, 2, 0.5)
    # Each side has room for its own line alone.
    assert (judged.right, judged.repaired) == (True, True)


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_ablation_learns_within_its_invariants(name: str) -> None:
    learner = ABLATIONS[name]()
    assert isinstance(learner, System)
    assert isinstance(learner, Learner)
    learner.ingest(TURNS)
    for query, reference in ASKED.items():
        assert len(learner.read(query, 100)) <= 100
        learner.learn(query, reference)
    learner.memory.check()
    assert bool(learner.memory.contexts()) == (name != "no-feedback")
    assert len(learner.memory.slots) <= learner.memory.settings.slots


@pytest.mark.parametrize(
    ("name", "splits"), [("always-split", 1), ("no-split", 0), ("no-feedback", 0), ("certified", 0)]
)
def test_ablations_split_where_they_should(name: str, splits: int) -> None:
    """One slot whose summary has room for all: there is no conflict in it."""
    turns = [Turn(text, session="s") for text in (BOILER, VIOLIN)]
    learner = ABLATIONS[name]()
    learner.ingest(turns)
    for query, reference in ASKED.items():
        learner.learn(query, reference)
    decisions = [certificate.decision for certificate in learner.memory.certificates()]
    assert decisions.count("split") == splits


def test_an_ablation_makes_a_fresh_memory_each_time() -> None:
    for make in ABLATIONS.values():
        assert make().memory is not make().memory


def test_a_random_ablation_draws_alike_for_every_dialogue() -> None:
    make = AsOften(lambda: at_random(3))
    runs = [replay(TOGETHER, partial(make, (2,)), limits=(200,)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].splits == 1


def test_what_splits_as_often_splits_as_often_as_the_one_compared_with() -> None:
    ablations = {"random-split": ABLATIONS["random-split"], "base": ABLATIONS["always-split"]}
    runs = replayed([TOGETHER, replace(TOGETHER, name="d2")], ablations, (200,), base="base")
    assert list(runs) == ["random-split", "base"]
    assert [run.split_at for run in runs["base"]] == [(2,), (2,)]
    assert [run.split_at for run in runs["random-split"]] == [(2,), (2,)]
    alone = replayed([TOGETHER], {"random-split": ablations["random-split"]}, (200,), base="base")
    assert alone["random-split"][0].splits == 0


def test_summaries_that_describe_are_read_as_those_that_they_are_compared_with() -> None:
    for described, learnt in (
        ("description-summaries", "certified"),
        ("demem-core, described", "demem-core"),
    ):
        own, other = ABLATIONS[described]().memory, ABLATIONS[learnt]().memory
        assert own.settings == other.settings


# Tables


def run_of(dialogue: str, values: list[float], splits: int = 0) -> Replay:
    steps = [Step(n, "", False, {"slot": value}) for n, value in enumerate(values)]
    return Replay(dialogue, tuple(steps), len(steps), splits, (), 1 + splits, 0.5)


def test_a_table_has_means_and_differences_question_by_question() -> None:
    runs = {
        "one": [run_of("d1", [0.5, 1.0], splits=1), run_of("d2", [0.0])],
        "two": [run_of("d1", [1.0, 1.0]), run_of("d2", [0.25])],
    }
    one, two = summed_up(runs, "one")
    assert (one.measures["slot"].mean, two.measures["slot"].mean) == (0.5, 0.75)
    assert one.against == {}
    assert two.against["slot"].mean == 0.25
    assert (one.measures["splits"].mean, one.measures["splits"].questions) == (0.5, 2)
    assert "right" not in one.measures


def test_a_table_of_no_differences_says_so() -> None:
    make = ABLATIONS["no-split"]
    rows = ablation_table([DIALOGUE], {"a": make, "b": make}, base="a", limits=(200,))
    assert [row.name for row in rows] == ["a", "b"]
    assert {interval.mean for interval in rows[1].against.values()} == {0.0}
    assert "again: slot" in rows[0].measures


def test_replays_report_their_progress() -> None:
    seen: list[tuple[int, int]] = []
    make = ABLATIONS["no-feedback"]
    runs = replayed(
        [DIALOGUE], {"a": make, "b": make}, (200,), lambda done, total: seen.append((done, total))
    )
    assert list(runs) == ["a", "b"]
    assert seen == [(1, 2), (2, 2)]


def test_a_base_that_is_not_there_and_questions_without_gold_are_refused() -> None:
    with pytest.raises(InvalidInput, match="base must be one of"):
        ablation_table([DIALOGUE], {"a": ABLATIONS["no-split"]})
    with pytest.raises(InvalidInput, match="base must be one of"):
        summed_up({"a": [run_of("d1", [1.0])]}, "b")
    with pytest.raises(InvalidInput, match="gold"):
        summed_up({"a": [run_of("d1", [])]}, "a")
