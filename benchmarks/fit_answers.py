"""Fit which sentences of a reading are quoted as the answer, and how probably that is right.

    pip install scipy demem-agent
    python benchmarks/fit_answers.py --data FOLDER [--judge CHATS]

Fitted are the questions of ``written/chats`` and ``written/bilingual``, and those of LoCoMo,
LongMemEval-S and BEAM in FOLDER (as for ``fit_weights.py``), each asked of the memory of its
dialogue with a reading of 2,000 characters; those of ``written/chats`` also of memories of a few
turns, with and without what answers, and of another conversation. Right are the sentences of the
turns that a data set names as evidence, those that have most words of the reference where any has
one. An answer is right if it quotes such a turn and none that is outdated; questions that were
never answered, LoCoMo's about the wrong person among them, count as much as all others together.

Printed are the figures of dialogues left out of the fit (five folds), and of CHATS, conversations
as ``chats.py`` reads them, which are not fitted to. Two minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import chats
import numpy as np
from fit_weights import FOLDS, Floats, load
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from demem_agent import SlotMemory
from demem_agent.answering.candidates import sentences_read
from demem_agent.answering.model import AnswerModel, Odds
from demem_agent.answering.signals import ANSWER, SENTENCE, Seen, seen
from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Probe
from demem_agent.evaluate.ranks import area
from demem_agent.text.language.words import content_terms
from demem_agent.types import Question

SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "answering" / "answers.json"
WRITTEN = Path(__file__).resolve().parent / "written"
#: What a question counts, by its data set: the conversations with an assistant count most.
COUNTS = {
    "chats": 2.0,
    "short": 0.25,
    "bilingual": 1.0,
    "LoCoMo": 0.5,
    "LongMemEval-S": 1.0,
    "BEAM-100K": 0.7,
}
#: Turns of a short memory at most, beside what answers.
SHORT = 8
SEED = 38
NEVER = frozenset({"never", "adversarial", "abstention"})
#: Share of the first sentence's probability from which on another is quoted as well.
SHARE = 0.25
#: Share of the left out conversations' questions with an answer that may be called unknown.
UNKNOWN = 0.1
RIDGE = 0.003
#: Of the most words of the reference that a sentence of the evidence has, what a right one has.
NEARLY = 0.6

Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A question with what is seen of the sentences that were read.

    Attributes:
        right, evidence, stale: by sentence.
        answerable: whether it has an answer.
    """

    data_set: str
    group: str
    seen: Seen
    right: Marks
    evidence: Marks
    stale: Marks
    answerable: bool


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it is put to a memory."""

    text: str
    at: datetime | None
    evidence: frozenset[str]
    stale: frozenset[str]
    reference: str
    answerable: bool


def put(memory: SlotMemory, data_set: str, group: str, asked: Put) -> Case | None:
    """Put a question; None where nothing is read."""
    question = Question(asked.text, asked.at, memory.read(asked.text, at=asked.at))
    found = sentences_read(question)
    if not found:
        return None
    evidence = np.array([one.evidence.source_id in asked.evidence for one in found])
    evidence &= asked.answerable
    reference = set(content_terms(asked.reference))
    told = np.array([len(reference.intersection(content_terms(one.text))) for one in found])
    most = told[evidence].max(initial=0)
    right = evidence & (told >= NEARLY * most)
    stale = np.array([one.evidence.source_id in asked.stale for one in found])
    what = seen(question, found, default_encoder())
    return Case(data_set, group, what, right, evidence, stale, asked.answerable)


def asked_of(row: dict[str, Any]) -> Put:
    return Put(
        text=row["question"],
        at=datetime.fromisoformat(row["at"]),
        evidence=frozenset(row["evidence"]),
        stale=frozenset(row.get("stale") or ()),
        reference=row["reference"],
        answerable=row["answerable"],
    )


def put_of(probe: Probe) -> Put:
    return Put(
        text=probe.question,
        at=probe.at,
        evidence=frozenset(probe.evidence),
        stale=frozenset(),
        reference=probe.reference,
        answerable=probe.category not in NEVER,
    )


def of_chats(name: str, folder: Path) -> Iterator[Case]:
    for chat in chats.load(folder):
        memory = chat.remembered()
        for row in chats.read_rows(folder / f"{chat.name}_questions.jsonl"):
            case = put(memory, name, chat.name, asked_of(row))
            if case is not None:
                yield case


def of_short_memories(folder: Path) -> Iterator[Case]:
    """Put each question to three memories of a few turns, of which one can answer it.

    The second is of the same conversation, and the third of another one.
    """
    rng = random.Random(SEED)
    every = chats.load(folder)
    for nth, chat in enumerate(every):
        another = every[(nth + 1) % len(every)]
        for row in chats.read_rows(folder / f"{chat.name}_questions.jsonl"):
            if not row["answerable"]:
                continue
            asked = asked_of(row)
            needed = asked.evidence | asked.stale
            others = [turn for turn in chat.turns if turn.source_id not in needed]
            kept = [turn for turn in chat.turns if turn.source_id in needed]
            for turns, answerable in (
                ([*kept, *rng.sample(others, rng.randint(0, SHORT))], True),
                (rng.sample(others, rng.randint(1, SHORT)), False),
                (rng.sample(another.turns, rng.randint(1, SHORT)), False),
            ):
                memory = SlotMemory(clock=None)
                memory.ingest_many(sorted(turns, key=lambda turn: str(turn.at)))
                case = put(memory, "short", chat.name, replace(asked, answerable=answerable))
                if case is not None:
                    yield case


def of_dialogues(folder: Path) -> Iterator[Case]:
    for name, dialogues in load(folder).items():
        for dialogue in dialogues:
            memory = SlotMemory(clock=None)
            memory.ingest_many(dialogue.turns)
            for probe in dialogue.probes:
                case = put(memory, name, f"{name} {dialogue.name}", put_of(probe))
                if case is not None:
                    yield case


# Fitting


def fit_sentence(cases: Sequence[Case]) -> Floats:
    """Fit the weights of a softmax over the sentences of each reading."""
    told = [case for case in cases if case.right.any()]
    table = np.concatenate([case.seen.table for case in told])
    deviation = table.std(axis=0) + 1e-9
    table = table / deviation
    right = np.concatenate([case.right for case in told])
    lengths = [len(case.right) for case in told]
    starts = np.cumsum([0, *lengths[:-1]])
    of_case = np.repeat(np.arange(len(told)), lengths)
    counts = np.array([COUNTS[case.data_set] for case in told])
    counts /= counts.sum()

    def loss(found: Floats) -> tuple[float, Floats]:
        odds = table @ found
        odds -= np.maximum.reduceat(odds, starts)[of_case]
        mass = np.exp(odds)
        every = np.add.reduceat(mass, starts)
        hit = np.add.reduceat(mass * right, starts)
        value = counts @ (np.log(every) - np.log(hit)) + RIDGE * found @ found
        away = mass * counts[of_case] * (1 / every[of_case] - right / hit[of_case])
        return float(value), away @ table + 2 * RIDGE * found

    fitted: Floats = minimize(loss, np.zeros(len(SENTENCE)), jac=True, method="L-BFGS-B").x
    return fitted / deviation


def fit_odds(signals: Floats, is_so: Marks, counts: Floats) -> Odds:
    """Fit a logistic model of answers."""
    mean, deviation = signals.mean(axis=0), signals.std(axis=0) + 1e-9
    table = np.column_stack([np.ones(len(signals)), (signals - mean) / deviation])
    counts = counts / counts.sum()

    def loss(found: Floats) -> tuple[float, Floats]:
        odds = table @ found
        value = counts @ (np.logaddexp(0.0, odds) - is_so * odds) + RIDGE * found[1:] @ found[1:]
        away = counts * (expit(odds) - is_so)
        return float(value), away @ table + 2 * RIDGE * np.append(0.0, found[1:])

    fitted = minimize(loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B").x
    weights = fitted[1:] / deviation
    return Odds(round(float(fitted[0] - weights @ mean), 4), np.round(weights, 4))


NOTHING = Odds(0.0, np.zeros(len(ANSWER)))


def model_of(
    sentence: Floats,
    answerable: Odds = NOTHING,
    right: Odds = NOTHING,
    least: float = 0.0,
    known: float = 0.0,
) -> AnswerModel:
    return AnswerModel(np.round(sentence, 4), SHARE, answerable, right, least, known)


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What is answered by models; of each question, in order.

    Attributes:
        signals: shape (n, len(ANSWER)).
        right: whether the answer rests on evidence and on nothing outdated, shape (n,).
    """

    signals: Floats
    right: Marks
    answerable: Floats
    probability: Floats
    quoted: NDArray[np.intp]


def answered(cases: Sequence[Case], model_for: Callable[[Case], AnswerModel]) -> Answered:
    rows, right, answerable, probability, quoted = [], [], [], [], []
    for case in cases:
        model = model_for(case)
        among = range(len(case.right))
        chosen = model.choose(case.seen, among)
        odds = case.seen.table @ model.sentence
        first = chosen.places[0]
        share = float(odds[first] - np.logaddexp.reduce(odds))
        rows.append(case.seen.answer(first, share))
        places = list(chosen.places)
        right.append(bool(case.evidence[places].any() and not case.stale[places].any()))
        answerable.append(chosen.answerable)
        probability.append(chosen.probability)
        quoted.append(len(places))
    return Answered(*map(np.array, (rows, right, answerable, probability, quoted)))


def counts_of(cases: Sequence[Case]) -> Floats:
    """Return what each question counts: those without an answer as much as all others."""
    counts = np.array([COUNTS[case.data_set] for case in cases])
    answerable = np.array([case.answerable for case in cases])
    for part in (answerable, ~answerable):
        counts[part] /= counts[part].sum()
    return counts


def fit(cases: Sequence[Case], sentence_for: Callable[[Case], Floats]) -> AnswerModel:
    """Fit all; those of an answer to what models that did not see its dialogue would quote."""
    found = answered(cases, lambda case: model_of(sentence_for(case)))
    counts = counts_of(cases)
    has = np.array([case.answerable for case in cases])
    answerable = fit_odds(found.signals, has, counts)
    right = fit_odds(found.signals[has], found.right[has], counts[has])
    return model_of(fit_sentence(cases), answerable, right)


# Judging


def by_fold(cases: Sequence[Case]) -> tuple[dict[str, int], list[Floats]]:
    """Return the fold of each dialogue, and weights fitted to all other folds."""
    fold = {group: n % FOLDS for n, group in enumerate(sorted({case.group for case in cases}))}
    seen_by = [[case for case in cases if fold[case.group] != n] for n in range(FOLDS)]
    return fold, [fit_sentence(part) for part in seen_by]


def show(name: str, cases: Sequence[Case], found: Answered, model: AnswerModel) -> None:
    """Print how many answers are right, and which are withheld or not known."""
    has = np.array([case.answerable for case in cases])
    said = found.answerable >= model.least
    known = found.probability >= model.known
    auc = area(found.answerable[has], found.answerable[~has])
    print(
        f"{name}: {int((found.right & said)[has].sum())} of {int(has.sum())} right, "
        f"{found.quoted.mean():.1f} sentences; withheld {int((~said)[has].sum())}, not known "
        f"{int((~known)[has].sum())}; of {int((~has).sum())} without an answer withheld "
        f"{int((~said)[~has].sum())}, not known {int((~known)[~has].sum())}; area {auc or 0.5:.2f}"
    )


def as_stored(odds: Odds) -> dict[str, float]:
    return {"intercept": odds.intercept, **dict(zip(ANSWER, odds.weights.tolist(), strict=True))}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="as for fit_weights.py")
    parser.add_argument("--judge", type=Path, help="conversations that are not fitted to")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the parameters")
    given = parser.parse_args()
    cases = [
        *of_chats("chats", WRITTEN / "chats"),
        *of_short_memories(WRITTEN / "chats"),
        *of_chats("bilingual", WRITTEN / "bilingual"),
        *of_dialogues(given.data),
    ]
    print(f"{len(cases)} questions", file=sys.stderr)
    fold, unseen = by_fold(cases)

    def sentence_for(case: Case) -> Floats:
        return unseen[fold[case.group]]

    parts = [[case for case in cases if fold[case.group] != n] for n in range(FOLDS)]
    models = [fit(part, sentence_for) for part in parts]
    models = [replace(model, sentence=unseen[n]) for n, model in enumerate(models)]
    apart = answered(cases, lambda case: models[fold[case.group]])
    model = fit(cases, sentence_for)
    chatted = np.array([case.data_set in ("chats", "short", "bilingual") for case in cases])
    answerable = np.array([case.answerable for case in cases])
    told = answerable & chatted
    # Half of the least: memories of a few short sentences, which are not among the data, lie lower.
    least = float(apart.answerable[told].min()) / 2
    known = float(np.quantile(apart.probability[told], UNKNOWN))
    model = replace(model, least=round(least, 4), known=round(known, 4))
    for name in COUNTS:
        of_it = [n for n, case in enumerate(cases) if case.data_set == name]
        part = Answered(*(getattr(apart, f)[of_it] for f in Answered.__slots__))
        show(f"{name} (left out)", [cases[n] for n in of_it], part, model)
    if given.judge:
        judged = list(of_chats("chats", given.judge))
        show(f"{given.judge.name} (not fitted)", judged, answered(judged, lambda _: model), model)
    content = {
        "made_by": "benchmarks/fit_answers.py",
        "questions": len(cases),
        "sentence": dict(zip(SENTENCE, model.sentence.tolist(), strict=True)),
        "share": SHARE,
        "answerable": as_stored(model.answerable),
        "right": as_stored(model.right),
        "least": model.least,
        "known": model.known,
    }
    given.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
