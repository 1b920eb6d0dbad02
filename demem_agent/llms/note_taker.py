"""Take notes of what was said by a model (the paper's psi).

What it proposes is checked here once, and by the memory again.
"""

from __future__ import annotations

from itertools import chain

from demem_agent.errors import ModelError
from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Entries, Failures, asked_for, data_line
from demem_agent.summaries.grounding import fault_of_note, with_found_sources
from demem_agent.types import Noting, Proposal

__all__ = ["ModelNoteTaker", "noting_prompt"]


#: Tokens that a reply may have: for each item, and besides.
_OF_ITEM, _BESIDES = 100, 200
#: Items that are asked for at a time, and by how much fewer where the model cannot cope: 20, 5, 1.
_MOST, _FEWER = 20, 4
#: Items right before these that notes may draw on.
_CONTEXT = 6


class ModelNoteTaker:
    """A :class:`~demem_agent.types.NoteTaker` that asks a model; works in sync and async memories.

    What was said goes to the model as data, one line an item with its id. Of a reply the memory
    keeps the notes that are sound; one without any is sent back once with the reason. A model that
    still gives nothing usable is asked for fewer items at a time from then on, and an item with
    which it cannot cope alone is passed over. Its calls are background work: a spending limit stops
    them first. ``failures`` counts what came to nothing, and why.
    """

    def __init__(self, model: ChatModel, *, temperature: float | None = 0.0) -> None:
        self._model = model
        self._temperature = temperature
        self._items = _MOST
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
        found: list[Proposal] = []
        done = 0
        while done < len(task.sources):
            part = task.sources[done : done + self._items]
            before = (*task.context, *task.sources[:done])[-_CONTEXT:]
            try:
                found.append(await self._asked(Noting(part, before)))
            except ModelError as error:
                if not error.is_too_much:
                    raise
                if len(part) > 1:
                    self._items = max(len(part) // _FEWER, 1)
                    continue
            done += len(part)
        return Proposal(
            tuple(chain.from_iterable(one.statements for one in found)),
            tuple(chain.from_iterable(one.covers for one in found)),
        )

    async def _asked(self, task: Noting) -> Proposal:
        """Return what the model notes of some items."""
        options = Options(
            max_tokens=_BESIDES + _OF_ITEM * len(task.sources),
            temperature=self._temperature,
            background=True,
        )

        def fault(given: Entries) -> str | None:
            return _fault_of_all(_placed(given, task), task)

        with self.failures.counted():
            reply = await asked_for(self._model, noting_prompt(task), Entries, options, fault)
        return _placed(reply, task)


def noting_prompt(task: Noting) -> Prompt:
    """Put a task as the model sees it: instructions, then what was said."""
    before = [data_line(source.evidence_id, "~", source.text) for source in task.context]
    lines = [data_line(source.evidence_id, "", source.text) for source in task.sources]
    block = "\n".join(["<demem:evidence>", *before, *lines, "</demem:evidence>"])
    return Prompt(prompt_text("notes"), block)


def _placed(given: Entries, task: Noting) -> Proposal:
    """Return notes with what they are made from, where the model named something else."""
    return with_found_sources(
        given.proposal, task.sources, lambda note, cover: fault_of_note(note, cover, task)
    )


def _fault_of_all(given: Proposal, task: Noting) -> str | None:
    """Return what is wrong with the first note where something is with every one."""
    pairs = zip(given.statements, given.covers, strict=True)
    faults = [fault_of_note(note, cover, task) for note, cover in pairs]
    return f"entry 1 {faults[0]}" if faults and all(faults) else None
