"""The paper's own figures, which are never of this run."""

from __future__ import annotations

from itertools import starmap

from rich.table import Table

from demem_agent.cli.tables.cells import add_columns, add_figures, table
from demem_agent.cli.tables.figures import share
from demem_agent.studies.paper import RECALL, SCORES

__all__ = ["CATEGORIES", "paper_scores", "paper_table", "spread"]

#: The categories of LoCoMo in the paper's order.
CATEGORIES = ("temporal", "open-domain", "multi-hop", "single-hop")


def paper_table() -> Table:
    """Show the recall that the paper states."""
    shown = table("From the paper, not this run: its LoCoMo subset, budget, encoder")
    add_columns(shown, "system")
    add_figures(shown, "single-hop", "temporal", "multi-hop", "overall")
    for name, values in RECALL.items():
        shown.add_row(name, *(share(value, 2) for value in values))
    return shown


def paper_scores() -> Table:
    """Show the marks that the paper states."""
    shown = table(
        "From the paper, not this run: binary marks of gpt-4o-mini and gpt-4.1-mini", tight=True
    )
    add_columns(shown, "backbone", "system")
    add_figures(shown, *CATEGORIES, "overall")
    for backbone, systems in SCORES.items():
        for name, figures in systems.items():
            shown.add_row(backbone, name, *starmap(spread, figures))
    return shown


def spread(mean: float, deviation: float | None) -> str:
    """Return a mean with its standard deviation; of one run it is the mean alone."""
    if deviation is None:
        return share(mean)
    return f"{share(mean)} ± {share(deviation)}"
