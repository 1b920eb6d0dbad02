"""What the paper's protocol comes to: marks as means over runs with their deviation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from statistics import fmean, stdev
from typing import Any, Protocol, TypedDict

from demem_agent.evaluate.agreement import cohens_kappa, mcnemar
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.protocol.posing import Posed
from demem_agent.evaluate.protocol.run import Mark, Marked, Panel
from demem_agent.evaluate.run import NINE_TENTHS
from demem_agent.llms.judges import Judging

__all__ = ["figures_of", "marks_report"]


class _OverRuns(TypedDict):
    """A mean over runs; the deviation is None of one run."""

    mean: float
    deviation: float | None
    runs: int


class _OfQuestion(Protocol):
    """What a report says of a question."""

    @property
    def system(self) -> str: ...
    @property
    def dialogue(self) -> str: ...
    @property
    def question(self) -> int: ...
    @property
    def category(self) -> str: ...
    @property
    def recall(self) -> float | None: ...


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
        ``{"model", "judges", "runs", "questions", "stopped"}``, and what :func:`figures_of` says.
    """
    judges = [judge.name for judge in panel.judges]
    return {
        "model": panel.model.name,
        "judges": judges,
        "runs": panel.runs,
        "questions": len(questions),
        "stopped": marked.stopped,
        **figures_of(marked.marks, judges, panel.runs, questions),
    }


def figures_of(
    marks: Sequence[Mark], judges: Sequence[str], runs: int, questions: Sequence[_OfQuestion]
) -> dict[str, Any]:
    """Return every figure that marks come to, as JSON values.

    Returns:
        ``{"marked", "useless", "failed": {kind: number}, "whole_runs", "systems": {system:
        {"overall": figures, "categories": {category: figures}}}, "takes": {system: {"characters",
        "seconds"}}, "recall": {system: share}, "use": {system: {"mean", "questions"}},
        "judges_agree", "systems_differ"}``. Figures are ``{"score", "graded", "questions"}``; score
        (binary, the paper's of LoCoMo) and graded (the paper's of LongMemEval) are ``{"mean",
        "deviation", "runs"}``, None where nothing was
        marked. A run that was cut short counts only where there is no whole one. What an answer
        takes is a mean over dialogues of means over questions, as the paper's B(d) and L(d);
        systems without a mark are not among it. Recall is the mean over questions with evidence,
        None where there are none. Use is the mean mark of the questions whose evidence was read,
        by :data:`~demem_agent.evaluate.run.NINE_TENTHS`: None where no such one was marked.

        ``judges_agree`` is a list of ``{"first", "second", "answers", "agreed", "kappa"}`` of every
        two judges over all answers; ``systems_differ`` of ``{"first", "second", "questions",
        "first_only", "second_only", "p"}`` of every two systems over the questions that both
        answered, right where the mean of all marks is above one half (McNemar's test).
    """
    useful: list[Mark] = []
    failures: Counter[str] = Counter()
    useless = 0
    for mark in marks:
        useless += mark.useless
        if mark.failed:
            failures[mark.failed] += 1
        else:
            useful.append(mark)
    whole = _whole_runs(marks, runs, len(questions))
    counted = _of_whole_runs(useful, whole)
    return {
        "marked": len(useful),
        "useless": useless,
        "failed": dict(sorted(failures.items())),
        "whole_runs": len(whole),
        "systems": _systems(questions, counted),
        "takes": _takes(counted),
        "recall": _recall(questions),
        "use": _use(questions, counted),
        "judges_agree": list(_judges_agree(judges, counted)),
        "systems_differ": list(_systems_differ(counted)),
    }


def _recall(questions: Sequence[_OfQuestion]) -> dict[str, float | None]:
    """Return how much of the evidence each system reads."""
    found: dict[str, float | None] = {}
    for system, own in grouped(questions, lambda one: one.system).items():
        recalls = [one.recall for one in own if one.recall is not None]
        found[system] = round(fmean(recalls), 6) if recalls else None
    return found


def _use(
    questions: Sequence[_OfQuestion], marks: Sequence[Mark]
) -> dict[str, dict[str, float | int | None]]:
    """Return how many answers are right of those that could rest on their evidence."""
    read = {
        (one.system, one.dialogue, one.question)
        for one in questions
        if one.recall is not None and one.recall >= NINE_TENTHS
    }
    by_system = grouped(marks, lambda mark: mark.system)
    found: dict[str, dict[str, float | int | None]] = {}
    for system in dict.fromkeys(one.system for one in questions):
        own = [mark for mark in by_system.get(system, ()) if mark.place[1:] in read]
        mean = round(_mean(own, "binary"), 6) if own else None
        found[system] = {"mean": mean, "questions": len({mark.place[1:] for mark in own})}
    return found


def _takes(marks: Sequence[Mark]) -> dict[str, dict[str, float]]:
    """Return what an answer of each system takes."""
    return {
        name: {
            "characters": _by_dialogue(own, lambda mark: mark.size),
            "seconds": _by_dialogue(own, lambda mark: mark.seconds),
        }
        for name, own in grouped(marks, lambda mark: mark.system).items()
    }


def _judges_agree(judges: Sequence[str], marks: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    """Yield how far every two judges agree on which answers are right."""
    for first, second in combinations(range(len(judges)), 2):
        ours = [mark.binary[first] for mark in marks]
        theirs = [mark.binary[second] for mark in marks]
        if marks:
            yield {
                "first": judges[first],
                "second": judges[second],
                "answers": len(marks),
                "agreed": fmean(a == b for a, b in zip(ours, theirs, strict=True)),
                "kappa": cohens_kappa(ours, theirs),
            }


def _systems_differ(marks: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    """Yield of every two systems how many questions one of them alone was marked right on."""
    right = {
        name: _right_by_question(own) for name, own in grouped(marks, lambda m: m.system).items()
    }
    for first, second in combinations(right, 2):
        both = right[first].keys() & right[second].keys()
        if both:
            ours = [right[first][key] for key in both]
            theirs = [right[second][key] for key in both]
            found = asdict(mcnemar(ours, theirs))
            yield {"first": first, "second": second, "questions": len(both), **found}


def _right_by_question(marks: Sequence[Mark]) -> dict[tuple[str, int], bool]:
    """Return of each question whether more than half of its marks say that it is right."""
    by_question = grouped(marks, lambda mark: (mark.dialogue, mark.question))
    return {key: _mean(own, "binary") > 0.5 for key, own in by_question.items()}


def _of_whole_runs(marks: list[Mark], whole: Sequence[int]) -> list[Mark]:
    """Return the marks of whole runs, or all where no run is whole."""
    if not whole:
        return marks
    return [mark for mark in marks if mark.run in whole]


def _whole_runs(marks: Sequence[Mark], runs: int, questions: int) -> list[int]:
    """Return the runs in which every question was tried."""
    tried = Counter(mark.run for mark in marks)
    return [run for run in range(runs) if tried[run] == questions]


def _systems(questions: Sequence[_OfQuestion], marks: Sequence[Mark]) -> dict[str, _OfSystem]:
    """Return the figures of every system and category, also of one without a mark."""
    categories = dict.fromkeys(one.category for one in questions)
    by_system = grouped(marks, lambda mark: mark.system)
    found: dict[str, _OfSystem] = {}
    for name in dict.fromkeys(one.system for one in questions):
        own = by_system.get(name, [])
        parts = grouped(own, lambda mark: mark.category)
        found[name] = {
            "overall": _figures(own),
            "categories": {part: _figures(parts.get(part, ())) for part in categories},
        }
    return found


def _by_dialogue(marks: Sequence[Mark], value: Callable[[Mark], float]) -> float:
    """Return the mean over dialogues of the mean over their answers, of which there are some."""
    dialogues = grouped(marks, lambda mark: mark.dialogue).values()
    return round(fmean(fmean(map(value, own)) for own in dialogues), 6)


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
    runs = grouped(marks, lambda mark: mark.run)
    return [_mean(runs[run], kind) for run in sorted(runs)]


def _mean(marks: Sequence[Mark], kind: Judging) -> float:
    """Return the mean over questions of the mean over judges."""
    of_judges = [fmean(getattr(mark, kind)) for mark in marks]
    return fmean(of_judges)
