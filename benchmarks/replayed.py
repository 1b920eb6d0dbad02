"""Replay dialogues with questions and feedback, and print all that came of it, a line each.

    python benchmarks/replayed.py [--data locomo.json] [--turns N] > before.txt
    (change what shall make it faster)
    python benchmarks/replayed.py [--data locomo.json] [--turns N] > after.txt
    cmp before.txt after.txt

What only saves work changes nothing: neither a reading nor an answer, nor what feedback reports,
nor what is remembered. Some questions are read at a short limit too; some items are forgotten at
the end. Without ``--data`` the conversation is made up from a seed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path

from speed_data import Invented

from demem_agent import Answer, Reading, SlotMemory, Turn
from demem_agent.evaluate import Probe, load_locomo

__all__ = ["main", "replayed"]

#: Turns after which a question is asked.
STEP = 7
#: Limit of every third reading, in characters.
SHORT = 700


def replayed(turns: Sequence[Turn], probes: Sequence[Probe]) -> Iterator[str]:
    """Yield what comes of a dialogue, a line for each operation."""
    memory = SlotMemory(clock=None)
    asked = iter(probes)
    for n, turn in enumerate(turns, start=1):
        yield f"ingested {memory.ingest_many([turn])}"
        probe = next(asked, None) if n % STEP == 0 else None
        if probe is not None:
            yield from _question(memory, probe, is_short=n % 3 == 0)
    for item in list(memory.evidence())[::9]:
        yield f"forgotten {memory.forget(item.id)}"
    for probe in probes[::3]:
        yield f"read again {_told(memory.read(probe.question))}"
    yield f"remembered {memory.fingerprint()}"
    exported = json.dumps(memory.export(), sort_keys=True, default=repr)
    yield f"exported {sha256(exported.encode()).hexdigest()}"


def _question(memory: SlotMemory, probe: Probe, *, is_short: bool) -> Iterator[str]:
    """Read, answer and tell what would have been right."""
    yield f"read {_told(memory.read(probe.question))}"
    if is_short:
        yield f"read short {_told(memory.read(probe.question, limit=SHORT))}"
    answer: Answer = memory.answer(probe.question)
    yield f"answered {answer.text!r}"
    if probe.reference.strip():
        yield f"told {memory.feedback(answer, reference=probe.reference)}"


def _told(reading: Reading) -> str:
    scores = [round(line.score, 4) for line in reading.lines]
    return f"{reading.text!r} {scores} {reading.slots} {reading.probability}"


def main() -> None:
    """Replay, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="a LoCoMo file, all dialogues of it")
    parser.add_argument("--turns", type=int, default=400, help="of each dialogue (default: 400)")
    chosen = parser.parse_args()
    if chosen.data is None:
        invented = Invented(0)
        turns = list(islice(invented.turns(), chosen.turns))
        _print(turns, list(islice(invented.probes(), chosen.turns // STEP)))
        return
    for dialogue in load_locomo(chosen.data):
        _print(dialogue.turns[: chosen.turns], dialogue.probes)


def _print(turns: Sequence[Turn], probes: Sequence[Probe]) -> None:
    for line in replayed(turns, probes):
        print(line)


if __name__ == "__main__":
    main()
