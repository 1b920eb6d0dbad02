"""What it costs readings that a vector of a passage is kept in a byte a number.

    python benchmarks/reliability/rounding.py --data FOLDER [--sample N]

FOLDER is laid out as ``fit_weights.py`` says. Each dialogue is remembered twice, once with vectors
as they are kept and once with those of the encoder as they come. Then every question with evidence
is asked of both. The table has the share of the gold turns' 4-grams in the text of both, how many
readings differ in any character, and how many answers do.

Leaves with 1 where the share of a data set differs by more than .002 at any limit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

sys.path.append(str(Path(__file__).parents[1]))

from duplicates import LIMITS, counts, load

from demem_agent import SlotMemory
from demem_agent.evaluate import Dialogue, recall
from demem_agent.scoring.directions import rounded

#: How far the share may differ.
MOST = 0.002


@dataclass(slots=True)
class Compared:
    """What the readings of one data set come to at one limit.

    Attributes:
        kept, exact: the share of the gold turns' 4-grams, of each question.
        texts: readings that differ.
    """

    kept: list[float] = field(default_factory=list)
    exact: list[float] = field(default_factory=list)
    texts: int = 0

    @property
    def difference(self) -> float:
        """The mean share with vectors as they are kept, less that with exact ones."""
        return (sum(self.kept) - sum(self.exact)) / max(len(self.kept), 1)


def remembered(dialogue: Dialogue, *, exact: bool) -> SlotMemory:
    """Return a memory of a dialogue, with the vectors that the encoder gave if they are exact."""
    memory = SlotMemory()
    with patch("demem_agent.flows.encode.rounded", _as_it_is if exact else rounded):
        memory.ingest_many(dialogue.turns)
    return memory


def _as_it_is(vectors: object) -> object:
    return vectors


def compared(dialogues: Iterable[Dialogue]) -> tuple[dict[int, Compared], list[int]]:
    """Ask both memories of each dialogue; return what came of it by limit, and how many answers
    were compared and differ.
    """
    found = {limit: Compared() for limit in LIMITS}
    answers = [0, 0]
    for dialogue in dialogues:
        kept, exact = (remembered(dialogue, exact=exact) for exact in (False, True))
        turns = {turn.source_id: turn for turn in dialogue.turns}
        for probe in dialogue.probes:
            if not counts(probe):
                continue
            gold = [turns[id] for id in probe.evidence]
            for limit, tally in found.items():
                one, other = (
                    memory.read(probe.question, limit=limit, at=probe.at).text
                    for memory in (kept, exact)
                )
                tally.kept.append(recall(one, gold))
                tally.exact.append(recall(other, gold))
                tally.texts += one != other
            said = [memory.answer(probe.question, at=probe.at).text for memory in (kept, exact)]
            answers[0] += 1
            answers[1] += said[0] != said[1]
        print(dialogue.name, end="\r", file=sys.stderr)
    return found, answers


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--sample", type=int, help="dialogues of each data set; all by default")
    return parser.parse_args()


def main() -> None:
    """Compare all data sets, and print the table."""
    given = options()
    print("| data | limit | share, as kept | share, exact | texts that differ | answers |")
    print("|---|---|---|---|---|---|")
    is_missed = False
    for name, dialogues in load(given.data):
        if not dialogues:
            print(f"{given.data} holds no {name}", file=sys.stderr)
            continue
        asked_of = [one for one in dialogues if any(map(counts, one.probes))]
        found, (asked, differing) = compared(asked_of[: given.sample])
        for limit, tally in found.items():
            count = len(tally.kept)
            kept, exact = sum(tally.kept) / count, sum(tally.exact) / count
            told = f"{tally.texts} of {count} | {differing} of {asked}"
            print(f"| {name} | {limit:,} | {kept:.4f} | {exact:.4f} | {told} |", flush=True)
            is_missed |= abs(tally.difference) > MOST
    sys.exit(is_missed)


if __name__ == "__main__":
    main()
