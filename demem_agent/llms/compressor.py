"""Write a slot's summary by a model (Compress_L).

What it proposes is checked here once, and by the memory again.
"""

from __future__ import annotations

from dataclasses import replace

from demem_agent.errors import ModelError
from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Entries, Failures, asked_for, data_line
from demem_agent.summaries.grounding import fault_of, sound
from demem_agent.types import Compression, Proposal, Source

__all__ = ["ModelCompressor", "compressing_prompt"]


#: Tokens that a reply has at least, and for each unit of the limit: a summary and its ids.
_LEAST, _OF_UNIT = 500, 1.5
#: How often a model that cannot cope is asked for a summary of half as much.
_LESS = 2


class ModelCompressor:
    """A :class:`~demem_agent.types.Compressor` that asks a model; works in sync and async memories.

    The evidence goes to the model as data, one line an item with its id. Statements that name
    unknown ids or say what is not in the evidence are left out; a reply of which none is left, or
    that measures too much or loses what was needed, is sent back once with the reason, and then the
    model is asked for a summary of half as much, twice at most. Its calls are background work: a
    spending limit stops them first. ``failures`` counts what came to nothing, and why.
    """

    def __init__(self, model: ChatModel, *, temperature: float | None = 0.0) -> None:
        self._model = model
        self._temperature = temperature
        self.failures = Failures()

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    async def compress(self, task: Compression) -> Proposal:
        """Propose a summary.

        Raises:
            ModelError, BudgetSpent: the memory then keeps the summary it has.
        """
        for _ in range(_LESS):
            try:
                return await self._asked(task)
            except ModelError as error:
                less = _half(task)
                if not error.is_too_much or len(less.sources) == len(task.sources):
                    raise
                task = less
        return await self._asked(task)

    async def _asked(self, task: Compression) -> Proposal:
        """Return what the model makes of some evidence."""
        options = Options(
            max_tokens=_LEAST + int(_OF_UNIT * task.limit),
            temperature=self._temperature,
            background=True,
        )

        def fault(given: Entries) -> str | None:
            return fault_of(sound(given.proposal, task), task)

        with self.failures.counted():
            reply = await asked_for(self._model, compressing_prompt(task), Entries, options, fault)
        return sound(reply.proposal, task)


def _half(task: Compression) -> Compression:
    """Return a task without every other item of those that are not needed."""
    others = [source for source in task.sources if not source.needed]
    left_out = set(map(id, others[1::2]))
    return replace(task, sources=tuple(one for one in task.sources if id(one) not in left_out))


def compressing_prompt(task: Compression) -> Prompt:
    """Put a task as the model sees it: instructions, then the evidence."""
    stable = prompt_text("compress")
    stable = stable.replace("{limit}", str(task.limit)).replace("{unit}", task.unit)
    lines = [_line(source) for source in task.sources]
    return Prompt(stable, "\n".join(["<demem:evidence>", *lines, "</demem:evidence>"]))


def _line(source: Source) -> str:
    return data_line(source.evidence_id, "*" if source.needed else "", source.text)
