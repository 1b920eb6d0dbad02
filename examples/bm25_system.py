"""Compare a retriever of your own with DeMem: bm25_system.py [TURNS.jsonl QUESTIONS.jsonl]"""

import sys
from collections.abc import Sequence
from pathlib import Path

from demem_agent.evaluate import BASELINES, evaluate, load_own, report
from demem_agent.turns import Turn

try:
    from rank_bm25 import BM25Okapi
except ImportError:
    sys.exit("This example compares with rank_bm25, which is not installed: pip install rank_bm25")
EXAMPLES = Path(__file__).parent
LIMITS = [250, 500, 1000]


class PlainBM25:
    """A system as ``evaluate`` takes it: it is told turns, and read for a question."""

    def ingest(self, turns: Sequence[Turn]) -> None:
        self.lines = [f"{turn.speaker}: {turn.text}" for turn in turns]
        self.index = BM25Okapi([line.lower().split() for line in self.lines])

    def read(self, query: str, limit: int, at: object = None) -> str:
        text = ""
        for line in self.index.get_top_n(query.lower().split(), self.lines, n=len(self.lines)):
            if len(text) + len(line) + 1 <= limit:
                text += line + "\n"
        return text


if __name__ == "__main__":
    ours = [EXAMPLES / "support_chat.jsonl", EXAMPLES / "support_chat_questions.jsonl"]
    files = sys.argv[1:] or ours
    systems = {"rank_bm25": PlainBM25, "demem": BASELINES["demem"]}
    print("evidence recall at", *(f"{limit:>6}" for limit in LIMITS))
    for name, cells in report(evaluate([load_own(*files)], systems, LIMITS))["systems"].items():
        print(f"{name:<18}", *(f"{cells[str(n)]['recall']['mean']:>6.3f}" for n in LIMITS))
