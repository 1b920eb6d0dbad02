"""What becomes of messages: turns, what is left out of them, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from demem_agent.later import dataclass
from demem_agent.turns import Turn
from demem_agent.types import Ingested

__all__ = ["IngestedMessages", "Omitted", "Turns", "reasons"]


@dataclass(frozen=True, slots=True)
class Omitted:
    """A message, or a part of one, that is not remembered.

    Attributes:
        where: its place, such as ``messages[3].content[1]``.
        why: what it is: "system", "tool call", "tool result", "thinking", "image", "audio",
            "video", "document", "refusal", "summary", "empty", ...
    """

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Turns:
    """What a list of messages comes to.

    Attributes:
        turns: to remember, in order, each with a key of its own.
        left_out: in order.
    """

    turns: tuple[Turn, ...]
    left_out: tuple[Omitted, ...]

    @property
    def reasons(self) -> dict[str, int]:
        """How much was left out, by why."""
        return reasons(self.left_out)


@dataclass(frozen=True, slots=True)
class IngestedMessages:
    """What became of a list of messages.

    Attributes:
        results: of each turn that the messages came to, in order; of one that was known already,
            what it came to then.
        left_out: what is not remembered, in order.
    """

    results: tuple[Ingested, ...]
    left_out: tuple[Omitted, ...]

    @property
    def reasons(self) -> dict[str, int]:
        """How much was left out, by why."""
        return reasons(self.left_out)


def reasons(left_out: Iterable[Omitted]) -> dict[str, int]:
    """Return how much was left out, by why."""
    return dict(Counter(one.why for one in left_out))
