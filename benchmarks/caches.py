"""Measure what memory leaves of a prompt for a provider's cache: python benchmarks/caches.py
[--turns N] [--only NAME] [--json | --into PAGE]

Providers keep the beginning of a prompt and charge less, and answer sooner, where the next one
begins the same. For each framework that is installed a talk of 20 turns is held twice, with memory
and without. Its history grows by what both sides say; the memory holds 200 items of before, and
what is recalled changes with nearly every turn. Of each two prompts after one another the
characters are counted that both begin with. The share is what there is of them with memory, of
those that there are without. Answers are short, a sentence of 70 characters: in a talk with longer
ones more is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from cache_chats import CHATS, Chat, Kind
from evaluate_all import commit

from adapters import ALONE
from demem_adapters.common import Memories
from demem_agent.testing import Provider

#: Of the default place of each adapter.
TARGET = 0.95
#: Where what was recalled may go, and how the table calls it.
PLACES = {"user": '`"user"`', "system": '`"system"`', "merged": '`"merged"`', "": "no choice"}
BEGIN, END = "<!-- kept -->\n", "<!-- end -->"
#: In which namespace a framework's chat is remembered, where not in "default".
NAMESPACES = {"google_adk": '["house", "ana"]'}


@dataclass(frozen=True, slots=True)
class Row:
    """What was kept over a talk.

    Attributes:
        kept: characters that two prompts after one another begin with alike, with memory.
        without: the same without.
        share: the first of the second.
        changed: of how many of the prompts the block is another than of the one before.
    """

    name: str
    place: str
    default: bool
    kept: int
    without: int
    share: float
    changed: int


def main() -> None:
    """Hold the talks, and print what was kept."""
    given = options()
    os.environ.update(ALONE)
    rows: list[Row] = []
    skipped: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        for name, kinds in CHATS.items():
            if given.only and name not in given.only:
                continue
            try:
                rows += [measured(name, kind, given.turns) for kind in kinds]
            except ImportError as error:
                skipped[name] = str(error)
    if given.into:
        written(given.into, rows)
    elif given.json:
        print(json.dumps({"turns": given.turns, "rows": [*map(asdict, rows)], "skipped": skipped}))
    else:
        print(table(rows))
        print(f"below {TARGET:.0%} by default: {', '.join(below(rows)) or 'none'}")
        for name, why in skipped.items():
            print(f"not installed: {name} ({why})")


def below(rows: Sequence[Row]) -> list[str]:
    """Return the adapters whose default keeps less than the target."""
    return [row.name for row in rows if row.default and row.share < TARGET]


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=20, help="of each talk (20)")
    parser.add_argument("--only", metavar="NAME", action="append", choices=[*CHATS])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--into", type=Path, help="the page whose table to write the rows into")
    return parser.parse_args()


def measured(name: str, kind: Kind, turns: int) -> Row:
    """Hold a talk with memory and without.

    Raises:
        ImportError: if the framework is not installed.
    """
    with talk() as bare:
        hold(bare, kind, None, turns)
    with talk() as adapted, Memories(limit=2000) as memories:
        memory = memories.of(NAMESPACES.get(name, "default"))
        memory.ingest_many(adapted.talk.earlier())
        hold(adapted, kind, memories, turns)
    without = sum(map(alike, *pairs(bare.sent)))
    kept = sum(map(alike, *pairs(adapted.sent)))
    blocks = [block_of(prompt) for prompt in adapted.sent]
    changed = sum(one != other for one, other in pairwise(blocks))
    return Row(name, kind.place, kind.default, kept, without, kept / without, changed)


@contextmanager
def talk() -> Iterator[Chat]:
    """Make a talk, with a provider of its own."""
    held: list[Chat] = []
    with asyncio.Runner() as runner, Provider(lambda _: held[0].talk.said) as provider:
        held.append(Chat(runner, provider))
        yield held[0]


def hold(chat: Chat, kind: Kind, memories: Memories | None, turns: int) -> None:
    """Say all turns of a talk.

    Raises:
        RuntimeError: if a model was not called once in each.
    """
    turn = kind.make(chat, memories, kind.place)
    for _ in range(turns):
        chat.talk.go_on()
        turn()
    if len(chat.sent) != turns:
        raise RuntimeError(f"the model was called {len(chat.sent)} times in {turns} turns")
    if memories is not None and not any(map(block_of, chat.sent)):
        raise RuntimeError("nothing was recalled")


def pairs(prompts: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the prompts, and those that come after each."""
    return prompts[:-1], prompts[1:]


def alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    for place, (character, its) in enumerate(zip(one, other, strict=False)):
        if character != its:
            return place
    return min(len(one), len(other))


def block_of(prompt: str) -> str:
    """Return what was recalled, of a prompt."""
    _, _, behind = prompt.partition("<demem:memory>")
    if behind:
        return behind.partition("</demem:memory>")[0]
    return prompt.partition("<PAST_CONVERSATIONS>")[2].partition("</PAST_CONVERSATIONS>")[0]


def table(rows: Sequence[Row], before: str = "") -> str:
    """List the rows as the table of the documentation, an adapter in a line.

    Args:
        before: an earlier one: of frameworks that are not installed here it has the lines.
    """
    lines = {line.split("|")[1]: line for line in before.splitlines()[2:] if line.count("|") > 2}
    for name in dict.fromkeys(row.name for row in rows):
        shares = {row.place: _cell(row) for row in rows if row.name == name}
        cells = [shares.get(place, "") for place in PLACES]
        lines[f" {name} "] = f"| {name} | {' | '.join(cells)} |"
    head = f"| adapter | {' | '.join(PLACES.values())} |\n|{'---|' * (1 + len(PLACES))}\n"
    order = [f" {name} " for name in CHATS if f" {name} " in lines]
    return head + "\n".join(lines[name] for name in order) + "\n"


def _cell(row: Row) -> str:
    share = f"{row.share:.1%}"
    return f"**{share}**" if row.default else share


def written(page: Path, rows: Sequence[Row]) -> None:
    """Put the rows into the table of a page, with the commit that they are of."""
    ahead, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    before, _, behind = rest.partition(END)
    stamp = f"\nFrom commit `{commit()}`.\n"
    made = f"{ahead}{BEGIN}{table(rows, before)}{stamp}{END}{behind}"
    page.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
