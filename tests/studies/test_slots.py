"""Audits by gold: the measures by hand, partitions that keep to their bounds, and the
intervention's router.

The dialogue used throughout has five items a to e in one session each, and gold {a}, {a, b} and
{c}.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from often import often

from demem_agent import SlotMemory, SplitCertificate
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.studies.slots.audit import (
    SHARES,
    STATES,
    Audited,
    audit,
    audit_table,
    gold_items,
    shape,
)
from demem_agent.studies.slots.intervention import intervene, intervention_table
from demem_agent.studies.slots.partition import PARTITIONS, Items, bounded, k_means, supports
from demem_agent.studies.splits.gold import judge_splits
from demem_agent.testing import BagEncoder
from demem_agent.turns import Turn
from demem_agent.types import Candidate

TEXTS = {
    "a": "the boiler has a brass valve",
    "b": "the boiler was bought in Ghent",
    "c": "the violin has a broken bow",
    "d": "lunch was late",
    "e": "it rained again on the roof",
}
TURNS = tuple(Turn(text, "Ana", session=name, source_id=name) for name, text in TEXTS.items())
PROBES = (
    Probe("Which valve has the boiler?", "a brass valve", ("a",), "single"),
    Probe("Where is the boiler with the brass valve from?", "Ghent", ("a", "b"), "multi"),
    Probe("Which bow has the violin?", "a broken bow", ("c",), "single"),
)
DIALOGUE = Dialogue("d1", TURNS, PROBES)
NAMES = st.frozensets(st.sampled_from(sorted(TEXTS)), min_size=1)


def memory_of(slots: int, turns: tuple[Turn, ...] = TURNS, **options: Any) -> SlotMemory:
    memory = SlotMemory(slots=slots, initial_slots=slots, near=1.0, encoder=BagEncoder(), **options)
    memory.ingest_many(turns)
    return memory


ONE, FIVE = memory_of(1), memory_of(5)


def audited(
    memory: SlotMemory, state: str, probes: tuple[Probe, ...] = PROBES, **options: Any
) -> list[Audited]:
    found = audit(memory, Dialogue("d1", TURNS, probes), **options)
    return [one for one in found if one.state == state]


# The measures


def test_coverage_and_contamination_are_shares_of_the_gold_and_of_the_state() -> None:
    found = audited(ONE, "slot")
    assert [(one.coverage, one.contamination) for one in found] == [
        (1.0, 4 / 5),
        (1.0, 3 / 5),
        (1.0, 4 / 5),
    ]
    alone = [one for one in audited(FIVE, "slot") if one.question == 1]
    assert [(one.items, one.coverage) for one in alone] == [(1, 0.5)]


def test_purity_is_the_share_of_support_facts_that_support_this_question() -> None:
    assert [one.purity for one in audited(ONE, "slot")] == pytest.approx([1 / 3, 2 / 3, 1 / 3])


def test_conflict_is_the_share_of_support_facts_of_disjoint_questions_only() -> None:
    # b does not support the first question, but one that overlaps with it.
    assert [one.conflict for one in audited(ONE, "slot")] == pytest.approx([1 / 3, 1 / 3, 2 / 3])


def test_contamination_by_characters_weighs_items_by_what_the_state_holds_of_them() -> None:
    total = sum(map(len, TEXTS.values()))
    first = audited(ONE, "slot")[0]
    assert first.size == total
    assert first.characters == pytest.approx(1 - len(TEXTS["a"]) / total)


def test_a_summary_and_a_reading_hold_what_their_lines_show() -> None:
    for number, probe in enumerate(PROBES):
        summary = ONE.read(probe.question, mode="strict")
        reading = ONE.read(probe.question, limit=90, mode="evidence")
        for state, held in (("summary", summary), ("reading", reading)):
            one = audited(ONE, state, limit=90)[number]
            assert one.items == len(held.evidence)
            assert one.size == sum(len(line.text) for line in held.lines)


def test_a_part_of_a_long_item_counts_by_its_own_length() -> None:
    long = "It rained on the roof. " * 20 + "The boiler has a brass valve. " * 10
    memory = memory_of(1, (Turn(long, source_id="a"),))
    found = {one.state: one for one in audit(memory, Dialogue("d1", (), PROBES[:1]), limit=420)}
    assert 0 < found["reading"].size <= 350 < found["slot"].size == len(long)


def test_the_best_slots_are_as_many_as_asked_for_and_begin_with_the_routed_one() -> None:
    for best in range(1, 6):
        assert {one.items for one in audited(FIVE, "slots", best=best)} == {best}
    best_one = [replace(one, state="slot") for one in audited(FIVE, "slots", best=1)]
    assert best_one == audited(FIVE, "slot")


def test_questions_without_gold_or_answer_are_not_audited() -> None:
    probes = (
        PROBES[0],
        Probe("Who?", "nobody"),
        Probe("Which?", "", ("a",), "adversarial"),
        Probe("Y?", "", ("z",)),
    )
    dialogue = Dialogue("d1", TURNS, probes)
    assert {one.question for one in audit(ONE, dialogue)} == {0}
    assert gold_items(ONE.evidence(), dialogue) == [{"e1"}, set(), set(), set()]


def test_an_audit_leaves_the_memory_as_it_was() -> None:
    before = FIVE.fingerprint()
    audit(FIVE, DIALOGUE)
    intervene(FIVE, DIALOGUE, slots=2, encoder=BagEncoder(), most=1)
    assert FIVE.fingerprint() == before


@settings(max_examples=often(40), deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=5))
def test_every_measure_is_a_share_and_purity_and_conflict_do_not_overlap(
    gold: list[frozenset[str]],
) -> None:
    probes = tuple(Probe("Which valve?", "brass", tuple(sorted(one))) for one in gold)
    for one in audit(FIVE, Dialogue("d1", TURNS, probes)):
        assert all(0 <= getattr(one, name) <= 1 for name in SHARES)
        assert one.purity + one.conflict <= 1 + 1e-9
    of_slot = audited(FIVE, "slot", probes)
    of_slots = audited(FIVE, "slots", probes)
    for routed, best in zip(of_slot, of_slots, strict=True):
        assert routed.coverage <= best.coverage


def test_a_table_has_the_means_over_questions() -> None:
    rows = {row.name: row.measures for row in audit_table(audit(ONE, DIALOGUE))}
    assert tuple(rows) == STATES
    assert rows["slot"]["purity"].mean == pytest.approx(4 / 9, abs=1e-6)
    assert rows["slot"]["purity"].questions == 3


def test_a_shape_is_the_number_of_slots_and_the_largest_share() -> None:
    assert (shape(ONE).slots, shape(ONE).largest) == (1, 1.0)
    assert (shape(FIVE).slots, shape(FIVE).largest) == (5, 0.2)
    assert (shape(memory_of(2, ())).slots, shape(memory_of(2, ())).largest) == (0, 0.0)


# Splits


def split_of(current: set[str], first: set[str], second: set[str]) -> SplitCertificate:
    contents = (("current", current), ("split first", first), ("split second", second))
    unknown: Any = (("", ""), ((), ()), (0, 0), (1, 1), (0, 0))
    candidates = tuple(
        Candidate(name, None, None, tuple(cover), *unknown) for name, cover in contents
    )
    return SplitCertificate(
        id="c1",
        slot=0,
        pair=("a1", "a2"),
        queries=("", ""),
        channels=("reference", "reference"),
        candidates=candidates,
        radius=0.5,
        threshold=0.3,
        saturated=False,
        decision="split",
        new_slot=1,
        scorers=(),
        conditions="",
    )


@pytest.mark.parametrize(
    ("current", "first", "second", "radius", "repaired"),
    [
        # Whichever content is shared, one has nothing of its gold.
        ({"e1"}, {"e1", "e2"}, {"e3"}, 1.0, True),
        # The shared content serves both.
        ({"e1", "e2", "e3"}, {"e1", "e2"}, {"e3"}, 0.0, False),
        # The shared one lacks half of the first's gold,
        ({"e1", "e3"}, {"e1", "e2"}, {"e3"}, 0.5, True),
        # and could not have had it.
        ({"e1", "e3"}, {"e1"}, {"e3"}, 0.0, False),
        # Nothing serves the second at all.
        (set(), {"e1", "e2"}, set(), 0.0, False),
    ],
)
def test_a_split_is_judged_by_the_gold_its_contents_hold(
    current: set[str], first: set[str], second: set[str], radius: float, repaired: bool
) -> None:
    gold = {"a1": frozenset({"e1", "e2"}), "a2": frozenset({"e3"})}
    (judged,) = judge_splits([split_of(current, first, second)], gold)
    assert (judged.radius, judged.right, judged.repaired) == (radius, radius > 0, repaired)


def test_a_split_of_contexts_without_gold_is_not_judged() -> None:
    assert judge_splits([split_of({"e1"}, {"e1"}, set())], {"a1": frozenset({"e1"})}) == []


def test_a_certificate_of_lines_is_not_judged_by_what_slots_hold() -> None:
    of_slots = split_of({"e1"}, {"e1"}, {"e2"})
    of_lines = replace(of_slots, regime="rival lines", candidates=of_slots.candidates[:1])
    gold = {id: frozenset({"e1"}) for id in of_lines.pair}
    assert len(judge_splits([of_slots], gold)) == 1
    assert judge_splits([of_lines], gold) == []


# Partitions


@given(st.lists(st.frozensets(st.integers(0, 12), max_size=4), max_size=8))
def test_supports_are_disjoint_and_each_holds_whole_questions_that_hang_together(
    gold: list[frozenset[int]],
) -> None:
    groups = supports(gold)
    assert sum(map(len, groups)) == len(frozenset().union(*gold, *groups))
    for one in filter(None, gold):
        assert sum(one <= group for group in groups) == 1
    for group in groups:
        inside = [one for one in gold if one and one <= group]
        reached = inside[0]
        for _ in inside:
            reached = reached.union(*(one for one in inside if one & reached))
        assert reached == group


@given(st.data())
def test_bounded_slots_hold_every_item_and_no_more_than_they_may(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    slots = data.draw(st.integers(1, 4))
    room = -(-sum(sizes) // slots) + data.draw(st.integers(0, 3))
    starts = np.cumsum([0, *sizes])
    units = [list(range(a, b)) for a, b in pairwise(starts)]
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    nearness = rng.random((len(units), slots), np.float32)
    labels = bounded(units, nearness, room)
    assert set(labels.tolist()) <= set(range(slots))
    assert np.bincount(labels).max() <= room


def test_bounded_puts_a_unit_in_its_nearest_slot_with_room_for_all_of_it() -> None:
    nearness = np.array([[0.85, 0.1, 0.5], [0.8, 0.7, 0.1], [0.9, 0.2, 0.1]], np.float32)
    # The largest goes first.
    assert bounded([[0, 1], [2], [3]], nearness, 2).tolist() == [0, 0, 1, 1]
    assert bounded([[0, 1], [2], [3]], nearness, 4).tolist() == [0, 0, 0, 0]


def some_items(n: int, slots: int, room: int, seed: int, gold: list[frozenset[int]]) -> Items:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Items(
        vectors=vectors,
        sessions=np.arange(n) // 3,
        own=np.zeros(n, np.intp),
        gold=tuple(gold),
        slots=slots,
        room=room,
    )


@given(st.data())
def test_every_partition_is_within_its_bounds_and_the_same_for_the_same_seed(
    data: st.DataObject,
) -> None:
    n = data.draw(st.integers(1, 14))
    slots = data.draw(st.integers(1, 4))
    seed = data.draw(st.integers(0, 9))
    gold = data.draw(st.lists(st.frozensets(st.integers(0, n - 1), max_size=3), max_size=5))
    room = data.draw(st.integers(-(-n // slots), n))
    items = some_items(n, slots, room, seed, gold)
    for name, divide in PARTITIONS.items():
        labels = divide(items, np.random.default_rng(seed))
        assert labels.shape == (n,)
        assert name == "own" or np.bincount(labels, minlength=slots).shape == (slots,)
        assert name == "own" or np.bincount(labels).max() <= room
        assert (labels == divide(items, np.random.default_rng(seed))).all()


@pytest.mark.parametrize("seed", range(4))
def test_clusters_that_are_apart_are_found_by_the_best_of_the_starts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    directions = np.eye(12, dtype=np.float32).repeat(4, axis=0)
    vectors = directions + rng.normal(0, 0.1, directions.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = (vectors @ k_means(vectors, 12, rng).T).argmax(axis=1).reshape(12, 4)
    assert (labels == labels[:, :1]).all()
    assert len(set(labels[:, 0].tolist())) == 12


def test_the_oracle_keeps_what_a_question_needs_together_though_sessions_part_it() -> None:
    items = some_items(12, 3, 6, 1, [frozenset({0, 11}), frozenset({11, 5}), frozenset({2})])
    labels = PARTITIONS["oracle-support"](items, np.random.default_rng(0))
    assert labels[0] == labels[5] == labels[11]


# Intervention


def test_the_memorys_own_slots_are_routed_as_the_memory_routes() -> None:
    found = intervene(FIVE, DIALOGUE, encoder=BagEncoder(), partitions={"own": PARTITIONS["own"]})
    slots = audited(FIVE, "slot")
    routed = [one for one in found if one.routing == "routed"]
    for mine, theirs in zip(routed, slots, strict=True):
        assert (mine.coverage, mine.slots, mine.largest) == (theirs.coverage, 5, 0.2)
        assert mine.contamination == pytest.approx(theirs.contamination)
        assert mine.characters == pytest.approx(theirs.characters)


def test_the_oracle_routes_to_the_slot_with_most_gold() -> None:
    found = intervene(FIVE, DIALOGUE, slots=2, most=0.6, seeds=(0, 1), encoder=BagEncoder())
    routed = {(o.partition, o.seed, o.question): o.coverage for o in found if o.routing == "routed"}
    oracle = {(o.partition, o.seed, o.question): o for o in found if o.routing == "oracle"}
    assert routed.keys() == oracle.keys()
    assert all(routed[key] <= one.coverage for key, one in oracle.items())
    assert all(one.coverage == 1.0 for one in oracle.values() if one.partition == "oracle-support")
    assert all(one.largest <= 0.6 for one in found if one.partition != "own")


def test_contamination_of_an_intervention_is_that_of_the_slot() -> None:
    found = intervene(ONE, DIALOGUE, slots=1, most=1, encoder=BagEncoder())
    slots = {one.question: one for one in audited(ONE, "slot")}
    for one in found:
        assert one.contamination == pytest.approx(slots[one.question].contamination)
        assert one.characters == pytest.approx(slots[one.question].characters)


def test_a_table_compares_partitions_with_the_memorys_own() -> None:
    found = intervene(FIVE, DIALOGUE, slots=1, most=1, encoder=BagEncoder())
    rows = {row.name: row for row in intervention_table(found)}
    assert len(rows) == 2 * len(PARTITIONS)
    assert rows["own, routed"].against == {}
    own, drawn = rows["own, routed"].measures["coverage"], rows["random, routed"]
    assert drawn.against["coverage"].mean == pytest.approx(1 - own.mean, abs=1e-6)


@pytest.mark.parametrize("most", [0.1, 1.5])
def test_a_bound_that_slots_cannot_keep_is_refused(most: float) -> None:
    with pytest.raises(InvalidInput, match="most must be"):
        intervene(FIVE, DIALOGUE, slots=4, most=most, encoder=BagEncoder())


def test_an_empty_memory_and_a_dialogue_without_questions_have_nothing_to_tell() -> None:
    assert intervene(memory_of(2, ()), DIALOGUE) == []
    assert intervene(FIVE, Dialogue("d1", TURNS), encoder=BagEncoder()) == []


class Listening(BagEncoder):
    """Keeps every text that it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.heard += texts
        return super().encode(texts)


def test_an_intervention_encodes_what_the_memory_encodes() -> None:
    long = Turn(f"{TEXTS['a']}. " * 40, "Ana", source_id="a")
    dialogue = Dialogue("d1", (long, *TURNS[1:]), (replace(PROBES[0], question="Wich valve?"),))
    of_memory, of_study = Listening(), Listening()
    memory = SlotMemory(encoder=of_memory, clock=None)
    memory.ingest_many(dialogue.turns)
    intervene(memory, dialogue, encoder=of_study, partitions={"own": PARTITIONS["own"]})
    memory.route(dialogue.probes[0].question)
    passages = of_memory.heard[: len(of_study.heard) - 1]
    assert of_study.heard == [*passages, of_memory.heard[-1]]
    assert len(passages) > len(TURNS)
