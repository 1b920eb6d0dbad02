"""``demem check``: assert every invariant."""

from __future__ import annotations

from demem_agent.cli.shared import Output, Place
from demem_agent.cli.tables.cells import cell

__all__ = ["check"]


def check(place: Place, output: Output) -> None:
    """Assert every invariant of the memory; exit 2 names the first that does not hold."""
    with place.open() as memory:
        memory.check()
        counts = {
            "slots": len(memory.slots),
            "evidence": len(memory),
            "answers": len(memory.contexts()),
            "certificates": len(memory.certificates()),
        }
        held = ", ".join(f"{count} {name}" for name, count in counts.items())
        document = {"ok": True, **counts, "fingerprint": memory.fingerprint()}
        output.show(document, cell(f"Every invariant holds: {held}."))
