"""What was measured: recall, by category too, what it takes, and how the systems compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from demem_agent.cli.tables.cells import cell, table
from demem_agent.studies.paper import RECALL as PAPER

__all__ = ["evaluation_parts", "interval", "paper_table", "share"]

Document = Mapping[str, Any]

#: The limits of the tables, where they were measured.
HEADLINE = (2000, 6000)


def evaluation_parts(document: Document) -> Iterator[RenderableType]:
    """Give the tables of a report that ``demem eval`` or ``demem bench`` made."""
    yield cell(_heading(document))
    if document["scored"]:
        yield _recall_table(document)
    yield _cost_table(document)
    if document["scored"] and len(_scored(document)) > 1:
        for limit in _headline(document):
            yield _category_table(document, limit)
    if document["paired"]:
        yield _paired_table(document)


def paper_table() -> Table:
    """Show the paper's own figures, which are not of this run."""
    shown = table("From the paper, not this run: its LoCoMo subset, budget, encoder")
    shown.add_column("system")
    for name in ("single-hop", "temporal", "multi-hop", "overall"):
        shown.add_column(name, justify="right")
    for name, values in PAPER.items():
        shown.add_row(name, *(share(value, 2) for value in values))
    return shown


def share(value: float, digits: int = 3) -> str:
    """Give a number between -1 and 1 without the zero before its point; 1 as wide as the others:
    ``.874``, ``1.00``.
    """
    words = f"{round(value, digits) + 0.0:.{digits}f}"  # adding 0.0 takes the sign off a zero
    return words[:-1] if words.lstrip("-").startswith("1") else words.replace("0.", ".", 1)


def interval(found: Mapping[str, Any] | None, sign: bool = False) -> str:
    """Give a mean with its interval: ``.778 [.74, .81]``; the mean alone of one dialogue, a dash of
    no question.
    """
    if found is None:
        return "-"
    mean = ("+" if sign and found["mean"] > 0 else "") + share(found["mean"])
    ends = () if found["low"] is None else (found["low"], found["high"])
    return f"{mean} [{', '.join(share(end, 2) for end in ends)}]" if ends else mean


def _heading(document: Document) -> str:
    dialogues = document["dialogues"]
    counted = (
        f"{dialogues} dialogue{'s' if dialogues > 1 else ''}, {document['questions']} questions"
    )
    brackets = (
        "in brackets: 95 % intervals, drawn by dialogue"
        if dialogues > 1
        else "no intervals from one dialogue"
    )
    return f"{document['data']}: {counted}, {document['scored']} with evidence; {brackets}."


def _headline(document: Document) -> list[int]:
    limits = document["limits"]
    return [limit for limit in HEADLINE if limit in limits] or list(
        dict.fromkeys((limits[0], limits[-1]))
    )


def _cells(document: Document, name: str) -> list[Any]:
    return [document["systems"][name][str(limit)] for limit in _headline(document)]


def _best_first(document: Document) -> list[str]:
    """Give the systems by recall at the headline limits, else by how often the reference is in the
    text.
    """

    def key(name: str) -> float:
        found = [cell["recall"] or cell["contained"] for cell in _cells(document, name)]
        return -sum(float(one["mean"]) for one in found if one)

    return sorted(document["systems"], key=key)


def _style(document: Document, name: str) -> str:
    return "bold" if name == document["first"] else ""


def _systems_table(title: str, columns: Sequence[str], first: str = "system") -> Table:
    shown = table(title)
    shown.add_column(first)
    for name in columns:
        shown.add_column(name, justify="right")
    return shown


def _recall_table(document: Document) -> Table:
    limits = [f"{limit:,}" for limit in _headline(document)]
    columns = [
        *(f"recall {limit}" for limit in limits),
        *(f"whole turns {limit}" for limit in limits),
    ]
    shown = _systems_table("Gold evidence in the text", columns)
    for name in _best_first(document):
        cells = _cells(document, name)
        values = [cell[measure] for measure in ("recall", "whole") for cell in cells]
        shown.add_row(cell(name), *map(interval, values), style=_style(document, name))
    return shown


def _cost_table(document: Document) -> Table:
    limit = _headline(document)[-1]
    columns = ("characters", "ms median", "ms p95", "reference in text", "answer F1")
    shown = _systems_table(f"What a read of at most {limit:,} characters takes and gives", columns)
    for name in _best_first(document):
        at = document["systems"][name][str(limit)]
        milliseconds = (f"{1000 * at['seconds'][of]:.2f}" for of in ("median", "p95"))
        answers = (interval(at[measure]) for measure in ("contained", "f1"))
        shown.add_row(
            cell(name), f"{at['size']:,.0f}", *milliseconds, *answers, style=_style(document, name)
        )
    return shown


def _scored(document: Document) -> dict[str, int]:
    found = _cells(document, document["first"])[-1]["categories"]
    return {name: of["recall"]["questions"] for name, of in found.items() if of["recall"]}


def _category_table(document: Document, limit: int) -> Table:
    """Show recall by category, of ours and of the best of the others."""
    first = document["first"]
    best = next((name for name in _best_first(document) if name in document["paired"]), None)
    names = [first] if best is None else [first, best]
    shown = table(f"Recall by category at {limit:,}")
    shown.add_column("category")
    shown.add_column("questions", justify="right")
    for name in names:
        shown.add_column(cell(name), justify="right", style=_style(document, name))
    for category, questions in sorted(_scored(document).items(), key=lambda item: -item[1]):
        at = (
            document["systems"][name][str(limit)]["categories"][category]["recall"]
            for name in names
        )
        shown.add_row(cell(category or "(none)"), str(questions), *map(interval, at))
    return shown


def _paired_table(document: Document) -> Table:
    limits = [str(limit) for limit in _headline(document)]
    first = document["first"]
    columns = [f"at {int(limit):,}" for limit in limits]
    shown = _systems_table("Difference in recall", columns, f"{first} less")
    for name in _best_first(document):
        if name in document["paired"]:
            found = document["paired"][name]
            shown.add_row(cell(name), *(interval(found[limit], sign=True) for limit in limits))
    return shown
