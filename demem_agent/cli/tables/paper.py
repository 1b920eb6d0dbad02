"""The paper's own figures, which are never of this run."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from demem_agent.cli.tables.cells import add_columns, add_figures, table
from demem_agent.cli.tables.figures import share

__all__ = ["CATEGORIES", "RECALL", "paper_scores", "paper_table", "spread"]

#: The categories of LoCoMo in the paper's order.
CATEGORIES = ("temporal", "open-domain", "multi-hop", "single-hop")
#: Gold-evidence recall in the paper (table "Gold-evidence recall under matched answer-time
#: budget").
RECALL = {
    "cosine top-k": (0.72, 0.54, 0.61, 0.66),
    "BM25 top-k": (0.69, 0.51, 0.58, 0.63),
    "DeMem": (0.85, 0.81, 0.79, 0.83),
    "oracle selection": (0.91, 0.88, 0.85, 0.89),
}
#: Mean and deviation in these categories and overall (paper, table "Results on LoCoMo").
_SCORES: Mapping[str, Mapping[str, tuple[tuple[float, float], ...]]] = {
    "GPT-4o-mini": {
        "FullContext": (
            (0.515, 0.050),
            (0.428, 0.067),
            (0.629, 0.057),
            (0.791, 0.039),
            (0.681, 0.053),
        ),
        "RAG": ((0.572, 0.101), (0.590, 0.126), (0.543, 0.120), (0.698, 0.108), (0.637, 0.115)),
        "Mem0": ((0.453, 0.072), (0.365, 0.099), (0.552, 0.080), (0.644, 0.066), (0.570, 0.077)),
        "DeMem": ((0.919, 0.031), (0.868, 0.043), (0.847, 0.042), (0.932, 0.018), (0.911, 0.040)),
    },
    "GPT-4.1-mini": {
        "FullContext": (
            (0.692, 0.057),
            (0.511, 0.081),
            (0.725, 0.053),
            (0.831, 0.040),
            (0.763, 0.058),
        ),
        "RAG": ((0.710, 0.110), (0.634, 0.117), (0.593, 0.103), (0.727, 0.113), (0.693, 0.106)),
        "Mem0": ((0.514, 0.077), (0.428, 0.097), (0.629, 0.066), (0.669, 0.062), (0.614, 0.071)),
        "DeMem": ((0.921, 0.039), (0.908, 0.040), (0.831, 0.048), (0.935, 0.037), (0.920, 0.038)),
    },
}


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
    for backbone, systems in _SCORES.items():
        for name, figures in systems.items():
            shown.add_row(backbone, name, *(spread(*figure) for figure in figures))
    return shown


def spread(mean: float, deviation: float | None) -> str:
    """Return a mean with its standard deviation; of one run it is the mean alone."""
    if deviation is None:
        return share(mean)
    return f"{share(mean)} ± {share(deviation)}"
