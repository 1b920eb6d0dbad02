"""Questions that name nothing of what they are about, with and without what was said before them.

    pip install demem-agent
    python benchmarks/followups.py [--show development] [--json]

Two worlds of ``followups.json`` beside this file, of 50 lines and 18 questions each, such as "And
how much did it cost?" after two turns on a loom. All 100 lines are one memory. The rule
(``demem_agent/text/unsaid.py``) was looked at on one world; the other, written with it before, was
only ever counted. Counted is how often the right line scores highest, and how often it is among the
three that do.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demem_agent import SlotMemory

FIRST = 3
SCENES = Path(__file__).with_name("followups.json")


@dataclass(frozen=True, slots=True)
class Found:
    """The place of the right line for a question, alone and in its conversation; 0 is the first."""

    ask: str
    alone: int
    told: int
    first: str


def worlds() -> list[dict[str, Any]]:
    """Read the scenes."""
    read: list[dict[str, Any]] = json.loads(SCENES.read_text(encoding="utf-8"))["worlds"]
    return read


def remembered() -> SlotMemory:
    """Return a memory of all worlds."""
    memory = SlotMemory(decisions=False, read_limit=20_000)
    for world in worlds():
        for line in world["lines"]:
            speaker, text = line.split(": ", 1)
            memory.ingest(text, speaker=speaker)
    return memory


def asked(world: dict[str, Any], memory: SlotMemory) -> list[Found]:
    """Ask all questions of a world."""
    found = []
    for scene in world["questions"]:
        ask, right = scene["ask"], scene["right"]
        alone = _ranked(memory, ask, ())
        told = _ranked(memory, ask, scene["before"])
        found.append(Found(ask, _place(right, alone), _place(right, told), told[0]))
    return found


def _ranked(memory: SlotMemory, ask: str, before: Sequence[str]) -> list[str]:
    """Return the lines of a reading, the best first."""
    return [item.text for item in memory.read(ask, context=before).ranked]


def _place(right: str, texts: Sequence[str]) -> int:
    """Return the place of the text that holds a stretch; the last where none does."""
    for place, text in enumerate(texts):
        if right in text:
            return place
    return len(texts)


def row(name: str, found: Sequence[Found]) -> dict[str, object]:
    """Return how many right lines are first, and among the first."""
    counts: dict[str, object] = {"world": name, "questions": len(found)}
    for way in ("alone", "told"):
        places = [getattr(one, way) for one in found]
        counts[f"{way}: first"] = sum(place == 0 for place in places)
        counts[f"{way}: in three"] = sum(place < FIRST for place in places)
    return counts


def main() -> None:
    """Print how many are found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--show", help="a world, whose questions are shown one by one")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = []
    memory = remembered()
    for world in worlds():
        found = asked(world, memory)
        rows.append(row(world["name"], found))
        for one in found if world["name"] == given.show else ():
            print(f"{one.alone:3} {one.told:3}  {one.ask:40} {one.first}")
    print(json.dumps(rows) if given.json else "\n".join(map(str, rows)))


if __name__ == "__main__":
    main()
