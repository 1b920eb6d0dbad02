"""Learning from feedback: in its box, in any order, taken back without a trace, off by default."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from hypothesis.stateful import run_state_machine_as_test
from machine import QUICK, MemoryMachine
from numpy.typing import NDArray

from demem_agent import SlotMemory, SplitSettings
from demem_agent.encoders import as_matrix
from demem_agent.errors import InvalidInput
from demem_agent.scoring import FEATURES, Query, default_weights, focus, moved_weights
from demem_agent.scoring.features import BY_HAND
from demem_agent.scoring.learning import box
from demem_agent.slots.routing import _weights, slot_ranking
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder
from demem_agent.types import Draft, Question, Route

TOPICS = "boiler violin garden lamp canoe kite".split()
PLAIN = "We spoke of the {0} today"
LONG = (
    "We spoke of the {0} today, for a while, because there was so much that had to be said of "
    "every part of it"
)
REWARDED, FAILED = 1.0, 0.0
LESSONS = arrays(
    np.float64, st.tuples(st.integers(0, 6), st.just(len(FEATURES))), elements=st.floats(-1e9, 1e9)
)
PRIOR = np.asarray(default_weights().values)


class CitesLong:
    """Answer with the long item about what is asked, and rest on it.

    Or about anything, if what is asked is not told.
    """

    def answer(self, question: Question) -> Draft:
        long_texts = {LONG.format(topic) for topic in TOPICS}
        long = [item for item in question.reading.evidence if item.text in long_texts]
        right = [item for item in long if ask(item.text.split()[4]) == question.query]
        chosen = right or (long if "today" in question.query else [])
        return Draft(chosen[0].text, (chosen[0].id,)) if chosen else Draft("")


def memory_of(**options: Any) -> SlotMemory:
    """Make a memory where each topic has a short and a long item, each in a session of its own."""
    memory = SlotMemory(**team(**options))
    for n, topic in enumerate(TOPICS):
        memory.ingest(PLAIN.format(topic), session=f"s{n}")
        memory.ingest(LONG.format(topic), session=f"t{n}")
    return memory


def team(**options: Any) -> dict[str, Any]:
    unsplit = SplitSettings(pairs=0)
    return {
        "encoder": BagEncoder(64),
        "answerer": CitesLong(),
        "learn": True,
        "split": unsplit,
        **options,
    }


def ask(topic: str) -> str:
    return f"What of the {topic}?"


def taught(memory: SlotMemory, topics: list[str], reward: float = REWARDED) -> SlotMemory:
    for topic in topics:
        memory.feedback(memory.answer(ask(topic)), reward=reward)
    return memory


def weights_of(memory: SlotMemory) -> dict[str, float]:
    return dict(zip(FEATURES, _weights(memory._held.state).values, strict=True))


def default() -> dict[str, float]:
    return dict(zip(FEATURES, default_weights().values, strict=True))


def readings(memory: SlotMemory) -> list[tuple[str, Route]]:
    return [(memory.read(ask(topic), limit=200).text, memory.route(ask(topic))) for topic in TOPICS]


def lessons(memory: SlotMemory) -> list[dict[str, float]]:
    return [dict(context.lesson) for context in memory.contexts()]


# Weights from lessons


def test_without_lessons_the_weights_are_the_prior() -> None:
    assert moved_weights(default_weights(), np.zeros((0, len(FEATURES)))) == default_weights()


@settings(max_examples=50)
@given(LESSONS, st.integers(1, 20))
def test_no_lessons_leave_the_box(taught: NDArray[np.float64], times: int) -> None:
    moved = (
        np.asarray(moved_weights(default_weights(), np.repeat(taught, times, axis=0)).values)
        - PRIOR
    )
    assert (np.abs(moved) <= box(default_weights()) + 1e-12).all()


@settings(max_examples=50)
@given(st.integers(0, 50), st.integers(0, 2**32))
def test_the_order_of_lessons_does_not_matter(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    taught = rng.normal(size=(count, len(FEATURES)))
    assert moved_weights(default_weights(), rng.permutation(taught)) == moved_weights(
        default_weights(), taught
    )


def test_a_feature_that_served_gains_weight_the_more_the_oftener() -> None:
    one = np.zeros((1, len(FEATURES)))
    one[0, FEATURES.index("named")] = 0.5
    found = [
        moved_weights(default_weights(), np.repeat(one, n, axis=0)).values[FEATURES.index("named")]
        for n in (1, 5, 50)
    ]
    assert default()["named"] < found[0] < found[1] < found[2]


def test_lessons_that_the_prior_knows_already_move_nothing() -> None:
    known = np.zeros((20, len(FEATURES)))
    known[:, FEATURES.index("named")] = 100.0
    assert moved_weights(default_weights(), known).values == pytest.approx(default_weights().values)


def test_what_was_set_by_hand_stays() -> None:
    taught = moved_weights(default_weights(), np.full((50, len(FEATURES)), -3.0)).values
    moved = {name for name, new, old in zip(FEATURES, taught, PRIOR, strict=True) if new != old}
    assert moved == {*FEATURES} - BY_HAND


# In a memory


def test_a_memory_does_not_learn_unless_asked_to() -> None:
    memory = taught(memory_of(learn=False), TOPICS)
    assert not SlotMemory().settings.learn
    assert lessons(memory) == [{}] * len(TOPICS)
    assert weights_of(memory) == default()
    assert [lead(memory, topic) for topic in TOPICS] == [
        lead(memory_of(), topic) for topic in TOPICS
    ]


def test_a_memory_that_was_only_rewarded_for_long_passages_ranks_long_passages_higher() -> None:
    trained, plain = memory_of(), memory_of()
    for n in range(20):  # what is short is as near to these questions as what is long
        trained.feedback(
            trained.answer(f"Of what did we speak today, number {n}?"), reward=REWARDED
        )
    assert weights_of(trained)["length"] > default()["length"]
    # Nothing was asked about the topics, so what served has no part in this.
    assert all(lead(trained, topic) > lead(plain, topic) for topic in TOPICS)


def lead(memory: SlotMemory, topic: str) -> float:
    """Return how far the long item of a topic is ahead of the short one."""
    state, query = memory._held.state, ask(topic)
    ranking = slot_ranking(
        state, Query(query, as_matrix(BagEncoder(64).encode([focus(query)]), 1)[0])
    )[1]
    assert ranking is not None
    texts = [
        state.evidence[state.passage_index().passages[row].evidence_id].text for row in ranking.rows
    ]
    score = dict(zip(texts, ranking.scores, strict=True))
    return float(score[LONG.format(topic)] - score[PLAIN.format(topic)])


def test_what_served_a_question_is_ahead_when_it_is_asked_again() -> None:
    memory, plain = taught(memory_of(), ["kite"]), memory_of()
    assert lead(memory, "kite") > 0 > lead(plain, "kite")
    assert lead(memory, "lamp") < 0


def test_a_failed_answer_teaches_nothing() -> None:
    memory = taught(memory_of(), TOPICS, FAILED)
    assert lessons(memory) == [{}] * len(TOPICS)
    assert weights_of(memory) == default()
    assert readings(memory) == readings(memory_of())


def test_a_reward_that_is_outweighed_is_taken_back() -> None:
    memory = memory_of()
    answer = memory.answer(ask("kite"))
    memory.feedback(answer, reward=REWARDED)
    assert weights_of(memory) != default()
    memory.feedback(answer, reward=FAILED)
    memory.feedback(answer, reward=FAILED)
    memory.check()
    assert weights_of(memory) == default()
    assert readings(memory) == readings(memory_of())


def test_the_same_operations_teach_the_same() -> None:
    first, second = (taught(memory_of(), TOPICS) for _ in range(2))
    assert first.fingerprint() == second.fingerprint()
    assert weights_of(first) == weights_of(second)


def test_switched_off_a_memory_reads_as_if_it_had_never_learned() -> None:
    store = MemoryStore()
    memory = SlotMemory.open(store, **team())
    memory.ingest_many(
        [{"text": PLAIN.format(t)} for t in TOPICS] + [{"text": LONG.format(t)} for t in TOPICS]
    )
    taught(memory, TOPICS)
    never = SlotMemory(**team(learn=False))
    never.ingest_many(
        [{"text": PLAIN.format(t)} for t in TOPICS] + [{"text": LONG.format(t)} for t in TOPICS]
    )
    for topic in TOPICS:  # the same contexts, since these too tell where a question goes
        never.feedback(never.answer(ask(topic)), reward=REWARDED)
    off, on = SlotMemory.open(store, **team(learn=False)), SlotMemory.open(store, **team())
    assert weights_of(off) == default()
    assert readings(off) == readings(never)
    assert readings(on) == readings(memory) != readings(off)


def test_forgetting_what_an_answer_rested_on_takes_its_lesson_back() -> None:
    memory, other = memory_of(), memory_of()
    taught(memory, ["kite", "lamp"])
    taught(other, ["lamp"])
    for one in (memory, other):
        found = next(item for item in one.evidence() if item.text == LONG.format("kite"))
        one.forget(found.id)
    # Every answer was read from all items here, so both lessons go.
    assert lessons(memory) == [{}, {}]
    assert weights_of(memory) == weights_of(other) == default()
    memory.check()


def test_another_encoder_begins_to_learn_anew() -> None:
    memory = taught(memory_of(), TOPICS)
    memory.reembed(BagEncoder(32))
    assert weights_of(memory) == default()


def test_undoing_a_split_leaves_what_was_taught() -> None:
    options = {
        "split": SplitSettings(c_beta=0.0, eta_cal=0.0, tau_split=0.02),
        "slots": 3,
        "initial_slots": 1,
    }
    memory = memory_of(**options, slot_limit=130)
    for topic in TOPICS:
        memory.feedback(memory.answer(ask(topic)), reference=LONG.format(topic))
    certificate = next(c for c in memory.certificates() if c.decision == "split")
    before = weights_of(memory)
    memory.undo(certificate.id)
    memory.check()
    assert weights_of(memory) == before != default()


# Kept


def test_lessons_survive_reopening(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, **team()) as memory:
        memory.ingest_many(
            [{"text": form.format(topic)} for topic, form in product(TOPICS, (PLAIN, LONG))]
        )
        taught(memory, TOPICS)
        known = (memory.fingerprint(), weights_of(memory), readings(memory))
    with SlotMemory.open(url, **team()) as again:
        again.check()
        assert (again.fingerprint(), weights_of(again), readings(again)) == known
    assert known[1] != default()


def test_lessons_survive_an_export() -> None:
    memory = taught(memory_of(), TOPICS)
    again = SlotMemory.restore(json.loads(json.dumps(memory.export())), **team())
    assert weights_of(again) == weights_of(memory) != default()
    assert readings(again) == readings(memory)


def test_what_was_written_before_memories_could_learn_is_read() -> None:
    memory = taught(memory_of(learn=False), TOPICS)
    lines = json.loads(json.dumps(memory.export()))
    for line in lines:
        line.pop("lesson", None)
        line.get("settings", {}).pop("learn", None)
    again = SlotMemory.restore(lines, **{**team(), "learn": False})
    assert again.fingerprint() == memory.fingerprint()


def test_a_lesson_that_is_no_number_is_damage() -> None:
    lines = json.loads(json.dumps(taught(memory_of(), TOPICS[:1]).export()))
    next(line for line in lines if line["kind"] == "context")["lesson"][0][1] = float("nan")
    with pytest.raises(InvalidInput):
        SlotMemory.restore(lines, **team())


@pytest.mark.parametrize("given", ["yes", 1, None])
def test_learn_is_on_or_off(given: Any) -> None:
    with pytest.raises(InvalidInput, match="learn must be True or False"):
        SlotMemory(learn=given)


# Whatever is done to it


class LearningMachine(MemoryMachine):
    """The machine with a memory that learns."""

    def _options(self, *given: Any, **named: Any) -> dict[str, Any]:
        return super()._options(*given, **named) | {"learn": True}


@pytest.mark.slow
def test_every_invariant_holds_while_a_memory_learns() -> None:
    run_state_machine_as_test(LearningMachine, settings=settings(QUICK, max_examples=100))
