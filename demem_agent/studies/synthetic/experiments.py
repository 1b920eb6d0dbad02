"""The experiments: which cases each needs, what runs one, and which tables come of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from demem_agent.studies.synthetic.cases import Case, run_case
from demem_agent.studies.synthetic.certificates import AuditCase, run_audit
from demem_agent.studies.synthetic.epochs import EpochCase, run_epochs
from demem_agent.studies.synthetic.methods import METHODS, RESTARTS
from demem_agent.studies.synthetic.partitions import BUDGETS, GapCase, run_gap
from demem_agent.studies.synthetic.rows import Row
from demem_agent.studies.synthetic.scale import Scale
from demem_agent.studies.synthetic.tables import (
    Table,
    audit_tables,
    budget_tables,
    change_tables,
    distortion_tables,
    epoch_tables,
    gap_tables,
    mismatch_tables,
    regret_tables,
)

__all__ = ["EXPERIMENTS", "Experiment"]

#: Not run at every number of states.
_SKIPPED = ("DeMem, as written", "No budget")


@dataclass(frozen=True, slots=True)
class Experiment:
    """What an experiment runs: its cases, what runs one, and what sums them up in tables."""

    cases: Callable[[Scale], Sequence[Any]]
    run: Callable[[Any], Row]
    tables: Callable[[Sequence[Row], Scale], list[Table]]


def _sweep(scale: Scale) -> list[Case]:
    settings = product(scale.alphas, METHODS, range(scale.seeds))
    return [Case(method, seed, alpha, 8, scale.rounds) for alpha, method, seed in settings]


def _budgets(scale: Scale) -> list[Case]:
    methods = [method for method in METHODS if method not in _SKIPPED]
    settings = product(scale.budgets, methods, range(scale.seeds))
    return [Case(method, seed, 0.5, slots, scale.rounds) for slots, method, seed in settings]


def _changes(scale: Scale) -> list[Case]:
    settings = product(RESTARTS, range(scale.seeds))
    return [Case(method, seed, 0.25, 8, scale.rounds, blocks=4) for method, seed in settings]


def _gaps(scale: Scale) -> list[GapCase]:
    return [GapCase(k, seed) for k, seed in product(BUDGETS, range(scale.seeds))]


def _epochs(scale: Scale) -> list[EpochCase]:
    settings = product(BUDGETS, range(scale.seeds))
    return [EpochCase(k, seed, scale.rounds) for k, seed in settings]


def _audits(scale: Scale) -> list[AuditCase]:
    return list(map(AuditCase, range(scale.audits)))


EXPERIMENTS: Mapping[str, Experiment] = {
    "regret": Experiment(_sweep, run_case, regret_tables),
    "mismatch": Experiment(_sweep, run_case, mismatch_tables),
    "distortion": Experiment(_sweep, run_case, distortion_tables),
    "budget": Experiment(_budgets, run_case, budget_tables),
    "partitions": Experiment(_gaps, run_gap, gap_tables),
    "epochs": Experiment(_epochs, run_epochs, epoch_tables),
    "changes": Experiment(_changes, run_case, change_tables),
    "certificates": Experiment(_audits, run_audit, audit_tables),
}
