"""A plain text in which people say who speaks gives turns with their speakers, and only such."""

from __future__ import annotations

from pathlib import Path

import pytest

from demem_agent import SlotMemory, imports

CHAT = """Ana: I moved to Leeds in May.
Ben: nice
Ana: The flat is on Alder Row.
It has a balcony.

Ben O'Neil: ok
"""


def told(text: str) -> list[tuple[str | None, str]]:
    return [(turn.speaker, turn.text) for turn in imports.read(text.splitlines(keepends=True))]


def test_lines_that_are_signed_are_turns_of_their_speakers() -> None:
    assert told(CHAT) == [
        ("Ana", "I moved to Leeds in May."),
        ("Ben", "nice"),
        ("Ana", "The flat is on Alder Row.\nIt has a balcony."),
        ("Ben O'Neil", "ok"),
    ]


def test_paragraphs_that_are_signed_once_each_are_turns_where_they_are_sentences() -> None:
    assert told("Ana: The key is under the mat.\n\nBen: I will be late.\n") == [
        ("Ana", "The key is under the mat."),
        ("Ben", "I will be late."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Note: buy milk\nTodo: call the bank\nNote: the boiler is old\n",
        "Boiler: Vaillant\nFridge: Bosch\nCar: Skoda\n",
        "Colour: blue\nSize: 4\n\nColour: red\nSize: 5\n",
        "image: nginx\nports: all of them\nimage: the other one\n",
        "Ana: I moved to Leeds.\n",
        "It rained.\n\nWe stayed in.\n\nAna: I am tired.\n\nThe end of it.\n\nAna: so what\n",
    ],
)
def test_other_lines_with_colons_stay_as_they_are(text: str) -> None:
    paragraphs = [part.strip() for part in text.split("\n\n")]
    assert told(text) == [(None, part) for part in paragraphs]


def test_no_reading_of_a_signed_file_says_that_nobody_speaks(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(CHAT, encoding="utf-8")
    memory = SlotMemory(clock=None)
    memory.ingest_many(imports.read(path))
    assert "[no speaker]" not in memory.read("Where did Ana move?").text
    assert "Leeds" in memory.answer("Where did Ana move?").text


def test_a_signed_file_is_remembered_once(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(CHAT, encoding="utf-8")
    memory = SlotMemory(clock=None)
    for _ in range(2):
        memory.ingest_many(imports.read(path))
    assert len(memory) == 4
