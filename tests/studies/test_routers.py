"""Slot scores that read the slot alone: what each may know, and the table."""

from __future__ import annotations

from demem_agent import SlotMemory
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.studies.slots.routers import (
    MOMENTS,
    ROUTERS,
    RoutedBy,
    audit_routing,
    routed_by,
    routing_sheets,
)
from demem_agent.turns import Turn

TEXTS = {
    "boiler": "The boiler has a brass valve that came from Ghent.",
    "soup": "The soup was cold and nobody wanted the bread.",
    "violin": "The violin has a broken bow and a cracked bridge.",
    "train": "The train stood still in the snow for three hours.",
}
TURNS = tuple(Turn(text, "Ana", session=name, source_id=name) for name, text in TEXTS.items())
PROBES = (
    Probe("Which valve has the boiler?", "brass", ("boiler",)),
    Probe("Which bow has the violin?", "broken", ("violin",)),
)
DIALOGUE = Dialogue("d1", TURNS, PROBES)


def four_slots() -> SlotMemory:
    memory = SlotMemory(clock=None, slots=4, initial_slots=4, near=1.0)
    memory.ingest_many(TURNS)
    return memory


def test_without_feedback_all_that_is_known_is_passages_and_prototypes() -> None:
    memory = four_slots()
    assert len(memory.slots) == 4
    found = list(routed_by(memory, DIALOGUE, MOMENTS[0]))
    by_router = {name: [one.in_slot for one in found if one.router == name] for name in ROUTERS}
    assert by_router["as it ships"] == by_router["passages"] == by_router["oracle"] == [1.0, 1.0]
    # Every summary has room for its slot's only line, so that it tells as much.
    assert by_router["both"] == [1.0, 1.0]


def test_what_no_summary_holds_is_not_known_to_a_score_that_reads_it() -> None:
    memory = SlotMemory(clock=None, slots=2, initial_slots=1, slot_limit=90)
    memory.ingest_many([*TURNS, *(Turn(f"In {n} we paid {n} euros to Olga.") for n in range(9))])
    (slot,) = memory.slots
    found = {one.router: one for one in routed_by(memory, Dialogue("d", TURNS, PROBES[:1]), "x")}
    (boiler,) = (item.id for item in memory.evidence() if item.source_id == "boiler")
    assert boiler not in slot.cover
    assert {(one.in_slot, one.in_summary) for one in found.values()} == {(1.0, 0.0)}


def test_a_table_has_what_a_score_loses_question_by_question() -> None:
    records = [
        RoutedBy("d1", 0, MOMENTS[0], "as it ships", 1.0, 0.5),
        RoutedBy("d1", 1, MOMENTS[0], "as it ships", 0.5, 0.5),
        RoutedBy("d1", 0, MOMENTS[0], "prototype", 0.5, 0.5),
        RoutedBy("d1", 1, MOMENTS[0], "prototype", 0.5, 0.0),
    ]
    (sheet,) = routing_sheets(records, 0)
    cells = dict(sheet.rows)["prototype"]
    assert [one.mean for one in cells] == [0.5, -0.25, 0.25, -0.25]  # type: ignore[union-attr]


def test_an_audit_routes_before_and_after_feedback() -> None:
    found = audit_routing([DIALOGUE])
    assert [sheet.title for sheet in found.sheets] == [f"Routed by, {one}" for one in MOMENTS]
    assert len(found.records) == 2 * 2 * len(ROUTERS)
