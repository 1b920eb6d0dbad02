"""Answer by a model, from a reading alone; when the model fails, as well as without one."""

from __future__ import annotations

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import BudgetSpent, ModelError
from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Failures, Reply, asked_for
from demem_agent.text.saying import said
from demem_agent.text.words import clean, words
from demem_agent.types import Draft, Line, Question

__all__ = ["ModelAnswerer", "answering_prompt"]

#: Tokens that an answer may have.
_LONGEST = 500


class _Answered(Reply):
    known: bool
    answer: str
    quotes: list[str]


class ModelAnswerer:
    """An :class:`~demem_agent.types.Answerer` that asks a model; works in sync and async memories.

    The model is told to quote what its answer rests on. Only quotations that stand in the reading
    count, and lead to the evidence; an answer of which none does is thrown away. What it does not
    know comes back as an empty text.

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
        lines = question.reading.lines
        try:
            found = await asked_for(
                self._model,
                answering_prompt(question),
                _Answered,
                self._options,
                lambda reply: _problem(reply, lines),
            )
        except (ModelError, BudgetSpent) as error:
            if self._extractive is None:
                raise
            self.failures.note(error)
            return self._extractive.answer(question)
        return (
            Draft(found.answer.strip(), tuple(_cited(found.quotes, lines)))
            if found.known
            else Draft("")
        )


def answering_prompt(question: Question) -> Prompt:
    """Put a question as the model sees it: instructions, then memory, then what is asked and when."""
    asked = f"Asked on {question.at:%A, %d %B %Y}" if question.at else "Asked"
    return Prompt(prompt_text("answer"), f"{question.reading.text}\n\n{asked}: {question.query}")


def _problem(reply: _Answered, lines: tuple[Line, ...]) -> str | None:
    if not reply.known:
        return None
    if not reply.answer.strip():
        return "known is true and answer is empty"
    return (
        None
        if _cited(reply.quotes, lines)
        else "no quotation stands in the memory block word for word"
    )


def _cited(quotes: list[str], lines: tuple[Line, ...]) -> list[str]:
    """Give the evidence of the lines that hold a quotation word for word, as it was said or as the
    reading gives it.
    """
    found: dict[str, None] = {}
    for quote in quotes:
        if quoted := words(quote):
            found |= dict.fromkeys(line.evidence.id for line in lines if _holds(line, quoted))
    return list(found)


def _holds(line: Line, quoted: list[str]) -> bool:
    raw = f"{line.evidence.speaker or ''} {line.text}"
    plain = clean(raw).lower()
    if quoted[-1] not in plain and quoted[0] not in plain:
        return (
            False  # told without taking the line apart: most lines have neither end of a quotation
        )
    spoken = f" {' '.join(quoted)} "
    if spoken in f" {' '.join(words(raw))} ":
        return True
    return spoken in f" {' '.join(words(said(line.evidence, line.start, line.end)))} "
