"""The loop: every system reads for every question at every limit; what came of it becomes records
and a report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.bootstrap import Interval, bootstrap
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.measured import MEASURES, Measure, Measured, load, save
from demem_agent.evaluate.metrics import UNANSWERABLE, Gold, Wording, answer_f1, contains, extract
from demem_agent.evaluate.system import Maker, System
from demem_agent.turns import Turn, whole_field

__all__ = [
    "MEASURES",
    "Measure",
    "Measured",
    "Tick",
    "evaluate",
    "load",
    "paired",
    "report",
    "save",
]

#: Called with (readings done, readings in all).
Tick = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class _Asked:
    number: int
    probe: Probe
    gold: tuple[Gold, ...]
    answerable: bool


def evaluate(
    dialogues: Sequence[Dialogue],
    systems: Mapping[str, Maker],
    limits: Sequence[int],
    *,
    tick: Tick | None = None,
) -> list[Measured]:
    """Have every system read for every question at every limit, and measure the texts.

    A fresh system is made for each dialogue and told all its turns before the first question.
    Nothing it returns but the text is looked at.

    Args:
        dialogues: with names of their own and probes.
        limits: in characters, each >= 1.
        tick: called after the readings for each question of each system.

    Returns:
        one record per dialogue, system, question and limit, in this order.

    Raises:
        InvalidInput: without questions, systems or limits; for two dialogues of one name; for
            evidence that no turn has as its ``source_id``; and naming the system that gave more
            than ``limit`` characters or no text.
    """
    _checked(dialogues, systems, limits)
    total = sum(len(dialogue.probes) for dialogue in dialogues) * len(systems) * len(limits)
    answerer = ExtractiveAnswerer()
    measured: list[Measured] = []
    for dialogue in dialogues:
        questions = _questions(dialogue)
        for name, make in systems.items():
            system = make()
            system.ingest(dialogue.turns)
            for asked in questions:
                for limit in limits:
                    text, seconds = _read(name, system, asked.probe, limit)
                    found = _found(text, asked, answerer)
                    about = (dialogue.name, asked.number, asked.probe.category, name, limit)
                    measured.append(
                        Measured(
                            *about,
                            found["recall"],
                            found["whole"],
                            len(text),
                            seconds,
                            found["f1"],
                            found["contained"],
                        )
                    )
                if tick:
                    tick(len(measured), total)
    return measured


def report(measured: Sequence[Measured], *, seed: int = 0, resamples: int = 1000) -> dict[str, Any]:
    """Sum up records as JSON values.

    Returns:
        ``{"seed", "resamples", "dialogues", "questions", "scored", "limits", "categories":
        {category: questions}, "systems": {system: {str(limit): cell}}}``, where ``scored`` is the
        number of questions with evidence. A cell is ``{"recall", "whole", "f1", "contained",
        "size", "seconds", "categories"}``: each of the first four an
        :class:`~demem_agent.evaluate.Interval` as a dict (mean, low, high, questions, dialogues),
            or None where no
        question has that measure; ``size`` the mean in characters; ``seconds`` ``{"median",
        "p95"}``; ``categories`` the first four for each category.

    Raises:
        InvalidInput: without records, or for resamples < 1.
    """
    if not measured:
        raise InvalidInput("measured", "no records", "what evaluate() gave")
    whole_field("resamples", resamples, 1)
    questions = {(m.dialogue, m.question): m for m in measured}.values()
    systems: dict[str, dict[str, Any]] = {}
    for (system, limit), group in _groups(measured, "system", "limit").items():
        systems.setdefault(system, {})[str(limit)] = _cell(group, seed, resamples)
    return {
        "seed": seed,
        "resamples": resamples,
        "dialogues": len({m.dialogue for m in questions}),
        "questions": len(questions),
        "scored": sum(m.recall is not None for m in questions),
        "limits": sorted({m.limit for m in measured}),
        "categories": dict(Counter(m.category for m in questions)),
        "systems": systems,
    }


def paired(
    measured: Sequence[Measured],
    first: str,
    second: str,
    limit: int,
    *,
    measure: Measure = "recall",
    seed: int = 0,
    resamples: int = 1000,
) -> Interval:
    """Compare two systems on the same questions: the mean of first less second, with its interval
    by dialogue.

    An interval above 0 says that the first is better on dialogues such as these; one that holds 0
    does not tell.

    Raises:
        InvalidInput: if a system was not measured at that limit, or not on the same questions.
    """
    a, b = (_of_system(measured, name, limit, measure) for name in (first, second))
    if a.keys() != b.keys():
        raise InvalidInput("second", second, f"measured on the same questions as {first!r}")
    differences = [a[key] - b[key] for key in a]
    return bootstrap(differences, [dialogue for dialogue, _ in a], seed=seed, resamples=resamples)


# -- reading and measuring
# ---------------------------------------------------------------------------------------


def _checked(
    dialogues: Sequence[Dialogue], systems: Mapping[str, Maker], limits: Sequence[int]
) -> None:
    if not any(dialogue.probes for dialogue in dialogues):
        raise InvalidInput(
            "dialogues", [d.name for d in dialogues], "dialogues with at least one question"
        )
    if repeated := [
        name for name, count in Counter(d.name for d in dialogues).items() if count > 1
    ]:
        raise InvalidInput("dialogues", repeated, "dialogues with names of their own")
    if not systems:
        raise InvalidInput("systems", systems, "at least one system")
    if not limits or len(set(limits)) != len(limits):
        raise InvalidInput("limits", limits, "at least one limit, and each of them once")
    for limit in limits:
        whole_field("limits", limit, 1)


def _questions(dialogue: Dialogue) -> list[_Asked]:
    turns: dict[str | None, list[Turn]] = {}
    for turn in dialogue.turns:
        turns.setdefault(turn.source_id, []).append(turn)
    return [
        _asked(dialogue.name, number, probe, turns) for number, probe in enumerate(dialogue.probes)
    ]


def _asked(
    name: str, number: int, probe: Probe, turns: Mapping[str | None, Sequence[Turn]]
) -> _Asked:
    if unknown := [id for id in probe.evidence if id not in turns]:
        raise InvalidInput(
            f"evidence of question {number} of {name}",
            unknown[0],
            "the source_id of one of its turns",
        )
    answerable = probe.category not in UNANSWERABLE
    named = (
        [turn for id in dict.fromkeys(probe.evidence) for turn in turns[id]] if answerable else []
    )
    return _Asked(
        number, probe, tuple(gold for gold in map(Gold.of, named) if gold.whole), answerable
    )


def _read(name: str, system: System, probe: Probe, limit: int) -> tuple[str, float]:
    began = perf_counter()
    text = system.read(probe.question, limit, probe.at)
    seconds = perf_counter() - began
    if not isinstance(text, str):
        raise InvalidInput(f"the reading of {name!r}", text, "a text")
    if len(text) > limit:
        raise InvalidInput(
            f"the reading of {name!r}", f"{len(text)} characters", f"at most {limit} characters"
        )
    return text, seconds


def _found(text: str, asked: _Asked, answerer: ExtractiveAnswerer) -> dict[Measure, float | None]:
    found: dict[Measure, float | None] = dict.fromkeys(MEASURES)
    if asked.gold:
        wording = Wording.of(text)
        found["recall"], found["whole"] = (
            wording.recall(asked.gold),
            wording.whole_recall(asked.gold),
        )
    reference = asked.probe.reference
    if asked.answerable and reference.strip():
        found["f1"] = answer_f1(extract(text, asked.probe, answerer), reference)
        found["contained"] = float(contains(text, reference))
    return found


# -- summing up
# --------------------------------------------------------------------------------------------------


def _groups(measured: Sequence[Measured], *names: str) -> dict[tuple[Any, ...], list[Measured]]:
    groups: dict[tuple[Any, ...], list[Measured]] = {}
    for record in measured:
        groups.setdefault(tuple(getattr(record, name) for name in names), []).append(record)
    return groups


def _cell(group: Sequence[Measured], seed: int, resamples: int) -> dict[str, Any]:
    seconds = np.quantile([m.seconds for m in group], [0.5, 0.95])
    categories = _groups(group, "category")
    return {
        **_measures(group, seed, resamples),
        "size": round(float(np.mean([m.size for m in group])), 1),
        "seconds": {"median": float(seconds[0]), "p95": float(seconds[1])},
        "categories": {
            name: _measures(part, seed, resamples) for (name,), part in categories.items()
        },
    }


def _measures(group: Sequence[Measured], seed: int, resamples: int) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(MEASURES)
    for measure in MEASURES:
        if values := _values(group, measure):
            over = [dialogue for dialogue, _ in values]
            found[measure] = asdict(
                bootstrap(list(values.values()), over, seed=seed, resamples=resamples)
            )
    return found


def _values(group: Iterable[Measured], measure: Measure) -> dict[tuple[str, int], float]:
    return {
        (m.dialogue, m.question): value for m in group if (value := getattr(m, measure)) is not None
    }


def _of_system(
    measured: Sequence[Measured], system: str, limit: int, measure: Measure
) -> dict[tuple[str, int], float]:
    values = _values((m for m in measured if m.system == system and m.limit == limit), measure)
    if not values:
        raise InvalidInput(
            "system", system, f"one that {measure} was measured of at the limit {limit}"
        )
    return values
