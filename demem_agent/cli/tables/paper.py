"""The paper's own figures, which are never of this run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap

from rich.table import Table

from demem_agent.cli.tables.cells import add_columns, add_figures, table
from demem_agent.cli.tables.figures import share
from demem_agent.studies.paper import ARENA, LLAMA, LONGMEMEVAL, RECALL, SCORES

__all__ = [
    "CATEGORIES",
    "paper_arena",
    "paper_llama",
    "paper_longmemeval",
    "paper_scores",
    "paper_table",
    "spread",
]

#: The categories of LoCoMo in the paper's order.
CATEGORIES = ("temporal", "open-domain", "multi-hop", "single-hop")
#: LongMemEval's kinds of questions, in the paper's order and abbreviations.
_KINDS = ("SSU", "MS", "SSP", "TR", "KU", "SSA")


def paper_table() -> Table:
    """Show the recall that the paper states."""
    shown = table("From the paper, not this run: its LoCoMo subset, budget, encoder")
    add_columns(shown, "system")
    add_figures(shown, "single-hop", "temporal", "multi-hop", "overall")
    for name, values in RECALL.items():
        shown.add_row(name, *(share(value, 2) for value in values))
    return shown


def paper_scores() -> Table:
    """Show the marks that the paper states of LoCoMo."""
    return _by_backbone("binary marks", CATEGORIES, SCORES)


def paper_longmemeval() -> Table:
    """Show the marks that the paper states of LongMemEval."""
    return _by_backbone("graded marks", _KINDS, LONGMEMEVAL)


def paper_arena() -> Table:
    """Show what the paper states of MemoryArena."""
    shown = table("From the paper, not this run: success rate / progress score", tight=True)
    add_columns(shown, "system")
    add_figures(shown, "shopping", "travel", "search", "math", "phys", "mean SR")
    for name, values in ARENA.items():
        pairs = [f"{share(values[n], 2)} / {share(values[n + 1], 2)}" for n in range(0, 10, 2)]
        shown.add_row(name, *pairs, share(values[-1], 2))
    return shown


def paper_llama() -> Table:
    """Show what the paper states of its open-weight backbone."""
    shown = table("From the paper, not this run: Llama-3.1-70B", tight=True)
    add_columns(shown, "system")
    add_figures(shown, "LongMemEval", "recall", "LoCoMo", "recall")
    for name, figures in LLAMA.items():
        shown.add_row(name, *starmap(spread, figures))
    return shown


def _by_backbone(
    marks: str,
    categories: Sequence[str],
    stated: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
) -> Table:
    title = f"From the paper, not this run: {marks} of gpt-4o-mini and gpt-4.1-mini"
    shown = table(title, tight=True)
    add_columns(shown, "backbone", "system")
    add_figures(shown, *categories, "overall")
    for backbone, systems in stated.items():
        for name, figures in systems.items():
            shown.add_row(backbone, name, *starmap(spread, figures))
    return shown


def spread(mean: float, deviation: float | None) -> str:
    """Return a mean with its standard deviation; of one run it is the mean alone."""
    if deviation is None:
        return share(mean)
    return f"{share(mean)} ± {share(deviation)}"
