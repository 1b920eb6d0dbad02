"""A reading in pieces, for frameworks that take documents, nodes or entries instead of one text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from demem_agent import Evidence, Reading
from demem_agent.text import Measure

__all__ = ["Passage", "details", "fitting", "passages"]

_DETAILS = ("speaker", "session", "source", "source_id")

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Passage:
    """What was read of one item, or a slot's summary, which is of no item.

    Attributes:
        score: how much it bears on the query, for comparing within a reading; 0.0 for a summary.
    """

    text: str
    evidence: Evidence | None = None
    score: float = 0.0


def passages(reading: Reading | None) -> list[Passage]:
    """Return what was read, a passage for each item, best first; nothing for no reading."""
    if reading is None or not reading.text:
        return []
    if reading.mode == "strict":
        return [Passage(reading.text)]
    said: dict[str, Passage] = {}
    for line in reading.lines:  # in the order of the text: what is said of one item stays in it
        before = said.get(line.evidence.id, Passage("", score=line.score))
        text = f"{before.text}\n{line.text}" if before.text else line.text
        said[line.evidence.id] = Passage(text, line.evidence, max(before.score, line.score))
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

    It is for the metadata of a document: of ``speaker``, ``session``, ``source``, ``source_id``,
    ``evidence_id`` and ``at`` (ISO 8601) those that are known.
    """
    if evidence is None:
        return {}
    about: dict[str, Any] = {name: getattr(evidence, name) for name in _DETAILS}
    about["evidence_id"] = evidence.id
    about["at"] = evidence.at.isoformat() if evidence.at else None
    return {name: value for name, value in about.items() if value is not None}
