"""Measure how well memories in other languages than English are read: python
benchmarks/languages.py [--encoder NAME] [--across] [--misses] [--json]

Each file of ``benchmarks/languages`` holds two small memories in one language, with ten questions
each; for every question the number of the one line that answers it is beside it. One of the two,
``development``, was looked at while the rules were made; ``held_out`` was not. Around the fifteen
lines of a memory stand small talk in the same language and in English. What is counted is for how
many questions the right line is among the three of the highest score.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from demem_agent import SlotMemory, Turn
from demem_agent.types import Line

FOLDER = Path(__file__).parent / "languages"
PARTS = ("development", "held_out")
#: How many of the best lines count.
FIRST = 3
LIMIT = 6000
BEGIN = datetime(2024, 5, 6, 9, 0)
SMALL_TALK = (
    "Hey, how is it going?",
    "Pretty good, thanks! And you?",
    "I'm so tired today, too many meetings.",
    "Let me know when you are free for a call.",
    "Sure, sounds like a plan!",
    "Haha, that's hilarious.",
    "Did you watch the game last night?",
    "No, I fell asleep on the couch.",
    "I really need a vacation.",
    "Tell me about it!",
    "The coffee machine at work is amazing.",
    "Okay, talk to you soon, take care!",
)


@dataclass(frozen=True, slots=True)
class Talk:
    """One small memory in a language, and what is asked of it."""

    lines: list[tuple[str, str]]
    questions: list[tuple[str, int]]
    fillers: list[tuple[str, str]]


def main() -> None:
    """Ask every question of every language, and print how many were read right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--encoder", metavar="NAME", help="a sentence-transformers or model2vec one"
    )
    parser.add_argument("--across", action="store_true", help="ask of the English lines instead")
    parser.add_argument("--misses", action="store_true", help="name what development missed")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    encoder = _encoder(given.encoder)
    rows = list(measured(encoder, across=given.across, misses=given.misses))
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"right line among the first {FIRST}, of 10 questions each")
    print(f"{'':<12}{'development':>12}{'held out':>10}")
    for row in rows:
        print(f"{row['language']:<12}{row['development']:>12}{row['held_out']:>10}")


def measured(encoder: Any, *, across: bool, misses: bool) -> Iterator[dict[str, Any]]:
    """Yield a row for each language."""
    english = _load("en")
    for path in sorted(FOLDER.glob("*.json")):
        talks = _load(path.stem)
        row: dict[str, Any] = {"language": json.loads(path.read_text("utf-8"))["language"]}
        for part in PARTS:
            told = english[part] if across else talks[part]
            memory = remembered(told, encoder)
            row[part] = _right(memory, told, talks[part], misses and part == "development")
        yield row


def _right(memory: SlotMemory, told: Talk, asked: Talk, misses: bool) -> int:
    """Count the questions whose line is among the first."""
    right = 0
    for question, line in asked.questions:
        first = best(memory.read(question, limit=LIMIT).lines)
        texts = [found.evidence.text for found in first]
        found = told.lines[line][1] in texts
        right += found
        if misses and not found:
            print(f"missed: {question}\n  line: {told.lines[line][1]}\n  read: {texts}")
    return right


def best(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of the highest score."""
    return sorted(lines, key=lambda line: -line.score)[:FIRST]


def remembered(talk: Talk, encoder: Any) -> SlotMemory:
    """Return a memory of a talk, its lines among small talk in an order that never changes."""
    memory = SlotMemory() if encoder is None else SlotMemory(encoder=encoder)
    names = list(dict.fromkeys(name for name, _ in talk.lines))
    said = [*talk.lines, *talk.fillers]
    said += [(names[n % len(names)], text) for n, text in enumerate(SMALL_TALK)]
    random.Random(0).shuffle(said)
    turns = []
    for n, (name, text) in enumerate(said):
        at = BEGIN + timedelta(hours=7 * n)
        turns.append(Turn(text, speaker=name, at=at, session="talk"))
    memory.ingest_many(turns)
    return memory


def _load(code: str) -> dict[str, Talk]:
    data = json.loads((FOLDER / f"{code}.json").read_text("utf-8"))
    talks = {}
    for part in PARTS:
        lines = [tuple(line) for line in data[part]["lines"]]
        questions = [tuple(question) for question in data[part]["questions"]]
        fillers = [(name, text) for name, text in data["fillers"]]
        talks[part] = Talk(lines, questions, fillers)
    return talks


def _encoder(name: str | None) -> Any:
    """Load an encoder by its name; None is the one that ships with DeMem."""
    if name is None:
        return None
    from demem_agent.encoders import load_encoder

    return load_encoder(name)


if __name__ == "__main__":
    main()
