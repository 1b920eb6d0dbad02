"""The model's side of a chat: it streams where the model does.

When the model fails, what memory holds is quoted instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from demem_agent.cli.chat.conversation import Conversation
from demem_agent.cli.chat.quoting import QuotingAnswerer, asks
from demem_agent.errors import BudgetSpent, ModelError
from demem_agent.llms import ChatModel, Health, Prompt, Stream
from demem_agent.llms.answerer import ModelAnswerer
from demem_agent.llms.model import Options
from demem_agent.messages.thinking import spoken_so_far, without_thinking
from demem_agent.text.language.words import content_terms
from demem_agent.text.unsaid import in_context
from demem_agent.types import Draft, Line, Question

__all__ = ["Talker", "rests_on"]

#: How often a prompt that was too long is made shorter.
_TOO_LONG = 5
#: Words of an answer that a line must hold before the answer counts as resting on it.
_SHARED = 2


@runtime_checkable
class _Streams(Protocol):
    def stream(self, prompt: Prompt, options: Options, /) -> Stream: ...


class Talker:
    """An :class:`~demem_agent.types.Answerer` for a conversation.

    What the user says is answered within the conversation. Every other question, such as those that
    feedback asks of several slots, is answered as any memory with a model answers it, and is no
    part of the conversation.

    Args:
        model: any chat model; its answer is given in pieces where it has ``stream``.
        give: takes each piece of an answer as it comes.
        context: tokens that the model takes; None where that is not known.

    ``trouble`` is why the model could not be had for the last answer, or None.
    """

    def __init__(
        self, model: ChatModel, give: Callable[[str], object], context: int | None = None
    ) -> None:
        self.name = model.name
        self.model = model
        self.conversation = Conversation(context)
        self.trouble: str | None = None
        self._give = give
        self._line: str | None = None
        self._asked: str | None = None
        self._draft: Draft | None = None
        self._apart = ModelAnswerer(model)
        self._quoting = QuotingAnswerer()

    @property
    def health(self) -> Health | None:
        """What became of the model's calls, where it keeps count."""
        health = getattr(self.model, "health", None)
        return health if isinstance(health, Health) else None

    def expect(self, line: str | None, before: Sequence[str] = ()) -> None:
        """Tell what the user has said, which the next question is then about; None for nothing.

        Args:
            before: what was said last, as memory is told: it may be asked for what the line leaves
                unsaid.
        """
        self._line = line
        self._asked = None if line is None else in_context(line, before)
        self._draft = None
        self.trouble = None

    def answer(self, question: Question) -> Draft | Awaitable[Draft]:
        """Answer in the conversation, or apart from it."""
        if self._line is None or question.query != self._asked:
            return self._apart.answer(question)
        # It is asked again where another process has changed the memory meanwhile.
        if self._draft is None:
            self._draft = self._talk(replace(question, query=self._line))
        return self._draft

    def _talk(self, question: Question) -> Draft:
        try:
            text = self._said(question)
        except (ModelError, BudgetSpent) as error:
            self.trouble = str(error)
            return self._quoting.answer(question) if asks(question.query) else Draft("")
        return Draft(text, rests_on(text, question.query, question.reading.lines))

    def _said(self, question: Question) -> str:
        """Return what the model says; a prompt that it finds too long is made shorter."""
        for _ in range(_TOO_LONG):
            prompt = self.conversation.prompt(question)
            try:
                return self._replied(prompt)
            except ModelError as error:
                if error.kind != "too long":
                    raise
                if not self.conversation.overflowed(prompt, error.context):
                    raise
        return self._replied(self.conversation.prompt(question))

    def _replied(self, prompt: Prompt) -> str:
        self.conversation.prefix.note(prompt)
        options = Options(max_tokens=self.conversation.longest)
        if isinstance(self.model, _Streams):
            return self._streamed(self.model.stream(prompt, options))
        text = without_thinking(self.model.complete(prompt, options).text).strip()
        self._give(text)
        return text

    def _streamed(self, stream: Stream) -> str:
        """Pass on what is said as it comes, without thinking; return all that was said."""
        text = given = ""
        for piece in stream:
            text += piece
            said = spoken_so_far(text).lstrip()
            if not said.startswith(given):  # what had come was thought: the end of that came now
                given = ""
            if len(said) > len(given):
                self._give(said[len(given) :])
                given = said
        return without_thinking(text).strip()


def rests_on(answer: str, query: str, lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the ids of the evidence that seems to be behind an answer.

    These are the fewest lines that hold the words which the answer has of them. The model is not
    asked for quotations here, as it talks freely; words of the question do not count.
    """
    wanted = set(content_terms(answer)) - set(content_terms(query))
    enough = min(_SHARED, len(wanted))
    held_by_line = [wanted.intersection(content_terms(line.text)) for line in lines]
    behind = [lines[place].evidence.id for place in _tellers(held_by_line, max(enough, 1))]
    return tuple(dict.fromkeys(behind))


def _tellers(held_by_line: list[set[str]], enough: int) -> Iterator[int]:
    """Yield the line that holds most words, as long as it holds enough that were not told yet."""
    while held_by_line:
        sizes = list(map(len, held_by_line))
        most = max(sizes)
        if most < enough:
            return
        best = sizes.index(most)
        yield best
        told = held_by_line[best]
        held_by_line = [held - told for held in held_by_line]
