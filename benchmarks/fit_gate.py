"""Fit the gate: how probably anything remembered bears on a message (``Reading.gated``).

    pip install torch scipy demem-agent
    python benchmarks/fit_gate.py --data FOLDER [--judge]

Every question of the conversations in ``written`` and FOLDER (``benchmarks/chats.py`` says
how that looks) is asked of the memory of its conversation: it bears. The messages in ``written``
that need nothing remembered are sent to these memories as well, each to two, with what was said
right before: nothing bears. What their words tell is told by networks that did not see them
(``fit_asked.py``); that takes eight minutes. The threshold is the largest that leaves 99 % of the
questions their reading.

The figures are for conversations and messages left out of the fit (five folds): messages that get
an empty reading, and questions that keep theirs. ``--judge`` writes nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import chats
import fit_asked
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from demem_agent import SlotMemory
from demem_agent.encoders import default_encoder
from demem_agent.evaluate.ranks import area
from demem_agent.scoring import Query, focus
from demem_agent.scoring.gate import SIGNALS, gate_signals
from demem_agent.slots.routing import slot_ranking
from demem_agent.text.unsaid import in_context

SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "scoring" / "gate.json"
KEPT = 0.99
RIDGE = 0.001
#: Memories that each message is sent to.
SENT_TO = 2
OF_MEMORY = SIGNALS.index("of_memory")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that was sent to a memory.

    Attributes:
        signals: shape (len(SIGNALS),).
        bears: whether it is a question that the memory can answer.
        kind: of message.
        group: what is in one fold with it.
        is_given: whether its conversation is one of FOLDER.
    """

    text: str
    signals: Floats
    bears: bool
    kind: str
    group: str
    is_given: bool


def signals(memory: SlotMemory, text: str, at: datetime | None, context: Sequence[str]) -> Floats:
    """Return what the gate sees of a message to a memory."""
    state = memory._held.state
    query = in_context(text, context)
    vector = default_encoder().encode([focus(query)])[0]
    asked = Query(query, vector, at.date() if at else None)
    route, ranking = slot_ranking(state, asked)
    assert ranking is not None
    assert ranking.standing is not None
    return gate_signals(text, route.probability, ranking.standing)


def sent(given: Path) -> Iterator[Sent]:
    """Yield every message, as it is sent."""
    messages = chats.read_rows(fit_asked.WRITTEN / "messages.jsonl")
    idle = [row for row in messages if not row["needs_memory"]]
    folders = [(fit_asked.WRITTEN / part, False) for part in ("chats", "bilingual")]
    folders.append((given, True))
    every = [(chat, folder, own) for folder, own in folders for chat in chats.load(folder)]
    for number, (chat, folder, is_given) in enumerate(every):
        memory = chat.remembered()
        last = datetime.fromisoformat(str(chat.turns[-1].at))
        for question in chat.questions:
            found = signals(memory, question.text, question.at, ())
            yield Sent(question.text, found, True, question.kind, chat.name, is_given)
        rows = [row for n, row in enumerate(idle) if n % len(every) in _near(number, len(every))]
        own = folder / f"{chat.name}_messages.jsonl"
        if own.exists():
            rows += [row for row in chats.read_rows(own) if not row["needs_memory"]]
        for row in rows:
            found = signals(memory, row["text"], last, row.get("context", ()))
            yield Sent(row["text"], found, False, row["kind"], row["text"], is_given)


def _near(number: int, count: int) -> set[int]:
    return {(number + n) % count for n in range(SENT_TO)}


def told_apart(every: Sequence[Sent]) -> list[Sent]:
    """Return messages with what networks tell of them that did not see them."""
    written = list(fit_asked.written())
    told = dict(zip([one.text for one in written], fit_asked.apart(written), strict=True))
    place = fit_asked.ASKED.index("of_memory")
    found = []
    for one in every:
        own = one.signals.copy()
        if one.text in told:  # those of FOLDER no network has seen
            of_memory = float(told[one.text][place])
            own[OF_MEMORY:] = of_memory * np.array([1.0, own[1], own[2]])
        found.append(Sent(one.text, own, one.bears, one.kind, one.group, one.is_given))
    return found


def fit(every: Sequence[Sent]) -> Floats:
    """Return the intercept and the weights; questions count as much as all else."""
    table = np.array([[1.0, *one.signals] for one in every])
    bears = np.array([one.bears for one in every])
    weight = np.where(bears, 0.5 / bears.sum(), 0.5 / (~bears).sum())
    deviation = table.std(axis=0) + (table.std(axis=0) == 0)
    scaled = table / deviation

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = scaled @ weights
        found = float(weight @ np.logaddexp(0, np.where(bears, -odds, odds)))
        slope = scaled.T @ (weight * (expit(odds) - bears))
        return found + RIDGE * float(weights[1:] @ weights[1:]), slope + 2 * RIDGE * np.array(
            [0.0, *weights[1:]]
        )

    found: Floats = minimize(loss, np.zeros(table.shape[1]), jac=True).x / deviation
    return found


def probabilities(weights: Floats, every: Sequence[Sent]) -> Floats:
    """Return how probably anything bears on each."""
    found: Floats = expit(weights[0] + np.array([one.signals for one in every]) @ weights[1:])
    return found


def left_out(every: Sequence[Sent]) -> Floats:
    """Return the probability of each by a fit without its fold."""
    folds = np.array([fit_asked.fold_of(one.group) for one in every])
    found = np.zeros(len(every))
    for fold in range(fit_asked.FOLDS):
        weights = fit([every[n] for n in np.flatnonzero(folds != fold)])
        chosen = np.flatnonzero(folds == fold)
        found[chosen] = probabilities(weights, [every[n] for n in chosen])
    return found


def report(every: Sequence[Sent], found: Floats, threshold: float) -> None:
    """Print how many messages get an empty reading, and how many questions keep theirs."""
    bears = np.array([one.bears for one in every])
    given = np.array([one.is_given for one in every])
    for name, part in (("written", ~given), ("given", given)):
        questions, idle = found[bears & part], found[~bears & part]
        print(
            f"conversations {name}: AUC {area(questions, idle):.3f}; empty"
            f" {(idle < threshold).mean():.3f} of {len(idle)} messages, kept"
            f" {(questions >= threshold).mean():.3f} of {len(questions)} questions"
        )
    kinds = sorted({one.kind for one in every if not one.bears})
    for kind in kinds:
        chosen = found[[one.kind == kind and not one.bears for one in every]]
        print(f"  {kind}: {(chosen < threshold).mean():.2f} of {len(chosen)} empty")


def main() -> None:
    """Fit and write the gate, or judge it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of conversations")
    parser.add_argument("--judge", action="store_true", help="judge by folds; write nothing")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write it")
    given = parser.parse_args()
    every = told_apart(list(sent(given.data)))
    found = left_out(every)
    asked = np.sort(found[[one.bears for one in every]])
    threshold = float(asked[int((1.0 - KEPT) * len(asked))])
    report(every, found, threshold)
    if given.judge:
        return
    weights = np.round(fit(every), 4)
    content = {
        "made_by": "benchmarks/fit_gate.py",
        "intercept": weights[0],
        "weights": dict(zip(SIGNALS, weights[1:].tolist(), strict=True)),
        "threshold": round(threshold, 4),
    }
    given.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
