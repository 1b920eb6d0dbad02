"""An export that was cut off, edited or put in another order is refused, and the line is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored import OPTIONS, lived

from demem_agent import InvalidInput, SlotMemory
from demem_agent.stores.manifest import END, digest_of, ended

Lines = list[dict[str, Any]]


def plain(memory: SlotMemory) -> Lines:
    """Return what a memory exports as a file has it: with lists for tuples."""
    lines: Lines = json.loads(json.dumps(memory.export()))
    return lines


LINES = plain(lived(SlotMemory(**OPTIONS)))
#: The last one tells of the others.
COUNT = len(LINES) - 1
PLACES = st.integers(0, COUNT - 1)


def refusal(lines: Lines) -> str:
    with pytest.raises(InvalidInput) as caught:
        SlotMemory.restore(lines, **OPTIONS)
    return str(caught.value)


def test_the_last_line_tells_how_many_came_before_it_and_what_they_come_to() -> None:
    last = LINES[-1]
    assert (last["kind"], last["lines"], len(last["digest"])) == (END, COUNT, 64)
    assert digest_of(LINES) == last["digest"]
    assert ended(LINES) == LINES


def test_an_export_goes_through_any_writer_of_json() -> None:
    written = [json.dumps(line, indent=1, ensure_ascii=False, sort_keys=True) for line in LINES]
    again = SlotMemory.restore(map(json.loads, written), **OPTIONS)
    assert plain(again) == LINES


@pytest.mark.parametrize("left", range(1, COUNT + 1))
def test_an_export_that_was_cut_off_says_which_line_is_missing(left: int) -> None:
    assert f"line {left + 1} of the export is missing" in refusal(LINES[:left])


@pytest.mark.parametrize("gone", range(1, COUNT))
def test_a_line_that_was_taken_out_is_missed_there(gone: int) -> None:
    said = refusal([*LINES[:gone], *LINES[gone + 1 :]])
    assert f"line {gone + 1} of the export" in said


@given(PLACES, PLACES)
def test_lines_in_another_order_are_refused(one: int, other: int) -> None:
    lines = [*LINES]
    lines[one], lines[other] = lines[other], lines[one]
    if lines == LINES:
        assert plain(SlotMemory.restore(lines, **OPTIONS)) == LINES
    else:
        assert f"line {min(one, other) + 1} " in refusal(lines)


@given(PLACES, st.sampled_from(["sums", "x", "kind of"]), st.integers() | st.text())
def test_a_line_to_which_something_was_added_is_named(place: int, name: str, value: Any) -> None:
    lines = [*LINES]
    lines[place] = {**lines[place], name: value}
    assert f"line {place + 1} " in refusal(lines)


def test_an_edited_line_is_refused_and_named() -> None:
    lines = json.loads(json.dumps(LINES))
    lines[1]["source_id"] = "x2"
    assert "line 2 of the export is not what was written there" in refusal(lines)
    edited = SlotMemory.restore(ended(lines), **OPTIONS)
    assert edited.item("e1").source_id == "x2"


@pytest.mark.parametrize("name", ["lines", "digest", "sums"])
@pytest.mark.parametrize("value", [None, "", 0, "00", [], "0" * 64])
def test_an_edited_last_line_is_refused(name: str, value: object) -> None:
    said = refusal([*LINES[:-1], {**LINES[-1], name: value}])
    assert "line " in said
    assert "of the export" in said


def test_nothing_comes_after_the_last_line() -> None:
    assert f"line {COUNT + 2} " in refusal([*LINES, LINES[-1]])
    assert f"line {COUNT + 2} " in refusal([*LINES, LINES[1]])


def test_a_newer_format_is_refused_by_its_number() -> None:
    said = refusal([{**LINES[0], "format": 3}, *LINES[1:]])
    assert "format must be at most 2; the file was written by a newer version, got 3" in said
