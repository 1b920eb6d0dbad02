"""This memory beside rivals: what each finds and takes, and what each needs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from demem_agent.cli.json_values import Document
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.cli.tables.figures import interval

__all__ = ["REWRITTEN", "best_first", "comparison_parts", "costs", "model_costs"]

#: What recall says of a system that stores what a model wrote.
REWRITTEN = (
    "recall counts words that stand in a row as they were said; of memories that a model rewrote "
    "it says how much of the wording they kept, and not whether the answer is in them."
)


def comparison_parts(document: Document) -> Iterator[RenderableType]:
    """Yield the tables of a comparison."""
    counted = f"{document['dialogues']} dialogues ({', '.join(document['names'])})"
    yield cell(f"{document['data']}: {counted}, {document['questions']} questions with evidence.")
    shown = table("Gold evidence in the text, and what it takes")
    add_columns(shown, "system", "encoder")
    add_figures(shown, *(f"recall {limit:,}" for limit in document["limits"]))
    asked = [name for name, found in document["systems"].items() if found["used"]]
    add_figures(shown, "ms a turn", "ms a read", "KB a dialogue")
    if asked:
        add_figures(shown, "calls", "tokens", "cost")
    for name in best_first(document):
        found = document["systems"][name]
        recall = [interval(one) for one in found["recall"].values()]
        style = "bold" if name == "demem" else ""
        figures = [*recall, *costs(found, document["dialogues"])]
        if asked:
            figures += model_costs(found)
        shown.add_row(cell(name), cell(found["encoder"]), *figures, style=style)
    yield shown
    if asked:
        yield cell(f"{', '.join(asked)}: {REWRITTEN}")
    yield _settings(document)
    for name, needed in document["missing"].items():
        yield cell(f"not measured, since not installed: {name} ({', '.join(needed)})")
    for name in document["unasked"]:
        yield cell(f"not measured, since it needs a model: {name} (--systems {name} --model NAME)")


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


def model_costs(found: Document) -> list[str]:
    """Return what a system's model took: calls, tokens, and cost; "-" where it has none."""
    used = found["used"]
    if not used:
        return ["-", "-", "-"]
    cost = "not known" if used["cost"] is None else f"{used['cost']:,.4f}"
    tokens = used["prompt_tokens"] + used["completion_tokens"]
    return [f"{used['requests']:,}", f"{tokens:,}", cost]


def _settings(document: Document) -> RenderableType:
    shown = table("How each is set, and what it needs")
    add_columns(shown, "system", "of", "settings", "needs")
    for name, found in document["systems"].items():
        shown.add_row(*map(cell, (name, found["made_by"], found["settings"], found["needs"])))
    return shown
