"""A run with a model that obeys, its results file, and what may be changed in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from demem_agent.errors import ModelError, ModelFault
from demem_agent.evaluate import BASELINES, Dialogue, Maker, Probe
from demem_agent.evaluate.protocol.library import Library
from demem_agent.evaluate.protocol.lines import Header, instructions
from demem_agent.evaluate.protocol.posing import Posed, posed
from demem_agent.evaluate.protocol.results import (
    Contents,
    Results,
    closing_of,
    read_results,
    resumed,
    with_times,
)
from demem_agent.evaluate.protocol.run import Marked, Panel, mark
from demem_agent.evaluate.protocol.verifying import Check, checks_of
from demem_agent.llms.model import PLAIN, Completion, Options, Prompt, Usage
from demem_agent.testing.obedient import obedient
from demem_agent.turns import Turn

__all__ = [
    "LIBRARY",
    "MINE",
    "Obedient",
    "agrees",
    "closed_anew",
    "found_in",
    "header_of",
    "leaves",
    "lines_of",
    "put",
    "ran",
    "wrong",
]

LIBRARY = Library("0.1.0")
ROOMS = ("kitchen", "cellar", "attic")
#: A dialogue with three questions, of which the model gets one wrong.
MINE = Dialogue(
    "mine",
    tuple(
        Turn(f"The {room} was painted by Tamm, {room}.", "Ana", source_id=room) for room in ROOMS
    ),
    tuple(
        Probe(f"Who painted the {room}?", painter, (room,), category)
        for room, painter, category in zip(ROOMS, ("Tamm", "Tamm", "Saar"), "aab", strict=True)
    ),
)

OURS: Mapping[str, Maker] = {"demem": BASELINES["demem"]}
Path_ = tuple[str | int, ...]


@dataclass
class Obedient:
    """A chat model of no intelligence, without a server.

    Attributes:
        fails: how each of its next calls fails; "" where it does not.
    """

    name: str
    fails: list[ModelFault | str] = field(default_factory=list)
    calls: int = 0

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        self.calls += 1
        fault = self.fails.pop(0) if self.fails else ""
        if fault:
            raise ModelError(fault, self.name)  # type: ignore[arg-type]
        messages = [{"role": one.role, "content": one.text} for one in prompt.messages]
        usage = Usage(len(prompt.text.split()), 5, requests=1, cost=0.25)
        return Completion(obedient(messages), "stop", usage, f"{self.name}-2026")

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        await asyncio.sleep(0)
        return self.complete(prompt, options)


def header_of(questions: Sequence[Posed], panel: Panel, **changed: Any) -> Header:
    """Return the header of a run on MINE."""
    systems = tuple(dict.fromkeys(one.system for one in questions))
    fields: dict[str, Any] = {
        "benchmark": "locomo",
        "data": "mine.json",
        "sha256": "0" * 64,
        "version": LIBRARY.version,
        "commit": LIBRARY.commit,
        "model": panel.model.name,
        "judges": tuple(judge.name for judge in panel.judges),
        "systems": systems,
        "questions": len(questions) // len(systems),
        "limit": 500,
        "runs": panel.runs,
        "seeds": tuple(range(panel.runs)),
        "prompts": instructions(),
        "began": "2026-11-27T06:00:00+00:00",
    }
    return Header(**fields | changed)


def ran(
    path: Path,
    *,
    models: Sequence[Obedient] | None = None,
    runs: int = 2,
    parallel: int = 3,
    dialogue: Dialogue = MINE,
    systems: Mapping[str, Maker] = OURS,
) -> Marked:
    """Run, or go on, as ``demem bench`` does: the first model answers, the others mark."""
    model, *judges = models or [Obedient(name) for name in ("good", "j1", "j2")]
    panel = Panel(model, tuple(judges), runs, parallel)
    questions = _posed(dialogue, tuple(systems.items()))
    header = header_of(questions, panel)
    had = resumed(path, header, questions)
    questions = with_times(questions, had)
    results = Results(path, header, questions, had)
    known = had.marks if had else ()
    marked = asyncio.run(mark(questions, panel, known=known, keep=results.add))
    results.close()
    return marked


@cache
def _posed(dialogue: Dialogue, systems: tuple[tuple[str, Maker], ...]) -> list[Posed]:
    return posed([dialogue], dict(systems), 500)


def wrong(contents: Contents) -> list[Check]:
    """Return the checks that do not agree."""
    return [check for check in checks_of(contents, LIBRARY) if check.agrees is False]


def agrees(path: Path) -> bool:
    """Whether every check of a file agrees."""
    return wrong(read_results(path)) == []


def found_in(path: Path) -> set[str]:
    """Return the names of the checks of a file that do not agree."""
    return {check.name for check in wrong(read_results(path))}


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file as JSON values."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def put(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write lines to a file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def closed_anew(path: Path, lines: Sequence[dict[str, Any]], *, figures: bool) -> None:
    """Write lines with the digest made anew, as one would who hides a change; or all figures."""
    put(path, lines[:-1])
    made = closing_of(read_results(path)).model_dump(mode="json")
    closing = made if figures else {**lines[-1], "digest": made["digest"]}
    put(path, [*lines[:-1], closing])


def leaves(value: object, path: Path_ = ()) -> Iterator[tuple[Path_, object]]:
    """Yield each place of a JSON value that holds no others, with what is there."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from leaves(part, (*path, number))
    else:
        yield path, value
