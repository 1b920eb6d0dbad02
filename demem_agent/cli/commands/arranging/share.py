"""``demem share``: merge two slots that a test finds may share."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid
from demem_agent.settings import SHARING

__all__ = ["share"]


def share(
    place: Place,
    output: Output,
    answers: Annotated[
        int, typer.Option(min=2, metavar="N", help="Most answers to produce for the tests.")
    ] = SHARING,
) -> None:
    """Merge two slots where a conflict waits for one, and no known decision loses by it.

    The next feedback tests what waited anew, and splits if it still conflicts.
    """
    with place.open() as memory:
        found = memory.share(answers)
        shown = grid()
        if found is None:
            shown.add_row("nothing merged", "nothing waits for a slot, or no two may share")
        else:
            shown.add_row("merged", cell(f"slot {found.slot} into slot {found.into}", "bold"))
            shown.add_row("loses at most", f"{found.radius:.3f} (threshold {found.threshold:g})")
            shown.add_row("tested", cell(", ".join(found.contexts) or "nothing is known of them"))
        output.show({"shared": None if found is None else asdict(found)}, shown)
