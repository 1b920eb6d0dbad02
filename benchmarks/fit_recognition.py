"""Fit how probably a question is the same decision as one that was asked before.

    python benchmarks/fit_recognition.py --data FOLDER [--json]

FOLDER has ``vehicle`` (VehicleMemBench), ``locomo`` (a LoCoMo file) and, if you like, ``beam``
(BEAM chats). A question and a past one are the same decision where the same line of the
conversation is right for both. Four sources say what a question comes back as, and what only looks
like it:

* ``vehicle``: each decision in six wordings (``benchmarks/vehicle_wordings.py``), asked by its own
  people under its conditions;
* ``reworded``: each question of LoCoMo in five wordings made here, asked by nobody in particular;
* ``LoCoMo``: its questions as they are, which share names and subjects, and of which few are asked
  twice: they are what must not be taken for the same;
* ``BEAM``: its questions as they are, of a user's chats with an assistant. They are judged only,
  and never fitted.

Of each file or dialogue memories of 4, 15, 60 and 240 past questions are drawn (all there are,
where there are fewer), of the reworded ones no memory of 4. A question of a memory weighs one, over
all past ones it is compared with, and the three sources weigh the same. What comes back in the very
same words is left out: the library takes it for the same without the model. What the library sets
by hand besides, such as what an exchanged thing counts, is no part of the model.

Shown are the coefficients that ``demem_agent/slots/recognition.py`` has, and how often the
likeliest past question is recognised, by the probability asked for: rightly and wrongly where the
same was asked before, wrongly where it was not, and as a share of all questions how often it does
``harm``: it is recognised wrongly, and would put another line ahead of the right one that stands
first by itself. For these figures each file or dialogue is left out of the fit in turn.

The first two coefficients mean nearly the same: which memories are drawn moves either by 1 against
the other, and their sum by a few tenths.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vehicle_data import Car
from vehicle_data import load as load_cars
from vehicle_wordings import by_device, wordings

from demem_agent import SlotMemory, Turn
from demem_agent.evaluate import Dialogue, Probe, load_beam, load_locomo
from demem_agent.reading.decided import SURE
from demem_agent.slots.experience import spoken
from demem_agent.slots.recognition import FARTHEST, KNOWN, LEAST, MOST_WORTH
from demem_agent.text.language.questions import asks_for
from demem_agent.text.language.words import STOPWORDS, content_terms

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

FITTED = ("vehicle", "reworded", "LoCoMo")
JUDGED = (*FITTED, "BEAM")
#: Past questions that a memory has; fewer where there are no more.
SIZES = (4, 15, 60, 240)
#: Among four of a thousand wordings hardly any two are of one question.
SIZES_OF = {"reworded": (15, 60, 240)}
#: Memories of each size that are drawn of a file or dialogue, each with a seed of its own.
ROUNDS = 4
#: Questions asked of each such memory.
ASKED = 60
#: What each source weighs in all.
WEIGHT = 20_000.0
PENALTY = 0.1
#: Fitting ends where no coefficient moves by more.
CLOSE = 1e-6
THRESHOLDS = (KNOWN, 0.75, SURE)
#: A line that scores less than this below the best one stands first as well.
TIED = 0.01
#: Characters that every memory here fits in.
ALL = 10**7
SEED = 0
#: The coefficients, in the order of the signals, with the digits that are told of each.
DIGITS = {
    "BY_QUESTION": 2,
    "BY_SHORTER": 2,
    "BY_WORTH": 3,
    "BY_OTHER_KIND": 2,
    "BY_OTHER_PEOPLE": 2,
    "BY_BEHIND": 2,
    "INTERCEPT": 2,
}

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it was put once.

    Attributes:
        right: ids of the lines that are right; the first is the one to be told.
    """

    text: str
    right: tuple[str, ...]
    at: datetime | date | str | None
    asker: str | None = None
    conditions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of a question and a past one, a row each.

    Attributes:
        signals: shape (n, 6). same: whether both are one decision.
        source: one of :data:`JUDGED`. group: the file or dialogue; what is left out together.
        size: of the memory, in past questions. asked: names the question and the memory.
        leads: whether a line that is right for the question stands first by itself.
    """

    signals: Floats
    same: Marks
    source: NDArray[np.str_]
    group: NDArray[np.str_]
    size: NDArray[np.int64]
    asked: NDArray[np.int64]
    leads: Marks

    def part(self, chosen: NDArray[Any]) -> Pairs:
        """Return some rows, by a mark for each or by their numbers."""
        return Pairs(
            signals=self.signals[chosen],
            same=self.same[chosen],
            source=self.source[chosen],
            group=self.group[chosen],
            size=self.size[chosen],
            asked=self.asked[chosen],
            leads=self.leads[chosen],
        )


def main() -> None:
    given = options()
    pairs = drawn(list(groups_of(given.data)))
    found = rounded(fitted(pairs))
    rates = judged(pairs, held_out(pairs))
    if given.json:
        print(json.dumps({"coefficients": found, "recognised": rates}, indent=1))
        return
    for name, value in found.items():
        print(f"{name:16} {value:7.{DIGITS[name]}f}")
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


# Questions


def groups_of(folder: Path) -> Iterator[Group]:
    """Yield the questions of each file and dialogue, as often as it is a source."""
    locomo = next((folder / "locomo").glob("*.json"), None)
    if locomo is None:
        raise SystemExit(f"{folder / 'locomo'} has no LoCoMo file")
    chance = np.random.default_rng(SEED)
    for car in load_cars(folder / "vehicle"):
        yield of_car(car)
    for dialogue in load_locomo(locomo):
        yield from of_dialogue(dialogue, chance)
    if (folder / "beam").is_dir():
        for chat in load_beam(folder / "beam"):
            yield of_chat(chat)


def of_car(car: Car) -> Group:
    """Return every decision of a car in six wordings, a day after the last line."""
    at = car.last + timedelta(days=1)
    found: list[Question] = []
    for decision in car.decisions:
        right = tuple(map(str, decision.right))
        conditions = frozenset(decision.conditions)
        texts = (*wordings(decision, car.people), by_device(decision))
        found += [Question(text, right, at, decision.asker, conditions) for text in texts]
    return Group("vehicle", f"vehicle {car.number}", remembered(car.turns), found)


def of_dialogue(dialogue: Dialogue, chance: np.random.Generator) -> Iterator[Group]:
    """Yield the questions of a dialogue in other words, and then as they are."""
    name = f"LoCoMo {dialogue.name}"
    memory = remembered(dialogue.turns)
    people = sorted({turn.speaker or "" for turn in dialogue.turns})
    own = list(answerable(dialogue))
    other: list[Question] = []
    for probe in own:
        texts = other_words(probe.question, people, chance)
        other += [Question(text, probe.evidence, probe.at) for text in texts]
    yield Group("reworded", name, memory, other)
    yield Group("LoCoMo", name, memory, as_they_are(own))


def of_chat(chat: Dialogue) -> Group:
    """Return the questions of a BEAM chat."""
    memory = remembered(chat.turns)
    return Group("BEAM", f"BEAM {chat.name}", memory, as_they_are(answerable(chat)))


def answerable(dialogue: Dialogue) -> Iterator[Probe]:
    """Yield the questions of a dialogue that have evidence and an answer."""
    lines = {turn.source_id for turn in dialogue.turns}
    for probe in dialogue.probes:
        if probe.reference.strip() and probe.evidence and probe.evidence[0] in lines:
            yield probe


def as_they_are(probes: Iterable[Probe]) -> list[Question]:
    return [Question(probe.question, probe.evidence, probe.at) for probe in probes]


def other_words(question: str, people: Sequence[str], chance: np.random.Generator) -> list[str]:
    """Return a question and four other wordings: shorter, in a scene, bare, and its end alone."""
    words = _WORD.findall(question)
    first, second = chance.choice(people, 2).tolist()
    time = f"{chance.integers(1, 12)}:{chance.integers(10, 59)} PM"
    return [
        question,
        f"{' '.join(shortened(words))}?",
        f"At {time}, {first} was talking with {second}. {question}",
        " ".join(word for word in words if word.lower() not in STOPWORDS),
        f"Tell me again: {' '.join(words[len(words) // 3 :])}?",
    ]


def shortened(words: Iterable[str]) -> Iterator[str]:
    """Drop every third of the words that are no stop words."""
    count = 0
    for word in words:
        is_stopword = word.lower() in STOPWORDS
        count += not is_stopword
        if is_stopword or count % 3:
            yield word


def remembered(turns: Sequence[Turn]) -> SlotMemory:
    memory = SlotMemory(clock=None)
    memory.ingest_many(turns)
    return memory


# Signals


class Group:
    """The questions of a file or dialogue, with what of them depends on no other question."""

    def __init__(
        self, source: str, name: str, memory: SlotMemory, questions: Sequence[Question]
    ) -> None:
        self.source = source
        self.name = name
        self.questions = questions
        index = memory._held.state.passage_index()
        people: set[str] = set()
        for speaker in index.speakers.codes:
            people.update(content_terms(speaker or ""))
        self.words = [set(content_terms(question.text)) for question in questions]
        self.people = [words & people for words in self.words]
        self.kinds = [asks_for(question.text) for question in questions]
        self.spoken = [spoken(question.text) for question in questions]
        every = set[str]().union(*self.words)
        self.rarity = {word: index.lexical.idf(word) for word in every}
        self._memory = memory
        self._behind: dict[int, dict[str, float]] = {}

    def drawn(self, chance: np.random.Generator, most: int) -> list[int]:
        """Draw numbers of questions, each once."""
        count = min(most, len(self.questions))
        found: list[int] = chance.choice(len(self.questions), count, replace=False).tolist()
        return found

    def behind(self, i: int, line: str) -> float:
        """Return how far a line scores below the best one for a question."""
        if i not in self._behind:
            self._behind[i] = self._scored(self.questions[i])
        return self._behind[i].get(line, FARTHEST)

    def _scored(self, question: Question) -> dict[str, float]:
        reading = self._memory.read(question.text, at=question.at, asker=question.asker, limit=ALL)
        best = max((line.score for line in reading.lines), default=0.0)
        behind: dict[str, float] = {}
        for line in reading.lines:
            id = line.evidence.source_id or ""
            behind[id] = min(behind.get(id, FARTHEST), best - line.score)
        return behind


class Past:
    """Some questions of a group, as those that were asked before."""

    def __init__(self, group: Group, size: int, past: Sequence[int]) -> None:
        self.group = group
        self.size = size
        self.past = past
        self._held: Counter[str] = Counter()
        for j in past:
            self._held.update(group.words[j])

    def comparable(self, i: int) -> Iterator[int]:
        """Yield what the same one asked, in other words, where its conditions hold."""
        own = self.group.questions[i]
        for j in self.past:
            other = self.group.questions[j]
            holds = own.conditions.issuperset(other.conditions)
            if holds and other.asker == own.asker and self.group.spoken[i] != self.group.spoken[j]:
                yield j

    def rows(self, i: int, number: int) -> Iterator[tuple[Any, ...]]:
        """Yield a row of :class:`Pairs` for each past question that a question is compared with."""
        group = self.group
        right = group.questions[i].right
        leads = group.behind(i, right[0]) < TIED
        for j in self.comparable(i):
            same = not set(right).isdisjoint(group.questions[j].right)
            signals = self.signals(i, j)
            yield signals, same, group.source, group.name, self.size, number, leads

    def signals(self, i: int, j: int) -> tuple[float, ...]:
        """Return what the library looks at, in the order of :data:`DIGITS`."""
        group = self.group
        shared = group.words[i] & group.words[j]
        both = self._mass(shared)
        own, other = self._mass(group.words[i]), self._mass(group.words[j])
        worth = sum(self._idf(word) * group.rarity[word] for word in shared)
        is_nobodys = group.questions[i].asker is None
        return (
            both / math.sqrt(max(own * other, LEAST)),
            both / max(min(own, other), LEAST),
            min(worth, MOST_WORTH),
            float(len({group.kinds[i], group.kinds[j]} - {""}) > 1),
            float(is_nobodys and group.people[i] != group.people[j]),
            -group.behind(i, group.questions[j].right[0]),
        )

    def _mass(self, terms: Iterable[str]) -> float:
        return sum(map(self._idf, terms))

    def _idf(self, term: str) -> float:
        held = self._held[term]
        return math.log(1 + (len(self.past) - held + 0.5) / (held + 0.5))


def drawn(groups: Sequence[Group]) -> Pairs:
    """Draw memories of several sizes, and ask each what it was not told in these words."""
    found: list[tuple[Any, ...]] = []
    count = 0
    for chance in map(np.random.default_rng, range(ROUNDS)):
        for past, i in asked_of(groups, chance):
            count += 1
            found += past.rows(i, count)
    return Pairs(*map(np.array, zip(*found, strict=True)))


def asked_of(groups: Iterable[Group], chance: np.random.Generator) -> Iterator[tuple[Past, int]]:
    """Yield memories, one of each size of each group, with the number of each question asked."""
    for group in groups:
        for size in SIZES_OF.get(group.source, SIZES):
            past = Past(group, size, group.drawn(chance, size))
            for i in group.drawn(chance, ASKED):
                yield past, i


# The model


def fitted(pairs: Pairs) -> Floats:
    """Return the coefficients of a logistic model, the intercept last."""
    chosen = pairs.part(np.isin(pairs.source, FITTED))
    weight = weights(chosen)
    rows = np.column_stack([chosen.signals, np.ones(len(chosen.signals))])
    found = np.zeros(rows.shape[1])
    step = np.ones(rows.shape[1])
    while np.abs(step).max() > CLOSE:
        p = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weight * (p - chosen.same)) + PENALTY * found
        curve = (rows * (weight * p * (1 - p))[:, None]).T @ rows
        step = np.linalg.solve(curve + PENALTY * np.eye(len(found)), slope)
        found -= step
    return found


def weights(pairs: Pairs) -> Floats:
    """Weigh each question of a memory the same within its source, and the sources alike."""
    _, number, count = np.unique(pairs.asked, return_inverse=True, return_counts=True)
    weight: Floats = 1.0 / count[number]
    for source in FITTED:
        inside = pairs.source == source
        weight[inside] *= WEIGHT / weight[inside].sum()
    return weight


def rounded(model: Floats) -> dict[str, float]:
    """Name the coefficients."""
    found = {}
    for (name, digits), value in zip(DIGITS.items(), model.tolist(), strict=True):
        found[name] = round(value, digits)
    return found


def held_out(pairs: Pairs) -> Floats:
    """Return the probability of each pair by a model that was not fitted on its group."""
    is_fitted = np.isin(pairs.source, FITTED)
    found = _probability(pairs, fitted(pairs))
    for group in np.unique(pairs.group[is_fitted]):
        inside = pairs.group == group
        found[inside] = _probability(pairs.part(inside), fitted(pairs.part(~inside)))
    return found


def _probability(pairs: Pairs, model: Floats) -> Floats:
    logit = pairs.signals @ model[:-1] + model[-1]
    probability: Floats = 1 / (1 + np.exp(-logit))
    return probability


def judged(pairs: Pairs, probability: Floats) -> list[dict[str, float | str]]:
    """Tell how often the likeliest past question is recognised, rightly and wrongly."""
    order = np.lexsort((probability, pairs.asked))
    last_of_each = np.append(np.diff(pairs.asked[order]) > 0, True)
    best = order[last_of_each]
    likeliest = pairs.part(best)
    known = np.isin(likeliest.asked, pairs.asked[pairs.same])
    rows = []
    for source in JUDGED:
        for size in SIZES:
            inside = (likeliest.source == source) & (likeliest.size == size)
            for threshold in THRESHOLDS if inside.any() else ():
                fires = probability[best] >= threshold
                row: dict[str, float | str] = {"data": source, "past": size, "from": threshold}
                rows.append(row | _rates(likeliest, fires, known, inside))
    return rows


def _rates(likeliest: Pairs, fires: Marks, known: Marks, inside: Marks) -> dict[str, float | str]:
    wrongly = fires & ~likeliest.same
    is_another_line = likeliest.signals[:, -1] < -TIED
    return {
        "asked before: rightly": _share(fires & likeliest.same, inside & known),
        "wrongly": _share(wrongly, inside & known),
        "never asked: wrongly": _share(fires, inside & ~known),
        "harm": _share(wrongly & likeliest.leads & is_another_line, inside),
    }


def _share(hit: Marks, among: Marks) -> float | str:
    return round(float(hit[among].mean()), 3) if among.any() else "none"


if __name__ == "__main__":
    main()
