"""A reading in pieces, for frameworks that take documents, nodes or entries instead of one text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from demem_adapters.common.links import LINKS
from demem_agent import Evidence, InvalidInput, Reading
from demem_agent.text import Measure
from demem_agent.turns import as_turn

__all__ = [
    "DETAILS",
    "Passage",
    "as_metadata",
    "details",
    "fitting",
    "kept_beside",
    "passages",
    "where_of",
]

#: What is known of an item by these names, as in :class:`~demem_agent.Evidence`.
DETAILS = ("speaker", "session", "source", "source_id")
_OWN = frozenset({*DETAILS, "evidence_id", "at"})

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Passage:
    """What was read of one item, or a slot's summary, which is of no item.

    Attributes:
        score: how much it bears on the query, for comparing within a reading; 0.0 for a summary.
        probability: that it bears on the query, in [0, 1]; for a summary, that the memory holds
            what is asked. It means the same in every reading.
    """

    text: str
    evidence: Evidence | None = None
    score: float = 0.0
    probability: float = 0.0


def passages(reading: Reading | None) -> list[Passage]:
    """Return what was read, a passage for each item, best first; nothing for no reading."""
    if reading is None or not reading.text:
        return []
    if reading.mode == "strict":
        return [Passage(reading.text, probability=reading.probability)]
    said: dict[str, Passage] = {}
    for line in reading.lines:  # in the order of the text: what is said of one item stays in it
        before = said.get(line.evidence.id, Passage("", score=line.score))
        said[line.evidence.id] = Passage(
            text=f"{before.text}\n{line.text}" if before.text else line.text,
            evidence=line.evidence,
            score=max(before.score, line.score),
            probability=max(before.probability, line.probability),
        )
    return sorted(said.values(), key=lambda passage: -passage.score)


def fitting(
    found: Iterable[Item], shown: Callable[[Item], str], limit: int, measure: Measure = len
) -> Iterator[Item]:
    """Yield passages, or what is made of them, as long as what is ``shown`` of them fits.

    One that does not fit makes room for those after it.

    Args:
        measure: gives the size of a text in the unit of the limit, as ``Memories.measure`` does.
    """
    for item in found:
        size = measure(shown(item))
        if size <= limit:
            limit -= size
            yield item


def details(evidence: Evidence | None) -> dict[str, Any]:
    """Return what is known of an item beside its text, as JSON values.

    It is for the metadata of a document: the item's own metadata, and of ``speaker``, ``session``,
    ``source``, ``source_id``, ``evidence_id`` and ``at`` (ISO 8601) those that are known. These
    names mean the same in all items: what its metadata have under one of them is left out.
    """
    if evidence is None:
        return {}
    about = kept_beside(evidence)
    about |= {name: getattr(evidence, name) for name in DETAILS}
    about["evidence_id"] = evidence.id
    about["at"] = evidence.at.isoformat() if evidence.at else None
    return {name: value for name, value in about.items() if name not in _OWN or value is not None}


def kept_beside(evidence: Evidence | None) -> dict[str, Any]:
    """Return an item's own metadata, as plain JSON values; without what adapters keep there."""
    if evidence is None or not evidence.metadata:
        return {}
    plain: dict[str, Any] = json.loads(evidence.metadata.text)
    return {name: value for name, value in plain.items() if name not in LINKS}


def as_metadata(about: Mapping[Any, Any]) -> dict[str, Any]:
    """Return of the metadata of a document what an item can keep: JSON values, 4 KB in all.

    Names that :func:`details` gives are left out, and where all is too much, the largest first.
    """
    given = [pair for pair in about.items() if pair[0] not in _OWN]
    kept: dict[str, Any] = dict(pair for pair in given if _can_be_kept(dict([pair])))
    for name in sorted(kept, key=lambda name: -len(json.dumps(kept[name]))):
        if _can_be_kept(kept):
            break
        del kept[name]
    return kept


def where_of(conditions: Iterable[tuple[str, object]]) -> dict[str, Any] | None:
    """Return a filter for ``read(where=...)`` of conditions that must all hold, by :func:`details`.

    Args:
        conditions: pairs of a name in :func:`details` and a text that it must be, or a list of
            texts of which it must be one.

    Returns:
        None where ``where`` cannot say it exactly: for values that are no texts, for what
        frameworks compare in ways of their own (times), and for a name twice.
    """
    where: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for name, value in conditions:
        texts = value if isinstance(value, list | tuple) else [value]
        if name in ("at", "evidence_id") or not all(isinstance(text, str) for text in texts):
            return None
        field = "source_ids" if name == "source_id" else name
        if field in where or field in metadata:
            return None
        if name in DETAILS:
            where[field] = [*texts]
        else:
            metadata[name] = {"in": [*texts]}
    return {**where, "metadata": metadata} if metadata else where


def _can_be_kept(metadata: Mapping[Any, Any]) -> bool:
    try:
        as_turn({"text": "x", "metadata": metadata})
    except InvalidInput:
        return False
    return True
