"""The audits by name, each from dialogues to records and tables, and some to a figure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.studies.ablations.capacity import audit_capacity
from demem_agent.studies.asking import STAND_INS, Tick, worth_auditing
from demem_agent.studies.drop_in.audit import audit_drop_in
from demem_agent.studies.mismatch.audit import audit_mismatch
from demem_agent.studies.sheets import Found
from demem_agent.studies.slots.routers import audit_routing
from demem_agent.studies.splits.bridge_terms import audit_bridge
from demem_agent.studies.splits.cannot_link import audit_graph
from demem_agent.studies.splits.noise_sheets import audit_noise
from demem_agent.studies.splits.precision import audit_splits
from demem_agent.studies.sweep import audit_sweep

__all__ = ["AUDITS", "Audit", "audited", "save_records"]


#: A report as JSON values.
Report = dict[str, Any]


class Audit(Protocol):
    """An audit of dialogues."""

    def __call__(
        self, dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
    ) -> Found:
        """Audit dialogues; ``tick`` is called with (done, all) and moves a progress bar."""
        ...


#: By the names under which ``demem audit`` runs them.
AUDITS: Mapping[str, Audit] = {
    "splits": audit_splits,
    "bridge": audit_bridge,
    "noise": audit_noise,
    "graph": audit_graph,
    "mismatch": audit_mismatch,
    "drop-in": audit_drop_in,
    "capacity": audit_capacity,
    "sweep": audit_sweep,
    "routing": audit_routing,
}


def audited(
    kind: str,
    dialogues: Sequence[Dialogue],
    *,
    data: str = "",
    seed: int = 0,
    tick: Tick | None = None,
) -> tuple[Report, Sequence[object]]:
    """Run one audit over the dialogues that have two questions with evidence.

    Args:
        kind: one of :data:`AUDITS`.
        data: what is audited, in words.
        seed: of the draws behind the intervals and of the noise.

    Returns:
        The report as JSON values, and the records.

    Raises:
        InvalidInput: if no dialogue has two questions with evidence.
        MissingExtra: for "graph" without scipy.
    """
    chosen = worth_auditing(dialogues)
    found = AUDITS[kind](chosen, seed=seed, tick=tick)
    report = {
        "audit": kind,
        "data": data,
        "dialogues": len(chosen),
        "left_out": len(dialogues) - len(chosen),
        "seed": seed,
        "stand_ins": STAND_INS,
        "notes": found.notes,
        "sheets": list(map(asdict, found.sheets)),
        "drawn": found.drawn,
    }
    as_json = json.dumps(report, allow_nan=False)
    values: Report = json.loads(as_json)
    return values, found.records


def save_records(records: Sequence[object], path: str | Path) -> None:
    """Write records as JSON lines, each with the name of its kind."""
    lines = map(_line, records)
    Path(path).write_text("".join(lines), encoding="utf-8")


def _line(record: Any) -> str:
    values = {"kind": type(record).__name__, **asdict(record)}
    return json.dumps(values, allow_nan=False) + "\n"
