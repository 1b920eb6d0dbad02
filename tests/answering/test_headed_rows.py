"""A row of a table that does not fit is quoted under its head, and notes stand below a list."""

from __future__ import annotations

from demem_agent import SlotMemory

ROWS = "\n".join(
    f"| plant {n} | {n}.50 | A{n} | keep it cold and out of the sun, check the stems |"
    for n in range(1, 9)
)
TABLE = f"Stock:\n| item | price | shelf | note |\n|---|---|---|---|\n{ROWS}"


def test_the_head_stands_before_the_row_and_the_cut_is_marked() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest(TABLE, speaker="Mara")
    lines = memory.answer("What is the price of plant 7?").text.splitlines()
    assert [line.strip() for line in lines[:2]] == ["Mara: | item | price | shelf | note |", "[…]"]
    assert lines[2].strip().startswith("| plant 7 | 7.50")


def test_a_table_without_a_head_is_quoted_without_one() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest(ROWS, speaker="Mara")
    assert "plant 1 |" not in memory.answer("What is the price of plant 7?").text


def test_what_is_known_of_a_list_stands_below_it_and_not_behind_its_last_item() -> None:
    memory = SlotMemory(clock=None)
    said = "for the trip:\n- the stove we borrowed last summer\n- maps"
    memory.ingest(said, speaker="Mara", at="2026-01-24")
    lines = memory.answer("What did I list for the trip?").text.splitlines()
    assert [line.strip() for line in lines[-2:]] == ["- maps", "(last summer: summer 2025)"]
