"""How well systems tell questions that can be answered from those that nothing answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.measured import Measured

__all__ = ["abstention", "area"]

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


def area(answerable: Sequence[float], unanswerable: Sequence[float]) -> float | None:
    """Return the share of pairs in which the answerable question has the higher probability.

    Equal ones count half: the area under the ROC curve, in [0, 1]. None without a pair.
    """
    if not answerable or not unanswerable:
        return None
    sorted_others = np.sort(np.asarray(unanswerable))
    below = np.searchsorted(sorted_others, answerable, "left")
    up_to = np.searchsorted(sorted_others, answerable, "right")
    pairs = len(answerable) * len(unanswerable)
    return float((below + up_to).sum() / 2 / pairs)


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
