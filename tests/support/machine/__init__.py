"""A state machine that does to a real memory whatever a user may do, and checks its invariants.

The ten invariants are checked from outside. Beside the memory under test live a twin in RAM, two
neighbours in the same store, and a ledger of plain records of what ought to be remembered. Every
text carries a mark (``mk0007zz``) by which it is known again wherever it may have got to. Only the
public API is used.

Rules are mixin classes, one file a capability: ``remembering``, ``asking``, ``learning`` (with
``certifying``), ``arranging``, ``forgetting``, ``lasting``; ``invariants`` has what must hold after
each of them. ``deciding`` is a machine of its own, with the rules of all others, and so is
``bounding``, which follows what goes for want of room by its ``receipts``.
"""

from __future__ import annotations

from machine.bounding import BoundedMachine
from machine.building import BreakableStore
from machine.certifying import flipped
from machine.deciding import DecidingMachine
from machine.incoming import MARKS, TOPICS
from machine.machines import (
    QUICK,
    MemoryMachine,
    PostgresMachine,
    StaticMachine,
    scripted_run,
)

__all__ = [
    "MARKS",
    "QUICK",
    "TOPICS",
    "BoundedMachine",
    "BreakableStore",
    "DecidingMachine",
    "MemoryMachine",
    "PostgresMachine",
    "StaticMachine",
    "flipped",
    "scripted_run",
]
