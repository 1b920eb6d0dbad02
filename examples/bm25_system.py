"""Compare a retriever of your own with DeMem: bm25_system.py [TURNS.jsonl QUESTIONS.jsonl]"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from demem_agent.evaluate import BASELINES, evaluate, load_own, report
from demem_agent.turns import Turn

try:
    from rank_bm25 import BM25Okapi
except ImportError:
    sys.exit("This example compares with rank_bm25, which is not installed: pip install rank_bm25")


class PlainBM25:
    """A system as ``evaluate`` takes it: it is told turns, and read for a question."""

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Index the turns."""
        self.lines = [f"{turn.speaker}: {turn.text}" for turn in turns]
        self.index = BM25Okapi([line.lower().split() for line in self.lines])

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return the best lines, as many of them as fit."""
        text = ""
        for line in self.index.get_top_n(query.lower().split(), self.lines, n=len(self.lines)):
            if len(text) + len(line) + 1 <= limit:
                text += line + "\n"
        return text


if __name__ == "__main__":
    here = Path(__file__).parent
    files = sys.argv[1:] or [here / "support_chat.jsonl", here / "support_chat_questions.jsonl"]
    systems = {"rank_bm25": PlainBM25, "demem": BASELINES["demem"]}
    limits = [250, 500, 1000]
    found = report(evaluate([load_own(*files)], systems, limits))
    print("evidence recall at", *(f"{limit:>6}" for limit in limits))
    for name, cells in found["systems"].items():
        means = [cells[str(limit)]["recall"]["mean"] for limit in limits]
        print(f"{name:<18}", *(f"{mean:>6.3f}" for mean in means))
