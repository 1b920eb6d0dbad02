"""Measure how much of a reading says again what another line of it says.

    python benchmarks/duplicates.py --data FOLDER [--sample N] [--repeated]

FOLDER is laid out as ``fit_weights.py`` says. A line counts as a duplicate if at least nine tenths
of its different word 4-grams stand in another single line of the same reading; of two lines that
hold each other the first is the one that is needed. A line of fewer than four words counts if all
of them are another whole line. Only the text of a reading is looked at, with margins, names and
headings taken off: nothing here knows by which rule memory folds. Beside that stands recall, as
everywhere. The table comes out in Markdown.

With ``--repeated`` every fifth turn is said again by its speaker some turns later, as people do:
with other words before it, in another case, without its punctuation, or with two letters swapped.
Public dialogues hardly repeat themselves; people who talk to a memory for months do.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from demem_agent import SlotMemory
from demem_agent.evaluate import (
    Dialogue,
    Probe,
    load_beam,
    load_locomo,
    load_longmemeval,
    recall,
)
from demem_agent.turns import Turn

LIMITS = (2000, 6000)
#: Share of a line's 4-grams that another line holds.
SAME = 0.9
GRAM = 4
WITHOUT_EVIDENCE = ("adversarial", "abstention")
#: How people begin who say something again.
OPENINGS = ("Hey,", "As I said,", "By the way,", "Just so you know:", "Again:", "Oh,", "Yo!")
_WORD = re.compile(r"[^\W_]+")
#: A line without its dash, what stands in brackets before it, and who says it.
_LINE = re.compile(r"- (?:\[[^\]\n]*\] )*(?:[^:\n]{1,40}: )?(.*)", re.DOTALL)

Words = tuple[str, ...]
Grams = frozenset[Words]


@dataclass(slots=True)
class Tally:
    """What the readings of one data set come to at one limit.

    Attributes:
        characters, duplicates: of the lines of all readings, and of those that are duplicates.
        sizes: of the readings; lines: how many are in each.
        recalls: of the questions.
    """

    characters: int = 0
    duplicates: int = 0
    sizes: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)

    def add(self, text: str, share: float) -> None:
        lines = list(said_in(text))
        self.characters += sum(map(len, lines))
        self.duplicates += sum(len(lines[n]) for n in duplicates(lines))
        self.sizes.append(len(text))
        self.lines.append(len(lines))
        self.recalls.append(share)

    @property
    def share(self) -> float:
        """The share of characters in duplicates."""
        return self.duplicates / max(self.characters, 1)


def said_in(text: str) -> Iterator[str]:
    """Yield what is said in each line of a reading."""
    entry: list[str] = []
    for line in [*text.splitlines(), "#"]:
        if line.startswith("  "):
            entry.append(line)
            continue
        found = _LINE.fullmatch("\n".join(entry))
        if found:
            yield found[1]
        entry = [line]


def duplicates(lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that say what another one says."""
    words = [tuple(_WORD.findall(line.lower())) for line in lines]
    grams = [_grams(one) for one in words]
    return [n for n in range(len(lines)) if _is_said_elsewhere(words, grams, n)]


def _is_said_elsewhere(words: Sequence[Words], grams: Sequence[Grams], n: int) -> bool:
    """Whether another line says what a line does; of two that do, the first is not one."""
    for other in range(len(words)):
        if other == n or not _holds(words, grams, other, n):
            continue
        if other < n or not _holds(words, grams, n, other):
            return True
    return False


def _holds(words: Sequence[Words], grams: Sequence[Grams], holder: int, held: int) -> bool:
    if not grams[held]:
        return bool(words[held]) and words[held] == words[holder]
    return len(grams[held] & grams[holder]) >= SAME * len(grams[held])


def _grams(words: Words) -> Grams:
    runs = range(len(words) - GRAM + 1)
    return frozenset(words[start : start + GRAM] for start in runs)


def repeated(turns: Sequence[Turn], seed: int) -> list[Turn]:
    """Return turns with every fifth said again, up to twenty turns later."""
    chance = random.Random(seed)
    waiting: dict[int, list[Turn]] = {}
    said: list[Turn] = []
    for n, turn in enumerate(turns):
        said.append(turn)
        if not n % 5:
            later = min(n + chance.randint(1, 20), len(turns) - 1)
            again = replace(turn, text=_again(turn.text, chance), source_id=f"again {n}")
            waiting.setdefault(later, []).append(again)
        said += waiting.pop(n, ())
    return said


def _again(text: str, chance: random.Random) -> str:
    way = chance.randrange(5)
    if way == 0:
        return f"{chance.choice(OPENINGS)} {text}"
    if way == 1:
        return text.lower()
    if way == 2:
        return re.sub(r"[.,!?](?=\s|$)", "", text)
    place = chance.randrange(max(len(text) - 1, 1))
    swapped = text[place : place + 2][::-1]
    return text[:place] + swapped + text[place + 2 :] if swapped.isalpha() else text


def measured(dialogues: Sequence[Dialogue], *, again: bool = False) -> dict[int, Tally]:
    """Read for every question with evidence, and measure the texts."""
    found = {limit: Tally() for limit in LIMITS}
    for number, dialogue in enumerate(dialogues):
        memory = SlotMemory()
        memory.ingest_many(repeated(dialogue.turns, number) if again else dialogue.turns)
        turns = {turn.source_id: turn for turn in dialogue.turns}
        for probe in dialogue.probes:
            if not counts(probe):
                continue
            gold = [turns[id] for id in probe.evidence]
            for limit, tally in found.items():
                text = memory.read(probe.question, limit=limit, at=probe.at).text
                tally.add(text, recall(text, gold))
        print(dialogue.name, end="\r", file=sys.stderr)
    return found


def counts(probe: Probe) -> bool:
    """Whether a question can be answered from its dialogue."""
    return bool(probe.evidence) and probe.category not in WITHOUT_EVIDENCE


def load(folder: Path) -> Iterator[tuple[str, list[Dialogue]]]:
    """Yield what is there of the three data sets, by name."""
    locomo: list[Dialogue] = []
    for path in sorted(folder.glob("locomo/*.json")):
        locomo += load_locomo(path)
    yield "LoCoMo", locomo
    long: list[Dialogue] = []
    for path in sorted(folder.glob("longmemeval/*.json*")):
        long += load_longmemeval(path)
    yield "LongMemEval-S", long
    yield "BEAM-100K", load_beam(folder / "beam") if (folder / "beam").is_dir() else []


def row(name: str, limit: int, tally: Tally) -> str:
    count = len(tally.recalls)
    cells = [
        name,
        f"{limit:,}",
        f"{100 * tally.share:.2f} %",
        f"{sum(tally.recalls) / count:.4f}",
        f"{sum(tally.sizes) / count:,.0f}",
        f"{sum(tally.lines) / count:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--sample", type=int, help="dialogues of each data set; all by default")
    parser.add_argument("--repeated", action="store_true", help="have turns said again")
    return parser.parse_args()


def _of(dialogues: Sequence[Dialogue], given: argparse.Namespace) -> dict[int, Tally]:
    return measured(dialogues[: given.sample], again=given.repeated)


def main() -> None:
    given = options()
    print("| data | limit | duplicates | share of gold | characters | lines |")
    print("|---|---|---|---|---|---|")
    for name, dialogues in load(given.data):
        if not dialogues:
            print(f"{given.data} holds no {name}", file=sys.stderr)
            continue
        for limit, tally in _of(dialogues, given).items():
            print(row(name, limit, tally), flush=True)


if __name__ == "__main__":
    main()
