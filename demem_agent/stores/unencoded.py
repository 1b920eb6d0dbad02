"""Items whose texts could be read and whose vectors are lost: an encoder makes them anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from demem_agent.slots.records import StoredEvidence, Vector
from demem_agent.stores.base import Rows
from demem_agent.types import number_of

__all__ = ["encoded_anew", "is_encoded", "names_of_unencoded", "unencoded", "without_encoding"]

#: What stands for the fingerprint of an encoder in a memory that is to be encoded anew.
_LOST = "vectors lost"
_NAME = "vectors of evidence "


def is_encoded(stored: StoredEvidence) -> bool:
    """Whether an item has its vectors: one whose vectors are lost has some of no numbers."""
    return bool(stored.vectors.shape[1])


def names_of_unencoded(items: Iterable[StoredEvidence]) -> Iterator[str]:
    """Yield in words which items, in order, have lost their vectors, a name for each run."""
    run: list[int] = []
    for stored in items:
        number = number_of(stored.evidence.id)
        if run and (is_encoded(stored) or number != run[-1] + 1):
            yield _name_of(run)
            run = []
        if not is_encoded(stored):
            run.append(number)
    if run:
        yield _name_of(run)


def unencoded(rows: Rows) -> list[StoredEvidence]:
    """Return the items of a memory that have lost their vectors."""
    return [stored for stored in rows.evidence if not is_encoded(stored)]


def without_encoding(rows: Rows) -> Rows:
    """Return the rows of a memory with vectors of zeros for items that have lost theirs.

    If there are any, it is refused to be opened with any encoder until it is encoded anew.
    """
    lost = unencoded(rows)
    if not lost:
        return rows
    size = rows.head.dimensions
    zeros = {one.evidence.id: np.zeros((len(one.spans), size), np.float32) for one in lost}
    head = replace(rows.head, encoder_fingerprint=_LOST)
    return replace(encoded_anew(rows, zeros), head=head)


def encoded_anew(rows: Rows, vectors: Mapping[str, Vector]) -> Rows:
    """Return the rows of a memory with vectors for the items that have lost theirs, by ids."""
    evidence = [
        stored if is_encoded(stored) else replace(stored, vectors=vectors[stored.evidence.id])
        for stored in rows.evidence
    ]
    damaged = [name for name in rows.damaged if not name.startswith(_NAME)]
    return replace(rows, evidence=evidence, damaged=damaged)


def _name_of(run: list[int]) -> str:
    return f"{_NAME}{run[0]}" if len(run) == 1 else f"{_NAME}{run[0]} to {run[-1]}"
