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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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

    def part(self, chosen: NDArray[np.bool_]) -> Pairs:
        return Pairs(
            self.signals[chosen],
            self.same[chosen],
            self.group[chosen],
            self.asked[chosen],
            self.locomo[chosen],
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with vehicle and locomo")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    groups = [of_car(car) for car in load_cars(given.data / "vehicle")]
    locomo = next((given.data / "locomo").glob("*.json"))
    groups += [of_dialogue(dialogue) for dialogue in load_locomo(locomo)]
    pairs = drawn(groups)
    found = dict(zip(NAMES, np.round(fitted(pairs), 2).tolist(), strict=True))
    rates = judged(pairs, held_out(pairs))
    if given.json:
        print(json.dumps({"coefficients": found, "recognised": rates}, indent=1))
        return
    for name, value in found.items():
        print(f"{name:16} {value:6.2f}")
    for row in rates:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


# Questions


def of_car(car: Car) -> list[Question]:
    """Return every decision of a car in six wordings."""
    lines = {turn.source_id: turn.text for turn in car.turns}
    found = []
    for decision in car.decisions:
        for text in (*wordings(decision, car.people), by_device(decision)):
            right = frozenset(map(str, decision.right))
            told = lines[str(decision.right[0])]
            group = f"vehicle {car.number}"
            found.append(Question(group, text, decision.asker, decision.id, right, told))
    return found


def of_dialogue(dialogue: Dialogue) -> list[Question]:
    """Return the questions of a dialogue that have evidence and an answer."""
    lines = {turn.source_id: turn.text for turn in dialogue.turns}
    found = []
    for n, probe in enumerate(dialogue.probes):
        if probe.reference and probe.evidence and probe.evidence[0] in lines:
            right = frozenset(probe.evidence)
            told = lines[probe.evidence[0]]
            group = f"locomo {dialogue.name}"
            found.append(Question(group, probe.question, None, f"q{n}", right, told))
    return found


# Signals


def drawn(groups: Sequence[list[Question]]) -> Pairs:
    """Draw memories of several sizes, and ask each what it was not told in these words."""
    chance = np.random.default_rng(SEED)
    rows: list[tuple[float, ...]] = []
    same: list[bool] = []
    group: list[str] = []
    asked: list[int] = []
    count = 0
    for questions in groups:
        vectors = unit([question.text for question in questions])
        lines = unit([question.told for question in questions])
        for size in SIZES:
            past = chance.choice(len(questions), min(size, len(questions)), replace=False)
            signals = signals_of(questions, past)
            for i in chance.choice(len(questions), min(ASKED, len(questions)), replace=False):
                count += 1
                for j, alike, told in signals(int(i)):
                    rows.append((alike, told, float(vectors[i] @ lines[j])))
                    same.append(bool(questions[i].right & questions[j].right))
                    group.append(questions[i].group)
                    asked.append(count)
    names = np.array(group)
    is_locomo = np.char.startswith(names, "locomo")
    return Pairs(np.array(rows), np.array(same), names, np.array(asked), is_locomo)


def unit(texts: Sequence[str]) -> Floats:
    vectors = np.asarray(default_encoder().encode(list(texts)), np.float64)
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def signals_of(
    questions: Sequence[Question], past: NDArray[np.int64]
) -> Callable[[int], Iterator[tuple[int, float, float]]]:
    """Return what yields (past question, likeness, share in its line) for a question."""
    words = [set(content_terms(question.text)) for question in questions]
    told = [set(content_terms(question.told)) for question in questions]
    held: Counter[str] = Counter()
    for j in past:
        held.update(words[j])

    def mass(terms: set[str]) -> float:
        return sum(math.log(1 + (len(past) - held[t] + 0.5) / (held[t] + 0.5)) for t in terms)

    def signals(i: int) -> Iterator[tuple[int, float, float]]:
        own = questions[i]
        apart = words[i] - set(content_terms(own.asker or ""))
        for j in map(int, past):
            other = questions[j]
            if other.asker != own.asker or (other.text, other.decision) == (own.text, own.decision):
                continue
            both = max(mass(words[i]) * mass(words[j]), 1e-9)
            alike = mass(words[i] & words[j]) / math.sqrt(both)
            yield j, alike, mass(apart & told[j]) / max(mass(apart), 1e-9)

    return signals


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
    last = np.append(np.diff(pairs.asked[order]) > 0, True)
    best = order[last]
    known = np.isin(pairs.asked[best], np.unique(pairs.asked[pairs.same]))
    rows: list[dict[str, float | str]] = []
    for source, inside in (("vehicle", ~pairs.locomo[best]), ("LoCoMo", pairs.locomo[best])):
        for threshold in THRESHOLDS:
            fires = probability[best] >= threshold
            right = fires & pairs.same[best]
            row: dict[str, float | str] = {"data": source, "from": threshold}
            row["asked before: rightly"] = round(float(right[inside & known].mean()), 3)
            wrong = fires & ~pairs.same[best]
            row["wrongly"] = round(float(wrong[inside & known].mean()), 3)
            row["never asked: wrongly"] = round(float(fires[inside & ~known].mean()), 3)
            rows.append(row)
    return rows


if __name__ == "__main__":
    main()
