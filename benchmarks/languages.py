"""Measure how well memories in other languages than English are read: python
benchmarks/languages.py [--first N] [--encoder NAME] [--across | --in-english | --reworded]
[--misses] [--json]

Each file of ``benchmarks/languages`` holds up to three small memories in one language, with ten
questions each; for every question the number of the one line that answers it is beside it.
``development`` was looked at while the rules were made; ``held_out`` and ``one_speaker`` were not,
and the latter was written when they were done: there one user says everything, and asks in other
words. Around the fifteen lines of a memory stand small talk in the same language and in English.
What is counted is for how many questions the right line is among the three of the highest score.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from demem_agent import SlotMemory, Turn
from demem_agent.encoders import load_encoder

FOLDER = Path(__file__).parent / "languages"
REWORDED = FOLDER.parent / "written" / "reworded.jsonl"
PARTS = ("development", "held_out", "one_speaker")
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
    parser.add_argument("--first", type=int, default=FIRST, help="how many of the lines count")
    parser.add_argument(
        "--encoder", metavar="NAME", help="a sentence-transformers or model2vec one"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--across", action="store_true", help="ask of the English lines instead")
    asked.add_argument("--in-english", action="store_true", help="ask in English instead")
    asked.add_argument(
        "--reworded", action="store_true", help="ask in words that the line does not have"
    )
    parser.add_argument("--misses", action="store_true", help="name what development missed")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    encoder = _encoder(given.encoder)
    if given.reworded:
        for language, right, count in reworded(encoder, given.first):
            print(f"{language:<12} {right:>3} of {count}, or {10 * right / count:.1f} of 10")
        return
    rows = list(
        measured(
            encoder,
            given.first,
            across=given.across,
            in_english=given.in_english,
            misses=given.misses,
        )
    )
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"right line among the first {given.first}, of 10 questions each")
    print(f"{'':<12}", *(f"{part.replace('_', ' '):>12}" for part in PARTS))
    for row in rows:
        print(f"{row['language']:<12}", *(f"{row.get(part, '-'):>12}" for part in PARTS))


def measured(
    encoder: Any,
    first: int = FIRST,
    *,
    across: bool = False,
    in_english: bool = False,
    misses: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each language: how many questions of each part were read right."""
    english = _load("en")
    for path in sorted(FOLDER.glob("*.json")):
        talks = _load(path.stem)
        row: dict[str, Any] = {"language": json.loads(path.read_text("utf-8"))["language"]}
        for part in talks:
            told = english[part] if across else talks[part]
            memory = remembered(told, encoder)
            found = [
                _is_read(memory, question, told.lines[line][1], first)
                for question, line in (english if in_english else talks)[part].questions
            ]
            row[part] = sum(found)
            if misses and part == "development":
                _name_misses(talks[part].questions, found)
        yield row


def reworded(encoder: Any, first: int = FIRST) -> Iterator[tuple[str, int, int]]:
    """Yield for each language how many questions were read right that share no word with the line,
    and how many there are.
    """
    rows = [json.loads(line) for line in REWORDED.read_text("utf-8").splitlines()]
    for language in dict.fromkeys(row["language"] for row in rows):
        own = [row for row in rows if row["language"] == language]
        memory = remembered(Talk([(row["speaker"], row["fact"]) for row in own], [], []), encoder)
        found = [_is_read(memory, row["question"], row["fact"], first) for row in own]
        yield language, sum(found), len(found)


def _is_read(memory: SlotMemory, question: str, answer: str, first: int) -> bool:
    """Whether a line is among the first few for a question."""
    lines = memory.read(question, limit=LIMIT).lines
    best = sorted(lines, key=lambda line: -line.score)[:first]
    return answer in [line.evidence.text for line in best]


def _name_misses(questions: list[tuple[str, int]], found: list[bool]) -> None:
    for (question, _), is_read in zip(questions, found, strict=True):
        if not is_read:
            print(f"missed: {question}")


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
        if part not in data:
            continue
        lines = [tuple(line) for line in data[part]["lines"]]
        questions = [tuple(question) for question in data[part]["questions"]]
        names = list(dict.fromkeys(name for name, _ in lines))
        texts = [text for _, text in data["fillers"]]
        fillers = [(names[n % len(names)], text) for n, text in enumerate(texts)]
        talks[part] = Talk(lines, questions, fillers)
    return talks


def _encoder(name: str | None) -> Any:
    """Load an encoder by its name; None is the one that ships with DeMem."""
    return None if name is None else load_encoder(name)


if __name__ == "__main__":
    main()
