"""What it takes to import a ChatGPT export by the command line, and that it can be interrupted.

    python benchmarks/importing.py [--messages 10000] [--json]

An export is made up from a seed, as ``conversations.json`` has it, and ``demem ingest`` remembers
it in a process of its own: all at once; once more, which must add nothing; and anew in a memory
whose import is interrupted on the way (SIGINT), then run again, which must add the rest and nothing
twice. Times are of the whole process, its start included, by the clock
and of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from evaluate_all import commit
from speed_data import Invented

SEED = 0
MESSAGES = 10_000
#: What a quiet machine is to need for that many.
TARGET = 5.0
#: Messages of a conversation, beside its root and its hidden instructions.
CONVERSATION = 40
#: Seconds between two looks at how far an import is.
LOOK = 0.05


@dataclass(frozen=True, slots=True)
class Imported:
    """One import, as the command told of it.

    Attributes:
        seconds: of the process; cpu: those that it was at work, whatever else the machine did.
        remembered: turns that are new; known: turns that were remembered before.
    """

    what: str
    seconds: float
    cpu: float
    remembered: int
    known: int


def main() -> None:
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.json"
        path.write_text(json.dumps(export(given.messages)), encoding="utf-8")
        size = path.stat().st_size
        found = [*measured(path)]
    if given.json:
        report = {"commit": commit(), "messages": given.messages, "bytes": size}
        json.dump(report | {"imports": [asdict(one) for one in found]}, sys.stdout, indent=1)
        return
    print(f"{given.messages:,} messages, {size / 1e6:.1f} MB, commit {commit()}")
    for one in found:
        took = f"{one.seconds:6.2f} s  cpu {one.cpu:5.2f} s"
        print(f"{one.what:16} {took}  new {one.remembered:6,}  known {one.known:6,}")
    print(f"target: {TARGET} s for {MESSAGES:,} messages at once, on a quiet machine")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=MESSAGES, metavar="N")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def measured(path: Path) -> Iterator[Imported]:
    """Yield the imports of an export into memories beside it."""
    whole, parted = path.with_name("whole.db"), path.with_name("parted.db")
    yield imported("at once", path, whole)
    yield imported("the same again", path, whole)
    began = now()
    done = interrupted(path, parted)
    yield Imported("interrupted", *since(began), done, 0)
    yield imported("run again", path, parted)


def imported(what: str, path: Path, memory: Path) -> Imported:
    began = now()
    done = subprocess.run(command(path, memory), capture_output=True, check=True)
    took = since(began)
    told: dict[str, Any] = json.loads(done.stdout)
    return Imported(what, *took, told["remembered"], told["known"])


def now() -> tuple[float, float]:
    """Return the time, and how long processes begun here were at work by now."""
    used = os.times()
    return time.perf_counter(), used.children_user + used.children_system


def since(began: tuple[float, float]) -> tuple[float, float]:
    """Return what has gone by of both."""
    ended = now()
    return ended[0] - began[0], ended[1] - began[1]


def interrupted(path: Path, memory: Path) -> int:
    """Begin an import, interrupt it once something is written; return how much was."""
    running = subprocess.Popen(
        command(path, memory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while running.poll() is None and not written(memory):
        time.sleep(LOOK)
    if running.poll() is None:
        os.kill(running.pid, signal.SIGINT)
    running.wait()
    return written(memory)


def written(memory: Path) -> int:
    """Return how many items a memory holds by now, 0 where it is not there yet."""
    from demem_agent.stores.connections import sqlite3

    if not memory.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{memory}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM evidence").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # its tables are being made


def command(path: Path, memory: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "demem_agent.cli",
        "ingest",
        str(path),
        "-m",
        str(memory),
        "--json",
    ]


def export(messages: int) -> list[dict[str, Any]]:
    """Return conversations with so many messages of users and assistants."""
    texts = [turn.text for turn in islice(Invented(SEED).turns(), messages)]
    starts = range(0, len(texts), CONVERSATION)
    return [
        conversation(number, texts[start : start + CONVERSATION])
        for number, start in enumerate(starts)
    ]


def conversation(number: int, texts: list[str]) -> dict[str, Any]:
    """Return a conversation as a tree with one branch."""
    at = 1_700_000_000.0 + number * 86_400
    nodes: dict[str, dict[str, Any]] = {}
    before = node(nodes, f"{number}-root", None, None)
    before = node(nodes, f"{number}-system", before, message("system", "", None))
    for n, text in enumerate(texts):
        role = "assistant" if n % 2 else "user"
        before = node(nodes, f"{number}-{n}", before, message(role, text, at + n))
    return {
        "id": f"conversation-{number}",
        "title": f"Conversation {number}",
        "create_time": at,
        "mapping": nodes,
        "current_node": before,
    }


def node(
    nodes: dict[str, dict[str, Any]], id: str, parent: str | None, held: dict[str, Any] | None
) -> str:
    """Put a node below its parent; return its id."""
    if parent is not None:
        nodes[parent]["children"].append(id)
    if held is not None:
        held = {"id": id, **held}
    nodes[id] = {"id": id, "message": held, "parent": parent, "children": []}
    return id


def message(role: str, text: str, at: float | None) -> dict[str, Any]:
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {"model_slug": "gpt-5"},
        "recipient": "all",
    }


if __name__ == "__main__":
    main()
