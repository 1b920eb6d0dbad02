"""What ``demem eval`` and ``demem bench`` share: which systems are measured within which limits,
and where it goes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console, RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import WIDTH_OF_A_PIPE, Output, ticking
from demem_agent.cli.tables import evaluation_parts
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import (
    BASELINES,
    Dialogue,
    Maker,
    Measured,
    evaluate,
    oracle,
    paired,
    report,
    save,
)
from demem_agent.evaluate.drawing.figures import draw, require_matplotlib

__all__ = ["LIMITS", "OURS", "Trial"]

Json = dict[str, Any]

#: Characters that a reading may have, unless others are given.
LIMITS = (500, 1000, 2000, 4000, 6000, 8000)
#: What the others are compared with, where it is measured.
OURS = "demem"
_CEILING = "oracle"
_FILES = "results.jsonl", "report.json", "table.txt"


@dataclass(frozen=True, slots=True)
class Trial:
    """What is measured and where it goes."""

    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A built-in system, or FILE.py:MAKER of your own; may be repeated. [all]",
        ),
    ] = None
    limit: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Characters that a reading may have; may be repeated. [500 to 8000]",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", file_okay=False, help="Write records, report and figures there."
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of the draws behind the intervals.")
    ] = 0

    def ready(self) -> None:
        """Check what need not wait until all is measured, and make the folder.

        Raises:
            InvalidInput: for a system that there is not.
            MissingExtra: if figures are wanted and cannot be drawn.
        """
        self.systems(())
        if self.out is not None:
            require_matplotlib()
            self.out.mkdir(parents=True, exist_ok=True)

    def systems(self, dialogues: Sequence[Dialogue]) -> dict[str, Maker]:
        """Give the makers of the chosen systems by name; all built-in ones and the oracle unless
        some are named.
        """
        known = {**BASELINES, _CEILING: oracle(dialogues)}
        return dict(_found(name, known) for name in self.system) if self.system else known

    def measure(self, dialogues: Sequence[Dialogue]) -> list[Measured]:
        """Have every system read for every question, under a progress bar."""
        limits = sorted(set(self.limit or LIMITS))
        with ticking("readings") as tick:
            return evaluate(dialogues, self.systems(dialogues), limits, tick=tick)

    def show(
        self,
        measured: Sequence[Measured],
        output: Output,
        *,
        data: str,
        also: Sequence[RenderableType] = (),
        found: Json | None = None,
    ) -> None:
        """Print the tables or the JSON document, and write both with the figures if a folder was
        named.

        Args:
            data: what was measured, in words.
            also: parts to print after the tables.
            found: what more goes into the document.
        """
        summed = report(measured, seed=self.seed)
        document = {
            "data": data,
            **summed,
            **_compared(measured, summed, self.seed),
            **(found or {}),
        }
        parts = [*evaluation_parts(document), *also]
        if self.out is not None:
            document["written"] = [
                str(path) for path in _write(self.out, measured, document, parts)
            ]
            parts.append(cell(f"written: {', '.join(document['written'])}"))
        output.show(document, *parts)


def _found(name: str, known: Mapping[str, Maker]) -> tuple[str, Maker]:
    """Give a system's name and its maker, from its own file where one is named."""
    if name in known:
        return name, known[name]
    file, colon, maker = name.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise InvalidInput("system", name, f"one of {', '.join(known)}, or FILE.py:MAKER")
    if not Path(file).is_file():
        raise UsageError(f"there is no file {file} to take the system {maker} from")
    return maker, _made_in(Path(file).resolve(), maker)


@cache  # a file is run once, though the system is looked up twice
def _made_in(file: Path, maker: str) -> Maker:
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file.name} cannot be loaded as Python")
    module = module_from_spec(spec)
    sys.modules[file.stem] = module  # where dataclasses and pickle look for it
    try:
        spec.loader.exec_module(module)
    except SystemExit as left:  # how a script says that what it needs is missing
        raise UsageError(f"{file.name} ended before it defined {maker}: {left}") from left
    found = getattr(module, maker, None)
    if not callable(found):
        raise UsageError(f"{file.name} defines no {maker} to make a system with")
    return cast(Maker, found)


def _compared(measured: Sequence[Measured], summed: Json, seed: int) -> Json:
    """Compare every other system with ours, or with the first where ours is not measured."""
    names = list(summed["systems"])
    first = OURS if OURS in names else names[0]
    rivals = [name for name in names if name not in (first, _CEILING)]
    if not summed["scored"]:
        rivals = []
    found = {
        name: {
            str(limit): asdict(paired(measured, first, name, limit, seed=seed))
            for limit in summed["limits"]
        }
        for name in rivals
    }
    return {"first": first, "paired": found}


def _write(
    out: Path, measured: Sequence[Measured], document: Json, parts: Sequence[RenderableType]
) -> list[Path]:
    results, report_file, table = (out / name for name in _FILES)
    save(measured, results)
    report_file.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    text = StringIO()
    Console(file=text, highlight=False, width=WIDTH_OF_A_PIPE).print(*parts, sep="\n")
    table.write_text(text.getvalue(), encoding="utf-8")
    return [results, report_file, table, *draw(document, out, title=document["data"])]
