"""MemoryArena's figures: how many tasks succeed (SR), and how far they come (PS, sPS).

A task is a row of several sub-tasks that rest on each other. By the words of the papers, SR is
"binary task completion", PS "partial completion" and sPS the "sub-task progress score". Made exact:

* SR: the share of tasks of which every sub-task is right;
* PS: the mean over tasks of the share of their sub-tasks that is right;
* sPS: the mean over tasks of the mean of what their sub-tasks are partly right by.

The benchmark has environments that mark what an agent did. Here a sub-task is right where judges
say so of its answer in words, or, without a model, where all its evidence is read: then the figures
say how often a task could succeed for what memory shows. First sub-tasks, which rest on nothing,
are not asked (:func:`~demem_agent.evaluate.data.memoryarena.load_memoryarena`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.measured import Measured
from demem_agent.evaluate.protocol.run import Mark

__all__ = ["SubTask", "arena_by_system", "arena_scores", "of_marks", "of_readings"]


@dataclass(frozen=True, slots=True)
class SubTask:
    """What came of one sub-task.

    Attributes:
        task: the row that it is of, and the run where there are several.
        subset: as the data set names it, in words.
        partly: how far it is right, in [0, 1].
    """

    task: str
    subset: str
    right: bool
    partly: float


def arena_scores(found: Sequence[SubTask]) -> dict[str, Any]:
    """Return SR, PS and sPS of each subset, and the mean of their SR.

    Returns:
        ``{"subsets": {subset: {"tasks", "SR", "PS", "sPS"}}, "SR"}``; ``SR`` is None without
        sub-tasks.
    """
    subsets = {}
    for subset, own in grouped(found, lambda one: one.subset).items():
        tasks = list(grouped(own, lambda one: one.task).values())
        subsets[subset] = {
            "tasks": len(tasks),
            "SR": fmean(all(one.right for one in task) for task in tasks),
            "PS": fmean(fmean(one.right for one in task) for task in tasks),
            "sPS": fmean(fmean(one.partly for one in task) for task in tasks),
        }
    rates = [one["SR"] for one in subsets.values()]
    return {"subsets": subsets, "SR": fmean(rates) if rates else None}


def arena_by_system(marks: Iterable[Mark]) -> dict[str, dict[str, Any]]:
    """Return by system what judges say of the answers to sub-tasks; see :func:`arena_scores`."""
    by_system = grouped(marks, lambda one: one.system)
    return {system: arena_scores(of_marks(own)) for system, own in by_system.items()}


def of_readings(measured: Iterable[Measured]) -> list[SubTask]:
    """Return sub-tasks by what is read for them; those without evidence are left out.

    Right is one of which nine tenths of every gold turn are read, partly its recall.
    """
    return [
        SubTask(_row_of(one.dialogue), one.category, one.nine_tenths == 1.0, one.recall)
        for one in measured
        if one.recall is not None
    ]


def of_marks(marks: Iterable[Mark]) -> list[SubTask]:
    """Return sub-tasks by what judges say of their answers; those not marked are left out.

    Right is an answer that more than half of the judges call right, partly its mean grade.
    """
    return [
        SubTask(
            f"{_row_of(one.dialogue)} {one.run}",
            one.category,
            fmean(one.binary) > 0.5,
            fmean(one.graded),
        )
        for one in marks
        if one.binary
    ]


def _row_of(dialogue: str) -> str:
    """Return the row of a dialogue such as "formal_reasoning_math-3/2"."""
    return dialogue.rpartition("/")[0] or dialogue
