"""Answers that are quoted without a model: how many rest on what answers.

    python benchmarks/quoted_answers.py --data FOLDER [--into PAGE]

FOLDER holds ``chats``, conversations as ``chats.py`` reads them, and ``locomo``. Counted are the
answers that rest on a turn which the data set names and on none that is outdated (of LoCoMo nothing
is), those that have all content words of the reference, the empty ones, and those that are said not
to be known; and how many characters they have, in the middle. Sentences were fitted to LoCoMo and
not to ``chats``, whose figures were looked at when the signals were chosen.

``--into PAGE`` puts the table between the marks ``<!-- quoted -->`` and ``<!-- end -->``. Half a
minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import chats
from fit_answers import Put, asked_of, put_of

from demem_agent import SlotMemory
from demem_agent.evaluate import load_locomo
from demem_agent.evaluate.protocol.library import this_library
from demem_agent.text.language.words import content_terms


@dataclass(frozen=True, slots=True)
class Told:
    """An answer.

    Attributes:
        right: whether it rests on what answers, and on nothing outdated.
        whole: whether it has all words of the reference.
    """

    answerable: bool
    right: bool
    whole: bool
    known: bool
    characters: int


def told(memory: SlotMemory, asked: Put) -> Told:
    answer = memory.answer(asked.text, at=asked.at)
    turns = {
        line.evidence.source_id
        for line in answer.reading.lines
        if line.evidence.id in answer.evidence
    }
    words = set(content_terms(answer.text))
    return Told(
        answerable=asked.answerable,
        right=bool(turns & asked.evidence) and not turns & asked.stale,
        whole=words.issuperset(content_terms(asked.reference)),
        known=answer.known,
        characters=len(answer.text),
    )


def of_chats(folder: Path) -> Iterator[Told]:
    for chat in chats.load(folder):
        memory = chat.remembered()
        for row in chats.read_rows(folder / f"{chat.name}_questions.jsonl"):
            yield told(memory, asked_of(row))


def of_locomo(path: Path) -> Iterator[Told]:
    for dialogue in load_locomo(path):
        memory = SlotMemory(clock=None)
        memory.ingest_many(dialogue.turns)
        for probe in dialogue.probes:
            yield told(memory, put_of(probe))


def row(name: str, found: list[Told]) -> str:
    """Return a row of the table."""
    has = [one for one in found if one.answerable]
    never = [one for one in found if not one.answerable]
    length = median(one.characters for one in found)
    return (
        f"| {name} | {sum(one.right for one in has)} of {len(has)} "
        f"| {sum(one.whole for one in has) / len(has):.3f} "
        f"| {sum(not one.characters for one in has)} | {sum(not one.known for one in has)} "
        f"| {sum(not one.known for one in never)} of {len(never)} | {length:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--into", type=Path, help="a page with the marks of the table")
    given = parser.parse_args()
    table = [
        "| questions of | right | all words | empty | not known | never told: not known | length |",
        "|---|---|---|---|---|---|---|",
        row("chats", list(of_chats(given.data / "chats"))),
        row("LoCoMo", list(of_locomo(given.data / "locomo" / "locomo_dev5.json"))),
        "",
        f"Made by `python benchmarks/quoted_answers.py` from {this_library()}.",
    ]
    text = "\n".join(table)
    print(text)
    if given.into:
        from evaluate_all import replaced  # it needs what the extra `lab` brings

        page = replaced(given.into.read_text("utf-8"), {"quoted": text})
        given.into.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
