"""Say by a model what a later line does to an earlier one."""

from __future__ import annotations

from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Failures, Reply, Text, asked_for, data_line
from demem_agent.types import ChangeSaid, ChangeTask, ChangeVerdict

__all__ = ["ModelChangeJudge", "comparing_prompt"]

#: Tokens that a reply may have: a verdict, and a sentence in any script.
_LONGEST = 400


class _Compared(Reply):
    verdict: ChangeSaid
    reason: Text


class ModelChangeJudge:
    """A :class:`~demem_agent.types.ChangeJudge` that asks a model; works in sync and async
    memories.

    Both lines go to the model as data. A reply that is no verdict is sent back once with the
    reason. Its calls are background work: a spending limit stops them first. ``failures`` counts
    what came to nothing, and why.
    """

    def __init__(self, model: ChatModel, *, temperature: float | None = 0.0) -> None:
        self._model = model
        self._options = Options(max_tokens=_LONGEST, temperature=temperature, background=True)
        self.failures = Failures()

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    async def judge(self, task: ChangeTask) -> ChangeVerdict:
        """Return the verdict on two lines.

        Raises:
            ModelError, BudgetSpent: the memory then keeps nothing of these lines, and asks again.
        """
        with self.failures.counted():
            prompt = comparing_prompt(task)
            reply = await asked_for(self._model, prompt, _Compared, self._options)
        return ChangeVerdict(reply.verdict, reply.reason)


def comparing_prompt(task: ChangeTask) -> Prompt:
    """Put a task as the model sees it: instructions, then both lines and the question."""
    lines = [data_line("old", "", task.old), data_line("new", "", task.new)]
    asked = [f"Question: {' '.join(task.question.split())}"] if task.question else []
    block = ["<demem:evidence>", *lines, "</demem:evidence>", *asked]
    return Prompt(prompt_text("judge_change"), "\n".join(block))
