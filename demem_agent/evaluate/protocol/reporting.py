"""What the paper's protocol comes to: marks as means over runs with their deviation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from demem_agent.evaluate.protocol.run import Mark, Marked, Panel, Posed
from demem_agent.llms.judges import Judging

__all__ = ["marks_report"]


def marks_report(marked: Marked, panel: Panel, questions: Sequence[Posed]) -> dict[str, Any]:
    """Sum up marks as JSON values.

    Returns:
        ``{"model", "judges", "runs", "questions", "marked", "useless", "failed": {kind: number},
        "stopped", "whole_runs", "systems": {system: {"overall": figures, "categories": {category:
        figures}}}}``. Figures are ``{"score", "graded", "questions"}``; score (binary, the paper's)
        and graded are ``{"mean", "deviation", "runs"}``, None where nothing was marked. A run that
        was cut short counts only where there is no whole one.
    """
    useful = [mark for mark in marked.marks if not mark.failed]
    failures = Counter(mark.failed for mark in marked.marks if mark.failed)
    whole = _whole_runs(marked, panel.runs, len(questions))
    counted = [mark for mark in useful if mark.run in whole] if whole else useful
    return {
        "model": panel.model.name,
        "judges": [judge.name for judge in panel.judges],
        "runs": panel.runs,
        "questions": len(questions),
        "marked": len(useful),
        "useless": sum(mark.useless for mark in marked.marks),
        "failed": dict(sorted(failures.items())),
        "stopped": marked.stopped,
        "whole_runs": len(whole),
        "systems": _systems(questions, counted),
    }


def _whole_runs(marked: Marked, runs: int, questions: int) -> list[int]:
    """Return the runs in which every question was tried."""
    tried = Counter(mark.run for mark in marked.marks)
    return [run for run in range(runs) if tried[run] == questions]


def _systems(questions: Sequence[Posed], marks: Sequence[Mark]) -> dict[str, Any]:
    categories = dict.fromkeys(one.category for one in questions)
    found: dict[str, Any] = {}
    for name in dict.fromkeys(one.system for one in questions):
        own = [mark for mark in marks if mark.system == name]
        by_category = {}
        for category in categories:
            of_category = [mark for mark in own if mark.category == category]
            by_category[category] = _figures(of_category)
        found[name] = {"overall": _figures(own), "categories": by_category}
    return found


def _figures(marks: Sequence[Mark]) -> dict[str, Any]:
    questions = {(mark.dialogue, mark.question) for mark in marks}
    return {
        "score": _over_runs(marks, "binary"),
        "graded": _over_runs(marks, "graded"),
        "questions": len(questions),
    }


def _over_runs(marks: Sequence[Mark], kind: Judging) -> dict[str, Any] | None:
    """Return the mean over runs of the mean over questions, with one sample standard deviation.

    None without marks; the deviation is None of one run.
    """
    runs: dict[int, list[float]] = {}
    for mark in marks:
        of_judges = fmean(getattr(mark, kind))
        runs.setdefault(mark.run, []).append(of_judges)
    if not runs:
        return None
    means = [fmean(runs[run]) for run in sorted(runs)]
    deviation = round(stdev(means), 6) if len(means) > 1 else None
    return {"mean": round(fmean(means), 6), "deviation": deviation, "runs": len(means)}
