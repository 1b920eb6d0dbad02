"""How the outcomes of an experiment become tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from demem_agent.decision.frontier import average_frontier
from demem_agent.evaluate.ranks import spearman
from demem_agent.studies.synthetic.certificates import KINDS
from demem_agent.studies.synthetic.environment import Floats, make_world
from demem_agent.studies.synthetic.methods import BUDGETED, DESCRIPTION, METHODS, RESTARTS, THIRD
from demem_agent.studies.synthetic.partitions import BUDGETS
from demem_agent.studies.synthetic.rows import (
    Row,
    column,
    mean_and_deviation,
    methods_of,
    select,
)
from demem_agent.studies.synthetic.scale import Scale

__all__ = [
    "Table",
    "audit_tables",
    "budget_tables",
    "change_tables",
    "distortion_tables",
    "epoch_tables",
    "floors",
    "gap_tables",
    "mismatch_tables",
    "regret_tables",
]


@dataclass(frozen=True, slots=True)
class Table:
    """A table to print: a title, notes on how it was made, and rows of equal keys."""

    title: str
    notes: str
    rows: Sequence[Row]


def regret_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    """Sum up regret and exploration by mismatch."""
    setting = (
        f"N=60, M=8, A=10, K=8, T={scale.rounds}, {scale.seeds} seeds; mean ± standard deviation"
    )
    regret = _by_alpha(rows, scale, "regret", 0)
    explored = _by_alpha(rows, scale, "explored", 3)
    return [
        Table("Cumulative regret", setting, regret),
        Table("Share of rounds spent exploring outside the states", setting, explored),
    ]


def _by_alpha(rows: Sequence[Row], scale: Scale, name: str, digits: int) -> list[Row]:
    """Return a row a method with one measure at every mismatch."""
    table: list[Row] = []
    for method in METHODS:
        own = select(rows, method=method)
        made: Row = {"method": method}
        for alpha in scale.alphas:
            values = column(select(own, alpha=alpha), name)
            made[f"alpha={alpha:g}"] = mean_and_deviation(values, digits)
        table.append(made)
    return table


def mismatch_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    """Compare the corrected prior with the others at every mismatch."""
    notes = (
        "Per seed; 'lowest' counts seeds in which the corrected prior has the least regret of all "
        "budgeted methods. Feature-RAG holds no K states and is counted all the same."
    )
    compared = [_against(rows, alpha) for alpha in scale.alphas]
    return [Table("Corrected prior against the others, by mismatch", notes, compared)]


def _against(rows: Sequence[Row], alpha: float) -> Row:
    at = select(rows, alpha=alpha)
    ours = _regret(at, THIRD)
    k_means = _regret(at, "Feature-KMeans")
    described = _least_regret(at, DESCRIPTION)
    rivals = [method for method in BUDGETED if method != THIRD]
    lower = ours < _least_regret(at, rivals)
    return {
        "alpha": alpha,
        "regret": mean_and_deviation(ours, 0),
        "best by description": mean_and_deviation(described, 0),
        "advantage": mean_and_deviation(described - ours, 0),
        "ratio of means": _ratio_of_means(ours, described, 3),
        "to Feature-KMeans": _ratio_of_means(ours, k_means, 3),
        "lowest": f"{np.count_nonzero(lower)} of {len(ours)}",
    }


def _regret(rows: Sequence[Row], method: str) -> Floats:
    return column(select(rows, method=method), "regret")


def _ratio_of_means(values: Floats, others: Floats, digits: int) -> str:
    ratio = values.mean() / others.mean()
    return f"{ratio:.{digits}f}"


def _least_regret(rows: Sequence[Row], methods: Iterable[str]) -> Floats:
    """Return the regret of the best of some methods, by seed."""
    regrets = [_regret(rows, method) for method in methods]
    least: Floats = np.array(regrets).min(axis=0)
    return least


def distortion_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    """Sum up what the last partitions cost, and how that goes with regret."""
    setting = "of the partition held after the last round; K=8, contexts weigh alike"
    average = _by_alpha(rows, scale, "d_star", 4)
    worst = _by_alpha(rows, scale, "d_star_worst", 3)
    ranks = spearman(column(rows, "d_star"), column(rows, "regret"))
    found = "-" if ranks is None else f"{ranks:.3f}"
    relation = [{"runs": len(rows), "rank correlation of D* and regret": found}]
    return [
        Table("Induced average distortion D*", setting, average),
        Table("Induced worst-case distortion D*_inf", setting, worst),
        Table("Distortion and regret", "over all methods, mismatches and seeds", relation),
    ]


def budget_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    """Sum up what is lost at every number of states, beside the exact frontier."""
    notes = (
        f"alpha=0.5, T={scale.rounds}, {scale.seeds} seeds; "
        "floor: exact average frontier of the true rewards"
    )
    loss = _by_budget(rows, scale, "loss")
    floor: Row = {"method": "floor"}
    for slots in scale.budgets:
        floor[f"K={slots}"] = mean_and_deviation(floors(slots, scale), 3)
    wrong = _by_budget(rows, scale, "wrong")
    return [
        Table("Value lost by the states shown, D_val", notes, [*loss, floor]),
        Table("Share of contexts shown a wrong action, D", notes, wrong),
    ]


def _by_budget(rows: Sequence[Row], scale: Scale, name: str) -> list[Row]:
    """Return a row a method with one measure at every number of states."""
    table: list[Row] = []
    for method in methods_of(rows):
        own = select(rows, method=method)
        made: Row = {"method": method}
        for slots in scale.budgets:
            values = column(select(own, slots=slots), name)
            made[f"K={slots}"] = mean_and_deviation(values, 3)
        table.append(made)
    return table


def floors(slots: int, scale: Scale) -> list[float]:
    """Compute the exact average frontier of each seed's world."""
    found = []
    for seed in range(scale.seeds):
        world = make_world(0.5, np.random.default_rng([seed, 0]))
        found.append(average_frontier(world.mu, slots).value)
    return found


def gap_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    """Sum up how close partitions come to the exact frontier."""
    known = (
        "N=20, A=12, rewards uniform and known: certified = realised radius; "
        "ratios are of means, as eps* may be 0"
    )
    sampled = (
        "the same rewards, each pair sampled 400 times with noise 0.1: "
        "certified and realised radius differ"
    )
    of_known = [_known_row(rows, k) for k in BUDGETS]
    of_sampled = [_sampled_row(rows, k) for k in BUDGETS]
    return [
        Table("Greedy-Partition and action cover, known rewards", known, of_known),
        Table("The same from samples", sampled, of_sampled),
    ]


def _known_row(rows: Sequence[Row], k: int) -> Row:
    at = select(rows, k=k)
    exact = column(at, "exact")
    level = column(at, "level")
    colours = column(at, "degeneracy") + 1
    return {
        "K": k,
        "eps*": mean_and_deviation(exact, 3),
        "alpha_e": mean_and_deviation(level, 3),
        "/ eps*": _ratio_of_means(level, exact, 2),
        "degeneracy + 1 at eps*": mean_and_deviation(colours, 1),
        "zero-gap": f"{np.mean(colours <= k):.0%}",
        **_beside_exact("colouring", column(at, "greedy"), exact),
        **_beside_exact("cover", column(at, "cover"), exact),
    }


def _beside_exact(name: str, found: Floats, exact: Floats) -> Row:
    return {
        name: mean_and_deviation(found, 3),
        f"{name} / eps*": _ratio_of_means(found, exact, 2),
        f"{name} exact": f"{np.mean(found <= exact):.0%}",
    }


def _sampled_row(rows: Sequence[Row], k: int) -> Row:
    at = select(rows, k=k)
    row: Row = {"K": k, "eps*": mean_and_deviation(column(at, "exact"), 3)}
    for name in ("greedy_certified", "greedy_realised", "cover_certified", "cover_realised"):
        heading = name.replace("greedy", "colouring").replace("_", " ")
        radii = column(at, name)
        row[heading] = mean_and_deviation(radii, 3)
    return row


def epoch_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    """Sum up how close the colouring comes to the exact frontier as contexts are met."""
    notes = (
        f"Decoupled Bandit, alpha=0.5, N=20, M=8, A=10, {scale.seeds} seeds, {scale.rounds} rounds "
        "of the practical learner; over all epochs and seeds, but the first epoch, when nothing is "
        "known. The colouring's true radius, by the rewards themselves and by certificates; ratios "
        "are of means"
    )
    made = [_epoch_row(select(rows, k=k), k) for k in BUDGETS]
    last = [_epoch_row(_last_epochs(select(rows, k=k)), k) for k in BUDGETS]
    return [
        Table("Greedy-Partition over epochs, in the paper's world", notes, made),
        Table("The same at the last epoch", "when all contexts were met", last),
    ]


def _last_epochs(rows: Sequence[Row]) -> list[Row]:
    return [{**row, "epochs": row["epochs"][-1:]} for row in rows]


def _epoch_row(rows: Sequence[Row], k: int) -> Row:
    epochs = [epoch for row in rows for epoch in row["epochs"]]
    exact = column(epochs, "exact")
    known = column(epochs, "known")
    sampled = column(epochs, "sampled")
    colours = column(epochs, "degeneracy") + 1
    return {
        "K": k,
        "eps*": mean_and_deviation(exact, 3),
        "alpha_e": mean_and_deviation(column(epochs, "level"), 3),
        "by rewards": mean_and_deviation(known, 3),
        "by rewards / eps*": _ratio_of_means(known, exact, 2) if exact.any() else "-",
        "by rewards exact": f"{np.mean(known <= exact):.0%}",
        "by certificates": mean_and_deviation(sampled, 3),
        "by certificates exact": f"{np.mean(sampled <= exact):.0%}",
        "degeneracy + 1 at eps*": mean_and_deviation(colours, 1),
        "zero-gap": f"{np.mean(colours <= k):.0%}",
    }


def change_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    """Sum up regret and restarts where rewards change."""
    notes = (
        f"alpha=0.25, K=8, T={scale.rounds}, rewards drawn anew at 1/4, 2/4, 3/4 of the rounds, "
        f"{scale.seeds} seeds; the first five rows are the corrected prior, with a fixed period or "
        "on a certified change"
    )
    made = []
    for method in RESTARTS:
        at = select(rows, method=method)
        regret = mean_and_deviation(column(at, "regret"), 0)
        restarts = mean_and_deviation(column(at, "restarts"), 1)
        made.append({"method": method, "regret": regret, "restarts": restarts})
    return [Table("Regret where rewards change", notes, made)]


def audit_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    """Sum up how often certificates were wrong, by delta."""
    notes = (
        f"{len(rows)} runs of the practical learner, N=12, M=4, A=4, T=600, checked every 20 "
        "rounds: share of runs in which any certified lower distance ever exceeded the true one. "
        "'One at a time' has the nominal level for one pair at one time, no more, and is here for "
        "contrast."
    )
    deltas: set[str] = set()
    for row in rows:
        deltas.update(row["wrong"])
    made = [_audit_row(rows, delta) for delta in sorted(deltas, key=float)]
    return [Table("Wrong cannot-link certificates", notes, made)]


def _audit_row(rows: Sequence[Row], delta: str) -> Row:
    made: Row = {"delta": delta}
    wrong = [row["wrong"][delta] for row in rows]
    for kind in KINDS:
        rate = column(wrong, kind).mean()
        made[kind] = f"{rate:.4f}"
    proven = column(map(itemgetter("proven"), rows), delta)
    made["proven pairs"] = f"{proven.mean():.1f}"
    return made
