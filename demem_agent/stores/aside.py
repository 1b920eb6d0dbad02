"""Where a store keeps the records of memories that are put aside, and whether it has any.

They are memories of tenants of their own, so that every store can keep them.
"""

from __future__ import annotations

from demem_agent.later import dataclass
from demem_agent.stores.base import Address, Store

__all__ = ["MARK", "RECORDS", "Cooled", "is_aside", "itself", "may_have_any", "record_of"]

#: What the tenants of records begin with.
RECORDS = "demem: aside of "
#: What is there in a store whose memories may be put aside.
MARK = Address("demem: aside", "mark")


@dataclass(frozen=True, slots=True)
class Cooled:
    """What became of memories that were to be put aside.

    Attributes:
        memories: how many are aside now, with ``items`` items in objects of ``size`` bytes.
        busy: how many were left, since somebody has written to them meanwhile.
        was_ready: whether the store was ready for it; else nothing was put aside.
    """

    memories: int = 0
    items: int = 0
    size: int = 0
    busy: int = 0
    was_ready: bool = True


def record_of(address: Address) -> Address:
    """Return where the record of a memory is."""
    return Address(f"{RECORDS}{address.tenant}", address.memory_id)


def is_aside(tenant: str) -> bool:
    """Whether a tenant is none of a user's, but has records."""
    return tenant == MARK.tenant or tenant.startswith(RECORDS)


def may_have_any(store: Store) -> bool:
    """Whether memories of a store may be put aside."""
    return store.holds(MARK)


def itself(store: Store) -> Store:
    """Return a store without what finds those that are put aside."""
    found: Store = getattr(store, "store", store)
    return found
