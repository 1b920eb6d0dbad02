"""How well systems tell questions that can be answered from those that nothing answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.measured import Measured
from demem_agent.evaluate.ranks import area

__all__ = ["abstention"]

#: A question by its dialogue and its number there.
Key = tuple[str, int]
#: Gives the mean of values by question, at least one, with its interval.
Drawn = Callable[[Mapping[Key, float]], Interval]


def abstention(measured: Iterable[Measured], drawn: Drawn) -> dict[str, dict[str, Any]]:
    """Sum up what each system said of what it knows; nothing of those that say nothing.

    Returns:
        by system ``{"answerable", "unanswerable", "false_alarms", "caught", "auc"}``, as
        :func:`demem_agent.evaluate.report` explains them.
    """
    found: dict[str, dict[str, Any]] = {}
    for system, group in grouped(measured, lambda record: record.system).items():
        asked = {(one.dialogue, one.question): one for one in group if one.known is not None}
        if asked:
            found[system] = _summed(asked, drawn)
    return found


def _summed(asked: Mapping[Key, Measured], drawn: Drawn) -> dict[str, Any]:
    refused: dict[bool, dict[Key, float]] = {True: {}, False: {}}
    probable: dict[bool, list[float]] = {True: [], False: []}
    for key, one in asked.items():
        refused[one.answerable][key] = float(not one.known)
        probable[one.answerable].append(one.probability or 0.0)
    return {
        "answerable": len(refused[True]),
        "unanswerable": len(refused[False]),
        "false_alarms": asdict(drawn(refused[True])) if refused[True] else None,
        "caught": asdict(drawn(refused[False])) if refused[False] else None,
        "auc": area(probable[True], probable[False]),
    }
