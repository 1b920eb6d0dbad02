"""How much is lost when one word of a question is misspelled?

    pip install demem-agent
    python benchmarks/typos.py --data FOLDER [--seed 500] [--count 500] [--json]

FOLDER holds any of ``locomo/*.json``, ``longmemeval/*.json.gz`` and ``beam/N/chat.json``. Questions
with evidence are drawn by a seed, as many of each data set as its share of all. In each one content
word of at least four letters is misspelled: one letter wrong, missing, doubled, or swapped with the
next; never the first letter of what is written like a name. Each is read right and misspelled,
within 2,000 and 6,000 characters: recall (``demem_agent.evaluate.recall``) right, misspelled, and
what is lost between them. "Nothing unknown" are misspelled questions all of whose words the memory
holds nevertheless, where nothing can be noticed.

Seed 500 is for the figures that are reported. What is tuned is tuned on other seeds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from elsewhere import answerable

from demem_agent import SlotMemory
from demem_agent.evaluate import Dialogue, Probe, load_beam, load_locomo, load_longmemeval, recall
from demem_agent.text.language.words import words
from demem_agent.turns import Turn

LIMITS = (2000, 6000)
KINDS = ("wrong", "missing", "doubled", "swapped")
SHORTEST = 4
LETTERS = "abcdefghijklmnopqrstuvwxyz"
READ = {
    "LoCoMo": ("locomo/*.json", load_locomo),
    "LongMemEval-S": ("longmemeval/*.json*", load_longmemeval),
    "BEAM-100K": ("beam", load_beam),
}
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")


@dataclass(frozen=True, slots=True)
class Misspelled:
    """A question with one word misspelled.

    Attributes:
        kind: one of :data:`KINDS`.
        word, typo: the word as it was written, and as it is.
    """

    data_set: str
    dialogue: Dialogue
    probe: Probe
    kind: str
    word: str
    typo: str
    text: str


# What is asked


def load(folder: Path) -> dict[str, list[Dialogue]]:
    """Read what a folder has of the three benchmarks, with the questions that have evidence."""
    found = {}
    for name, (where, read) in READ.items():
        paths = sorted(folder.glob(where))
        if paths:
            found[name] = [answerable(dialogue) for dialogue in read(paths[0])]
    return found


def drawn(data: Mapping[str, Sequence[Dialogue]], count: int, seed: int) -> list[Misspelled]:
    """Draw questions and misspell one word of each, in the order of the dialogues."""
    chance = random.Random(seed)
    asked: list[tuple[str, Dialogue, Probe]] = []
    for name, dialogues in data.items():
        for dialogue in dialogues:
            asked += [(name, dialogue, probe) for probe in dialogue.probes]
    order = list(range(len(asked)))
    chance.shuffle(order)
    found: dict[int, Misspelled] = {}
    for number in order:
        one = _misspelled(*asked[number], chance)
        if one is not None:
            found[number] = one
        if len(found) == count:
            break
    return [found[number] for number in sorted(found)]


def _misspelled(
    data_set: str, dialogue: Dialogue, probe: Probe, chance: random.Random
) -> Misspelled | None:
    """Misspell one word of a question; None where it has none that can be."""
    text = probe.question
    content = set(words(text))
    long = [place for place in _WORD.finditer(text) if len(place[0]) >= SHORTEST]
    places = [place for place in long if place[0].lower() in content]
    if not places:
        return None
    place = chance.choice(places)
    kind = chance.choice(KINDS)
    is_name = place.start() > 0 and place[0][0].isupper()
    typo = _typo(place[0], kind, 1 if is_name else 0, chance)
    wrong = text[: place.start()] + typo + text[place.end() :]
    return Misspelled(data_set, dialogue, probe, kind, place[0], typo, wrong)


def _typo(word: str, kind: str, first: int, chance: random.Random) -> str:
    """Misspell a word from its letter ``first`` on; of some kind, or another if it has none."""
    for _ in range(20):
        at = chance.randrange(first, len(word) - (kind == "swapped"))
        typo = _made(word, kind, at, chance)
        if typo != word:
            return typo
    return _made(word, "doubled", first, chance)


def _made(word: str, kind: str, at: int, chance: random.Random) -> str:
    if kind == "wrong":
        return word[:at] + chance.choice(LETTERS) + word[at + 1 :]
    if kind == "missing":
        return word[:at] + word[at + 1 :]
    if kind == "doubled":
        return word[: at + 1] + word[at].lower() + word[at + 1 :]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


# What is read


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of a misspelled question: recall at each limit, right and misspelled.

    Attributes:
        noticed: whether a word of the misspelled question is held by no passage.
    """

    asked: Misspelled
    right: tuple[float, ...]
    wrong: tuple[float, ...]
    noticed: bool


def read(asked: Sequence[Misspelled]) -> Iterator[Read]:
    """Read for every question, one dialogue after the other."""
    dialogue = None
    memory = SlotMemory()
    said: set[str] = set()
    turns: dict[str | None, Turn] = {}
    for one in asked:
        if one.dialogue is not dialogue:
            dialogue = one.dialogue
            memory = SlotMemory(decisions=False)
            memory.ingest_many(dialogue.turns)
            said = _said(dialogue.turns)
            turns = {turn.source_id: turn for turn in dialogue.turns}
        gold = [turns[source] for source in one.probe.evidence if source in turns]
        if gold:
            right = _recalls(memory, one.probe.question, one.probe, gold)
            wrong = _recalls(memory, one.text, one.probe, gold)
            yield Read(one, right, wrong, not set(words(one.typo)) <= said)


def _said(turns: Sequence[Turn]) -> set[str]:
    said: set[str] = set()
    for turn in turns:
        said.update(words(turn.text))
    return said


def _recalls(
    memory: SlotMemory, text: str, probe: Probe, gold: Sequence[Turn]
) -> tuple[float, ...]:
    readings = [memory.read(text, limit=limit, at=probe.at) for limit in LIMITS]
    return tuple(recall(reading.text, gold) for reading in readings)


# What is shown


def table(done: Sequence[Read]) -> list[dict[str, object]]:
    """Return a row for all, for each data set and for each kind of error."""
    groups: dict[str, list[Read]] = defaultdict(list)
    for one in done:
        groups["all"].append(one)
        groups[one.asked.data_set].append(one)
        groups[one.asked.kind].append(one)
        if not one.noticed:
            groups["nothing unknown"].append(one)
    names = [name for name in ("all", *READ, *KINDS, "nothing unknown") if name in groups]
    return [_row(name, groups[name]) for name in names]


def _row(name: str, group: Sequence[Read]) -> dict[str, object]:
    row: dict[str, object] = {"of": name, "questions": len(group)}
    for n, limit in enumerate(LIMITS):
        right = fmean(one.right[n] for one in group)
        wrong = fmean(one.wrong[n] for one in group)
        row[f"right {limit}"] = round(right, 3)
        row[f"misspelled {limit}"] = round(wrong, 3)
        row[f"lost {limit}"] = round(right - wrong, 3)
    return row


def markdown(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a table."""
    names = list(rows[0])
    cells = [[str(row[name]) for name in names] for row in rows]
    lines = [" | ".join(line) for line in [names, ["---"] * len(names), *cells]]
    return "\n".join(f"| {line} |" for line in lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=500)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worst", type=int, default=0, help="show so many that lose most")
    given = parser.parse_args()
    data = load(given.data)
    if not data:
        parser.error(f"{given.data} holds none of {', '.join(READ)}")
    done = list(read(drawn(data, given.count, given.seed)))
    rows = table(done)
    print(json.dumps(rows) if given.json else markdown(rows))
    for one in sorted(done, key=lambda one: sum(one.wrong) - sum(one.right))[: given.worst]:
        lost = [round(r - w, 2) for r, w in zip(one.right, one.wrong, strict=True)]
        print(f"{lost} {one.asked.word} -> {one.asked.typo}: {one.asked.text[:120]}")


if __name__ == "__main__":
    main()
