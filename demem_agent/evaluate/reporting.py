"""Sum up records: means with intervals by dialogue, by category too, and differences in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.abstention import abstention
from demem_agent.evaluate.bootstrap import Interval, bootstrap
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.measured import MEASURES, Measured, MeasureName
from demem_agent.turns import whole_field

__all__ = ["paired", "report"]

#: JSON values by name.
Json = dict[str, Any]
#: A question by its dialogue and its number there.
Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How intervals are drawn."""

    seed: int
    resamples: int

    def interval(self, values: Mapping[Key, float]) -> Interval:
        """Return the mean of values, at least one, with its interval by dialogue."""
        dialogues = [dialogue for dialogue, _ in values]
        drawn = list(values.values())
        return bootstrap(drawn, dialogues, seed=self.seed, resamples=self.resamples)


def report(measured: Sequence[Measured], *, seed: int = 0, resamples: int = 1000) -> Json:
    """Sum up records as JSON values.

    Returns:
        ``{"seed", "resamples", "dialogues", "questions", "scored", "limits", "categories":
        {category: questions}, "systems": {system: {str(limit): cell}}, "abstention": {system:
        said}}``, where ``scored`` is the number of questions with evidence. A cell is ``{"recall",
        "half", "nine_tenths", "f1", "contained", "size", "seconds", "categories"}``. Each of the
        first five is an :class:`~demem_agent.evaluate.Interval` as a dict (mean, low, high,
        questions, dialogues), or None where no question has that measure. ``size`` is the
        mean in characters, ``seconds`` is ``{"median", "p95"}``, and ``categories`` holds the first
        five for each category.

        What a system said of whether it holds the answers is ``{"answerable", "unanswerable",
        "false_alarms", "caught", "auc"}``: how many questions of either kind it was asked, the
        share of each that it did not know (an Interval as a dict, or None), and the area under the
        ROC curve of its probabilities (None where one kind is missing). It does not depend on the
        limit. Systems that do not say are not among them.

    Raises:
        InvalidInput: without records, or for resamples < 1.
    """
    if not measured:
        raise InvalidInput("measured", "no records", "what evaluate() gave")
    whole_field("resamples", resamples, 1)
    questions = _by_question(measured)
    dialogues = {dialogue for dialogue, _ in questions}
    limits = {record.limit for record in measured}
    categories: Counter[str] = Counter()
    scored = 0
    for record in questions.values():
        categories[record.category] += 1
        scored += record.recall is not None
    return {
        "seed": seed,
        "resamples": resamples,
        "dialogues": len(dialogues),
        "questions": len(questions),
        "scored": scored,
        "limits": sorted(limits),
        "categories": dict(categories),
        "systems": _systems(measured, _Drawing(seed, resamples)),
        "abstention": abstention(measured, _Drawing(seed, resamples).interval),
    }


def _by_question(measured: Iterable[Measured]) -> dict[Key, Measured]:
    """Return the last record of each question, in order of the first ones."""
    return {(record.dialogue, record.question): record for record in measured}


def paired(
    measured: Sequence[Measured],
    first: str,
    second: str,
    limit: int,
    *,
    measure: MeasureName = "recall",
    seed: int = 0,
    resamples: int = 1000,
) -> Interval:
    """Compare two systems on the same questions: the mean of first less second, by dialogue.

    An interval above 0 says that the first is better on dialogues such as these; one that holds 0
    does not tell.

    Raises:
        InvalidInput: if a system was not measured at that limit, or not on the same questions.
    """
    of_first = _of_system(measured, first, limit, measure)
    of_second = _of_system(measured, second, limit, measure)
    if of_first.keys() != of_second.keys():
        raise InvalidInput("second", second, f"measured on the same questions as {first!r}")
    differences = {key: value - of_second[key] for key, value in of_first.items()}
    return _Drawing(seed, resamples).interval(differences)


def _systems(measured: Sequence[Measured], drawing: _Drawing) -> dict[str, Json]:
    systems: dict[str, Json] = {}
    for (system, limit), group in grouped(measured, _place).items():
        cells = systems.setdefault(system, {})
        cells[str(limit)] = _cell(group, drawing)
    return systems


def _place(record: Measured) -> tuple[str, int]:
    """Return of which system a record is, and at which limit."""
    return record.system, record.limit


def _cell(group: Sequence[Measured], drawing: _Drawing) -> Json:
    """Sum up the readings of one system at one limit."""
    seconds = [record.seconds for record in group]
    sizes = [record.size for record in group]
    median, p95 = np.quantile(seconds, [0.5, 0.95])
    size = np.mean(sizes)
    return {
        **_measures(group, drawing),
        "size": round(float(size), 1),
        "seconds": {"median": float(median), "p95": float(p95)},
        "categories": _categories(group, drawing),
    }


def _categories(group: Sequence[Measured], drawing: _Drawing) -> dict[str, Json]:
    parts = grouped(group, lambda record: record.category)
    return {name: _measures(part, drawing) for name, part in parts.items()}


def _measures(group: Sequence[Measured], drawing: _Drawing) -> Json:
    found: Json = dict.fromkeys(MEASURES)
    for measure in MEASURES:
        values = _values(group, measure)
        if values:
            found[measure] = asdict(drawing.interval(values))
    return found


def _values(group: Iterable[Measured], measure: MeasureName) -> dict[Key, float]:
    """Return a measure by question, of those that have it."""
    values: dict[Key, float] = {}
    for record in group:
        value = getattr(record, measure)
        if value is not None:
            values[record.dialogue, record.question] = value
    return values


def _of_system(
    measured: Sequence[Measured], system: str, limit: int, measure: MeasureName
) -> dict[Key, float]:
    group = grouped(measured, _place).get((system, limit), ())
    values = _values(group, measure)
    if not values:
        allowed = f"one that {measure} was measured of at the limit {limit}"
        raise InvalidInput("system", system, allowed)
    return values
