"""Chat with a real client and a provider on this machine, as the tests of chats do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from demem_agent import SlotMemory
from demem_agent.cli.chat import Session, Talker
from demem_agent.llms import OpenAIChat, Retry
from demem_agent.testing import Provider
from demem_agent.testing.obedient import obedient

__all__ = ["BEFORE", "BLOCK", "KEY", "Chat", "Done", "by", "reply", "sent", "session_with"]

KEY = "sk-a-key-that-nobody-may-see"
BLOCK = re.compile(r"<demem:memory>.*?</demem:memory>", re.DOTALL)
#: Lines that give every command something to work on, and the answer a2.
BEFORE = ("The boiler has a brass valve.", "Which valve has the boiler?")


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    if not messages[0]["content"].startswith("You talk"):
        return obedient(messages)
    if not messages[-1]["content"].endswith("?"):
        return "Noted."
    found: str = json.loads(obedient([{"content": "You answer"}, messages[-1]]))["answer"]
    return found or "I do not know that yet."


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def turns(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Chat = Callable[..., Done]


def by(provider: Provider, model: str = "good", *more: object) -> tuple[object, ...]:
    return ("--model", model, "--base-url", provider.url, "--timeout", "5", *more)


def sent(provider: Provider, since: int = 0) -> list[list[Mapping[str, Any]]]:
    """The messages of each request of a conversation."""
    asked = [seen.body["messages"] for seen in provider.requests[since:]]
    return [messages for messages in asked if messages[0]["content"].startswith("You talk")]


def session_with(provider: Provider, read_limit: int = 6000, model: str = "good") -> Session:
    talker = Talker(
        OpenAIChat(model, base_url=provider.url, retry=Retry(seconds=2.0)), lambda piece: None
    )
    memory = SlotMemory(answerer=talker, read_limit=read_limit // 4)
    return Session(
        memory, talker, read_limit - read_limit // 4, now=lambda: datetime(2025, 3, 5, 18, 30)
    )
