"""Which lines say what holds now, and which what no longer does: the rules, on invented data."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import benchmark

from demem_agent import SlotMemory, Turn
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import Dialogue, Probe
from demem_agent.types import Evidence, Line, Reading

data = benchmark("update_data")
measure = benchmark("knowledge_updates")

TURNS = (
    Turn("Our shelter keeps 12 goats on the north meadow.", speaker="user", source_id="1"),
    Turn("Twelve goats need a shed.", speaker="assistant", source_id="2"),
    Turn("We have 3 barns by now.", speaker="user", source_id="3"),
    Turn("The shelter has grown to fifteen goats.", speaker="user", source_id="4"),
    Turn("Since the shelter keeps 12 goats on the meadow, hay is short.", speaker="user"),
)
NOTE = {
    "question": "How many goats does the shelter keep?",
    "rubric": ["LLM response should state: 15 goats"],
    "potential_confusion": "LLM might recall the 12 goats instead of the updated 15",
    "conversation_references": [
        "Animals:Goats: Shelter keeps 12 goats on the north meadow.",
        "Information Update: The herd of the shelter has grown to 15 goats.",
    ],
    "source_chat_ids": {"original_info": [1], "updated_info": [4]},
}


def noted(**other: Any) -> Any:
    """What the rule makes of the note with other fields."""
    return data.beam_change(NOTE | other, TURNS, None)


def turns_of(passages: Any) -> list[str]:
    return [passage.turn for passage in passages]


def test_the_noted_turns_that_hold_a_value_say_it() -> None:
    change = noted()
    assert turns_of(change.current) == ["4"]
    assert "1" in turns_of(change.stale)


def test_a_user_who_repeats_a_value_in_most_of_its_words_says_it_too() -> None:
    assert turns_of(noted().stale) == ["1", ""]


def test_an_assistant_who_repeats_a_value_does_not_say_it() -> None:
    assert "2" not in turns_of(noted().stale)


def test_where_the_noted_turn_does_not_hold_a_value_it_cannot_be_told() -> None:
    elsewhere = {"original_info": [3], "updated_info": [4]}
    assert noted(source_chat_ids=elsewhere).stale == ()


def test_a_note_without_a_number_tells_no_value() -> None:
    assert noted(potential_confusion="LLM might recall fewer instead of 15").stale == ()


def test_numbers_of_the_question_and_of_both_values_tell_neither() -> None:
    note = NOTE | {
        "question": "When in 2024 do we shear?",
        "rubric": ["LLM response should state: May 5, 2024", "LLM response should state: 9 AM"],
        "potential_confusion": "LLM might recall May 1 at 9 AM rather than May 5",
    }
    assert data.beam_values(note) == (frozenset({"5"}), frozenset({"1"}))


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("1,200 calls", {"1200"}),
        ("three times at 4:30", {"3", "4:30"}),
        ("8/10 in v2.0", {"8/10", "2.0"}),
        ("250ms.", {"250"}),
        ("none", set()),
    ],
)
def test_numbers_are_found_however_they_are_written(text: str, held: set[str]) -> None:
    assert data.numbers(text) == held


def test_the_first_date_in_a_batch_is_that_of_its_session() -> None:
    said = [[{"content": "a"}, {"time_anchor": "March-15-2024"}, {"time_anchor": "March-16-2024"}]]
    batches = [
        {"batch_number": 1, "turns": said},
        {"batch_number": 2, "turns": [[{"content": "b", "time_anchor": None}]]},
    ]
    assert data.anchors(batches) == {"session_1": datetime(2024, 3, 15)}


def beam_folder(root: Path) -> Path:
    inside = root / "beam" / "1"
    inside.mkdir(parents=True)
    said = []
    for number, turn in enumerate(TURNS, 1):
        said.append({"id": number, "role": turn.speaker, "content": turn.text})
    said[0]["time_anchor"] = "March-15-2024"
    chat = [{"batch_number": 1, "turns": [said]}]
    (inside / "chat.json").write_text(json.dumps(chat))
    untold = NOTE | {"source_chat_ids": {"original_info": [], "updated_info": []}}
    asked = {"knowledge_update": [NOTE, untold], "abstention": []}
    (inside / "probing_questions.json").write_text(json.dumps(asked))
    return root


def test_a_folder_gives_dated_chats_and_counts_what_cannot_be_told(tmp_path: Path) -> None:
    found = data.load(beam_folder(tmp_path))["beam"]
    (chat,) = found.chats
    assert len(chat.changes) == found.left_out == 1
    assert chat.turns[0].at == datetime(2024, 3, 15)
    assert chat.changes[0].at == datetime(2024, 3, 16)


def test_a_folder_without_any_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="beam"):
        data.load(tmp_path)
    with pytest.raises(InvalidInput, match="only"):
        data.load(tmp_path, ["beams"])


def haystack(answer: str, marked: tuple[str, ...]) -> Dialogue:
    turns = (
        Turn("We own 12 goats. " + "Hay is dear. " * 30, session="s1", source_id="s1:0"),
        Turn("And two dogs.", session="s1", source_id="s1:1"),
        Turn("Rain. Rain again.", session="s2", source_id="s2:0"),
        Turn("Guess what: 15 goats now! " + "I count. " * 40, session="s3", source_id="s3:0"),
    )
    return Dialogue("q", turns, (Probe("How many goats do we own?", answer, marked),))


def test_the_last_marked_session_holds_the_current_value_and_the_others_the_stale_one() -> None:
    change = data.longmemeval_change(haystack("15", ("s1:0", "s3:0")))
    assert [(passage.turn, passage.start) for passage in change.current] == [("s3:0", 0)]
    assert [(passage.turn, passage.start) for passage in change.stale] == [("s1:0", 0)]


def test_with_one_marked_session_the_stale_value_cannot_be_told() -> None:
    assert data.longmemeval_change(haystack("15", ("s3:0",))).stale == ()


def test_an_answer_that_no_marked_passage_holds_cannot_be_told() -> None:
    assert data.longmemeval_change(haystack("16", ("s1:0", "s3:0"))).current == ()


def line(turn: str, text: str, start: int = 0, end: int | None = None, score: float = 1.0) -> Line:
    said = Evidence("e1", text, source_id=turn)
    return Line(said, start, len(text) if end is None else end, score)


def test_a_line_says_a_value_if_it_holds_it_in_a_passage_that_says_it() -> None:
    text = "Goats: 12 of them. Dogs: 12 as well."
    passage = data.Passage("1", 0, 18, frozenset({"12"}))
    assert passage.said_by(line("1", text))
    assert not passage.said_by(line("1", text, 19))
    assert not passage.said_by(line("1", text, 0, 6))
    assert not passage.said_by(line("2", text))


def reading(*lines: Line) -> Reading:
    return Reading("", 0, 0, "chars", "evidence", (), (), lines)


@pytest.mark.parametrize(
    ("scores", "above", "alone"),
    [
        ({"4": 3.0, "1": 2.0}, True, False),
        ({"4": 2.0, "1": 2.0}, False, False),
        ({"4": 1.0}, True, False),
        ({"1": 1.0}, False, True),
        ({}, False, False),
    ],
)
def test_the_current_value_is_above_where_its_line_scores_more_than_all_stale_ones(
    scores: dict[str, float], above: bool, alone: bool
) -> None:
    texts = {turn.source_id or "": turn.text for turn in TURNS}
    lines = [line(turn, texts[turn], score=score) for turn, score in scores.items()]
    found = measure.seen("chat", 500, reading(*lines), noted())
    assert (found.above, found.stale_alone) == (above, alone)
    assert found.both == (len(scores) == 2)


def test_a_chat_is_read_at_every_limit(tmp_path: Path) -> None:
    (chat,) = data.load(beam_folder(tmp_path))["beam"].chats
    events = list(measure.read(chat, {}, {}))
    assert [event.limit for event in events] == list(measure.LIMITS)
    assert all(event.both for event in events)
    tables = measure.tabled(events)
    assert tables["2,000 characters"]["both read"]["mean"] == 1.0


def test_letta_tells_the_contradicting_fact_from_those_it_contradicts(tmp_path: Path) -> None:
    extra = {
        "facts": ["Ana lives in Rome.", "Ana likes tea."],
        "supporting_fact_indices": [0],
        "contradicting_fact": "Ana lives in Oslo.",
        "contradicting_answer": "Oslo",
    }
    record = {"input": "Where?", "ground_truth": "Rome", "agent_args": {"extra": extra}}
    path = tmp_path / "letta.jsonl"
    path.write_text(json.dumps(record))
    (chat,) = data.letta(path).chats
    memory = SlotMemory()
    memory.ingest_many(chat.turns)
    (change,) = chat.changes
    said = [item.text for item in memory.evidence() if item.source_id == change.current[0].turn]
    assert said == ["Ana lives in Oslo."]
    assert turns_of(change.stale) == [chat.turns[0].source_id]
