"""Consecutive items of a memory as columns, with all that the index of passages knows of them.

What is derived from a text takes far longer to make than to read. A block of items is packed once,
and its columns are joined with those of others when a memory is opened. It holds nothing that other
items tell: of every word and name it has a list of its own.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.letters import marked
from demem_agent.scoring.texts import squeezed
from demem_agent.text.language.words import worded
from demem_agent.types import Evidence, number_of

if TYPE_CHECKING:
    from demem_agent.scoring.index import PassageIndex

__all__ = [
    "CODED",
    "LISTS",
    "Packed",
    "coded",
    "columns_of_words",
    "joined",
    "numbered",
    "packed_items",
]

#: Fields of items that many share: a column has where in a list of its block each value stands.
CODED = ("speaker", "session", "source", "source_id", "at", "metadata")
#: What stands in lists: those values, the languages and words of passages, and what notes are of.
LISTS = (*CODED, "language", "form", "term", "made_from")

_Value = TypeVar("_Value", str, str | None)


@dataclass(slots=True, eq=False)
class Packed:
    """A block of items.

    Attributes:
        columns: by name. Of items: ``number``, ``slot``, ``parts`` (its passages), ``text_bytes``,
            ``trust`` and the places of :data:`CODED`. Of passages: ``start``, ``end``, ``form``,
            ``halves``, ``kind``, ``small``, ``told``, ``language``, what features keep
            (``kept.*``), their vectors as ``codes`` and ``scale`` or as they are (``exact``), and
            how many ``words`` they have. Of all words in turn: ``word``, places in the list of
            forms; of these the place of the ``stem`` with which each was met first. Of terms: in
            how many passages each is (``held``), and in turn in which (``row``) and how often
            (``times``).
        lists: by the names of :data:`LISTS`.
        text: of all items, in UTF-8, as :mod:`~demem_agent.scoring.texts` squeezes it.
    """

    columns: Mapping[str, NDArray[Any]]
    lists: Mapping[str, list[Any]]
    text: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.columns["number"])

    @property
    def passages(self) -> int:
        """How many passages the items have."""
        return len(self.columns["start"])


def packed_items(index: PassageIndex, items: Sequence[Evidence], slots: Sequence[int]) -> Packed:
    """Pack items whose passages follow each other in an index, at least one.

    Args:
        slots: the numbers of those that the items are in.
    """
    of_each = [index.rows(item.id) for item in items]
    rows = slice(of_each[0].start, of_each[-1].stop)
    texts = [item.text.encode("utf-8", "surrogatepass") for item in items]
    lists: dict[str, list[Any]] = {}
    columns: dict[str, NDArray[Any]] = {
        "number": np.array([number_of(item.id) for item in items], np.int32),
        "slot": np.array(slots, np.int32),
        "parts": np.array([of.stop - of.start for of in of_each], np.int32),
        "text_bytes": np.array(list(map(len, texts)), np.int32),
        "trust": np.array([item.trust for item in items], np.float64),
    }
    told = {
        "speaker": [item.speaker for item in items],
        "session": [item.session for item in items],
        "source": [item.source for item in items],
        "source_id": [item.source_id for item in items],
        "at": [item.at.isoformat() if item.at else None for item in items],
        "metadata": [_json_of(item) for item in items],
    }
    for name, values in told.items():
        columns[name], lists[name] = _places_of(values)
    lists["made_from"] = [[number_of(item.id), *item.made_from] for item in items if item.made_from]
    columns |= index.columns_of(rows)
    languages = index.languages.names(index.language.view()[rows])
    columns["language"], lists["language"] = _places_of(languages)
    words = columns_of_words(index.text(row) for row in range(rows.start, rows.stop))
    columns |= words.columns
    return Packed(columns, lists | dict(words.lists), squeezed(texts))


def columns_of_words(texts: Iterable[str]) -> Packed:
    """Return the columns and lists of the words of passages; nothing of items."""
    forms: dict[str, int] = {}
    terms: dict[str, int] = {}
    stem: list[int] = []
    word: list[int] = []
    words: list[int] = []
    holding: list[list[tuple[int, int]]] = []
    for row, text in enumerate(texts):
        told = worded(text)
        stems = told.stems
        for term, times in Counter(stems).items():
            place = terms.setdefault(term, len(terms))
            if place == len(holding):
                holding.append([])
            holding[place].append((row, times))
        for form, term in zip(marked(told), stems, strict=True):
            place = forms.setdefault(form, len(forms))
            if place == len(stem):
                stem.append(terms[term])
            word.append(place)
        words.append(len(stems))
    columns = {
        "word": np.array(word, np.int32),
        "words": np.array(words, np.int32),
        "stem": np.array(stem, np.int32),
        "held": np.array(list(map(len, holding)), np.int32),
        "row": np.array([row for of in holding for row, _ in of], np.int32),
        "times": np.array([times for of in holding for _, times in of], np.int32),
    }
    return Packed(columns, {"form": list(forms), "term": list(terms)}, ())


def joined(blocks: Sequence[Packed], name: str, dtype: DTypeLike) -> NDArray[Any]:
    """Return a column of several blocks as one."""
    return np.concatenate([block.columns[name] for block in blocks], dtype=dtype, casting="unsafe")


def coded(blocks: Sequence[Packed], name: str) -> tuple[dict[Any, int], NDArray[np.int32]]:
    """Return the values that a coded column of several blocks has, each with its number in the
    order in which they first come, and the column of these numbers.
    """
    codes: dict[Any, int] = {}
    first = blocks[0].lists[name]
    if len(first) == 1 and all(block.lists[name] == first for block in blocks):  # as is common
        return {first[0]: 0}, np.zeros(sum(len(block.columns[name]) for block in blocks), np.int32)
    of_each = [numbered(codes, block.lists[name])[block.columns[name]] for block in blocks]
    return codes, np.concatenate(of_each)


def numbered(codes: dict[Any, int], values: Sequence[Any]) -> NDArray[np.int32]:
    """Return the numbers of values, each of which comes once; those that are new get the next.

    Texts that other memories have as well are in RAM once.
    """
    known = [*map(codes.get, values)]
    if None in known:
        new = [value for value, code in zip(values, known, strict=True) if code is None]
        kept = [sys.intern(value) if value else value for value in new]
        codes.update(zip(kept, count(len(codes)), strict=False))
        known = [*map(codes.__getitem__, values)]
    return np.array(known, np.int32)


def _places_of(values: Sequence[_Value]) -> tuple[NDArray[np.int32], list[_Value]]:
    """Return where each value stands in a list that has every one once, and that list."""
    places: dict[_Value, int] = {}
    column = np.array([places.setdefault(value, len(places)) for value in values], np.int32)
    return column, list(places)


def _json_of(item: Evidence) -> str | None:
    if not item.metadata:
        return None
    return json.dumps(item.metadata, sort_keys=True, separators=(",", ":"))
