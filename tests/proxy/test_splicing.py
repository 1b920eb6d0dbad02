"""A JSON text that is changed in places holds everything else as it came."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_adapters.proxy.splicing import Edit, JsonText, Unreadable

SPACES = st.text(" \t\n\r", max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def written(draw: st.DrawFn, value: object) -> str:
    """Write a value as JSON in one of the many ways there are."""
    gap = lambda: draw(SPACES)  # noqa: E731
    if isinstance(value, dict):
        parts = [
            f"{gap()}{json.dumps(name)}{gap()}:{gap()}{draw(written(one))}{gap()}"
            for name, one in value.items()
        ]
        return "{" + (",".join(parts) or gap()) + "}"
    if isinstance(value, list):
        parts = [f"{gap()}{draw(written(one))}{gap()}" for one in value]
        return "[" + (",".join(parts) or gap()) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, object], bytes]:
    value = draw(st.dictionaries(st.text(max_size=4), VALUES, max_size=4))
    value["messages"] = draw(st.lists(VALUES, max_size=4))
    text = draw(SPACES) + draw(written(value)) + draw(SPACES)
    return value, text.encode()


@given(documents())
def test_a_text_is_read_as_any_reader_does_and_stays_as_it_is(
    document: tuple[dict[str, object], bytes],
) -> None:
    value, data = document
    text = JsonText(data)
    assert text.value == value == json.loads(data)
    assert text.edited([]) == data


@given(documents(), st.integers(0, 4))
def test_what_is_put_in_stands_there_and_all_else_stays(
    document: tuple[dict[str, object], bytes], at: int
) -> None:
    value, data = document
    text = JsonText(data)
    elements = text.elements(text.members["messages"])
    at = min(at, len(elements))
    assert [one.value for one in elements] == value["messages"]
    if not elements:
        return
    if at < len(elements):
        edit = Edit(elements[at].start, elements[at].start, '"new", ')
    else:
        edit = Edit(elements[-1].end, elements[-1].end, ', "new"')
    edited = text.edited([edit])
    messages = value["messages"]
    assert isinstance(messages, list)
    assert json.loads(edited) == {**value, "messages": [*messages[:at], "new", *messages[at:]]}
    before = len(text.text[: edit.start].encode())
    assert edited[:before] == data[:before]
    assert edited[before:].replace(edit.text.encode(), b"", 1) == data[before:]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"1",
        b"{",
        b'{"a"}',
        b'{"a": }',
        b'{"a": 1',
        b'{"a": 1 "b": 2}',
        b'{"\xff": 1}',
        b'{"a": ' + b"[" * 100_000,
    ],
)
def test_what_is_no_json_object_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(Unreadable):
        JsonText(data)


def test_of_two_members_of_one_name_the_last_holds_and_it_is_told() -> None:
    text = JsonText(b'{"a": 1, "a": 2}')
    assert text.value == {"a": 2}
    assert text.has_duplicates
    assert not JsonText(b'{"a": {"b": 1}, "b": 2}').has_duplicates
