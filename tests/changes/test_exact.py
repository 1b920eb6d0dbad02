"""What is said anew outright: an object in JSON told again, a slip put right."""

from __future__ import annotations

import pytest

from demem_agent.changes.exact import put_right, values_replaced

CONFIG = """lights of the barn:
{
  "device": "barn-2",
  "minutes": 30,
  "level": {"low": 10, "high": 80, "fade": true},
  "notify": ["ida", "tom"]
}"""
ANEW = 'barn lights again:\n{"device": "barn-2", "minutes": 45, "level": {"low": 20, "high": 80}}'


def gone(old: str, new: str) -> list[str]:
    return sorted(old[start:end] for start, end in values_replaced(old, new))


def test_values_that_differ_are_replaced() -> None:
    assert gone(CONFIG, ANEW) == ['"low": 10', '"minutes": 30']


@pytest.mark.parametrize(
    ("old", "new"),
    [("no object", '{"device": "d1", "n": 1}'), ('{"broken": ', '{"broken": 1, "n": 2}')],
)
def test_what_is_no_object_is_not_replaced(old: str, new: str) -> None:
    assert gone(old, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist appointment is on 12 May.", "*14th"),
        ("we ordered two abricots", "apricots*"),
        ("it opens at 9:30", "* 8:30"),
    ],
)
def test_a_slip_is_put_right_by_an_asterisk(old: str, new: str) -> None:
    assert put_right(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist appointment is on 12 May.", "14th"),
        ("I like tea", "*sigh*"),
        ("we ordered two apricots", "*apricots"),
        ("the boat is blue", "*a whole sentence that goes on and on"),
        ("", "*"),
    ],
)
def test_what_only_looks_like_it_puts_nothing_right(old: str, new: str) -> None:
    assert not put_right(old, new)
