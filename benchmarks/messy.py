"""Measure how much of a short reading of a messy chat is chatter.

    python benchmarks/messy.py [--chat seen|judged] [--show]

The two chats are hand-written (messy/*.txt): some 200 messages of three people over months, most of
which tell nothing ("lol", "see ya"). A line "*name Who: words" is what a question asks for, "- Who:
words" is chatter, any other tells something that is not asked for. "seen" was looked at while
readings were worked on, "judged" was not: its figures are those to believe.

Shown by limit: questions whose line is read, and the shares of the characters of lines that are
that line and chatter.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from demem_agent import SlotMemory, Turn
from demem_agent.types import Reading

FOLDER = Path(__file__).with_suffix("")
LIMITS = (300, 500, 1000, 2000)
_LINE = re.compile(r"(?:(?P<chatter>-) |\*(?P<name>\w+) )?(?P<who>\w+): (?P<words>.+)")


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat, and what is asked of it.

    Attributes:
        turns: in order; the ``source_id`` of one is its name, "-" and a number, or a number.
        questions: each with the name of the turn that answers it.
    """

    turns: list[Turn]
    questions: list[tuple[str, str]]


@dataclass(slots=True)
class Found:
    """What the readings of one limit hold: questions found, and characters."""

    found: int = 0
    gold: int = 0
    chatter: int = 0
    size: int = 0


def main() -> None:
    """Read both chats, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chat", choices=("seen", "judged"), help="one of them alone")
    parser.add_argument("--show", action="store_true", help="print the readings of 500 as well")
    given = parser.parse_args()
    print("| chat | limit | found | that line | chatter |\n|---|---|---|---|---|")
    for name in [given.chat] if given.chat else ["seen", "judged"]:
        chat = load(FOLDER / f"{name}.txt")
        for limit, found in measured(chat, show=given.show).items():
            shares = f"{found.gold / found.size:.3f} | {found.chatter / found.size:.3f}"
            print(f"| {name} | {limit} | {found.found} of {len(chat.questions)} | {shares} |")


def load(path: Path) -> Chat:
    """Read a chat."""
    turns: list[Turn] = []
    questions: list[tuple[str, str]] = []
    day = ""
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        if line.startswith("## "):
            day = line[3:]
        elif line.startswith("?? "):
            question, _, name = line[3:].partition(" | ")
            questions.append((question, name))
        else:
            told = _LINE.fullmatch(line)
            assert told is not None, line
            id = told["name"] or f"{told['chatter'] or ''}{n}"
            turns.append(Turn(told["words"], told["who"], day, session=day, source_id=id))
    return Chat(turns, questions)


def measured(chat: Chat, *, show: bool = False) -> dict[int, Found]:
    """Ask all questions at all limits."""
    memory = SlotMemory(clock=None)
    memory.ingest_many(chat.turns)
    found = {limit: Found() for limit in LIMITS}
    for question, name in chat.questions:
        for limit, sums in found.items():
            reading = memory.read(question, limit=limit)
            if show and limit == 500:
                print(question, reading.text, sep="\n")
            for id, size in lines_of(reading):
                sums.size += size
                sums.found += id == name
                sums.gold += size * (id == name)
                sums.chatter += size * id.startswith("-")
    return found


def lines_of(reading: Reading) -> Iterator[tuple[str, int]]:
    """Yield the id of each line's turn and the characters that it takes, without its header."""
    for line in reading.lines:
        speaker = line.evidence.speaker or ""
        yield line.evidence.source_id or "", len(f"- {speaker}: {line.text}\n")


if __name__ == "__main__":
    main()
