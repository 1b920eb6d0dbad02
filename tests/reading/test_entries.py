"""Of a table of data the entry is read that the question names."""

from __future__ import annotations

import json
import re

import pytest

from demem_agent import SlotMemory

NAMES = [
    f"{first} {last}"
    for last in ("Okafor", "Silva", "Brandt", "Novak", "Haddad")
    for first in ("Dana", "Ravi", "Mei", "Olu", "Tomas", "Ines")
]
ASKED = [1, 8, 15, 22, 29]


def person(number: int, *, long: bool) -> dict[str, object]:
    """Make up an entry of some 130 characters, or of 450."""
    entry: dict[str, object] = {
        "id": 100 + number,
        "name": NAMES[number],
        "room": f"R{700 + number}",
        "phone": f"+351 {100 + number * 7} 479",
    }
    if long:
        entry["duties"] = ["opens the gate at seven", "waters the ferns", "counts the parcels"] * 4
        entry["leave"] = {"taken": number % 7, "left": f"{40 + number} days"}
    return entry


def memory_of(*, long: bool, indent: int | None, fenced: bool) -> SlotMemory:
    staff = [person(n, long=long) for n in range(len(NAMES))]
    text = json.dumps({"firm": "Heron", "staff": staff}, indent=indent)
    memory = SlotMemory(clock=None)
    memory.ingest(f"The list:\n```json\n{text}\n```" if fenced else f"The list: {text}")
    memory.ingest("The office closes at six.")
    return memory


@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("number", ASKED)
def test_the_entry_that_the_question_names_is_read(
    number: int, indent: int | None, fenced: bool
) -> None:
    memory = memory_of(long=False, indent=indent, fenced=fenced)
    text = memory.read(f"Which room has {NAMES[number]}?", limit=500).text
    assert NAMES[number] in text
    assert f"R{700 + number}" in text
    assert re.search(r'"staff":\s*\[', text)


@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("number", ASKED)
def test_what_a_long_entry_says_is_read_with_its_name(
    number: int, indent: int | None, fenced: bool
) -> None:
    memory = memory_of(long=True, indent=indent, fenced=fenced)
    text = memory.read(f"How much leave has {NAMES[number]} left?", limit=1200).text
    assert NAMES[number] in text
    assert f"{40 + number} days" in text


def test_of_entries_that_do_not_fit_together_the_named_one_is_read_alone() -> None:
    memory = memory_of(long=False, indent=None, fenced=False)
    line = memory.read(f"Which room has {NAMES[8]}?", limit=190).lines[0]
    assert json.loads(line.text) == person(8, long=False)


def test_other_items_keep_their_places() -> None:
    memory = memory_of(long=False, indent=None, fenced=False)
    lines = memory.read("When does the office close?", limit=2000).lines
    best = max(lines, key=lambda line: line.score)
    assert best.text == "The office closes at six."
