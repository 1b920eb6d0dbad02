"""Dialogues measured one by one: what comes of it is what one process would have found."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from dask_workers import killing, workers

from demem_agent import SlotMemory, Turn
from demem_agent.bulk import Done, by_dask, here, loads_of
from demem_agent.cli.measuring.systems import systems
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import (
    BASELINES,
    Asked,
    Dialogue,
    Evaluated,
    Evaluating,
    Maker,
    Measured,
    Probe,
    evaluate,
    merged,
    oracle,
    report,
    tasks_of,
)
from demem_agent.evaluate.kept import Kept
from demem_agent.evaluate.many import key_of
from demem_agent.stores import Address, MemoryStore

LIMITS = (120, 400)
THINGS = ("boat", "cat", "bike", "piano", "oven", "garden", "camera", "kite")
PLACES = ("Porto", "Oslo", "the cellar", "the hall", "Rome", "a box", "the attic", "Turin")


def chosen(dialogues: Sequence[Dialogue]) -> dict[str, Maker]:
    """Return the makers that are measured here, as a function that can be pickled."""
    names = ("cosine", "bm25", "random", "demem", "demem-core")
    return {**{name: BASELINES[name] for name in names}, "oracle": oracle(dialogues)}


def dialogue(number: int, name: str = "") -> Dialogue:
    """Return a dialogue of its own with three questions, one of which has no answer."""
    said = [
        f"The {thing} of house {number} has been in {PLACES[(n + number) % 8]} since Monday."
        for n, thing in enumerate(THINGS)
    ]
    turns = tuple(Turn(text, speaker="Ana", source_id=f"t{n}") for n, text in enumerate(said))
    probes = (
        Probe("Where is the boat?", PLACES[number % 8], ("t0",), "place"),
        Probe("Where is the oven?", PLACES[(4 + number) % 8], ("t4",), "place"),
        Probe("Who won the race?", "nobody", category="abstention"),
    )
    return Dialogue(name or f"d{number}", turns, probes)


DIALOGUES = [*map(dialogue, range(4)), replace(dialogue(2), name="twin")]
WORK = Evaluating(chosen, LIMITS)


def untimed(measured: Sequence[Measured]) -> list[Measured]:
    """Return records without what the clock says, which no two runs have alike."""
    return [replace(record, seconds=0.0) for record in measured]


def records(done: Sequence[Done]) -> list[Measured]:
    assert [one.error for one in done] == [None] * len(done)
    return [record for one in done if isinstance(one, Evaluated) for record in one.measured]


def test_apart_and_in_any_order_they_come_to_what_one_process_finds() -> None:
    done = [*here(WORK, tasks_of(DIALOGUES)[::-1])]
    found = merged([one.name for one in DIALOGUES], records(done))
    whole = evaluate(DIALOGUES, chosen(DIALOGUES), LIMITS)
    assert untimed(found) == untimed(whole)
    assert json.dumps(report(untimed(found))) == json.dumps(report(untimed(whole)))


def test_dialogues_that_have_the_same_turns_are_one_task() -> None:
    asked = Probe("Where is the boat?", "Oslo", ("t1",))
    twins = [DIALOGUES[0], replace(DIALOGUES[0], name="twin", probes=(asked,))]
    found = records([*here(WORK, tasks_of(twins))])
    assert untimed(found) == untimed(evaluate(twins, chosen(twins), LIMITS))


def test_dialogues_without_questions_are_passed_over_as_one_process_does() -> None:
    silent = replace(DIALOGUES[1], name="silent", probes=())
    assert tasks_of([silent, DIALOGUES[0]]) == [[DIALOGUES[0]]]
    with pytest.raises(InvalidInput, match="at least one question"):
        tasks_of([silent])


def test_a_task_and_what_comes_of_it_go_to_another_process() -> None:
    work, tasks = pickle.loads(pickle.dumps((WORK, tasks_of(DIALOGUES[:1]))))
    (done,) = pickle.loads(pickle.dumps([*here(work, tasks)]))
    assert done.new == len(done.measured) == 3 * 6 * 2


def test_a_dialogue_that_cannot_be_measured_is_named_and_the_others_go_on() -> None:
    bad = replace(dialogue(7), probes=(Probe("Where?", "here", ("none",)),))
    first, second = here(WORK, tasks_of([bad, DIALOGUES[0]]))
    assert (first.memory_id, second.error) == ("d7", None)
    assert "source_id" in str(first.error)


def test_settings_are_those_of_our_memory_alone() -> None:
    """Of two slots, one that may say ten words, the summary is shorter than of ten."""
    small = replace(WORK, settings={"slots": 1, "slot_limit": 60})
    usual, bounded = (records([*here(work, tasks_of(DIALOGUES[:1]))]) for work in (WORK, small))
    differing = {
        one.system
        for one, other in zip(untimed(usual), untimed(bounded), strict=True)
        if one != other
    }
    assert "demem-core" in differing
    assert differing <= {"demem", "demem-core"}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder of two chats, and beside it their questions."""
    for number in range(2):
        one = dialogue(number)
        rows(tmp_path / "chats" / f"{one.name}.jsonl", [turn_row(turn) for turn in one.turns])
        rows(tmp_path / "asked" / f"{one.name}.jsonl", [*map(probe_row, one.probes)])
    return tmp_path


def rows(path: Path, values: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")


def turn_row(turn: Turn) -> dict[str, Any]:
    return {"text": turn.text, "speaker": turn.speaker, "source_id": turn.source_id}


def probe_row(probe: Probe) -> dict[str, Any]:
    row = {"question": probe.question, "reference": probe.reference, "category": probe.category}
    return {**row, "evidence": list(probe.evidence)}


def asked_in(folder: Path) -> list[Asked]:
    told = {load.memory_id: load for load in loads_of(folder / "chats")}
    return [Asked(one.memory_id, one, told[one.memory_id]) for one in loads_of(folder / "asked")]


def test_files_are_measured_as_the_dialogues_that_are_in_them(files: Path) -> None:
    found = records([*here(WORK, asked_in(files))])
    whole = evaluate(DIALOGUES[:2], chosen(DIALOGUES[:2]), LIMITS)
    assert untimed(found) == untimed(whole)


def test_questions_may_stand_in_lines_that_name_their_memory(files: Path) -> None:
    lines = [{**probe_row(probe), "user": "d1"} for probe in DIALOGUES[1].probes]
    rows(files / "all.jsonl", lines)
    (questions,) = loads_of(files / "all.jsonl", by="user")
    told = loads_of(files / "chats")[1]
    found = records([*here(WORK, [Asked("d1", questions, told)])])
    assert untimed(found) == untimed(evaluate(DIALOGUES[1:2], chosen(DIALOGUES[1:2]), LIMITS))


def test_a_memory_of_a_store_is_read_and_not_told_again(files: Path) -> None:
    store = MemoryStore()
    with SlotMemory.open(store, memory_id="d0", clock=None) as memory:
        memory.ingest_many(DIALOGUES[0].turns)
    before = store.load(Address("default", "d0"))
    work = replace(WORK, store=store)
    questions = loads_of(files / "asked")[0]
    found = records([*here(work, [Asked("d0", questions)])])
    assert untimed(found) == untimed(evaluate(DIALOGUES[:1], chosen(DIALOGUES[:1]), LIMITS))
    assert store.load(Address("default", "d0")) == before


def test_what_is_kept_is_there_again_and_a_line_that_was_cut_is_not(tmp_path: Path) -> None:
    path = tmp_path / "done.jsonl"
    found = evaluate(DIALOGUES[:1], chosen(DIALOGUES[:1]), LIMITS)
    Kept(path).keep("a", found)
    whole = path.read_bytes()
    path.write_bytes(whole + whole.replace(b'"a"', b'"b"')[: len(whole) // 2])
    kept = Kept(path)
    assert (kept.of("a"), kept.of("b")) == (found, None)
    kept.keep("c", found)
    assert Kept(path).of("c") == found


def test_a_file_of_another_program_is_refused_and_left_as_it_is(files: Path) -> None:
    path = files / "chats" / "d0.jsonl"
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match="records"):
        Kept(path)
    assert path.read_bytes() == before


def test_the_key_is_another_for_whatever_else_is_measured(files: Path) -> None:
    one, other = asked_in(files)
    keys = {
        key_of(one),
        key_of(other),
        key_of(one, "more"),
        key_of(replace(one, told=None)),
        key_of(replace(one, told=None, state="later")),
        key_of(DIALOGUES[:1]),
        key_of(DIALOGUES[1:2]),
    }
    assert len(keys) == 7
    assert key_of(one) == key_of(asked_in(files)[0])
    with (files / "asked" / "d0.jsonl").open("a") as file:
        file.write(json.dumps(probe_row(DIALOGUES[0].probes[0])) + "\n")
    assert key_of(one) not in keys


@pytest.mark.slow
def test_what_workers_find_is_the_same_though_one_is_killed(tmp_path: Path) -> None:
    dialogues = [dialogue(number) for number in range(24)]
    with (
        workers(tmp_path) as cluster,
        cluster.get_client() as client,
    ):
        address = cluster.scheduler_address
        work = Evaluating(partial(systems, ("demem", "bm25", "oracle")), LIMITS)
        done = [*killing(by_dask(work, tasks_of(dialogues), scheduler=address), client, (3,))]
    found = merged([one.name for one in dialogues], records(done))
    whole = evaluate(dialogues, systems(("demem", "bm25", "oracle"), dialogues), LIMITS)
    assert json.dumps(report(untimed(found))) == json.dumps(report(untimed(whole)))
