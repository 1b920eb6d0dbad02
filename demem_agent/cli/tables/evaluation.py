"""What was measured: recall, by category too, what it takes, and how the systems compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table

from demem_agent.cli.json_values import Document
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.cli.tables.figures import interval, share

__all__ = ["HEADLINE", "LIMITS", "brackets", "evaluation_parts"]

#: Characters that a reading may have, unless others are asked for.
LIMITS = (500, 1000, 2000, 4000, 6000, 8000)
#: Of those, the ones that tables show: all would be too many.
HEADLINE = (2000, 6000)


def evaluation_parts(document: Document) -> Iterator[RenderableType]:
    """Yield the tables of a report that ``demem eval`` or ``demem bench`` made."""
    yield cell(_heading(document))
    if document["scored"]:
        yield _recall_table(document)
        yield _found_table(document)
    yield _cost_table(document)
    if document["scored"] and len(_scored(document)) > 1:
        for limit in _headline(document):
            yield _category_table(document, limit)
    if _asked_unanswerable(document):
        yield _abstention_table(document)
    if document["paired"]:
        yield _paired_table(document)


def brackets(dialogues: int) -> str:
    """Say what stands in brackets behind a mean."""
    if dialogues > 1:
        return "in brackets: 95 % intervals, drawn by dialogue"
    return "no intervals from one dialogue"


def _heading(document: Document) -> str:
    dialogues = document["dialogues"]
    counted = f"{dialogues} dialogue{'s' if dialogues > 1 else ''}"
    questions = f"{document['questions']} questions, {document['scored']} with evidence"
    return f"{document['data']}: {counted}, {questions}; {brackets(dialogues)}."


def _headline(document: Document) -> list[int]:
    """Return the limits that are shown: all that were asked for, else those of the headline."""
    limits: list[int] = document["limits"]
    return list(HEADLINE) if tuple(limits) == LIMITS else limits


def _at_headline(document: Document, name: str) -> list[Document]:
    """Return what a system was measured to do at each limit that is shown."""
    found = document["systems"][name]
    return [found[str(limit)] for limit in _headline(document)]


def _best_first(document: Document) -> list[str]:
    """Return the systems by recall at the limits shown.

    Where no recall was measured, they go by how often the reference is in the text.
    """

    def key(name: str) -> float:
        total = 0.0
        for found in _at_headline(document, name):
            total += _recall_or_contained(found)
        return -total

    return sorted(document["systems"], key=key)


def _recall_or_contained(found: Document) -> float:
    measured = found["recall"] or found["contained"]
    return float(measured["mean"]) if measured else 0.0


def _style(document: Document, name: str) -> str:
    return "bold" if name == document["first"] else ""


def _systems_table(title: str, columns: Sequence[str], first: str = "system") -> Table:
    shown = table(title)
    add_columns(shown, first)
    add_figures(shown, *columns)
    return shown


def _recall_table(document: Document) -> Table:
    limits = [f"{limit:,}" for limit in _headline(document)]
    columns = [f"recall {limit}" for limit in limits]
    shown = _systems_table("Gold evidence in the text", columns)
    for name in _best_first(document):
        found = _at_headline(document, name)
        shown.add_row(cell(name), *_intervals(found, "recall"), style=_style(document, name))
    return shown


def _found_table(document: Document) -> Table:
    limits = [f"{limit:,}" for limit in _headline(document)]
    columns = [f"half, {limit}" for limit in limits]
    columns += [f"nine tenths, {limit}" for limit in limits]
    shown = _systems_table("Gold turns of which so much is in the text", columns)
    for name in _best_first(document):
        found = _at_headline(document, name)
        half = _shares(found, "half")
        most = _shares(found, "nine_tenths")
        shown.add_row(cell(name), *half, *most, style=_style(document, name))
    return shown


def _intervals(found: Sequence[Document], measure: str) -> list[str]:
    """Return one measure in print, of each of several limits or systems."""
    return [interval(one[measure]) for one in found]


def _shares(found: Sequence[Document], measure: str) -> list[str]:
    """Return the means alone of one measure, where the intervals of another stand beside them."""
    return [share(one[measure]["mean"]) if one[measure] else "-" for one in found]


def _cost_table(document: Document) -> Table:
    limit = _headline(document)[-1]
    columns = ("characters", "ms median", "ms p95", "reference in text", "answer F1")
    shown = _systems_table(f"What a read of at most {limit:,} characters takes and gives", columns)
    for name in _best_first(document):
        costs = _costs(document["systems"][name][str(limit)])
        shown.add_row(cell(name), *costs, style=_style(document, name))
    return shown


def _costs(found: Document) -> Iterator[str]:
    seconds = found["seconds"]
    yield f"{found['size']:,.0f}"
    yield _milliseconds(seconds["median"])
    yield _milliseconds(seconds["p95"])
    yield interval(found["contained"])
    yield interval(found["f1"])


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.2f}"


def _scored(document: Document) -> dict[str, int]:
    """Return how many questions with evidence there are of each category."""
    categories = _at_headline(document, document["first"])[-1]["categories"]
    scored: dict[str, int] = {}
    for name, found in categories.items():
        if found["recall"]:
            scored[name] = found["recall"]["questions"]
    return scored


def _category_table(document: Document, limit: int) -> Table:
    """Show recall by category, of ours and of the best of the others."""
    names = _ours_and_the_best(document)
    shown = table(f"Recall by category at {limit:,}")
    add_columns(shown, "category")
    add_figures(shown, "questions")
    for name in names:
        shown.add_column(cell(name), justify="right", style=_style(document, name))
    measured = [document["systems"][name][str(limit)] for name in names]
    scored = _scored(document)
    for category in sorted(scored, key=scored.__getitem__, reverse=True):
        found = [one["categories"][category] for one in measured]
        questions = str(scored[category])
        shown.add_row(cell(category or "(none)"), questions, *_intervals(found, "recall"))
    return shown


def _ours_and_the_best(document: Document) -> list[str]:
    names = [document["first"]]
    for name in _best_first(document):
        if name in document["paired"]:
            return [*names, name]
    return names


def _asked_unanswerable(document: Document) -> bool:
    said = document["abstention"].values()
    return any(one["unanswerable"] for one in said)


def _abstention_table(document: Document) -> Table:
    """Show what each system that says so did not know."""
    columns = ("answerable", "false alarms", "unanswerable", "caught", "AUC")
    shown = _systems_table("Questions that were said not to be known", columns)
    for name in _best_first(document):
        if name in document["abstention"]:
            said = document["abstention"][name]
            shown.add_row(cell(name), *_said(said), style=_style(document, name))
    return shown


def _said(said: Document) -> Iterator[str]:
    yield str(said["answerable"])
    yield interval(said["false_alarms"])
    yield str(said["unanswerable"])
    yield interval(said["caught"])
    yield "-" if said["auc"] is None else share(said["auc"])


def _paired_table(document: Document) -> Table:
    limits = _headline(document)
    columns = [f"at {limit:,}" for limit in limits]
    shown = _systems_table("Difference in recall", columns, f"{document['first']} less")
    for name in _best_first(document):
        if name in document["paired"]:
            found = document["paired"][name]
            values = [interval(found[str(limit)], sign=True) for limit in limits]
            shown.add_row(cell(name), *values)
    return shown
