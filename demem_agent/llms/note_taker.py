"""Take notes of what was said by a model (the paper's psi).

What it proposes is checked here once, and by the memory again.
"""

from __future__ import annotations

from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Failures, Reply, asked_for, data_line
from demem_agent.summaries.grounding import fault_of_note
from demem_agent.types import Noting, Proposal

__all__ = ["ModelNoteTaker", "noting_prompt"]


class _Notes(Reply):
    notes: list[str]
    covers: list[list[str]]

    @property
    def proposal(self) -> Proposal:
        return Proposal(tuple(self.notes), tuple(tuple(cover) for cover in self.covers))


class ModelNoteTaker:
    """A :class:`~demem_agent.types.NoteTaker` that asks a model; works in sync and async memories.

    What was said goes to the model as data, one line an item with its id. A reply in which any note
    says what its items do not is sent back once with the reason; of the second one the memory keeps
    the notes that are sound. Its calls are background work: a spending limit stops them first.
    ``failures`` counts what came to nothing, and why.
    """

    def __init__(self, model: ChatModel, *, temperature: float | None = 0.0) -> None:
        self._model = model
        self._options = Options(temperature=temperature, background=True)
        self.failures = Failures()

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    async def take_notes(self, task: Noting) -> Proposal:
        """Propose notes.

        Raises:
            ModelError, BudgetSpent: the memory then has no notes of these items yet.
        """
        prompt = noting_prompt(task)
        last: list[_Notes] = []

        def fault(given: _Notes) -> str | None:
            if len(given.notes) != len(given.covers):
                return "notes and covers are not equally many"
            again = bool(last)
            last.append(given)
            return None if again else _first_fault(given, task)

        with self.failures.counted():
            reply = await asked_for(self._model, prompt, _Notes, self._options, fault)
        return reply.proposal


def noting_prompt(task: Noting) -> Prompt:
    """Put a task as the model sees it: instructions, then what was said."""
    before = [data_line(source.evidence_id, "~", source.text) for source in task.context]
    lines = [data_line(source.evidence_id, "", source.text) for source in task.sources]
    block = "\n".join(["<demem:evidence>", *before, *lines, "</demem:evidence>"])
    return Prompt(prompt_text("notes"), block)


def _first_fault(given: _Notes, task: Noting) -> str | None:
    for number, (note, cover) in enumerate(zip(given.notes, given.covers, strict=True), 1):
        fault = fault_of_note(note, cover, task)
        if fault is not None:
            return f"note {number} {fault}"
    return None
