"""Answer by a model, from a reading alone; when the model fails, as well as without one."""

from __future__ import annotations

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import BudgetSpent, ModelError
from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.quoted import cited, lines_that_hold, unfounded
from demem_agent.llms.structured import Failures, Flag, Reply, Text, Texts, asked_for
from demem_agent.types import Draft, Question

__all__ = ["ModelAnswerer", "answering_prompt"]

#: Tokens that an answer may have.
_LONGEST = 500
#: Characters of an answer in plain words, at most.
_LONGEST_PLAIN = 200


class _Answered(Reply):
    quotes: Texts
    answer: Text
    known: Flag


class ModelAnswerer:
    """An :class:`~demem_agent.types.Answerer` that asks a model; works in sync and async memories.

    The model is told to quote what its answer rests on. Only quotations that stand in the reading
    count, and lead to the evidence; an answer of which none does is thrown away, and so is one with
    a date, a number or a name that its quotations do not have. What it does not know comes back as
    an empty text.

    Args:
        model: any :class:`~demem_agent.llms.ChatModel`.
        fall_back: answer by extraction when the model fails or a spending limit stops it; else the
            error is raised.

    ``failures`` counts how often that was so, and why.
    """

    def __init__(
        self, model: ChatModel, *, fall_back: bool = True, temperature: float | None = 0.0
    ) -> None:
        self.name = model.name
        self.failures = Failures()
        self._model = model
        self._options = Options(max_tokens=_LONGEST, temperature=temperature)
        self._extractive = ExtractiveAnswerer() if fall_back else None

    async def answer(self, question: Question) -> Draft:
        """Answer one question.

        Raises:
            ModelError, BudgetSpent: unless it falls back.
        """
        if not question.reading.text:
            return Draft("")
        try:
            reply = await self._asked(question)
        except (ModelError, BudgetSpent) as error:
            if self._extractive is None:
                raise
            self.failures.note(error)
            return self._extractive.answer(question)
        rests_on = cited(reply.quotes, question.reading.lines)
        if not rests_on:
            return Draft("")
        return Draft(reply.answer.strip(), tuple(line.evidence.id for line in rests_on))

    async def _asked(self, question: Question) -> _Answered:
        return await asked_for(
            self._model,
            answering_prompt(question),
            _Answered,
            self._options,
            lambda reply: _problem(reply, question),
            lambda text: _plain(text, question),
        )


def answering_prompt(question: Question) -> Prompt:
    """Put a question as the model sees it: instructions, memory, then what is asked and when."""
    asked = f"Asked on {question.at:%A, %d %B %Y}" if question.at else "Asked"
    return Prompt(prompt_text("answer"), f"{question.reading.text}\n\n{asked}: {question.query}")


def _problem(reply: _Answered, question: Question) -> str | None:
    """Return why an answer cannot be used; None where it can, or where there is none.

    What a model quotes rightly it knew, whatever it says of that.
    """
    lines = cited(reply.quotes, question.reading.lines)
    if not reply.known and not (lines and reply.answer.strip()):
        return None
    if not reply.answer.strip():
        return "known is true and answer is empty"
    if not lines:
        return "no quotation stands in the memory block word for word"
    return unfounded(reply.answer, question, lines)


def _plain(text: str, question: Question) -> _Answered | None:
    """Return an answer in plain words that stand in the reading, as their own quotation."""
    said = text.strip()
    if len(said) > _LONGEST_PLAIN or not lines_that_hold(said, question.reading.lines):
        return None
    return _Answered(quotes=[said], answer=said, known=True)
