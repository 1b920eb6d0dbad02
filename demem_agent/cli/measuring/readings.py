"""What was read on a benchmark, as it is told: the report and its tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.arena import arena_of_readings
from demem_agent.cli.measuring.benchmarks import benchmark_named
from demem_agent.cli.measuring.slots_and_ablations import by_row
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.tables.paper import paper_table
from demem_agent.evaluate import Measured

__all__ = ["in_rows", "told_of_benchmark"]


def in_rows(name: str) -> bool:
    """Whether the dialogues of a benchmark are sub-tasks of rows."""
    return name == "memoryarena"


def told_of_benchmark(
    name: str,
    by_question: Sequence[Measured],
    trial: Trial,
    *,
    also: Sequence[RenderableType] = (),
    found: Json | None = None,
) -> tuple[Json, list[RenderableType]]:
    """Return the document of what was read, and its tables; they are written where asked.

    Args:
        also: parts that come after the tables.
        found: what more goes into the document.
    """
    parts = list(also)
    more: Json = dict(found or {})
    measured = list(by_question)
    if in_rows(name):
        measured = by_row(by_question)
        more["arena"], part = arena_of_readings(by_question)
        parts.append(part)
    if name == "locomo":
        parts.insert(0, paper_table())
    return trial.told(measured, data=benchmark_named(name).name, also=parts, found=more)
