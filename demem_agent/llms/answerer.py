"""Answer by a model, from a reading alone; when the model fails, as well as without one."""

from __future__ import annotations

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import BudgetSpent, ModelError
from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Failures, Reply, asked_for
from demem_agent.text.language.words import clean, spoken_words
from demem_agent.text.quoting.saying import noted
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
        try:
            reply = await self._asked(question)
        except (ModelError, BudgetSpent) as error:
            if self._extractive is None:
                raise
            self.failures.note(error)
            return self._extractive.answer(question)
        if not reply.known:
            return Draft("")
        cited = _cited(reply.quotes, question.reading.lines)
        return Draft(reply.answer.strip(), tuple(cited))

    async def _asked(self, question: Question) -> _Answered:
        lines = question.reading.lines
        prompt = answering_prompt(question)
        return await asked_for(
            self._model, prompt, _Answered, self._options, lambda reply: _problem(reply, lines)
        )


def answering_prompt(question: Question) -> Prompt:
    """Put a question as the model sees it: instructions, memory, then what is asked and when."""
    asked = f"Asked on {question.at:%A, %d %B %Y}" if question.at else "Asked"
    return Prompt(prompt_text("answer"), f"{question.reading.text}\n\n{asked}: {question.query}")


def _problem(reply: _Answered, lines: tuple[Line, ...]) -> str | None:
    if not reply.known:
        return None
    if not reply.answer.strip():
        return "known is true and answer is empty"
    if not _cited(reply.quotes, lines):
        return "no quotation stands in the memory block word for word"
    return None


def _cited(quotes: list[str], lines: tuple[Line, ...]) -> list[str]:
    """Return the evidence of the lines that hold a quotation word for word.

    The words may be those that were said, or those that the reading puts in their place.
    """
    found: dict[str, None] = {}
    for quote in quotes:
        quoted = spoken_words(quote)
        if not quoted:
            continue
        for line in lines:
            if _holds(line, quoted):
                found[line.evidence.id] = None
    return list(found)


def _holds(line: Line, quoted: list[str]) -> bool:
    raw = f"{line.evidence.speaker or ''} {line.text}"
    plain = clean(raw).lower()
    # Most lines have neither end of a quotation, which is told without taking them apart.
    ends = (quoted[0], quoted[-1])
    if all(end.isascii() and end not in plain for end in ends):
        return False
    spoken = _spaced(quoted)
    if spoken in _spaced(spoken_words(raw)):
        return True
    as_read = noted(line.evidence, line.start, line.end)
    return spoken in _spaced(spoken_words(as_read))


def _spaced(tokens: list[str]) -> str:
    """Join words so that one within another is not found."""
    return f" {' '.join(tokens)} "
