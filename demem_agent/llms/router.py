"""Choose the slot that a query goes to by a model (the paper's routing prompt)."""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Failures, Number, Reply, asked_for
from demem_agent.types import Slot

__all__ = ["ModelRouter", "routing_prompt"]

#: Tokens that a reply may have: one number in an object.
_LONGEST = 30


class _Chosen(Reply):
    slot: Number


class ModelRouter:
    """A :class:`~demem_agent.types.Router` that asks a model; works in sync and async memories.

    The model sees the name and the summary of each slot as data, and the question. A reply that
    names none of them is sent back once. ``failures`` counts what came to nothing, and why; the
    memory's own score chooses then.
    """

    def __init__(self, model: ChatModel, *, temperature: float | None = 0.0) -> None:
        self.name = model.name
        self.failures = Failures()
        self._model = model
        self._options = Options(max_tokens=_LONGEST, temperature=temperature)

    async def choose(self, query: str, slots: Sequence[Slot], /) -> int:
        """Return the number of one of the slots.

        Raises:
            ModelError, BudgetSpent: when there is no usable reply.
        """
        known = {slot.number for slot in slots}

        def problem(reply: _Chosen) -> str | None:
            return None if reply.slot in known else f"there is no drawer {reply.slot}"

        prompt = routing_prompt(query, slots)
        with self.failures.counted():
            reply = await asked_for(self._model, prompt, _Chosen, self._options, problem)
        return reply.slot


def routing_prompt(query: str, slots: Sequence[Slot]) -> Prompt:
    """Put the slots, which change rarely, after the instructions, and the question last."""
    blocks = [_block(slot) for slot in slots]
    return Prompt("\n\n".join([prompt_text("route"), *blocks]), f"Question: {query}")


def _block(slot: Slot) -> str:
    told = f"{slot.number}: {slot.name or ''}\n{slot.summary}"
    # No summary may end the block that it stands in.
    return f"<demem:slot>\n{told.replace('demem:slot', 'demem-slot')}\n</demem:slot>"
