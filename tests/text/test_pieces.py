"""Pieces of a text: prose as ever, programs at their definitions, JSON between its elements."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.text.pieces import pieces
from demem_agent.text.quoting.cutting import CUT
from demem_agent.text.quoting.fences import FENCE
from demem_agent.text.sentences import PASSAGE_CHARS, passages

PARTS = [
    "It rained (a lot). ",
    'She said: "No. Never." ',
    "a, b; c\n",
    "\n\n",
    "x" * 90,
    "## One\n",
]
PROSE = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=60) | st.just("word, " * 80),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=40,
)
FUNCTION = "def compute_{0}(x):\n    '''Times {0}.'''\n    return x * {0}\n\n\n"
REST = "".join(FUNCTION.format(n) for n in range(90))
MODULE = f"import os\n\n\n{REST}"
JAVASCRIPT = "".join(
    f"export async function one_{n}(a) {{\n  return a + {n};\n}}\nconst two_{n} = (b) => {{\n"
    f"  return b;\n}};\n"
    for n in range(9)
)


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in pieces(text)]


@given(PROSE)
def test_prose_is_cut_as_it_ever_was(text: str) -> None:
    assert pieces(text) == passages(text)


@given(PROSE | VALUES.map(json.dumps) | st.sampled_from([MODULE, JAVASCRIPT]), PROSE)
def test_pieces_hold_every_character_in_order_and_none_twice(first: str, second: str) -> None:
    for text in (first + second, f"{second}\n{FENCE}py\n{first}\n{FENCE}\n{second}"):
        found = pieces(text)
        assert all(0 <= end - start <= PASSAGE_CHARS for start, end in found)
        ends = [place for piece in found for place in piece]
        assert ends == sorted(ends)
        said = "".join(text[start:end] for start, end in found)
        assert "".join(said.split()) == "".join(text.split())


@pytest.mark.parametrize("wrapped", ["{}", f"Look at this:\n{FENCE}python\n{{}}{FENCE}\nWell?"])
def test_every_definition_begins_a_piece(wrapped: str) -> None:
    found = cut(wrapped.replace("{}", MODULE))
    assert sum(piece.startswith("def compute_") for piece in found) == 90


def test_definitions_of_other_languages_begin_pieces() -> None:
    found = cut(f"{FENCE}js\n{JAVASCRIPT}{FENCE}")
    assert sum(piece.startswith("export async function one_") for piece in found) == 8
    assert found[0].startswith(f"{FENCE}js\nexport async function one_0")
    assert sum(piece.startswith("const two_") for piece in found) == 9


def test_decorators_and_comments_stay_with_what_they_are_of() -> None:
    one = "# Drives.\n@cached\ndef drive(self):\n    return 1\n\n"
    found = cut(f"{one}{REST}")
    assert found[0].startswith("# Drives.")
    assert found[0].endswith("return 1")


def test_a_class_stays_with_its_first_method() -> None:
    found = cut(f"class Car:\n    def drive(self):\n        return 1\n\n{REST}")
    assert found[0] == "class Car:\n    def drive(self):\n        return 1"


def test_a_function_asked_for_by_name_is_read() -> None:
    memory = SlotMemory()
    memory.ingest(MODULE, speaker="Ana")
    text = memory.read("What does compute_77 do?", limit=2000).text
    assert "def compute_77(x):" in text
    assert "return x * 77" in text


@given(VALUES)
def test_json_is_cut_between_elements(value: Any) -> None:
    text = json.dumps(value)
    if not isinstance(value, list | dict) or len(text) <= PASSAGE_CHARS:
        return
    for start, end in pieces(text):
        for place in (start, end):
            assert not _in_string(text, place) or _string_at(text, place) > PASSAGE_CHARS // 2


def _string_at(text: str, place: int) -> int:
    """Return the length of the string that a place is in."""
    quotes = [match.start() for match in re.finditer(r'(?<!\\)(?:\\\\)*"', text)]
    before = max(quote for quote in quotes if quote < place)
    after = min((quote for quote in quotes if quote >= place), default=len(text))
    return after - before


def _in_string(text: str, place: int) -> bool:
    return text[:place].replace("\\\\", "").replace('\\"', "").count('"') % 2 == 1


def test_the_outermost_elements_of_json_are_kept_whole() -> None:
    users = [{"id": n, "tags": ["a", "b, c"], "note": "It is. So."} for n in range(40)]
    for piece in cut(json.dumps({"users": users}))[1:-1]:
        assert json.loads(f"[{piece.rstrip(',')}]")


def test_a_part_of_json_shows_what_it_is_a_part_of() -> None:
    memory = SlotMemory()
    users = [{"id": n, "name": f"user number {n}"} for n in range(40)]
    memory.ingest(json.dumps({"users": users}), speaker="Ana")
    line = memory.read("user number 20", limit=500).text.splitlines()[2]
    assert line.startswith(f'- Ana: {{"users": [ {CUT} {{"id": ')
    assert line.endswith(f"}} {CUT} ]}}")
