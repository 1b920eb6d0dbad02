"""How rows of memories are numbered in a file, and which of them are packed together."""

from __future__ import annotations

from demem_agent.errors import StoreError

__all__ = [
    "ITEMS",
    "MOST_NUMBERS",
    "PART",
    "block_of",
    "id_of",
    "number_in",
    "numbers_of",
    "part_of",
    "range_of",
]

#: Rows that a table may have of one memory, as their numbers go.
MOST_NUMBERS = 2**36
#: Rows of so many numbers are packed together in a block. The larger it is, the faster a memory
#: opens, and the more rows are read one by one, and packed anew, where one has changed.
ITEMS = 1024
#: The vectors of items of so many numbers stand together in a part, which is written anew whenever
#: one of them changes or goes: 64 KB of the shipped encoder. A block has whole parts.
PART = 256


def id_of(memory: int, number: int) -> int:
    """Return the id of a row.

    Args:
        memory: its number in the file.

    Raises:
        StoreError: for a number that is none.
    """
    if not 0 <= number < MOST_NUMBERS:
        raise StoreError(f"a row cannot have the number {number}")
    return memory * MOST_NUMBERS + number


def number_in(id: int) -> int:
    """Return the number of a row in its memory."""
    return id % MOST_NUMBERS


def range_of(memory: int) -> tuple[int, int]:
    """Return the first and the last id that a row of a memory may have."""
    return memory * MOST_NUMBERS, (memory + 1) * MOST_NUMBERS - 1


def block_of(number: int) -> int:
    """Return the block that a row is in: those from 1 on are in the first."""
    return max(number - 1, 0) // ITEMS


def numbers_of(block: int) -> range:
    """Return the numbers of the rows that a block is of."""
    return range(block * ITEMS + 1, (block + 1) * ITEMS + 1)


def part_of(number: int) -> int:
    """Return the part that the vectors of an item are in once its block is packed."""
    return max(number - 1, 0) // PART
