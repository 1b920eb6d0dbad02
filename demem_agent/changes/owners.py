"""By whom what is said is owned, and who speaks of others rather than of themselves."""

from __future__ import annotations

from demem_agent.text.remembered import kept_lately

__all__ = ["narrates", "owner"]

NARRATORS = frozenset({"assistant", "ai", "bot", "model", "system", "narrator", "agent", "tool"})


def owner(speaker: str | None) -> str:
    """Return by whom what a speaker says is owned, in lower case; "" for nobody in particular."""
    return (speaker or "").strip().casefold()


@kept_lately(64)  # it is asked of every line
def narrates(speaker: str | None) -> bool:
    """Whether a speaker is an assistant or a tool: it advises more often than it tells."""
    return owner(speaker) in NARRATORS
