"""What of a conversation goes before a model, laid out so that most of it stays from turn to turn.

Providers cache prompts by their beginning. So what changes least comes first: the instructions, an
overview of the slots, the turns so far. The reading for the last message comes last, as it is
another every time. A prompt grows only at its end, until there are too many turns, or more tokens
than the model takes: then the older ones go together and the overview is made anew.
"""

from __future__ import annotations

from demem_agent.llms.answerer import answering_prompt
from demem_agent.llms.model import Message, Prompt, shared_prefix
from demem_agent.llms.prompts import prompt_text
from demem_agent.types import Question

__all__ = ["Conversation", "Prefix"]

#: Exchanges that go before the model: when there are ``MOST``, all but the last ``KEPT`` are
#: dropped at once. What is dropped is still remembered, and comes back in readings.
KEPT, MOST = 8, 24
#: Bytes of a token at least, in most languages and vocabularies, and tokens that a message costs
#: beside its text.
_BYTES, _PER_MESSAGE = 3, 8
#: Tokens of a reply at most, and the share of what the model takes that is left for it.
LONGEST, REPLY = 2_000, 4
#: A prompt that was too long counts as so much longer than what the model takes, if that is all
#: that is known; and the least that is tried.
_SHORTER, _LEAST = 0.75, 256


class Conversation:
    """The last turns, and an overview of memory as it was when they began.

    Args:
        context: tokens that the model takes, prompt and reply together; None where that is not
            known, until a server says or shows it.
    """

    def __init__(self, context: int | None = None) -> None:
        self.exchanges: list[tuple[str, str]] = []
        self.overview: str | None = None
        self.prefix = Prefix()
        self.context = context

    @property
    def longest(self) -> int:
        """Tokens that a reply may have."""
        return LONGEST if self.context is None else min(max(self.context // REPLY, 1), LONGEST)

    def prompt(self, question: Question) -> Prompt:
        """Put what was said last, and its reading, after what came before, as far as it fits.

        The older half of the turns goes first, again and again, then the overview, and at last the
        reading.
        """
        while not self._fits(prompt := self._prompt(question)):
            if self.exchanges:
                del self.exchanges[: (len(self.exchanges) + 1) // 2]
                if self.overview:  # it is made anew; one that did not fit stays away
                    self.overview = None
            elif self.overview:
                self.overview = ""
            else:
                return Prompt(prompt_text("chat"), question.query)
        return prompt

    def overflowed(self, prompt: Prompt, told: int | None) -> bool:
        """Take in that a prompt was too long; whether there is a shorter one.

        Args:
            told: tokens that the model takes, where the server said so.
        """
        context = int(_SHORTER * (_tokens(prompt) + self.longest))
        if told is not None and (self.context is None or told < self.context):
            context = told
        if context < _LEAST:
            return False
        self.context = context
        return True

    def _fits(self, prompt: Prompt) -> bool:
        return self.context is None or _tokens(prompt) + self.longest <= self.context

    def _prompt(self, question: Question) -> Prompt:
        messages: list[Message] = []
        for said, replied in self.exchanges:
            messages.append(Message("user", said))
            messages.append(Message("assistant", replied))
        last = answering_prompt(question).variable.lstrip("\n")
        messages.append(Message("user", last))
        first = messages[0].text
        if self.overview:
            first = f"{self.overview}\n\n{first}"
        return Prompt(prompt_text("chat"), first, tuple(messages[1:]))

    def add(self, said: str, replied: str) -> None:
        """Take in a turn of each."""
        self.exchanges.append((said, replied))
        if len(self.exchanges) >= MOST:
            del self.exchanges[:-KEPT]
            self.overview = None

    def clear(self) -> None:
        """Hold no text any more.

        Some of it was forgotten, and what came after may have drawn on it.
        """
        self.exchanges.clear()
        self.overview = None
        self.prefix.latest = None


def _tokens(prompt: Prompt) -> int:
    """Return about how many tokens a prompt has, rather too many than too few."""
    size = len(prompt.text.encode("utf-8", "surrogatepass"))
    return size // _BYTES + _PER_MESSAGE * len(prompt.messages)


class Prefix:
    """How much of the prompts so far began as the prompt before them did.

    This is what a provider's cache can reuse.
    """

    def __init__(self) -> None:
        self.latest: Prompt | None = None
        self.last = 0.0
        self._shared = 0.0
        self._all = 0

    @property
    def share(self) -> float:
        """The share of all bytes, in [0, 1]; of the first prompt nothing counts as shared."""
        return self._shared / max(self._all, 1)

    def note(self, prompt: Prompt) -> None:
        """Count a prompt that is sent."""
        self.last = shared_prefix(self.latest, prompt) if self.latest else 0.0
        size = len(prompt.text.encode("utf-8", "surrogatepass"))
        self._shared += self.last * size
        self._all += size
        self.latest = prompt
