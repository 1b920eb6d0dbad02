"""What the paper's protocol comes to: marks as means over runs with their deviation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any, TypedDict

from demem_agent.evaluate.protocol.run import Mark, Marked, Panel, Posed
from demem_agent.llms.judges import Judging

__all__ = ["marks_report"]


class _OverRuns(TypedDict):
    """A mean over runs; the deviation is None of one run."""

    mean: float
    deviation: float | None
    runs: int


class _Figures(TypedDict):
    """What marks come to in each way of marking, and of how many questions they are."""

    score: _OverRuns | None
    graded: _OverRuns | None
    questions: int


class _OfSystem(TypedDict):
    """What the marks of one system come to."""

    overall: _Figures
    categories: dict[str, _Figures]


def marks_report(marked: Marked, panel: Panel, questions: Sequence[Posed]) -> dict[str, Any]:
    """Sum up marks as JSON values.

    Returns:
        ``{"model", "judges", "runs", "questions", "marked", "useless", "failed": {kind: number},
        "stopped", "whole_runs", "systems": {system: {"overall": figures, "categories": {category:
        figures}}}}``. Figures are ``{"score", "graded", "questions"}``; score (binary, the paper's)
        and graded are ``{"mean", "deviation", "runs"}``, None where nothing was marked. A run that
        was cut short counts only where there is no whole one.
    """
    useful: list[Mark] = []
    failures: Counter[str] = Counter()
    useless = 0
    for mark in marked.marks:
        useless += mark.useless
        if mark.failed:
            failures[mark.failed] += 1
        else:
            useful.append(mark)
    whole = _whole_runs(marked, panel.runs, len(questions))
    counted = _of_whole_runs(useful, whole)
    return {
        "model": panel.model.name,
        "judges": [judge.name for judge in panel.judges],
        "runs": panel.runs,
        "questions": len(questions),
        "marked": len(useful),
        "useless": useless,
        "failed": dict(sorted(failures.items())),
        "stopped": marked.stopped,
        "whole_runs": len(whole),
        "systems": _systems(questions, counted),
    }


def _of_whole_runs(marks: list[Mark], whole: Sequence[int]) -> list[Mark]:
    """Return the marks of whole runs, or all where no run is whole."""
    if not whole:
        return marks
    return [mark for mark in marks if mark.run in whole]


def _whole_runs(marked: Marked, runs: int, questions: int) -> list[int]:
    """Return the runs in which every question was tried."""
    tried = Counter(mark.run for mark in marked.marks)
    return [run for run in range(runs) if tried[run] == questions]


def _systems(questions: Sequence[Posed], marks: Sequence[Mark]) -> dict[str, _OfSystem]:
    categories = list(dict.fromkeys(one.category for one in questions))
    found: dict[str, _OfSystem] = {}
    for name in dict.fromkeys(one.system for one in questions):
        own = [mark for mark in marks if mark.system == name]
        found[name] = {
            "overall": _figures(own),
            "categories": _by_category(own, categories),
        }
    return found


def _by_category(marks: Sequence[Mark], categories: Sequence[str]) -> dict[str, _Figures]:
    """Return the figures of every category, also of one without a mark."""
    parts: dict[str, list[Mark]] = {category: [] for category in categories}
    for mark in marks:
        if mark.category in parts:
            parts[mark.category].append(mark)
    return {category: _figures(part) for category, part in parts.items()}


def _figures(marks: Sequence[Mark]) -> _Figures:
    questions = {(mark.dialogue, mark.question) for mark in marks}
    return {
        "score": _over_runs(marks, "binary"),
        "graded": _over_runs(marks, "graded"),
        "questions": len(questions),
    }


def _over_runs(marks: Sequence[Mark], kind: Judging) -> _OverRuns | None:
    """Return the mean over runs of the mean over questions, with one sample standard deviation.

    None without marks; the deviation is None of one run.
    """
    if not marks:
        return None
    means = _means_of_runs(marks, kind)
    return {
        "mean": round(fmean(means), 6),
        "deviation": round(stdev(means), 6) if len(means) > 1 else None,
        "runs": len(means),
    }


def _means_of_runs(marks: Sequence[Mark], kind: Judging) -> list[float]:
    """Return the mean over questions of each run, in order of runs."""
    runs: dict[int, list[float]] = {}
    for mark in marks:
        of_judges = fmean(getattr(mark, kind))
        runs.setdefault(mark.run, []).append(of_judges)
    return [fmean(runs[run]) for run in sorted(runs)]
