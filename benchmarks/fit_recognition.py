"""Fit how probably a question is the same decision as one that was asked before.

    python benchmarks/fit_recognition.py --data FOLDER [--json]

FOLDER has ``vehicle`` (VehicleMemBench) and ``locomo`` (a LoCoMo file). A question and a past one
are the same decision where the same line of the conversation is right for both. In a car each
decision is put in six wordings (``benchmarks/vehicle_wordings.py``), and is asked by its own
people; the questions of LoCoMo are nearly all different, are asked by nobody in particular, and
share names and subjects: they are what must not be taken for the same. Memories of 4, 15, 60 and
all past questions are drawn, with both sources weighing the same.

Shown are the coefficients that ``demem_agent/slots/recognition.py`` has, and how often the
likeliest past question is recognised, rightly and wrongly, by the probability asked for. For these
figures each file or dialogue is left out of the fit in turn.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vehicle_data import Car
from vehicle_data import load as load_cars
from vehicle_wordings import by_device, wordings

from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Dialogue, load_locomo
from demem_agent.text.words import content_terms

Floats = NDArray[np.float64]

#: Past questions that a memory has; the last is all there are.
SIZES = (4, 15, 60, 10**6)
#: Questions asked of each such memory.
ASKED = 60
PENALTY = 1e-2
STEPS = 60
THRESHOLDS = (0.5, 0.7, 0.9)
SEED = 0
NAMES = ("BY_QUESTION", "BY_WORDS_TOLD", "BY_VECTOR_TOLD", "INTERCEPT")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it was put once.

    Attributes:
        group: the file or dialogue; what is left out together.
        decision: names the decision; the same question in the same words is not compared.
        right: ids of the lines that are right.
        told: the text of the first of these.
    """

    group: str
    text: str
    asker: str | None
    decision: str
    right: frozenset[str]
    told: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of a question and a past one, a row each.

    Attributes:
        signals: shape (n, 3). same: whether both are one decision. group: of which file.
        asked: names the question and the memory; locomo: whether it is of LoCoMo.
    """

    signals: Floats
    same: NDArray[np.bool_]
    group: NDArray[np.str_]
    asked: NDArray[np.int64]
    locomo: NDArray[np.bool_]

    def part(self, chosen: NDArray[Any]) -> Pairs:
        """Return some rows, by a mark for each or by their numbers."""
        return Pairs(
            signals=self.signals[chosen],
            same=self.same[chosen],
            group=self.group[chosen],
            asked=self.asked[chosen],
            locomo=self.locomo[chosen],
        )


def main() -> None:
    given = options()
    pairs = drawn(groups_of(given.data))
    found = dict(zip(NAMES, np.round(fitted(pairs), 2).tolist(), strict=True))
    rates = judged(pairs, held_out(pairs))
    if given.json:
        print(json.dumps({"coefficients": found, "recognised": rates}, indent=1))
        return
    for name, value in found.items():
        print(f"{name:16} {value:6.2f}")
    for row in rates:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with vehicle and locomo")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


def groups_of(folder: Path) -> list[list[Question]]:
    """Return the questions of each file and dialogue."""
    groups = [of_car(car) for car in load_cars(folder / "vehicle")]
    locomo = next((folder / "locomo").glob("*.json"), None)
    if locomo is None:
        raise SystemExit(f"{folder / 'locomo'} has no LoCoMo file")
    groups += [of_dialogue(dialogue) for dialogue in load_locomo(locomo)]
    return groups


# Questions


def of_car(car: Car) -> list[Question]:
    """Return every decision of a car in six wordings."""
    lines = {turn.source_id: turn.text for turn in car.turns}
    found = []
    for decision in car.decisions:
        for text in (*wordings(decision, car.people), by_device(decision)):
            question = Question(
                group=f"vehicle {car.number}",
                text=text,
                asker=decision.asker,
                decision=decision.id,
                right=frozenset(map(str, decision.right)),
                told=lines[str(decision.right[0])],
            )
            found.append(question)
    return found


def of_dialogue(dialogue: Dialogue) -> list[Question]:
    """Return the questions of a dialogue that have evidence and an answer."""
    lines = {turn.source_id: turn.text for turn in dialogue.turns}
    found = []
    for n, probe in enumerate(dialogue.probes):
        if probe.reference and probe.evidence and probe.evidence[0] in lines:
            question = Question(
                group=f"locomo {dialogue.name}",
                text=probe.question,
                asker=None,
                decision=f"q{n}",
                right=frozenset(probe.evidence),
                told=lines[probe.evidence[0]],
            )
            found.append(question)
    return found


# Signals


class Group:
    """The questions of a file or dialogue, with their words and vectors."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = questions
        self.words = [set(content_terms(question.text)) for question in questions]
        self.told = [set(content_terms(question.told)) for question in questions]
        self.vectors = unit([question.text for question in questions])
        self.lines = unit([question.told for question in questions])

    def drawn(self, chance: np.random.Generator, most: int) -> list[int]:
        """Draw numbers of questions, each once."""
        count = min(most, len(self.questions))
        found: list[int] = chance.choice(len(self.questions), count, replace=False).tolist()
        return found


class Memory:
    """Some questions of a group, as those that were asked before."""

    def __init__(self, group: Group, past: Sequence[int]) -> None:
        self.group = group
        self.past = past
        self._held: Counter[str] = Counter()
        for j in past:
            self._held.update(group.words[j])

    def comparable(self, i: int) -> Iterator[int]:
        """Yield the past questions of the same asker, but for the same one in the same words."""
        own = self.group.questions[i]
        for j in self.past:
            other = self.group.questions[j]
            same = (other.text, other.decision) == (own.text, own.decision)
            if other.asker == own.asker and not same:
                yield j

    def signals(self, i: int, j: int) -> tuple[float, float, float]:
        """Return likeness, share in the line and cosine to it, as the library computes them."""
        group = self.group
        asked = group.words[i]
        both = self._mass(asked) * self._mass(group.words[j])
        alike = self._mass(asked & group.words[j]) / math.sqrt(max(both, 1e-9))
        apart = asked - set(content_terms(group.questions[i].asker or ""))
        share = self._mass(apart & group.told[j]) / max(self._mass(apart), 1e-9)
        return alike, share, float(group.vectors[i] @ group.lines[j])

    def _mass(self, terms: set[str]) -> float:
        return sum(map(self._idf, terms))

    def _idf(self, term: str) -> float:
        held = self._held[term]
        return math.log(1 + (len(self.past) - held + 0.5) / (held + 0.5))


def drawn(groups: Sequence[list[Question]]) -> Pairs:
    """Draw memories of several sizes, and ask each what it was not told in these words."""
    chance = np.random.default_rng(SEED)
    found: list[tuple[tuple[float, ...], bool, str, int]] = []
    count = 0
    for group in map(Group, groups):
        for size in SIZES:
            memory = Memory(group, group.drawn(chance, size))
            for i in group.drawn(chance, ASKED):
                count += 1
                own = group.questions[i]
                for j in memory.comparable(i):
                    same = not own.right.isdisjoint(group.questions[j].right)
                    found.append((memory.signals(i, j), same, own.group, count))
    signals, same_ones, names, asked = map(np.array, zip(*found, strict=True))
    is_locomo = np.char.startswith(names, "locomo")
    return Pairs(signals=signals, same=same_ones, group=names, asked=asked, locomo=is_locomo)


def unit(texts: Sequence[str]) -> Floats:
    """Return the vectors of texts, of unit length."""
    vectors = np.asarray(default_encoder().encode(list(texts)), np.float64)
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


# The model


def fitted(pairs: Pairs) -> Floats:
    """Return the coefficients of a logistic model, the intercept last; both sources weigh alike."""
    rows = np.column_stack([pairs.signals, np.ones(len(pairs.signals))])
    share = (~pairs.locomo).sum() / max(pairs.locomo.sum(), 1)
    weight = np.where(pairs.locomo, share, 1.0)
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weight * (p - pairs.same)) + PENALTY * found
        curve = (rows * (weight * p * (1 - p))[:, None]).T @ rows
        found -= np.linalg.solve(curve + PENALTY * np.eye(len(found)), slope)
    return found


def held_out(pairs: Pairs) -> Floats:
    """Return the probability of each pair by a model that was not fitted on its group."""
    found = np.zeros(len(pairs.same))
    for group in np.unique(pairs.group):
        inside = pairs.group == group
        model = fitted(pairs.part(~inside))
        logit = pairs.signals[inside] @ model[:-1] + model[-1]
        found[inside] = 1 / (1 + np.exp(-logit))
    return found


def judged(pairs: Pairs, probability: Floats) -> list[dict[str, float | str]]:
    """Tell how often the likeliest past question is recognised, rightly and wrongly."""
    order = np.lexsort((probability, pairs.asked))
    last_of_each = np.append(np.diff(pairs.asked[order]) > 0, True)
    best = order[last_of_each]
    likeliest = pairs.part(best)
    known = np.isin(likeliest.asked, pairs.asked[pairs.same])
    rows = []
    for source, inside in (("vehicle", ~likeliest.locomo), ("LoCoMo", likeliest.locomo)):
        for threshold in THRESHOLDS:
            fires = probability[best] >= threshold
            row: dict[str, float | str] = {"data": source, "from": threshold}
            row["asked before: rightly"] = _share(fires & likeliest.same, inside & known)
            row["wrongly"] = _share(fires & ~likeliest.same, inside & known)
            row["never asked: wrongly"] = _share(fires, inside & ~known)
            rows.append(row)
    return rows


def _share(hit: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return round(float(hit[among].mean()), 3)


if __name__ == "__main__":
    main()
