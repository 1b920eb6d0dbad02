"""Who takes notes and writes summaries where background work is tested: they copy what is said."""

from __future__ import annotations

from demem_agent.errors import ModelError
from demem_agent.types import Compression, Noting, Proposal

__all__ = ["Brief", "Copying", "Down"]


class Copying:
    """Takes each item as a note, in its own words."""

    name = "copying"

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def take_notes(self, task: Noting) -> Proposal:
        self.asked.append(tuple(source.evidence_id for source in task.sources))
        texts = tuple(source.text for source in task.sources)
        return Proposal(texts, tuple((source.evidence_id,) for source in task.sources))


class Brief:
    """Writes the first excerpt as the summary."""

    name = "brief"

    def compress(self, task: Compression) -> Proposal:
        first = task.sources[0]
        return Proposal((first.text,), ((first.evidence_id,),))


class Down:
    """A provider that cannot be reached, until it can."""

    name = "down"

    def __init__(self) -> None:
        self.is_up = False
        self.asked = 0

    def take_notes(self, task: Noting) -> Proposal:
        self.asked += 1
        if not self.is_up:
            raise ModelError("unavailable", "down")
        return Copying().take_notes(task)
