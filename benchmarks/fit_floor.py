"""Fit the floor of a reading: how far behind the best passage one may score and still be evidence.

    pip install demem-agent scipy
    python benchmarks/fit_floor.py --data FOLDER [--out floor.json]

FOLDER is that of ``fit_weights.py``, whose result, ``weights.json``, must be made before this is.
Some three minutes.

Every question with evidence is asked of the memory of its dialogue, and of a small memory of the
sessions that hold its evidence, since most memories begin small. Of the passages that would fill
7,000 characters, a logistic model tells by their distance to the best one whether they hold some of
a gold turn. Every data set has the same weight, half of it for small memories.

The tables show what a floor would cost in share of the gold turns, and how many characters it
saves, for dialogues left out of this fit (five folds), though not of that of the weights, at 2,000
and 6,000 characters; what is saved is not filled up. The default of ``Settings.floor`` is the
largest of those tried that costs no data set more than .002 of the share at either limit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from fit_adequacy import fingerprint
from fit_weights import FOLDS, WITHOUT_EVIDENCE, Floats, asked, load
from scipy.optimize import minimize
from scipy.special import expit

from demem_agent import SlotMemory
from demem_agent.evaluate import Dialogue, Probe
from demem_agent.evaluate.metrics import Gold
from demem_agent.scoring import Floor, default_weights
from demem_agent.scoring.forms import FILLER
from demem_agent.settings import Settings
from demem_agent.slots.routing import slot_ranking
from demem_agent.text.quoting.saying import said
from demem_agent.turns import Turn

SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "scoring" / "floor.json"
LIMITS = (2000, 6000)
#: Characters of passages that are looked at, best first.
REACH = 7000
#: Characters that a passage takes besides what is said.
OVERHEAD = 8
FLOORS = (0.0005, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.01, 0.02)
MOST_LOST = 0.002


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of one memory, and the passages that it ranks first, each array of shape (n,).

    Attributes:
        behind: points of the score behind the best passage that is no filler.
        cost: characters that each takes; before: those that it and all before it take.
        gold: share of the question's gold that each holds.
    """

    data_set: str
    fold: int
    small: bool
    behind: Floats
    cost: Floats
    before: Floats
    gold: Floats


def questions(folder: Path) -> Iterator[Asked]:
    """Ask every question with evidence, of the memory of its dialogue and of a small one."""
    for name, dialogues in load(folder).items():
        for number, dialogue in enumerate(dialogues):
            turns = {turn.source_id: turn for turn in dialogue.turns}
            whole = _told(dialogue.turns)
            for probe in _counting(dialogue):
                fold = number % FOLDS
                yield _asked(name, fold, whole, probe, turns, small=False)
                sessions = {turns[id].session for id in probe.evidence}
                part = _told(turn for turn in dialogue.turns if turn.session in sessions)
                yield _asked(name, fold, part, probe, turns, small=True)
            print(name, dialogue.name, end="\r", file=sys.stderr)


def _counting(dialogue: Dialogue) -> list[Probe]:
    return [p for p in dialogue.probes if p.evidence and p.category not in WITHOUT_EVIDENCE]


def _told(turns: Iterator[Turn] | tuple[Turn, ...]) -> SlotMemory:
    memory = SlotMemory()
    memory.ingest_many(turns)
    return memory


def _asked(
    name: str,
    fold: int,
    memory: SlotMemory,
    probe: Probe,
    turns: Mapping[str | None, Turn],
    *,
    small: bool,
) -> Asked:
    state = memory._held.state
    index = state.passage_index()
    _, ranking = slot_ranking(state, asked(probe))
    assert ranking is not None
    gold = {id: Gold.of(turns[id]).grams for id in probe.evidence}
    gold = {id: grams for id, grams in gold.items() if grams}
    cost: list[int] = []
    shares: list[float] = []
    for row in ranking.rows.tolist():
        passage = index.passages[row]
        item = state.evidence[passage.evidence_id]
        cost.append(len(said(item, passage.start, passage.end)) + OVERHEAD)
        share = 0.0
        if item.source_id in gold:
            whole = gold[item.source_id]
            grams = Gold.of(Turn(item.text[passage.start : passage.end])).grams
            share = len(grams & whole) / len(whole) / len(gold)
        shares.append(share)
        if sum(cost) > REACH:
            break
    told = index.kind.view()[ranking.rows] != FILLER
    behind = ranking.scores[told].max() - ranking.scores[: len(cost)]
    return Asked(
        name,
        fold,
        small,
        np.maximum(behind, 0.0),
        np.array(cost, float),
        np.cumsum(cost).astype(float),
        np.array(shares),
    )


def fit(found: list[Asked]) -> Floor:
    """Fit the model to some questions."""
    count: dict[tuple[str, bool], int] = {}
    for one in found:
        count[one.data_set, one.small] = count.get((one.data_set, one.small), 0) + 1
    behind = np.concatenate([one.behind for one in found])
    is_gold = np.concatenate([one.gold for one in found]) > 0
    parts = [np.full(len(one.gold), 1 / count[one.data_set, one.small]) for one in found]
    weight = np.concatenate(parts)

    def loss(model: Floats) -> tuple[float, Floats]:
        odds = model[0] - model[1] * behind
        away = weight * (expit(odds) - is_gold)
        value = float(weight @ (np.logaddexp(0, odds) - is_gold * odds))
        return value, np.array([away.sum(), -(away @ behind)])

    intercept, slope = minimize(loss, np.array([0.0, 0.3]), jac=True).x
    return Floor(float(intercept), float(slope))


def costs(found: list[Asked], models: Mapping[int, Floor], floor: float, limit: int) -> Floats:
    """Return the share of gold that a floor loses and the share of characters that it saves."""
    lost, saved, size = 0.0, 0.0, 0.0
    for one in found:
        is_read = one.before <= limit
        is_low = one.behind > models[one.fold].distance(floor)
        lost += float(one.gold[is_read & is_low].sum())
        saved += float(one.cost[is_read & is_low].sum())
        size += float(one.cost[is_read].sum())
    return np.array([lost / len(found), saved / size])


def show(found: list[Asked], models: Mapping[int, Floor]) -> float:
    """Print what floors cost and save; return the default that follows."""
    chosen = 0.0
    sets = list(dict.fromkeys(one.data_set for one in found))
    names = [f"{name}{small}" for small in ("", ", small") for name in sets]
    print(f"| floor | {' | '.join(names)} | all |\n|---|{'---|' * (len(names) + 1)}")
    for floor in FLOORS:
        cells = []
        lost = []
        for small in (False, True):
            for name in sets:
                part = [one for one in found if one.data_set == name and one.small == small]
                cells.append(_cell(part, models, floor))
                lost += [costs(part, models, floor, limit)[0] for limit in LIMITS]
        cells.append(_cell(found, models, floor))
        print(f"| {floor} | {' | '.join(cells)} |")
        if max(lost) <= MOST_LOST:
            chosen = floor
    return chosen


def _cell(part: list[Asked], models: Mapping[int, Floor], floor: float) -> str:
    figures = [costs(part, models, floor, limit) for limit in LIMITS]
    lost = " / ".join(f"{one[0]:.4f}".lstrip("0") for one in figures)
    saved = " / ".join(f"{100 * one[1]:.1f}" for one in figures)
    return f"-{lost}, {saved} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the parameters")
    given = parser.parse_args()
    found = list(questions(given.data))
    models = {n: fit([one for one in found if one.fold != n]) for n in range(FOLDS)}
    chosen = show(found, models)
    print(f"\nThe default should be {chosen}; it is {Settings().floor}.")
    model = fit(found)
    content = {
        "made_by": "benchmarks/fit_floor.py",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "score_weights": fingerprint(default_weights()),
        "questions": len(found),
        "intercept": round(model.intercept, 4),
        "slope": round(model.slope, 4),
    }
    given.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(content, indent=2))


if __name__ == "__main__":
    main()
