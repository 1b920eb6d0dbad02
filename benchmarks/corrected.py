"""Is a correction given where the same is asked in other words, and nowhere else?

    pip install demem-agent
    python benchmarks/corrected.py [--data FOLDER] [--asker] [--show] [--json]

The 64 corrections of ``corrected.json`` beside this file, in six languages: a line that is wrong,
lines of what is near it (another person, another attribute, a former value), the question, the
correction, three questions that ask the same in other words and three that ask something else; of
one half also two that ask for a thing of which nothing was told. That half was looked at while the
rules were made; the other was written before them and only ever counted. All lines of a half stand
among 400 turns of a LoCoMo dialogue, where FOLDER has ``locomo/*.json``, in one memory; all its
questions are asked and corrected, every other with a reward of 0, before anything is counted.

* ``asked again``: the very questions; ``the same``: in other words; ``something else``; ``untold``.
* ``first``: the correction's line stands first in the reading; of what asks for something else, or
  for what nobody told, any correction's.
* ``right``: the answer has what is right; ``rests on it``: it rests on a correction.

Nobody is said to ask, or with ``--asker`` the one who says all lines. ``--show`` prints what went
wrong, of the half that was looked at alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from demem_agent import Answer, SlotMemory, Turn
from demem_agent.evaluate import load_locomo

HALVES = ("development", "held out")
SPEAKER = "Mara"
ASKED = "2025-10-20"
#: Turns of a dialogue among which the lines stand, evenly spread.
AMONG = 400
#: The dialogue of the file.
DIALOGUE = 1
CORRECTIONS = Path(__file__).with_name("corrected.json")


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of one question.

    Attributes:
        kind: of question. first: whether a correction stands first. right: whether the answer has
            what is right. rests: whether it rests on a correction.
    """

    kind: str
    language: str
    first: bool
    right: bool
    rests: bool


def corrections(half: str) -> list[dict[str, Any]]:
    """Read the corrections of a half."""
    read: list[dict[str, Any]] = json.loads(CORRECTIONS.read_text(encoding="utf-8"))
    return [given for given in read if given["half"] == half]


def lines_of(given: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a correction; what was before stands before the one that is wrong."""
    yield from given["near"][2:]
    yield given["wrong"]
    yield from given["near"][:2]


def remembered(halves: Sequence[dict[str, Any]], turns: Sequence[Turn]) -> SlotMemory:
    """Return a memory of all lines, spread among turns."""
    said = [line for given in halves for line in lines_of(given)]
    step = max(len(turns) // max(len(said), 1), 1)
    rest = iter(turns)
    told: list[Turn] = []
    for number, line in enumerate(said):
        told += islice(rest, step)
        day = f"2025-09-{1 + number % 28:02d}"
        told.append(Turn(line, speaker=SPEAKER, session="notes", at=day))
    memory = SlotMemory(clock=None)
    memory.ingest_many([*told, *rest])
    return memory


class Talk:
    """A memory that is asked by one and corrected."""

    def __init__(self, memory: SlotMemory, asker: str | None) -> None:
        self._memory = memory
        self._asker = asker
        self._cards: dict[str, str] = {}

    def ask(self, question: str) -> Answer:
        return self._memory.answer(question, asker=self._asker, at=ASKED)

    def correct(self, given: dict[str, Any], *, rated: bool) -> None:
        answer = self.ask(given["question"])
        reward = 0.0 if rated else None
        told = self._memory.feedback(answer, correction=given["correction"], reward=reward)
        assert told.remembered is not None
        self._cards[given["question"]] = told.remembered

    def counted(self, given: dict[str, Any], kind: str, question: str) -> tuple[Counted, Answer]:
        """Ask a question and count what becomes of it."""
        answer = self.ask(question)
        is_same = kind in ("asked again", "the same")
        cards = {self._cards[given["question"]]} if is_same else set(self._cards.values())
        lines = answer.reading.lines
        lead = max(lines, key=lambda line: line.score).evidence.id if lines else ""
        one = Counted(
            kind=kind,
            language=given["language"],
            first=lead in cards,
            right=given["right"].lower() in answer.text.lower(),
            rests=not cards.isdisjoint(answer.evidence),
        )
        return one, answer


def questions_of(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (kind, question)."""
    yield "asked again", given["question"]
    kinds = {"the same": "same", "something else": "else", "untold": "untold"}
    for kind, name in kinds.items():
        for question in given.get(name, ()):
            yield kind, question


def counted(half: str, turns: Sequence[Turn], asker: str | None, *, show: bool) -> list[Counted]:
    """Ask all questions of a half, after all were corrected."""
    given = corrections(half)
    talk = Talk(remembered(given, turns), asker)
    for number, one in enumerate(given):
        talk.correct(one, rated=number % 2 == 1)
    found = []
    for one in given:
        for kind, question in questions_of(one):
            counts, answer = talk.counted(one, kind, question)
            found.append(counts)
            is_same = kind in ("asked again", "the same")
            went_wrong = not (counts.first and counts.right) if is_same else counts.first
            if show and went_wrong:
                print(f"{kind}: {one['question']} | {question} -> {answer.text[:80]!r}")
    return found


def rows(half: str, found: Sequence[Counted]) -> list[dict[str, Any]]:
    """Return how often each kind of question came out how."""
    made = []
    for kind in dict.fromkeys(one.kind for one in found):
        asked = [one for one in found if one.kind == kind]
        made.append(
            {
                "half": half,
                "asked": kind,
                "questions": len(asked),
                "first": sum(one.first for one in asked),
                "right": sum(one.right for one in asked),
                "rests on it": sum(one.rests for one in asked),
                "first, by language": _by_language(asked),
            }
        )
    return made


def _by_language(asked: Iterable[Counted]) -> str:
    found: dict[str, list[bool]] = {}
    for one in asked:
        found.setdefault(one.language, []).append(one.first)
    return ", ".join(f"{name} {sum(found[name])}/{len(found[name])}" for name in sorted(found))


def turns_among(folder: Path | None) -> list[Turn]:
    """Return the turns that lines stand among; none without data."""
    if folder is None:
        return []
    file = next((folder / "locomo").glob("*.json"), None)
    if file is None:
        raise SystemExit(f"{folder / 'locomo'} has no LoCoMo file")
    return list(load_locomo(file)[DIALOGUE].turns[:AMONG])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with locomo; without it no turns beside")
    parser.add_argument("--asker", action="store_true", help="who says the lines asks")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    turns = turns_among(given.data)
    asker = SPEAKER if given.asker else None
    made: list[dict[str, Any]] = []
    for half in HALVES:
        show = given.show and half == HALVES[0]
        made += rows(half, counted(half, turns, asker, show=show))
    if given.json:
        print(json.dumps(made, ensure_ascii=False, indent=1))
        return
    print("|", " | ".join(made[0]), "|")
    print(f"|{'---|' * len(made[0])}")
    for row in made:
        print("|", " | ".join(map(str, row.values())), "|")


if __name__ == "__main__":
    main()
