"""Chat with a real client and a provider on this machine, as the tests of chats do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from demem_agent import SlotMemory
from demem_agent.llms import OpenAIChat, Retry
from demem_agent.testing import Provider
from demem_agent.testing.obedient import obedient

if TYPE_CHECKING:
    from demem_agent.cli.chat import Session

__all__ = ["BEFORE", "BLOCK", "KEY", "Chat", "Done", "by", "reply", "sent", "session_with"]

KEY = "sk-a-key-that-nobody-may-see"
BLOCK = re.compile(r"<demem:memory>.*?</demem:memory>", re.DOTALL)
#: Lines that give every command something to work on, and the answer a2.
BEFORE = ("The boiler has a brass valve.", "Which valve has the boiler?")


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """Talk as little as a model can: note what is told, and answer with a line of the reading."""
    if not messages[0]["content"].startswith("You talk"):
        return obedient(messages)
    if not messages[-1]["content"].endswith("?"):
        return "Noted."
    answered = json.loads(obedient([{"content": "You answer"}, messages[-1]]))
    return answered["answer"] or "I do not know that yet."


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a chat."""

    code: int
    out: str
    err: str

    @property
    def turns(self) -> list[Any]:
        """The JSON object of each turn."""
        return [json.loads(line) for line in self.out.splitlines()]


Chat = Callable[..., Done]


def by(provider: Provider, model: str = "good", *more: object) -> tuple[object, ...]:
    """Return the options with which a chat asks a model of the provider."""
    return ("--model", model, "--base-url", provider.url, "--timeout", "5", *more)


def sent(provider: Provider, since: int = 0) -> list[list[Mapping[str, Any]]]:
    """Return the messages of each request of a conversation."""
    asked = [seen.body["messages"] for seen in provider.requests[since:]]
    return [messages for messages in asked if messages[0]["content"].startswith("You talk")]


def session_with(provider: Provider, read_limit: int = 6000, model: str = "good") -> Session:
    """Begin a chat in RAM, with a quarter of the read limit for readings."""
    from demem_agent.cli.chat import Session, Talker

    asked = OpenAIChat(model, base_url=provider.url, retry=Retry(seconds=2.0))
    talker = Talker(asked, lambda piece: None)
    for_reading = read_limit // 4
    memory = SlotMemory(answerer=talker, read_limit=for_reading)
    now = datetime(2025, 3, 5, 18, 30)
    return Session(memory, talker, read_limit - for_reading, now=lambda: now)
