"""The experiments: which cases each needs, and how their outcomes become a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demem_agent.decision.frontier import average_frontier
from demem_agent.studies.synthetic.cases import Case, run_case
from demem_agent.studies.synthetic.certificates import KINDS, AuditCase, run_audit
from demem_agent.studies.synthetic.environment import Floats, make_world
from demem_agent.studies.synthetic.methods import BUDGETED, DESCRIPTION, METHODS, RESTARTS, THIRD
from demem_agent.studies.synthetic.partitions import GapCase, run_gap

__all__ = ["EXPERIMENTS", "Experiment", "Scale", "Table"]

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run: seeds are 0 to ``seeds`` - 1, and no setting was chosen on them."""

    seeds: int = 20
    rounds: int = 20_000
    alphas: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    budgets: tuple[int, ...] = (2, 3, 4, 5, 6, 8, 10, 12)
    audits: int = 1_000


QUICK = Scale(seeds=4, rounds=8_000, alphas=(0.0, 0.5, 1.0), budgets=(2, 4, 8), audits=100)


@dataclass(frozen=True, slots=True)
class Table:
    """A table to print: a title, notes on how it was made, and rows of equal keys."""

    title: str
    notes: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Experiment:
    """Name the cases of an experiment, the function that runs one, and the one that sums them up."""

    cases: Callable[[Scale], Sequence[Any]]
    run: Callable[[Any], Row]
    tables: Callable[[Sequence[Row], Scale], list[Table]]


def _sweep(scale: Scale) -> list[Case]:
    seeds = range(scale.seeds)
    return [Case(m, s, a, 8, scale.rounds) for a in scale.alphas for m in METHODS for s in seeds]


def _curve(scale: Scale) -> list[Case]:
    skipped = ("DeMem, as written", "No budget")
    names = [m for m in METHODS if m not in skipped]
    return [
        Case(m, s, 0.5, k, scale.rounds)
        for k in scale.budgets
        for m in names
        for s in range(scale.seeds)
    ]


def _changes(scale: Scale) -> list[Case]:
    return [
        Case(m, s, 0.25, 8, scale.rounds, blocks=4) for m in RESTARTS for s in range(scale.seeds)
    ]


def _gaps(scale: Scale) -> list[GapCase]:
    return [GapCase(k, s) for k in (3, 5, 8, 10) for s in range(scale.seeds)]


def _audits(scale: Scale) -> list[AuditCase]:
    return [AuditCase(s) for s in range(scale.audits)]


def select(rows: Iterable[Row], **fixed: Any) -> list[Row]:
    """Give the rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in fixed.items())]


def column(rows: Iterable[Row], name: str) -> Floats:
    return np.array([row[name] for row in rows], dtype=np.float64)


def spread(values: Any, digits: int) -> str:
    """Write mean and standard deviation over seeds."""
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def _by_alpha(rows: Sequence[Row], scale: Scale, name: str, digits: int) -> list[Row]:
    return [
        {
            "method": m,
            **{
                f"alpha={a:g}": spread(column(select(rows, method=m, alpha=a), name), digits)
                for a in scale.alphas
            },
        }
        for m in METHODS
    ]


def _regret_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    setting = (
        f"N=60, M=8, A=10, K=8, T={scale.rounds}, {scale.seeds} seeds; mean ± standard deviation"
    )
    return [
        Table("Cumulative regret", setting, _by_alpha(rows, scale, "regret", 0)),
        Table(
            "Share of rounds spent exploring outside the states",
            setting,
            _by_alpha(rows, scale, "explored", 3),
        ),
    ]


def _mismatch_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    notes = (
        "Per seed; 'lowest' counts seeds in which the corrected prior has the least regret of all budgeted "
        "methods. Feature-RAG holds no K states and is counted all the same."
    )
    return [
        Table(
            "Corrected prior against the others, by mismatch",
            notes,
            [_against(rows, alpha) for alpha in scale.alphas],
        )
    ]


def _against(rows: Sequence[Row], alpha: float) -> Row:
    regret = {m: column(select(rows, method=m, alpha=alpha), "regret") for m in METHODS}
    ours = regret[THIRD]
    described = np.array([regret[m] for m in DESCRIPTION]).min(axis=0)
    others = np.array([regret[m] for m in BUDGETED if m != THIRD]).min(axis=0)
    return {
        "alpha": alpha,
        "regret": spread(ours, 0),
        "best by description": spread(described, 0),
        "advantage": spread(described - ours, 0),
        "ratio of means": f"{ours.mean() / described.mean():.3f}",
        "to Feature-KMeans": f"{ours.mean() / regret['Feature-KMeans'].mean():.3f}",
        "lowest": f"{int((ours < others).sum())} of {len(ours)}",
    }


def _distortion_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    setting = "of the partition held after the last round; K=8, contexts weigh alike"
    ranks = _rank_correlation(column(rows, "d_star"), column(rows, "regret"))
    relation = [{"runs": len(rows), "rank correlation of D* and regret": f"{ranks:.3f}"}]
    return [
        Table("Induced average distortion D*", setting, _by_alpha(rows, scale, "d_star", 4)),
        Table(
            "Induced worst-case distortion D*_inf",
            setting,
            _by_alpha(rows, scale, "d_star_worst", 3),
        ),
        Table("Distortion and regret", "over all methods, mismatches and seeds", relation),
    ]


def _rank_correlation(first: Floats, second: Floats) -> float:
    """Compute Spearman's rank correlation, equal values sharing their mean rank."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    shared: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return shared


def _curve_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    notes = f"alpha=0.5, T={scale.rounds}, {scale.seeds} seeds; floor: exact average frontier of the true rewards"
    names = list(dict.fromkeys(row["method"] for row in rows))
    made = [
        Table(
            title,
            notes,
            [
                {
                    "method": m,
                    **{
                        f"K={k}": spread(column(select(rows, method=m, slots=k), name), 3)
                        for k in scale.budgets
                    },
                }
                for m in names
            ],
        )
        for title, name in (
            ("Value lost by the states shown, D_val", "loss"),
            ("Share of contexts shown a wrong action, D", "wrong"),
        )
    ]
    floor = {"method": "floor", **{f"K={k}": spread(floors(k, scale), 3) for k in scale.budgets}}
    return [Table(made[0].title, notes, [*made[0].rows, floor]), made[1]]


def floors(slots: int, scale: Scale) -> list[float]:
    """Compute the exact average frontier of each seed's world."""
    worlds = (make_world(0.5, np.random.default_rng([seed, 0])) for seed in range(scale.seeds))
    return [average_frontier(world.mu, slots).value for world in worlds]


def _gap_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    known = "N=20, A=12, rewards uniform and known: certified = realised radius; ratios are of means, as eps* may be 0"
    sampled = "the same rewards, each pair sampled 400 times with noise 0.1: certified and realised radius differ"
    return [
        Table(
            "Greedy-Partition and action cover, known rewards",
            known,
            [_gap_row(rows, k) for k in (3, 5, 8, 10)],
        ),
        Table("The same from samples", sampled, [_sampled_row(rows, k) for k in (3, 5, 8, 10)]),
    ]


def _gap_row(rows: Sequence[Row], k: int) -> Row:
    at = select(rows, k=k)
    exact, level, greedy, cover = (
        column(at, name) for name in ("exact", "level", "greedy", "cover")
    )
    return {
        "K": k,
        "eps*": spread(exact, 3),
        "alpha_e": spread(level, 3),
        "/ eps*": f"{level.mean() / exact.mean():.2f}",
        "degeneracy + 1 at eps*": spread(column(at, "degeneracy") + 1, 1),
        "zero-gap": f"{np.mean(column(at, 'degeneracy') + 1 <= k):.0%}",
        "colouring": spread(greedy, 3),
        "colouring / eps*": f"{greedy.mean() / exact.mean():.2f}",
        "colouring exact": f"{np.mean(greedy <= exact):.0%}",
        "cover": spread(cover, 3),
        "cover / eps*": f"{cover.mean() / exact.mean():.2f}",
        "cover exact": f"{np.mean(cover <= exact):.0%}",
    }


def _sampled_row(rows: Sequence[Row], k: int) -> Row:
    at = select(rows, k=k)
    names = ("greedy_certified", "greedy_realised", "cover_certified", "cover_realised")
    return {
        "K": k,
        "eps*": spread(column(at, "exact"), 3),
        **{
            name.replace("greedy", "colouring").replace("_", " "): spread(column(at, name), 3)
            for name in names
        },
    }


def _change_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    notes = (
        f"alpha=0.25, K=8, T={scale.rounds}, rewards drawn anew at 1/4, 2/4, 3/4 of the rounds, {scale.seeds} seeds; "
        "the first five rows are the corrected prior, with a fixed period or on a certified change"
    )
    return [
        Table(
            "Regret where rewards change",
            notes,
            [
                {
                    "method": m,
                    "regret": spread(column(select(rows, method=m), "regret"), 0),
                    "restarts": spread(column(select(rows, method=m), "restarts"), 1),
                }
                for m in RESTARTS
            ],
        )
    ]


def _audit_tables(rows: Sequence[Row], scale: Scale) -> list[Table]:
    notes = (
        f"{len(rows)} runs of the practical learner, N=12, M=4, A=4, T=600, checked every 20 rounds: share of runs in "
        "which any certified lower distance ever exceeded the true one. 'One at a time' has the nominal level for one "
        "pair at one time, no more, and is here for contrast."
    )
    deltas = sorted({key for row in rows for key in row["wrong"]}, key=float)
    return [
        Table(
            "Wrong cannot-link certificates",
            notes,
            [
                {
                    "delta": delta,
                    **{
                        kind: f"{np.mean([row['wrong'][delta][kind] for row in rows]):.4f}"
                        for kind in KINDS
                    },
                    "proven pairs": f"{np.mean([row['proven'][delta] for row in rows]):.1f}",
                }
                for delta in deltas
            ],
        )
    ]


EXPERIMENTS: Mapping[str, Experiment] = {
    "regret": Experiment(_sweep, run_case, _regret_tables),
    "mismatch": Experiment(_sweep, run_case, _mismatch_tables),
    "distortion": Experiment(_sweep, run_case, _distortion_tables),
    "budget": Experiment(_curve, run_case, _curve_tables),
    "partitions": Experiment(_gaps, run_gap, _gap_tables),
    "changes": Experiment(_changes, run_case, _change_tables),
    "certificates": Experiment(_audits, run_audit, _audit_tables),
}
