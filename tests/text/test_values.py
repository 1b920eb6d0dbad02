"""JSON is found where it stands in a text, and its entries are whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.text.values import SHORTEST, entries, leaves, objects, values

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=30,
)
STAFF = [{"id": n, "name": f"user, {n}", "tags": ["a", {"b": [1, 2]}]} for n in range(9)]


def found_in(text: str) -> list[str]:
    return [text[start:end] for start, end in values(text)]


def entries_in(text: str) -> list[str]:
    return [text[start:end] for start, end in entries(text, 0, len(text))]


@given(VALUES, st.sampled_from([None, 2]), st.sampled_from(["", "See: ", "It is {so}, [see]:\n"]))
def test_what_is_found_is_json(value: Any, indent: int | None, before: str) -> None:
    text = json.dumps(value, indent=indent)
    found = found_in(f"{before}{text} And so on.")
    if isinstance(value, list | dict) and len(text) >= SHORTEST and text[1:].lstrip()[0] in '"{[':
        assert found == [text]
    for one in found:
        json.loads(one)


@pytest.mark.parametrize("wrap", [list, lambda staff: {"firm": "Heron, {x}", "staff": staff}])
@pytest.mark.parametrize("indent", [None, 2])
def test_the_entries_are_what_stands_side_by_side(wrap: Any, indent: int | None) -> None:
    made = entries_in(json.dumps(wrap(STAFF), indent=indent))
    assert [json.loads(one) for one in made] == STAFF


def test_entries_of_an_object_have_their_names() -> None:
    named = {f"user {n}": one for n, one in enumerate(STAFF)}
    made = entries_in(json.dumps({"users": named}))
    assert json.loads(f"{{{', '.join(made)}}}") == named


@given(VALUES)
def test_entries_are_in_order_and_do_not_overlap(value: Any) -> None:
    text = json.dumps(value, indent=1)
    found = entries(text, 0, len(text))
    ends = [place for one in found for place in one]
    assert ends == sorted(ends)
    assert all(text[start:end].strip() == text[start:end] for start, end in found)


@pytest.mark.parametrize(
    "text",
    [
        "no data (here) [1], [2] and {x}",
        "const rows = [{id: 1, name: 'a'}, {id: 2, name: 'b'}, {id: 3, name: 'c'}];",
        '[{"broken": 1, "open": [2, 3, "and so on and so on and so on and so on"',
        "[" * 100_000,
        '{"a": ' * 20_000,
    ],
)
def test_what_is_no_json_is_not_found(text: str) -> None:
    assert found_in(text) == []


def test_in_a_program_a_list_is_no_data() -> None:
    rows = json.dumps(STAFF)
    assert found_in(f"```python\nrows = {rows}\nrun(rows)\n```") == []
    assert found_in(f"See:\n```json\n{rows}\n```\nWell?") == [rows]


KEYS = st.text("abc", min_size=1)
NESTED = st.recursive(
    VALUES.filter(lambda one: not isinstance(one, dict)),
    lambda inner: st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, NESTED, min_size=1))
def test_the_leaves_of_an_object_are_its_values_by_their_path(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    ((start, end),) = objects(text)
    for path, first, place, last in leaves(text, start, end):
        here: Any = value
        for key in path.split("/"):
            here = here[key]
        assert json.loads(text[place:last]) == here
        assert text[first] == '"'


def test_the_path_of_a_value_has_the_keys_around_it() -> None:
    text = 'So: {"size": {"min": 7, "max": [1, {"a": 2}]}, "on": true}'
    ((start, end),) = objects(text)
    assert [path for path, *_ in leaves(text, start, end)] == ["size/min", "size/max", "on"]
