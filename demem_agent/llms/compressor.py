"""Write a slot's summary by a model (Compress_L).

What it proposes is checked here once, and by the memory again.
"""

from __future__ import annotations

from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Failures, Reply, asked_for, data_line
from demem_agent.summaries.grounding import fault_of
from demem_agent.types import Compression, Proposal, Source

__all__ = ["ModelCompressor", "compressing_prompt"]


class _Summary(Reply):
    statements: list[str]
    covers: list[list[str]]

    @property
    def proposal(self) -> Proposal:
        return Proposal(tuple(self.statements), tuple(tuple(cover) for cover in self.covers))


class ModelCompressor:
    """A :class:`~demem_agent.types.Compressor` that asks a model; works in sync and async memories.

    The evidence goes to the model as data, one line an item with its id. A reply that covers
    unknown ids, says what is not in the evidence, measures too much or loses what was needed is
    sent back once with the reason. Its calls are background work: a spending limit stops them
    first. ``failures`` counts what came to nothing, and why.
    """

    def __init__(self, model: ChatModel, *, temperature: float | None = 0.0) -> None:
        self._model = model
        self._options = Options(temperature=temperature, background=True)
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
        prompt = compressing_prompt(task)
        with self.failures.counted():
            reply = await asked_for(
                self._model,
                prompt,
                _Summary,
                self._options,
                lambda given: fault_of(given.proposal, task),
            )
        return reply.proposal


def compressing_prompt(task: Compression) -> Prompt:
    """Put a task as the model sees it: instructions, then the evidence."""
    stable = prompt_text("compress")
    stable = stable.replace("{limit}", str(task.limit)).replace("{unit}", task.unit)
    lines = [_line(source) for source in task.sources]
    return Prompt(stable, "\n".join(["<demem:evidence>", *lines, "</demem:evidence>"]))


def _line(source: Source) -> str:
    return data_line(source.evidence_id, "*" if source.needed else "", source.text)
