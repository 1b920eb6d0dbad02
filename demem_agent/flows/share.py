"""Merge two slots that a test finds may share, so that a conflict that waits can be honoured."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from demem_agent.flows.arrange import merging
from demem_agent.flows.commit import committed
from demem_agent.requests import Flow
from demem_agent.settings import SplitSettings
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import Operation
from demem_agent.slots.state import State
from demem_agent.splitting.sharing import shareable
from demem_agent.splitting.trials import Overtaken
from demem_agent.types import FeedbackReport, Sharing

__all__ = ["share", "sharings", "wants_place"]

#: What such an operation is called in the ledger.
KIND = "share"


def share(state: State, answers: int) -> Flow[Sharing | None]:
    """Merge the first two slots that a test finds may share; None where nothing was merged.

    Args:
        answers: the most that may be produced for the tests.
    """
    try:
        found = yield from shareable(state, answers)
    except Overtaken:  # nothing waits for it: the next call tries again
        return None
    if found is None:
        return None
    delta = merging(state, state.slots[found.slot], state.slots[found.into], KIND)
    line = replace(unkeyed(delta.head.seq, KIND), result=json.dumps(asdict(found), sort_keys=True))
    yield from committed(state, replace(delta, operations=(line,)))
    return found


def sharings(state: State) -> tuple[Sharing, ...]:
    """Return what was merged by a test, the oldest first."""
    return tuple(_sharing_in(line) for line in state.receipts if line.kind == KIND)


def wants_place(report: FeedbackReport, settings: SplitSettings) -> bool:
    """Whether a feedback has left a conflict that waits for a slot, and one is to be looked for."""
    made = report.certificate
    return settings.sharing >= 2 and made is not None and made.saturated


def _sharing_in(operation: Operation) -> Sharing:
    told: dict[str, Any] = json.loads(operation.result)
    contexts = tuple(told.pop("contexts"))
    return Sharing(**told, contexts=contexts)
