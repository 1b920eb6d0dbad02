"""What ``demem bench memoryarena`` says besides: which tasks succeed, and how far they come."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from demem_agent.cli.json_values import Json
from demem_agent.cli.tables.arena import arena_table
from demem_agent.evaluate import Measured
from demem_agent.evaluate.arena import arena_by_system, arena_scores, of_readings
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.protocol.run import Mark

__all__ = ["arena_of_marks", "arena_of_readings"]

_READ = "Tasks that could succeed: all evidence of every sub-task is read"
_MARKED = "Tasks that succeed, as judges say of the answers to their sub-tasks"


def arena_of_readings(measured: Sequence[Measured]) -> tuple[Json, RenderableType]:
    """Return the figures of what is read, by system and limit, and their table."""
    found = {}
    for (system, limit), own in grouped(measured, lambda one: (one.system, one.limit)).items():
        found[f"{system}, {limit:,}"] = arena_scores(of_readings(own))
    return found, arena_table(_READ, found)


def arena_of_marks(marks: Sequence[Mark]) -> tuple[Json, RenderableType]:
    """Return the figures of what judges marked, by system, and their table."""
    found = arena_by_system(marks)
    return {"arena": found}, arena_table(_MARKED, found)
