"""Files of turns and messages: told by what is in them, read piece by piece, errors by line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory, imports
from demem_agent.errors import InvalidInput
from demem_agent.imports.elements import elements
from demem_agent.imports.own import keyed
from demem_agent.imports.sources import Source
from demem_agent.turns import Turn


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# JSON, piece by piece

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def chunks(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


@given(st.lists(VALUES, max_size=5), st.integers(1, 9), st.sampled_from([None, 1]))
def test_an_array_is_read_as_its_values_wherever_it_is_cut(
    values: list[Any], size: int, indent: int | None
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=False)
    found = [*elements(Source("a.json", chunks(text, size)))]
    assert found == [(f"a.json[{n}]", value) for n, value in enumerate(values)]


@given(st.lists(st.dictionaries(st.text(max_size=3), VALUES), max_size=5), st.integers(1, 9))
def test_lines_are_read_as_their_values_wherever_they_are_cut(values: list[Any], size: int) -> None:
    text = "\n".join(json.dumps(value) for value in values)
    assert [value for _, value in elements(Source("a", chunks(text, size)))] == values


def test_one_object_over_several_lines_is_one_value() -> None:
    text = json.dumps({"messages": [1, 2]}, indent=2)
    assert [*elements(Source("a.json", iter([text])))] == [("a.json", {"messages": [1, 2]})]


def test_no_more_of_an_array_is_read_than_is_asked_for() -> None:
    def endless() -> Iterator[str]:
        yield "["
        while True:
            yield '{"text": "Hello."},'

    found = imports.turns(endless())
    assert [next(found).text for _ in range(3)] == ["Hello."] * 3


BROKEN = [
    ('[{"text": "x"}', "a.json must be an array of JSON values"),
    ('[{"text": "x"} 2]', "a.json must be an array of JSON values"),
    ('[{"text": "x"}] 2', "a.json must be one array and no more"),
    ('[{"text": ', "a.json[0] must be JSON"),
    ('[{"text": "x"}, {"text" "y"}]', "a.json[1] must be JSON"),
    ('{"text": "x"}\n{"text"', "a.json line 2 must be one JSON value a line"),
    ('{\n"text": "x",\n}', "a.json line 3 must be JSON"),
]


@pytest.mark.parametrize(("text", "words"), BROKEN, ids=[text for text, _ in BROKEN])
def test_broken_json_is_named_by_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        [*imports.turns(written(tmp_path / "a.json", text))]
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


# Turns


BAD_TURNS: list[tuple[str, str, str]] = [
    (
        "a.jsonl",
        '{"text": "x"}\n{"text": "y", "mood": 1}',
        "a.jsonl line 2: a turn has no field 'mood'",
    ),
    ("a.jsonl", '{"speaker": "Ana"}', "a.jsonl line 1: text must be a text"),
    ("a.jsonl", "5", "a.jsonl line 1 must be a turn with a text, a message with a role"),
    ("a.jsonl", '{"mood": 1}', "a.jsonl line 1 must be a turn with a text"),
    ("a.json", '[{"role": "user"}]', "a.json[0].content must be a text or a list of parts"),
    ("a.jsonl", '{"messages": 5}', "a.jsonl line 1.messages must be a list of messages"),
    (
        "a.jsonl",
        '{"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}',
        "a.jsonl line 1.messages[0].content[0].type must be that of a part",
    ),
    ("a.csv", "text,mood\nx,1", 'a.csv line 1: mood must be dropped (extra="drop")'),
    ("a.csv", "speaker,mood\nx,1", "a.csv line 1 must be a header with a column text"),
    ("a.csv", "text,content\nx,y", "a.csv line 1: text must be the only column of text"),
    ("a.csv", "text,at\nx,1 May", "a.csv line 2: at must be a date or a time"),
    ("a.csv", 'text,at\n"x\ny",\nz,1 May', "a.csv line 4: at must be a date or a time"),
    ("a.csv", "text,trust\nx,much", "a.csv line 2: trust must be a number from 0 to 1"),
    ("a.csv", "text,speaker\nx,y,z", "a.csv line 2 must be 2 cells"),
    ("a.csv", 'text,speaker\n"x', "a.csv line 2 must be a row of CSV"),
    ("a.json", '[{"conversation": {}, "qa": []}]', "source must be no LoCoMo file"),
]


@pytest.mark.parametrize(
    ("name", "text", "words"), BAD_TURNS, ids=[words for *_, words in BAD_TURNS]
)
def test_what_is_wrong_with_a_file_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        [*imports.turns(written(tmp_path / name, text))]
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


def test_what_a_turn_has_no_place_for_can_be_dropped(tmp_path: Path) -> None:
    lines = written(tmp_path / "a.jsonl", '{"text": "x", "mood": 1}')
    table = written(tmp_path / "a.csv", "text,mood\nx,1")
    for path in (lines, table):
        assert [turn.text for turn in imports.turns(path, extra="drop")] == ["x"]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.txt", tmp_path / "a.txt"):
        with pytest.raises(InvalidInput, match="path must be a"):
            [*imports.turns(path)]


def test_a_stream_that_is_not_utf_8_is_named() -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), "utf-8")
    with pytest.raises(InvalidInput, match="source must be a text in UTF-8"):
        imports.read(stream)


@pytest.mark.parametrize(
    ("given", "how", "field"),
    [
        (5, {}, "source"),
        (b"text", {}, "source"),
        ([], {"format": "xml"}, "format"),
        ([], {"extra": "keep"}, "extra"),
        ([], {"name": ""}, "name"),
        ([], {"tools": 1}, "tools"),
        ([], {"speakers": 1}, "speakers"),
        ([{"text": "x"}], {"format": "csv"}, "format"),
        (["x", 5], {}, "source"),
    ],
)
def test_a_setting_outside_its_range_is_named(given: Any, how: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field} must be"):
        [*imports.read(given, **how)]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv", "a.md", "a.txt"])
def test_an_empty_file_has_no_turns(tmp_path: Path, name: str) -> None:
    if name == "a.csv":
        return
    assert [*imports.turns(written(tmp_path / name, " \n\n"))] == []


# Lines


@pytest.mark.parametrize(
    ("lines", "format", "texts"),
    [
        (["One.", "", "Two."], "text", ["One.", "Two."]),
        (['{"text": "One."}', '{"text": "Two."}'], "json", ["One.", "Two."]),
        (["[", '{"role": "user", "content": "One."}', "]"], "json", ["One."]),
        (["text;speaker", "One.;Ana"], "csv", ["One."]),
        (["", " ", "One."], "text", ["One."]),
        ([], "text", []),
    ],
)
def test_lines_are_told_by_what_is_in_them(lines: list[str], format: str, texts: list[str]) -> None:
    source = imports.read(lines)
    assert ([turn.text for turn in source], source.format) == (texts, format)


@pytest.mark.parametrize("shown", ["{}", '{{"text": "{}"}}'])
def test_lines_without_ids_are_known_by_their_words(shown: str) -> None:
    with SlotMemory() as memory:
        for said in ("One.", "Two.", "One."):
            memory.ingest_many(imports.turns([shown.format(said)]))
        assert [item.text for item in memory.evidence()] == ["One.", "Two."]


# Notes and tables


def test_notes_that_were_edited_add_what_is_new(tmp_path: Path) -> None:
    path = written(tmp_path / "n.md", "# A\n\nOne.\n\nTwo.\n")
    with SlotMemory() as memory:
        memory.ingest_many(imports.turns(path))
        memory.ingest_many(imports.turns(written(path, "# A\n\nZero.\n\nOne.\n\nTwo.\n\nTwo.\n")))
        assert [item.text for item in memory.evidence()] == ["One.", "Two.", "Zero.", "Two."]


def test_a_heading_dates_what_stands_below_it_if_it_begins_with_a_day(tmp_path: Path) -> None:
    text = "## 2024-05-02\nOne.\n## 2024-99-02\nTwo."
    found = [*imports.turns(written(tmp_path / "n.md", text))]
    assert [(turn.at, turn.session) for turn in found] == [
        (datetime(2024, 5, 2), "2024-05-02"),
        (None, "2024-99-02"),
    ]


def test_a_rule_at_the_beginning_is_no_front_matter(tmp_path: Path) -> None:
    path = written(tmp_path / "n.md", "---\nOne.\n")
    assert [turn.text for turn in imports.turns(path)] == ["---\nOne."]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_table_is_parted_by_any_usual_mark(tmp_path: Path, mark: str) -> None:
    rows = [["Created At", "Author", "Message", "Thread ID"], ["1714644000", "Ana", "Hi.", "t1"]]
    text = "\n".join(mark.join(row) for row in rows)
    (turn,) = imports.turns(written(tmp_path / "t.csv", text))
    assert (turn.speaker, turn.text, turn.session) == ("Ana", "Hi.", "t1")
    assert turn.at is not None
    assert str(turn.at) == "2024-05-02 10:00:00+00:00"


def test_equal_rows_of_a_table_are_all_remembered_and_once(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "text,speaker\nYes.,Ana\nYes.,Ana\n")
    with SlotMemory() as memory:
        memory.ingest_many(imports.turns(path))
        memory.ingest_many(imports.turns(path))
        assert len(memory) == 2


@given(
    st.lists(
        st.tuples(st.none() | st.sampled_from("ab"), st.none() | st.text(min_size=1, max_size=3)),
        max_size=8,
    ),
    st.booleans(),
)
def test_keys_are_the_turns_own_or_unlike_each_other(
    drawn: list[tuple[str | None, str | None]], by_place: bool
) -> None:
    turns = [Turn("Text.", source_id=source_id, key=key) for source_id, key in drawn]
    result = [*keyed(turns, "jsonl", "chat", by_place=by_place)]
    made: list[str | None] = []
    for turn, (_, key) in zip(result, drawn, strict=True):
        if key is None:
            made.append(turn.key)
        else:
            assert turn.key == key
    assert len(set(made)) == len(made)
    assert None not in made
