"""Route by a model: have it choose the slot whose summary seems to hold the answer (paper,
Score_theta by a prompt).
"""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.errors import InvalidInput
from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Reply, asked_for
from demem_agent.turns import text_field
from demem_agent.types import Slot

__all__ = ["ModelRouter", "routing_prompt"]


class _Chosen(Reply):
    slot: int


class ModelRouter:
    """Choose a slot for a query by a model; ``memory.read(query, slot=...)`` then reads from it.

    The built-in router needs no model and knows all the evidence; this one knows the summaries
    alone.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._options = Options(max_tokens=30, temperature=0.0)

    async def choose(self, slots: Sequence[Slot], query: str) -> int:
        """Give the number of the slot to read.

        Args:
            slots: as ``memory.slots`` gives them, one at least.

        Raises:
            InvalidInput: without slots, or for a blank query.
            ModelError, BudgetSpent: when there is no usable reply; ``memory.route`` needs none.
        """
        text_field("query", query)
        if not slots:
            raise InvalidInput("slots", slots, "one slot at least")
        known = {slot.number for slot in slots}
        reply = await asked_for(
            self._model,
            routing_prompt(slots, query),
            _Chosen,
            self._options,
            lambda given: None if given.slot in known else f"there is no drawer {given.slot}",
        )
        return reply.slot


def routing_prompt(slots: Sequence[Slot], query: str) -> Prompt:
    """Put the slots, which change rarely, after the instructions, and the question last."""
    blocks = (
        f"<demem:slot>\n{s.number}: {s.name or ''}\n{_harmless(s.summary)}\n</demem:slot>"
        for s in slots
    )
    return Prompt("\n\n".join([prompt_text("route"), *blocks]), f"Question: {query}")


def _harmless(summary: str) -> str:
    return summary.replace(
        "demem:slot", "demem-slot"
    )  # no summary may end the block that it stands in
