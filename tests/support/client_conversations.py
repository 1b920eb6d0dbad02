"""Generated conversations through an adapter, whose model or network is a function."""

from __future__ import annotations

import json
import random
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from adapter_contract import blocks_among
from generated_conversations import Conversation, Outcome

from demem_adapters.common import Memories, Spoken

__all__ = ["Answer", "ClientConversation"]

_WEIGHTS = (0.68, 0.16, 0.1, 0.06)


class Answer(NamedTuple):
    """What the provider is to reply.

    Attributes:
        outcome: "tools" for a call of one, "fails" for an error.
        stream: whether it is asked for as a stream.
        result: the call that is answered by a tool comes with the conversation.
    """

    outcome: Outcome
    text: str
    stream: bool = False
    result: bool = False


class ClientConversation(Conversation):
    """A conversation whose calls go through an adapter, in this thread."""

    def __init__(self, rng: random.Random, opened: Callable[[], Memories], **about: Any) -> None:
        super().__init__(rng, opened, **about)
        self.shows: list[str] = []
        self.next = Answer("whole", "")
        self.client = self.wrapped()

    @abstractmethod
    def wrapped(self) -> Any:
        """Give a client, an agent or a function memory; its network or model is
        :meth:`answered`.
        """

    @abstractmethod
    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        """Call the model with a conversation; errors of the model stay inside."""

    def answered(self, seen: bytes) -> tuple[int, Answer]:
        """Note what reaches the network, and return the status and what it is to reply."""
        answer = self.asked_with(_texts_in(json.loads(seen)))
        return 500 if answer.outcome == "fails" else 200, answer

    def asked_with(self, shows: list[str]) -> Answer:
        """Note the texts that reach the model, and return what it is to reply."""
        self.shows = shows
        return self.next

    def _restart(self) -> None:
        super()._restart()
        self.client = self.wrapped()

    def _call(self, texts: list[str], instead: str | None = None) -> Outcome:
        visible = self._visible(texts)
        outcomes: Sequence[Outcome] = ("whole", "fails", "cut", "tools")
        outcome = self.rng.choices(outcomes, _WEIGHTS)[0]
        common = not self.name and self.rng.random() < 0.3 and instead is None
        text = "Noted." if common else self._new("This is answer")
        self._turn_of(visible, Answer(outcome, text, self.rng.random() < 0.4))
        if outcome == "tools":
            outcome = "whole"
            if self.rng.random() < 0.5:
                self._restart()
            self._turn_of(visible, Answer(outcome, text, result=True))
        if outcome == "whole":
            self.shown.append(Spoken(False, text))
            if instead:
                self._drop(instead)
            self.said.append(text)
        return outcome

    def _turn_of(self, visible: Sequence[Spoken], answer: Answer) -> None:
        self.next = answer
        self.ask(visible, answer)
        asked = visible[-1].text
        if any(asked in block for block in blocks_among(self.shows)):
            self.problems.append(f"the question is in its own reading: {asked}")


def _texts_in(value: object) -> list[str]:
    """Return all texts in a value of JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [*value.values()]
    found: list[str] = []
    for part in value if isinstance(value, list) else ():
        found += _texts_in(part)
    return found
