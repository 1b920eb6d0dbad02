"""What a model of one's own answers, beside the quoted answer: token F1 on LoCoMo.

    python benchmarks/model_answers.py --data locomo.json --base-url http://127.0.0.1:11434/v1 \
        [--model NAME] [--each 15] [--limit 1000]

As many questions of each category as ``--each`` says are drawn by a seed. Both answer from readings
of ``--limit`` characters; a reply of the model that cannot be used counts as no answer. The
difference is paired, with a bootstrap interval of 95 %. Some ten seconds a question with a model of
half a billion parameters on one core.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from demem_agent import SlotMemory
from demem_agent.cli.chat.local import found_model
from demem_agent.errors import ModelError
from demem_agent.evaluate import Dialogue, Probe, load_locomo
from demem_agent.evaluate.metrics import answer_f1
from demem_agent.llms import ModelAnswerer, OpenAIChat

SEED, RESAMPLES = 7, 2_000


def drawn(dialogues: list[Dialogue], each: int) -> Iterator[tuple[Dialogue, list[Probe]]]:
    """Yield dialogues with their questions, as many of each category that have evidence."""
    by_category: dict[str, list[tuple[int, Probe]]] = {}
    for n, dialogue in enumerate(dialogues):
        for probe in dialogue.probes:
            if probe.evidence and probe.category != "adversarial":
                by_category.setdefault(probe.category, []).append((n, probe))
    chance = random.Random(SEED)
    chosen: list[tuple[int, Probe]] = []
    for category in sorted(by_category):
        chosen += chance.sample(by_category[category], each)
    for n, dialogue in enumerate(dialogues):
        yield dialogue, [probe for of, probe in chosen if of == n]


def marks(
    dialogue: Dialogue, probes: list[Probe], model: OpenAIChat, limit: int
) -> Iterator[tuple[float, float]]:
    """Yield the F1 of the model's answer and of the quoted one, for each question."""
    answerer = ModelAnswerer(model, fall_back=False)
    asked = SlotMemory(clock=None, read_limit=limit, answerer=answerer)
    quoting = SlotMemory(clock=None, read_limit=limit)
    for memory in (asked, quoting):
        memory.ingest_many(dialogue.turns)
    for probe in probes:
        try:
            text = asked.answer(probe.question, at=probe.at).text
        except ModelError:
            text = ""
        quoted = quoting.answer(probe.question, at=probe.at).text
        yield answer_f1(text, probe.reference), answer_f1(quoted, probe.reference)
        print(f"{probe.question[:60]:60}", end="\r", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="a file of LoCoMo")
    parser.add_argument("--base-url", required=True, help="of a server, up to /v1")
    parser.add_argument("--model", help="its name; the first that the server offers, if left out")
    parser.add_argument("--each", type=int, default=15, help="questions of each category")
    parser.add_argument("--limit", type=int, default=1000, help="characters of a reading")
    given = parser.parse_args()
    name = given.model or found_model(given.base_url)[0]
    model = OpenAIChat(name, base_url=given.base_url, api_key="none")
    found = [
        pair
        for dialogue, probes in drawn(load_locomo(given.data), given.each)
        for pair in marks(dialogue, probes, model, given.limit)
    ]
    f1 = np.array(found)
    difference = f1[:, 0] - f1[:, 1]
    draws = np.random.default_rng(SEED).integers(0, len(f1), (RESAMPLES, len(f1)))
    low, high = np.quantile(difference[draws].mean(axis=1), (0.025, 0.975))
    print("| questions | by the model | quoted | difference |\n|---|---|---|---|")
    by_model, quoted = f1.mean(axis=0)
    print(
        f"| {len(f1)} | {by_model:.3f} | {quoted:.3f} "
        f"| {difference.mean():+.3f} [{low:+.3f}, {high:+.3f}] |"
    )


if __name__ == "__main__":
    main()
