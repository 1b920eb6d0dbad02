"""What ``demem eval`` and ``demem bench`` measure: which systems, within which limits.

The same options say where it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.systems import NO_RIVALS, OURS, systems
from demem_agent.cli.measuring.written import note_files, written
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.evaluation import LIMITS, evaluation_parts
from demem_agent.evaluate import Dialogue, Maker, Measured, evaluate, paired, report, save
from demem_agent.evaluate.drawing.figures import draw, require_matplotlib

__all__ = ["Trial"]


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
            metavar="DIR",
            file_okay=False,
            help="Write records, report and figures there; a run with a model goes on from it.",
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
        """Return the makers of the chosen systems by name; all there are unless some are named."""
        return systems(self.system or (), dialogues)

    @property
    def limits(self) -> list[int]:
        """The limits of readings, the least first."""
        return sorted(set(self.limit or LIMITS))

    def measure(self, dialogues: Sequence[Dialogue]) -> list[Measured]:
        """Have every system read for every question, under a progress bar."""
        with ticking("readings") as tick:
            return evaluate(dialogues, self.systems(dialogues), self.limits, tick=tick)

    def told(
        self,
        measured: Sequence[Measured],
        *,
        data: str,
        also: Sequence[RenderableType] = (),
        found: Json | None = None,
    ) -> tuple[Json, list[RenderableType]]:
        """Return the JSON document and the tables; write both, and figures, if a folder was named.

        Args:
            data: what was measured, in words.
            also: parts to print after the tables.
            found: what more goes into the document.
        """
        summed = report(measured, seed=self.seed)
        compared = _compared(measured, summed, self.seed)
        document: Json = {"data": data, **summed, **compared, **(found or {})}
        parts = [*evaluation_parts(document), *also]
        if self.out is not None:
            files = written(self.out, partial(save, measured), document, parts)
            files += draw(document, self.out, title=data)
            note_files(files, document, parts)
        return document, parts


def _compared(measured: Sequence[Measured], summed: Json, seed: int) -> Json:
    """Compare every other system with ours, or with the first where ours is not measured."""
    names = list(summed["systems"])
    first = OURS if OURS in names else names[0]
    found: Json = {}
    for name in names if summed["scored"] else ():
        if name not in (first, *NO_RIVALS):
            found[name] = _pairs(measured, first, name, summed["limits"], seed)
    return {"first": first, "paired": found}


def _pairs(
    measured: Sequence[Measured], first: str, rival: str, limits: Sequence[int], seed: int
) -> Json:
    """Compare two systems at every limit."""
    pairs: Json = {}
    for limit in limits:
        pairs[str(limit)] = asdict(paired(measured, first, rival, limit, seed=seed))
    return pairs
