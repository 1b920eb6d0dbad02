"""This memory beside rivals: what each finds and takes, and what each needs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from demem_agent.cli.json_values import Document
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.cli.tables.figures import interval

__all__ = ["best_first", "comparison_parts", "costs"]


def comparison_parts(document: Document) -> Iterator[RenderableType]:
    """Yield the tables of a comparison."""
    counted = f"{document['dialogues']} dialogues ({', '.join(document['names'])})"
    yield cell(f"{document['data']}: {counted}, {document['questions']} questions with evidence.")
    shown = table("Gold evidence in the text, and what it takes")
    add_columns(shown, "system", "encoder")
    add_figures(shown, *(f"recall {limit:,}" for limit in document["limits"]))
    add_figures(shown, "ms a turn", "ms a read", "KB a dialogue")
    for name in best_first(document):
        found = document["systems"][name]
        recall = [interval(one) for one in found["recall"].values()]
        style = "bold" if name == "demem" else ""
        figures = [*recall, *costs(found, document["dialogues"])]
        shown.add_row(cell(name), cell(found["encoder"]), *figures, style=style)
    yield shown
    yield _settings(document)
    for name, needed in document["missing"].items():
        yield cell(f"not measured, since not installed: {name} ({', '.join(needed)})")


def best_first(document: Document) -> list[str]:
    """Return the systems by their recall, summed over the limits."""

    def key(name: str) -> float:
        recall = document["systems"][name]["recall"].values()
        return -sum(float(one["mean"]) for one in recall)

    return sorted(document["systems"], key=key)


def costs(found: Document, dialogues: int) -> list[str]:
    """Return what a system takes: milliseconds a turn and a read, KB of a dialogue on disk."""
    turn = 1000 * found["ingesting"] / max(found["turns"], 1)
    read = 1000 * found["reading"] / max(found["reads"], 1)
    disk = f"{found['disk'] / dialogues / 1000:,.0f}" if found["disk"] else "-"
    return [f"{turn:.2f}", f"{read:.2f}", disk]


def _settings(document: Document) -> RenderableType:
    shown = table("How each is set, and what it needs")
    add_columns(shown, "system", "of", "settings", "needs")
    for name, found in document["systems"].items():
        shown.add_row(*map(cell, (name, found["made_by"], found["settings"], found["needs"])))
    return shown
