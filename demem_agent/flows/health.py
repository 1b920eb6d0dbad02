"""How a memory stands, in numbers."""

from __future__ import annotations

from demem_agent.flows.room import receipts
from demem_agent.slots.keeping import storage_of
from demem_agent.slots.resident import resident
from demem_agent.slots.state import State
from demem_agent.splitting.sharing import waiting
from demem_agent.stores import Address
from demem_agent.stores.standing import Standing
from demem_agent.text.units import uncounted
from demem_agent.types import Health

__all__ = ["health"]


def health(
    state: State,
    address: Address,
    schema: int | None,
    here: Standing,
    damaged: tuple[str, ...] = (),
) -> Health:
    """Count what a memory holds, and what waits in it.

    Args:
        schema: of the files that it is in.
        here: how it stands there.
        damaged: names of the rows that could not be read.
    """
    settings = state.settings
    sizes = [(number, state.measure(slot.text)) for number, slot in sorted(state.slots.items())]
    return Health(
        memory_id=address.memory_id,
        tenant=address.tenant,
        items=len(state.evidence),
        kept=sum(mark.kept for mark in state.marks.values()),
        hidden=len(state.hidden),
        forgotten=state.head.forgotten,
        most_items=settings.most_items,
        tenant_items=settings.tenant_items,
        keep_days=settings.keep_days,
        when_full=settings.when_full,
        storage=storage_of(state),
        slots=tuple(sizes),
        most_slots=settings.slots,
        slot_limit=settings.slot_limit,
        answers=state.head.contexts,
        decisions=state.head.choices,
        room_made=len(receipts(state)),
        pending=waiting(state),
        untested=sum(len(stored.context.untested) for stored in state.contexts.values()),
        encoder=state.head.encoder,
        reranker_failures=tuple(sorted((state.reranking or {}).items())),
        router_failures=tuple(sorted((state.routing or {}).items())),
        schema=schema,
        on_disk=here.on_disk,
        resident=resident(state),
        damaged=damaged,
        owes_erasure=here.owes_erasure,
        changed=here.changed,
        uncounted=uncounted(settings.unit, state.measure),
    )
