"""Read scenes that are hard to read, with this tree and with an earlier one, and make the page.

    python benchmarks/hard_readings.py [--before COMMIT] [--into docs/hard-readings.md]

The scenes are in hard_readings.json. The earlier tree is checked out beside this one for as long as
it takes. Without --into the page's block is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from demem_agent import SlotMemory, options

Scene = Mapping[str, Any]

ROOT = Path(__file__).parents[1]
SCENES = Path(__file__).with_suffix(".json")
#: Before readings were worked on.
BEFORE = "f7fb248"
#: Whether this tree dates what comes without a time; the earlier one has no such default.
CLOCKED = "clock_of" in vars(options)
#: Whether this tree's readings take what was said before; the earlier one names all that they take.
TAKES_CONTEXT = "how" in signature(SlotMemory.read).parameters
WARES = ("apple cake", "lemon tart", "walnut tart", "rye loaf", "plum cake")


def main() -> None:
    """Read with both trees, and show the readings beside each other."""
    given = arguments()
    if given.only_read:
        print(json.dumps([reading(scene) for scene in scenes()]))
        return
    now = read_with(ROOT)
    with checked_out(given.before) as tree:
        before = read_with(tree)
    block = "\n".join(shown(scenes(), before, now))
    made = f"Made from commit `{commit('HEAD')}`; before is `{commit(given.before)}`."
    if given.into is None:
        print(f"{made}\n\n{block}")
        return
    from evaluate_all import replaced  # it needs what the extra `lab` brings

    page = given.into.read_text(encoding="utf-8")
    made_anew = replaced(page, {"made": made, "scenes": block})
    given.into.write_text(made_anew, encoding="utf-8")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", default=BEFORE, help="the commit to read with as well")
    parser.add_argument("--into", type=Path, help="the page whose blocks are replaced")
    parser.add_argument("--only-read", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def scenes() -> list[Scene]:
    """Return the scenes, in the order of the page."""
    found: list[Scene] = json.loads(SCENES.read_text(encoding="utf-8"))
    return found


def reading(scene: Scene) -> str:
    """Return what a new memory reads in a scene."""
    asked = datetime.fromisoformat("2024-08-01T12:00")
    told = datetime.fromisoformat(scene["clock"]) if "clock" in scene else asked
    memory = SlotMemory(clock=lambda: told) if "clock" in scene and CLOCKED else SlotMemory()
    for turn in turns_of(scene):
        memory.ingest(turn["text"], speaker=turn["speaker"], at=turn.get("at"))
    options: dict[str, Any] = (
        {"context": scene["context"]} if TAKES_CONTEXT and "context" in scene else {}
    )
    found = memory.read(scene["query"], limit=scene["limit"], at=asked, **options)
    return found.text


def turns_of(scene: Scene) -> Iterator[Mapping[str, Any]]:
    """Yield the turns of a scene, those too long to be written out as well."""
    if "module" in scene:
        yield {"speaker": "Ana", "at": "2024-05-01", "text": module(scene["module"])}
    if "records" in scene:
        yield {"speaker": "Ana", "at": "2024-05-01", "text": records(scene["records"])}
    yield from scene["turns"]


def module(count: int) -> str:
    """Write a module of some functions."""
    body = "\n\n".join(map(function, range(count)))
    return f"Here is the module:\n```python\n{body}```"


def function(number: int) -> str:
    """Write one of its functions."""
    return (
        f"def compute_{number}(table, rate):\n"
        f'    """Return column {number} of a table, scaled."""\n'
        f"    column = table[{number}]\n"
        f"    return [rate * value + {number * 7} for value in column]\n"
    )


def records(count: int) -> str:
    """Write a list of records as JSON."""
    made = []
    for number in range(count):
        ware = WARES[number % len(WARES)] if number != 17 else "walnut tart"
        name = ware if number == 17 else f"{ware.split()[1]} no. {number}"
        made.append({"id": number, "name": name, "price": round(2 + 0.35 * number, 2)})
    return "The price list: " + json.dumps(made, indent=2)


def read_with(tree: Path) -> list[str]:
    """Return the readings of all scenes by the code of a tree."""
    path = os.pathsep.join([str(tree), str(tree / "adapters")])
    command = [sys.executable, str(Path(__file__).resolve()), "--only-read"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Check out a commit into a folder of its own."""
    with TemporaryDirectory() as away:
        tree = Path(away) / "before"
        git("worktree", "add", "--quiet", "--detach", str(tree), revision)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def commit(revision: str) -> str:
    """Return the short hash of a commit."""
    return git("rev-parse", "--short=12", revision)


def git(*words: str) -> str:
    """Run git in this tree; return what it says."""
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def shown(found: Sequence[Scene], before: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """Yield each scene with both readings, as Markdown."""
    for number, (scene, old, new) in enumerate(zip(found, before, now, strict=True), 1):
        yield f"## {number}. {scene['title']}\n"
        yield f"> {scene['query']}\n"
        yield f"In {scene['limit']} characters. Before: {scene['before']}\n"
        yield from fenced(old)
        yield f"Now: {scene['now']}\n"
        yield from fenced(new)


def fenced(text: str) -> Iterator[str]:
    """Yield a reading as a block that shows signs of code in it as they are."""
    yield f"````text\n{visible(text) or '(nothing)'}\n````\n"


def visible(text: str) -> str:
    """Write out line breaks that a page would hide."""
    for sign in ("\r", "\x85", "\u2028", "\u2029", "\x0b", "\x0c"):
        text = text.replace(sign, f"⟨U+{ord(sign):04X}⟩")
    return text


if __name__ == "__main__":
    main()
