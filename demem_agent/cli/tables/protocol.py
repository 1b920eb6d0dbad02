"""What the paper's protocol found: how many answers were marked right, and the paper's own figures
apart from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from demem_agent.cli.tables.cells import cell, table
from demem_agent.cli.tables.evaluation import share
from demem_agent.studies.paper import SCORES as PAPER

__all__ = ["paper_scores", "protocol_parts"]

#: The categories of LoCoMo in the paper's order.
_ORDER = ("temporal", "open-domain", "multi-hop", "single-hop")


def protocol_parts(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the tables of a report as :func:`~demem_agent.evaluate.protocol.reporting.marks_report`
    makes it.
    """
    judges = ", ".join(document["judges"])
    asked = document["questions"] * document["runs"]
    runs = f"{document['runs']} run{'s' if document['runs'] > 1 else ''}"
    yield cell(
        f"{document['data']}: {document['model']} answers from {document['limit']:,} characters, marked by {judges}; "
        f"{document['marked']:,} of {asked:,} answers marked in {runs}."
    )
    if document["useless"]:
        words = f"{document['useless']:,} answers could not be used (not as asked for, or resting on nothing that was read)"
        yield cell(f"{words}; they are marked as no answer.", "yellow")
    if document["failed"]:
        kinds = ", ".join(f"{kind} {count}" for kind, count in document["failed"].items())
        yield cell(
            f"Not marked, as a model failed, and in no figure: {kinds}. The same command asks again.",
            "yellow",
        )
    if document["stopped"]:
        yield cell(f"Stopped early: {document['stopped']}.", "yellow")
        if not document["whole_runs"]:
            yield cell(
                "No run is whole: the figures are of the questions that were marked, first ones first.",
                "yellow",
            )
    yield _marks_table(document)


def paper_scores() -> Table:
    """Show the paper's own figures, which are not of this run."""
    shown = table(
        "From the paper, not this run: binary marks of gpt-4o-mini and gpt-4.1-mini", tight=True
    )
    for name in ("backbone", "system"):
        shown.add_column(name)
    for name in (*_ORDER, "overall"):
        shown.add_column(name, justify="right")
    for backbone, systems in PAPER.items():
        for name, figures in systems.items():
            shown.add_row(
                backbone, name, *(_spread(mean, deviation) for mean, deviation in figures)
            )
    return shown


def _marks_table(document: Mapping[str, Any]) -> Table:
    names = _ordered(
        [name for found in document["systems"].values() for name in found["categories"]]
    )
    shown = table(
        "Answers marked right, and their mean grade: mean of the runs ± one standard deviation",
        tight=True,
    )
    for name in ("marks", "system"):
        shown.add_column(name)
    for name in (*names, "overall"):
        shown.add_column(cell(name or "(none)"), justify="right")
    for system, found in document["systems"].items():
        cells = [*(found["categories"][name] for name in names), found["overall"]]
        shown.add_row(
            "binary", cell(system), *(_figure(one["score"]) for one in cells), style="bold"
        )
        shown.add_row("graded", cell(system), *(_figure(one["graded"]) for one in cells))
        shown.add_row(
            "questions", cell(system), *(str(one["questions"]) for one in cells), style="dim"
        )
    return shown


def _ordered(names: Sequence[str]) -> list[str]:
    return sorted(
        dict.fromkeys(names), key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER)
    )


def _figure(found: Mapping[str, Any] | None) -> str:
    return "-" if found is None else _spread(found["mean"], found["deviation"])


def _spread(mean: float, deviation: float | None) -> str:
    return share(mean) if deviation is None else f"{share(mean)} ± {share(deviation)}"
