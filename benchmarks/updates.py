"""Measure whether a corrected fact is read: python benchmarks/updates.py --data
core_memory_update.jsonl [--json]

Each record has facts, a later one that contradicts one of them, a question, and the answer that
holds since. All facts are remembered; the question is answered; one feedback tells the new answer,
as a ``correction`` (which is remembered) or as a ``reference`` (which is not). Then the reading of
500 characters is looked at: does it hold the new answer? The question is asked as before and in
other words (its words in alphabetical order, so that nothing but they match).

What a memory does unaided, before any feedback, is counted as well: does the reading hold the new
answer, and does the fact that tells it score higher than those that it contradicts?
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from demem_agent import SlotMemory
from demem_agent.evaluate import contains
from demem_agent.evaluate.data.letta import Update, load_letta
from demem_agent.types import Reading

LIMIT = 500
CHANNELS = ("correction", "reference")


def main() -> None:
    """Correct each fact in each channel, and print what is read afterwards."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a Letta core_memory_update file")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    updates = load_letta(given.data)
    rows = [measured(updates, channel) for channel in CHANNELS]
    alone = unaided(given.data)
    if given.json:
        print(json.dumps([alone, *rows], indent=1))
        return
    print(f"{len(updates)} records; readings of {LIMIT} characters that hold the new answer")
    for name in rows[0]:
        print(f"{name:<28}", *(f"{row[name]:>12}" for row in rows))
    print("before any feedback")
    for name, count in alone.items():
        print(f"{name:<28} {count:>12}")


def unaided(path: Path) -> dict[str, int]:
    """Count over all records of a file what is read before any feedback."""
    total: Counter[str] = Counter()
    for update in load_letta(path):
        memory = SlotMemory(clock=None)
        memory.ingest_many([*update.facts, update.correction])
        reading = memory.read(update.question, limit=LIMIT)
        total["records"] += 1
        total["new answer held"] += contains(reading.text, update.new)
        total["new above old"] += _above(reading, update)
    return dict(total)


def _above(reading: Reading, update: Update) -> bool:
    """Whether the new fact is read, and scores higher than every fact that it contradicts."""
    scores: dict[str | None, float] = {}
    for line in reading.lines:
        source = line.evidence.source_id
        scores[source] = max(scores.get(source, line.score), line.score)
    new = scores.get(update.correction.source_id)
    if new is None:
        return False
    old = [scores[source] for source in update.supporting if source in scores]
    return all(new > score for score in old)


def measured(updates: Sequence[Update], channel: str) -> dict[str, object]:
    """Count over all records what one feedback by a channel does."""
    found = [learned(update, channel) for update in updates]
    total: Counter[str] = Counter()
    for one in found:
        total.update(one)
    return {"feedback by": channel} | {name: total[name] for name in found[0]}


def learned(update: Update, channel: str) -> dict[str, bool]:
    """Tell a memory of a correction, and return what it reads before and after."""
    memory = SlotMemory(clock=None)
    memory.ingest_many([*update.facts, update.correction])
    before = holds(memory, update.question, update.new)
    answer = memory.answer(update.question)
    told = {channel: update.new}
    memory.feedback(answer, **told)  # type: ignore[arg-type]  # a column of the table
    texts = {item.text for item in memory.evidence()}
    needed = memory.contexts()[0].supports
    memory.check()
    return {
        "before feedback": before,
        "after": holds(memory, update.question, update.new),
        "answered so after": contains(memory.answer(update.question).text, update.new),
        "after, in other words": holds(
            memory, " ".join(sorted(update.question.split())), update.new
        ),
        "old facts still held": all(fact.text in texts for fact in update.facts),
        "context says what it needs": bool(needed),
    }


def holds(memory: SlotMemory, question: str, answer: str) -> bool:
    """Whether a reading for a question holds an answer."""
    return contains(memory.read(question, limit=LIMIT).text, answer)


if __name__ == "__main__":
    main()
