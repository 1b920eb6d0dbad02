"""How a memory stands in its store, beyond what its rows say."""

from __future__ import annotations

import os
from datetime import datetime

from demem_agent.later import dataclass
from demem_agent.stores.base import Address, Store

__all__ = ["Standing", "standing"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a memory stands in its store.

    Attributes:
        on_disk: bytes of the file that it is in, with its log; None in RAM.
        owes_erasure: whether text that was forgotten may still be in that file.
        changed: when the memory was last written to, by the clock of the machine, in UTC.
    """

    on_disk: int | None
    owes_erasure: bool
    changed: datetime | None


def standing(store: Store, address: Address) -> Standing:
    """Return how a memory stands in its store.

    A store may tell more of itself than every one has to: ``path``, ``owes_erasure`` and
    ``changed``.
    """
    path = getattr(store, "path", None)
    changed = getattr(store, "changed", None)
    return Standing(
        on_disk=None if path is None else _size(str(path)),
        owes_erasure=bool(getattr(store, "owes_erasure", False)),
        changed=None if changed is None else changed(address),
    )


def _size(path: str) -> int | None:
    """Return the bytes of a file and its log; None for what is no file."""
    if not os.path.exists(path):
        return None
    log = f"{path}-wal"
    return os.path.getsize(path) + (os.path.getsize(log) if os.path.exists(log) else 0)
