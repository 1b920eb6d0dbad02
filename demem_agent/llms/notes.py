"""Memory items psi: have a model take down what may be worth knowing of a turn, as turns of their
own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Reply, asked_for
from demem_agent.summaries.grounding import invented
from demem_agent.text.saying import day, said
from demem_agent.turns import Turn, as_turn
from demem_agent.types import Evidence, Source

__all__ = ["NOTE", "NoteTaker"]

#: ``Turn.source`` of a note.
NOTE = "note"
#: Notes of one turn, at most.
_MOST = 20


class _Notes(Reply):
    notes: list[str]


class NoteTaker:
    """Ask a model for the notes of a turn; none is kept that says what the turn does not.

    Ingest needs no notes, and what was said is remembered as it was said: notes are for who wants
    them beside it. Its calls are background work: a spending limit stops them first.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._options = Options(temperature=0.0, background=True)

    async def notes(self, turn: Turn | Mapping[str, Any]) -> list[Turn]:
        """Give the notes of one turn, to be ingested: same speaker, time and session, ``source``
        "note".

        Raises:
            InvalidInput: naming the field of the turn.
            ModelError, BudgetSpent: when there is no usable reply.
        """
        told = as_turn(turn)
        heading, item = _heading(told), _item(told)
        line = Source(item.id, f"{heading} {said(item, 0, len(item.text))}", False)
        prompt = _prompt(told, heading)
        reply = await asked_for(
            self._model, prompt, _Notes, self._options, lambda given: _problem(given, line)
        )
        notes = dict.fromkeys(" ".join(note.split()) for note in reply.notes)
        return [replace(told, text=note, source=NOTE, key=None) for note in notes if note]


def _prompt(turn: Turn, heading: str) -> Prompt:
    text = turn.text.replace(
        "demem:message", "demem-message"
    )  # no message may end the block that it stands in
    return Prompt(prompt_text("extract"), f"{heading}\n<demem:message>\n{text}\n</demem:message>")


def _heading(turn: Turn) -> str:
    when = f" on {turn.at:%A}, {day(_item(turn))}" if isinstance(turn.at, datetime) else ""
    return f"Said by {turn.speaker or 'somebody'}{when}:"


def _item(turn: Turn) -> Evidence:
    return Evidence(
        "e0", turn.text, turn.speaker, turn.at if isinstance(turn.at, datetime) else None
    )


def _problem(reply: _Notes, line: Source) -> str | None:
    if len(reply.notes) > _MOST:
        return f"more than {_MOST} notes"
    for number, note in enumerate(reply.notes, 1):
        if problem := invented(note, [line]):
            return f"note {number} {problem}"
    return None
