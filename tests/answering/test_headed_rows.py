"""A row of a table that does not fit is quoted under the row that heads it."""

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
