"""What the figures show of a report, and their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["WORDS", "Cell", "Report", "Shown"]

#: As :func:`demem_agent.evaluate.report` gives it.
Report = Mapping[str, Any]
#: What a system reached at one limit, as a report has it.
Cell = Mapping[str, Any]

#: Measures as axes name them.
WORDS = {
    "recall": "gold-evidence recall",
    "contained": "reference in the text",
    "f1": "token F1 of the answer",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A report with the systems to draw, in their order.

    Attributes:
        title: what was measured; may be "".
    """

    report: Report
    names: Sequence[str]
    title: str = ""

    @property
    def limits(self) -> Sequence[int]:
        """All limits, ascending."""
        limits: Sequence[int] = self.report["limits"]
        return limits

    def cells(self, name: str) -> list[Cell]:
        """Return what a system reached, by limit."""
        cells = self.report["systems"][name]
        return [cells[str(limit)] for limit in self.limits]

    def headed(self, words: str) -> str:
        """Return a heading that says what was measured."""
        measured = f"({self.title})" if self.title else ""
        return f"{words} {measured}"

    def scored(self) -> dict[str, int]:
        """Return the categories that recall is measured of, with their questions.

        The largest comes first.
        """
        systems = self.report["systems"]
        first = next(iter(systems.values()))
        cell = next(iter(first.values()))
        found: dict[str, int] = {}
        for name, measures in cell["categories"].items():
            if measures["recall"]:
                found[name] = measures["recall"]["questions"]
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def has(self, measure: str) -> bool:
        """Whether a measure is known of every system at every limit."""
        for cells in self.report["systems"].values():
            for cell in cells.values():
                if not cell[measure]:
                    return False
        return True
