"""What the paper's protocol found: how many answers were marked right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from demem_agent.cli.json_values import Document
from demem_agent.cli.tables.cells import add_columns, add_figures, by_kind, cell, table
from demem_agent.cli.tables.figures import share
from demem_agent.cli.tables.paper import CATEGORIES, spread

__all__ = ["marks_table", "protocol_parts"]


def protocol_parts(document: Document) -> Iterator[RenderableType]:
    """Yield the tables of a report.

    Args:
        document: as :func:`demem_agent.evaluate.protocol.reporting.marks_report` makes it.
    """
    yield cell(_heading(document))
    for warning in _warnings(document):
        yield cell(warning, "yellow")
    yield marks_table(document)
    yield _costs_table(document)
    for one in document["judges_agree"]:
        yield cell(_agreement(one))
    for one in document["systems_differ"]:
        yield cell(_difference(one))


def _agreement(one: Document) -> str:
    kappa = "kappa not defined" if one["kappa"] is None else f"Cohen's kappa {one['kappa']:.2f}"
    return (
        f"{one['first']} and {one['second']} agree on {one['agreed']:.1%} of "
        f"{one['answers']:,} answers, {kappa}."
    )


def _difference(one: Document) -> str:
    return (
        f"Of {one['questions']:,} questions {one['first']} alone is right on "
        f"{one['first_only']:,}, {one['second']} alone on {one['second_only']:,} "
        f"(McNemar, p = {one['p']:.3f})."
    )


def _costs_table(document: Document) -> Table:
    shown = table("What an answer takes: mean over dialogues", tight=True)
    add_columns(shown, "system")
    add_figures(
        shown,
        "characters read",
        "evidence in them",
        "right where all is",
        "seconds, read and answer",
    )
    for system, takes in document["takes"].items():
        recall, use = document["recall"][system], document["use"][system]["mean"]
        shown.add_row(
            cell(system),
            f"{takes['characters']:,.0f}",
            *("-" if part is None else share(part) for part in (recall, use)),
            f"{takes['seconds']:,.3f}",
        )
    return shown


def _heading(document: Document) -> str:
    model = f"{document['data']}: {document['model']}"
    limit = f"{document['limit']:,} characters"
    judges = ", ".join(document["judges"])
    return f"{model} answers from {limit}, marked by {judges}; {_marked(document)}."


def _marked(document: Document) -> str:
    runs = document["runs"]
    asked = document["questions"] * runs
    counted = f"{runs} run{'s' if runs > 1 else ''}"
    return f"{document['marked']:,} of {asked:,} answers marked in {counted}"


def _warnings(document: Document) -> Iterator[str]:
    if document["useless"]:
        yield (
            f"{document['useless']:,} answers could not be used (not as asked for, or resting on "
            "nothing that was read); they are marked as no answer."
        )
    if document["failed"]:
        yield (
            f"Not marked, as a model failed, and in no figure: {by_kind(document['failed'])}. "
            "The same command asks again."
        )
    if document["stopped"]:
        yield f"Stopped early: {document['stopped']}."
    if document["stopped"] and not document["whole_runs"]:
        yield (
            "No run is whole: the figures are of the questions that were marked, first ones first."
        )


def marks_table(document: Document) -> Table:
    """Show what systems were marked, by category.

    Args:
        document: with the figures as
            :func:`demem_agent.evaluate.protocol.reporting.figures_of` makes them.
    """
    names = _categories(document)
    shown = table(
        "Answers marked right, and their mean grade: mean of the runs ± one standard deviation",
        tight=True,
    )
    add_columns(shown, "marks", "system")
    add_figures(shown, *(cell(name or "(none)") for name in names), "overall")
    for system, found in document["systems"].items():
        marks = [found["categories"][name] for name in names]
        _add_system(shown, system, [*marks, found["overall"]])
    return shown


def _add_system(shown: Table, system: str, found: Sequence[Document]) -> None:
    """Add the rows of one system: binary marks, grades, and how many questions were marked."""

    def row(name: str, of: str, words: Callable[[Any], str], style: str = "") -> None:
        shown.add_row(name, cell(system), *(words(one[of]) for one in found), style=style)

    row("binary", "score", _mean, "bold")
    row("graded", "graded", _mean)
    row("questions", "questions", str, "dim")


def _categories(document: Document) -> list[str]:
    """Return the categories that were marked, those of the paper first and in its order."""
    names: dict[str, None] = {}
    for found in document["systems"].values():
        names.update(dict.fromkeys(found["categories"]))
    return sorted(names, key=_place)


def _place(category: str) -> int:
    return CATEGORIES.index(category) if category in CATEGORIES else len(CATEGORIES)


def _mean(found: Document | None) -> str:
    return "-" if found is None else spread(found["mean"], found["deviation"])
