"""Questions that were told and never told, about the same people: which does a memory not know?

    pip install demem-agent
    python benchmarks/never_told.py [--show]

Four small memories of ``never_told.json`` beside this file, of 40 messages each, two of one user's
notes and two of three friends' chats. Of each, 20 questions are asked that its messages answer and
20 that they do not, of the same people and much the same topics: "What is Mia's shoe size?". The
signals (``demem_agent/scoring/answered.py``) were made while looking at two of the memories; the
others, written with them before, were only ever counted. Nothing is fitted to any of them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent import SlotMemory
from demem_agent.scoring import default_adequacy

HALVES = ("looked at", "kept")
#: Told questions that may be marked unknown, of all told.
ALLOWED = (0.05, 0.1)
#: Values of ``known_from`` beside the threshold that ships.
HIGHER = (0.3, 0.4, 0.5)
MEMORIES = Path(__file__).with_name("never_told.json")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, whether it was told, and the probability that it was, by the memory.

    Attributes:
        known: whether the memory's answer is said to be known: that looks at what it quotes, too.
    """

    question: str
    told: bool
    probability: float
    known: bool


def memories() -> list[dict[str, Any]]:
    """Read the memories with their questions."""
    read: list[dict[str, Any]] = json.loads(MEMORIES.read_text(encoding="utf-8"))
    return read


def of_half(half: str) -> list[dict[str, Any]]:
    return [given for given in memories() if given["name"].startswith(half)]


def asked(given: Mapping[str, Any]) -> list[Asked]:
    """Ask all questions of one memory."""
    memory = SlotMemory(clock=None)
    memory.ingest_many(given["turns"])
    told = set(given["told"])
    return [
        _asked(memory, question, question in told) for question in (*given["told"], *given["never"])
    ]


def _asked(memory: SlotMemory, question: str, told: bool) -> Asked:
    answer = memory.answer(question)
    return Asked(question, told, answer.route.probability, answer.known)


def area(told: Floats, never: Floats) -> float:
    """Return how often a told question has the larger probability; equal ones count half."""
    difference = told[:, None] - never[None, :]
    return float((difference > 0).mean() + 0.5 * (difference == 0).mean())


def caught(told: Floats, never: Floats, allowed: float) -> float:
    """Return the share of never-told questions below what a share of the told ones is below."""
    limit = np.sort(told)[int(allowed * len(told))]
    return float((never < limit).mean())


def row(half: str, questions: Sequence[Asked]) -> str:
    told = np.array([one.probability for one in questions if one.told])
    never = np.array([one.probability for one in questions if not one.told])
    cells = [half, f"{area(told, never):.2f}"]
    cells += [f"{caught(told, never, allowed):.2f}" for allowed in ALLOWED]
    for limit in (default_adequacy().threshold, *HIGHER):
        cells.append(f"{(told < limit).mean():.2f} / {(never < limit).mean():.2f}")
    unknown = {told: [not one.known for one in questions if one.told == told] for told in (1, 0)}
    cells.append(f"{np.mean(unknown[1]):.2f} / {np.mean(unknown[0]):.2f}")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--show", action="store_true", help="print the questions of the half that was looked at"
    )
    shows = parser.parse_args().show
    limits = [f"told / never below {limit:.3g}" for limit in HIGHER]
    shares = [f"caught at {allowed:.0%}" for allowed in ALLOWED]
    columns = [
        *shares,
        "told / never marked unknown",
        *limits,
        "told / never not known as answered",
    ]
    print("| half | area |", " | ".join(columns), "|")
    print(f"|---|---|{'---|' * len(columns)}")
    for half in HALVES:
        questions: list[Asked] = []
        for given in of_half(half):
            questions += asked(given)
        print(row(half, questions))
        if shows and half == HALVES[0]:
            _show(questions)


def _show(questions: Sequence[Asked]) -> None:
    for one in sorted(questions, key=lambda one: one.probability):
        print(f"{one.probability:.2f} {'told ' if one.told else 'never'} {one.question}")


if __name__ == "__main__":
    main()
