"""Partitions dropped into retrievers: what may be read, and what a walk over shared words finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator

from demem_agent import SlotMemory
from demem_agent.encoders import default_encoder
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.studies.drop_in.audit import audit_drop_in, drop_in_sheets, dropped_of
from demem_agent.studies.drop_in.graph import PassageGraph
from demem_agent.studies.drop_in.selecting import ORIGINAL, RETRIEVERS, Dropped, Selecting
from demem_agent.studies.slots.held import Held, held_items
from demem_agent.studies.slots.partition import Items, Labels
from demem_agent.turns import Turn
from demem_agent.types import Evidence, Line

TEXTS = {
    "boiler": "The boiler has a brass valve that came from Ghent.",
    "violin": "The violin has a broken bow and a cracked bridge.",
    "lunch": "Lunch was late again because the train stood still.",
    "ghent": "In Ghent we walked along the river until it was dark.",
}
TURNS = tuple(Turn(text, "Ana", session=name, source_id=name) for name, text in TEXTS.items())
PROBES = (
    Probe("Which valve has the boiler?", "brass", ("boiler",), "single-hop"),
    Probe("Which bow has the violin?", "broken", ("violin",), "single-hop"),
    Probe("What of Ghent and the boiler?", "x", ("boiler", "ghent"), "multi-hop"),
)
DIALOGUE = Dialogue("d1", TURNS, PROBES)


def held() -> Held:
    memory = SlotMemory(clock=None)
    memory.ingest_many(TURNS)
    return held_items(memory, DIALOGUE, default_encoder(), slots=4, room=4)


def together(items: Items, rng: Generator) -> Labels:
    return np.zeros(len(items.own), np.intp)


def apart(items: Items, rng: Generator) -> Labels:
    return np.arange(len(items.own))


def read(limit: int) -> dict[tuple[str, str, int], float]:
    found = held()
    divided = [
        found.divided(name, divide, 0) for name, divide in (("one", together), ("each", apart))
    ]
    dropped = Selecting(found, DIALOGUE, limit).dropped(divided, also=("each",))
    return {(one.retriever, one.selection, one.question): one.recall for one in dropped}


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_one_slot_with_everything_is_the_retriever_as_it_is(retriever: str) -> None:
    for limit in (120, 2000):
        recalls = read(limit)
        for question in range(3):
            alone = recalls[retriever, ORIGINAL, question]
            assert recalls[retriever, "one", question] == alone


def test_nothing_outside_of_the_slot_is_read_unless_it_only_goes_first() -> None:
    recalls = read(5000)
    for name in RETRIEVERS:
        # With room for everything all is found, but for what is in another slot.
        assert recalls[name, ORIGINAL, 2] == recalls[name, "each, first", 2] == 1.0
        assert recalls[name, "each, oracle", 2] == 0.5
        assert recalls[name, "each, oracle", 0] == recalls[name, "each, nearest", 0] == 1.0


def test_the_routed_slot_goes_first_where_there_is_no_room_for_both() -> None:
    recalls = read(130)
    found = held()
    each = found.divided("each", apart, 0)
    for asked in found.asked[:2]:
        if each.routed(asked) in asked.gold:
            assert recalls["bm25", "each, first", asked.number] == 1.0


def line(number: int, text: str, session: str = "s") -> Line:
    return Line(Evidence(f"e{number}", text, "Ana", None, session), 0, len(text))


def test_a_walk_finds_what_shares_a_rarer_word_with_what_the_question_names() -> None:
    told = ["Zorbax met Olga in the hall", "Olga plays the oboe", "the soup was cold", "rain fell"]
    lines = [line(n, text, f"s{n}") for n, text in enumerate(told)]
    scores = PassageGraph.of(lines).scores("Whom did Zorbax meet?", np.zeros(4))
    assert scores[1] > max(scores[2], scores[3])


def test_passages_beside_each_other_are_joined_within_a_session_alone() -> None:
    lines = [line(0, "a b"), line(1, "c d"), line(2, "e f", "other")]
    graph = PassageGraph.of(lines)
    assert graph.following.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_tables_compare_question_by_question_with_the_original() -> None:
    def one(question: int, selection: str, recall: float) -> list[Dropped]:
        return [
            Dropped("d1", question, "temporal", name, selection, recall, 9) for name in RETRIEVERS
        ]

    dropped = [
        *one(0, ORIGINAL, 1.0),
        *one(1, ORIGINAL, 0.5),
        *one(1, "own", 0.75),
    ]
    recalls, differences, by_category = drop_in_sheets(dropped, 0)
    assert [cell.mean for cell in dict(recalls.rows)[ORIGINAL]] == [0.75] * 5  # type: ignore[union-attr]
    assert [cell.mean for cell in dict(differences.rows)["own"]] == [0.25] * 5  # type: ignore[union-attr]
    assert dict(differences.rows)["paper, judged"] == (0.088, None, None, 0.062, None)
    assert by_category.columns == ("temporal",)


def test_an_audit_reads_every_question_by_every_retriever_in_every_way() -> None:
    found = audit_drop_in([DIALOGUE, replace(DIALOGUE, name="d2")])
    assert found.sheets[0].title.startswith("Recall")
    own = list(dropped_of(DIALOGUE))
    ways = {(one.retriever, one.selection) for one in own}
    assert len(own) == 3 * len(ways) == 3 * len(RETRIEVERS) * (1 + 5 + 2 * 3)
    assert all(one.size <= 2000 for one in own)
