"""Items packed in blocks beside their rows, so that a memory opens without looking at each row.

A block is of a stretch of numbers, sealed as a row is, and bound to its place. It goes, with its
key, in the transaction that changes or deletes the row of any of its items. The rows are what is
true: a block that is missing, damaged, or of another version is passed over, and made anew from
them. Vectors alone are not in both: with the first block that an item is in, they move into a part
of their own (``item_vectors``), which stays when the block goes.
"""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import demem_agent
from demem_agent.scoring.directions import from_codes
from demem_agent.scoring.items import Items
from demem_agent.scoring.packed import LISTS, Packed
from demem_agent.settings import Settings
from demem_agent.slots.records import Head, StoredEvidence
from demem_agent.slots.state import State
from demem_agent.stores import numbering
from demem_agent.stores.bodies import packed_body, parts_of
from demem_agent.stores.item_vectors import Part
from demem_agent.stores.numbering import block_of, numbers_of
from demem_agent.stores.rows import DAMAGE
from demem_agent.stores.tables import COLUMNS, Block, Row, Tables, key_of
from demem_agent.types import number_of

__all__ = [
    "FEWEST",
    "FORMAT",
    "gaps",
    "items_in",
    "made",
    "packed_from",
    "packed_to",
    "read",
    "read_rows",
    "rows_from",
    "rows_packed",
    "worth_packing",
]

#: What the columns of a text come to. It changes whenever any of them would be another for some
#: text: ``tests/stores/test_snapshots.py`` notices.
FORMAT = 3
#: Bytes that say how long the head is.
_LENGTH = 4
#: Lists of words, none of which has a line break: they are read faster as one text.
_WORDS = ("form", "term")
#: Items that the last block waits for: they are loaded from their rows in 2 ms.
FEWEST = 16
#: Characters that a block may have: it is in RAM as a whole.
_LONGEST = 16_000_000
#: Columns with little of a pattern, which follow what is squeezed: so they are read faster.
_RAW = {"exact", "form", "halves", "scale", "word"}


def stamp() -> list[Any]:
    """Return what must be the same where a block is read as where it was written."""
    version = demem_agent.__version__
    return [FORMAT, version, numbering.ITEMS, unicodedata.unidata_version, sys.byteorder]


def made(state: State, known: Mapping[int, int]) -> Iterator[Block]:
    """Pack what items of a state are not packed.

    The last block waits until so many items have come that it is worth it, and one of very long
    texts is not packed: its rows are as good.

    Args:
        known: the number of the last item of each block that is there.
    """
    end = state.head.evidence
    for block in range(-(-end // numbering.ITEMS)):
        numbers = numbers_of(block)
        coming = _live(state, range(known.get(block, 0) + 1, numbers.stop), numbers.start)
        is_last = numbers.stop > end
        if len(coming) >= (FEWEST if is_last else 1):
            ids = _live(state, numbers, numbers.start)
            if sum(len(state.evidence[id].text) for id in ids) <= _LONGEST:
                packed = state.packed(ids)
                body = packed_to(packed)
                if body is not None:
                    yield Block(block, len(ids), number_of(ids[-1]), body, part_of(packed))


def _live(state: State, numbers: range, first: int) -> list[str]:
    """Return the ids of the items of some numbers from one on that are there."""
    of = range(max(numbers.start, first), numbers.stop)
    return [id for id in map("e{}".format, of) if id in state.evidence]


def worth_packing(numbers: Sequence[int], known: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield for each block of rows that is to be packed their numbers, out of all that there are.

    Args:
        known: the number of the last row of each block that is there.
    """
    last_block = block_of(numbers[-1]) if numbers else 0
    for block, of in groupby(numbers, block_of):
        held = list(of)
        coming = sum(number > known.get(block, 0) for number in held)
        if coming >= (FEWEST if block == last_block else 1):
            yield held


def rows_packed(rows: Sequence[Row]) -> Block | None:
    """Pack rows of one block as they are; None where they would be too long."""
    raw: list[bytes] = []
    values = []
    for row in rows:
        told: list[Any] = list(row.values())
        for place, value in enumerate(told):
            if isinstance(value, bytes):
                raw.append(value)
                told[place] = [len(value)]
        values.append(told)
    told_of = json.dumps({"stamp": stamp(), "rows": values}, separators=(",", ":"))
    numbers = [next(iter(row.values())) for row in rows]
    body = packed_body(told_of.encode("ascii"), raw) if len(told_of) <= _LONGEST else None
    return None if body is None else Block(block_of(numbers[0]), len(rows), numbers[-1], body)


def rows_from(table: str, block: Block) -> list[Row]:
    """Return rows from what :func:`rows_packed` returned.

    Raises:
        DAMAGE: for anything else, and what another version wrote.
    """
    plain, raw = parts_of(block.body)
    told = json.loads(plain)
    if told["stamp"] != stamp():
        raise ValueError("a block of another version")
    names = (key_of(table), *COLUMNS[table])
    rows = []
    start = 0
    for values in told["rows"]:
        for place, value in enumerate(values):
            if isinstance(value, list):
                (length,) = value
                values[place] = raw[start : start + length]
                start += length
        rows.append(dict(zip(names, values, strict=True)))
    return rows


def read_rows(opened: Tables, memory: int, table: str) -> tuple[dict[int, list[Row]], set[int]]:
    """Return the rows of a memory that are packed, by blocks, and the blocks that are of no use."""
    found: dict[int, list[Row]] = {}
    others: set[int] = set()
    for block in opened.blocks(memory, table):
        try:
            found[block.number] = rows_from(table, block)
        except DAMAGE:
            others.add(block.number)
    return found, others


def read(
    opened: Tables, memory: int, head: Head, settings: Settings
) -> tuple[dict[int, Packed], set[int]]:
    """Return the blocks of items that can be used, by their numbers, and those that cannot."""
    found: dict[int, Packed] = {}
    others: set[int] = set()
    for block in opened.blocks(memory, "evidence"):
        try:
            packed = packed_from(block.body)
            if "exact" not in packed.columns:
                part = opened.vectors.together(memory, numbers_of(block.number))
                packed = with_part(packed, part, head.dimensions)
            _require_of(packed, block.number, head, settings)
        except DAMAGE:
            others.add(block.number)
        else:
            found[block.number] = packed
    return found, others


def items_in(packed: Packed) -> Iterator[StoredEvidence]:
    """Yield the items of a block, as their rows say them."""
    items = Items()
    items.load([packed])
    slot, parts, starts, ends = (
        packed.columns[name].tolist() for name in ("slot", "parts", "start", "end")
    )
    spans = tuple(zip(starts, ends, strict=True))
    codes = packed.columns.get("codes")
    vectors = packed.columns["exact"] if codes is None else from_codes(codes)
    first = 0
    for item, number, count in zip(items.values(), slot, parts, strict=True):
        rows = slice(first, first + count)
        yield StoredEvidence(item, number, spans[rows], vectors[rows])
        first += count


def gaps(lasts: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of numbers, first and last, of which the rows are in no block.

    The last one has no end.

    Args:
        lasts: the number of the last row in each block.
    """
    first = 1
    for block in sorted(lasts):
        start = numbers_of(block).start
        if start > first:
            yield first, start - 1
        first = lasts[block] + 1
    yield first, -1


def part_of(packed: Packed) -> Part | None:
    """Return the vectors of a block; None where they are not in codes."""
    codes = packed.columns.get("codes")
    if codes is None:
        return None
    numbers = packed.columns["number"].astype(np.int64)
    sizes = packed.columns["parts"].astype(np.int64) * codes.shape[1]
    return Part(numbers, sizes, codes.reshape(-1))


def with_part(packed: Packed, part: Part, dimensions: int) -> Packed:
    """Return a block with its vectors, which were kept apart.

    Raises:
        ValueError: if they are of other items.
    """
    sizes = packed.columns["parts"].astype(np.int64) * dimensions
    is_of = np.array_equal(packed.columns["number"], part.numbers)
    if not is_of or not np.array_equal(sizes, part.sizes):
        raise ValueError("vectors of other items")
    codes = part.codes.reshape(-1, dimensions)
    return replace(packed, columns={**packed.columns, "codes": codes})


def packed_to(packed: Packed) -> bytes | None:
    """Return a block as bytes without what :func:`part_of` returns; None where that would be too
    many.
    """
    columns = {name: _narrow(of) for name, of in packed.columns.items() if name != "codes"}
    squeezed, plain = _by_kind(columns, columns.keys() - _RAW)
    patternless, raw = _by_kind(columns, columns.keys() & _RAW)
    told = {
        "stamp": stamp(),
        "columns": (squeezed, patternless),
        "lists": {**packed.lists, **{name: "\n".join(packed.lists[name]) for name in _WORDS}},
        "text": [*map(len, packed.text)],
    }
    head = json.dumps(told, separators=(",", ":")).encode("ascii")
    told_of = b"".join((len(head).to_bytes(_LENGTH, "little"), head, *plain))
    return packed_body(told_of, [*raw, *packed.text])


def packed_from(body: bytes) -> Packed:
    """Return a block from what :func:`packed_to` returned.

    Raises:
        DAMAGE: for anything else, and what another version wrote.
    """
    plain, raw = parts_of(body)
    start = _LENGTH + int.from_bytes(plain[:_LENGTH], "little")
    told = json.loads(plain[_LENGTH:start])
    if told["stamp"] != stamp() or told["lists"].keys() != set(LISTS):
        raise ValueError("a block of another version")
    lists = told["lists"]
    for name in _WORDS:
        lists[name] = lists[name].split("\n") if lists[name] else []
    squeezed, patternless = told["columns"]
    columns: dict[str, NDArray[Any]] = {}
    _cut(squeezed, plain, start, columns)
    start = _cut(patternless, raw, 0, columns)
    ends = accumulate(told["text"], initial=start)
    return Packed(columns, lists, [raw[one:other] for one, other in pairwise(ends)])


#: Kinds of numbers, each with the names and shapes of its columns.
_Kinds = list[tuple[str, list[tuple[str, tuple[int, ...]]]]]


def _by_kind(
    columns: Mapping[str, NDArray[Any]], names: Collection[str]
) -> tuple[_Kinds, list[bytes]]:
    """Return some columns as bytes, those of a kind together, and what tells which they are."""
    ordered = sorted((columns[name].dtype.str, name) for name in names)
    kinds = [
        (kind, [(name, columns[name].shape) for _, name in of])
        for kind, of in groupby(ordered, itemgetter(0))
    ]
    return kinds, [columns[name].tobytes() for _, name in ordered]


def _cut(kinds: _Kinds, source: bytes, start: int, columns: dict[str, NDArray[Any]]) -> int:
    """Cut columns from bytes, as :func:`_by_kind` gives them; return where they end.

    There is one view of all columns of a kind, since to make one takes longer than to cut it.
    """
    for kind, of in kinds:
        sizes = [math.prod(shape) for _, shape in of]
        numbers = np.frombuffer(source, kind, sum(sizes), start)
        start += numbers.nbytes
        first = 0
        for (name, shape), size in zip(of, sizes, strict=True):
            column = numbers[first : first + size]
            columns[name] = column if len(shape) == 1 else column.reshape(shape)
            first += size
    return start


def _narrow(column: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in as few bytes as they fit in; all else as it is."""
    if column.dtype.kind != "i" or column.dtype.itemsize == 1 or not column.size:
        return column
    if column.min() < 0:
        return column
    largest = int(column.max())
    for kind in (np.uint8, np.uint16):
        if largest <= np.iinfo(kind).max:
            return column.astype(kind)
    return column


def _require_of(packed: Packed, block: int, head: Head, settings: Settings) -> None:
    """Raise a ValueError for what cannot be a block of these items.

    Numbers that are in order, and passages that are as many as they say, are those of its vectors.
    """
    numbers = packed.columns["number"]
    held = numbers_of(block)
    vectors = packed.columns["codes" if "codes" in packed.columns else "exact"]
    is_of = (
        len(numbers)
        and held.start <= numbers[0]
        and numbers[-1] < held.stop
        and vectors.shape == (packed.passages, head.dimensions)
        and int(packed.columns["slot"].max()) < settings.slots
    )
    if not is_of:
        raise ValueError("a block of other items")
