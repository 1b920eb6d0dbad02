"""What a language model is asked, what it gives, and the Protocol of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from demem_agent.errors import InvalidInput
from demem_agent.turns import whole_field

__all__ = [
    "PLAIN",
    "ChatModel",
    "Completion",
    "Message",
    "Options",
    "Prompt",
    "Usage",
    "shared_prefix",
]

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked: first what stays the same from call to call, then what does not.

    Providers that cache prompts do so by their beginning, and only where it is the same to the
    byte.

    Attributes:
        stable: the system message: instructions, and whatever else is the same over many calls.
        variable: the user's message.
        more: messages after these two, such as a result and what is wrong with it.
    """

    stable: str
    variable: str
    more: tuple[Message, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages in order; an empty stable part makes none."""
        first = (Message("system", self.stable),) if self.stable else ()
        return (*first, Message("user", self.variable), *self.more)

    @property
    def text(self) -> str:
        """The texts of all messages, one after the other."""
        return "\n".join(message.text for message in self.messages)

    @property
    def stable_share(self) -> float:
        """The share of the stable part in the bytes of the prompt, in [0, 1]."""
        return len(_bytes(self.stable)) / max(len(_bytes(self.text)), 1)


def shared_prefix(earlier: Prompt, later: Prompt) -> float:
    """Return the share in [0, 1] of the bytes of ``later`` with which ``earlier`` begins as well.

    That much of it a cache can reuse.
    """
    first = _bytes(_rendered(earlier))
    second = _bytes(_rendered(later))
    same = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        same += 1
    return same / max(len(second), 1)


@dataclass(frozen=True, slots=True)
class Options:
    """How a model is to answer; what is None is left to the provider.

    Not hashable with a schema, which is a mapping.

    Attributes:
        max_tokens: most tokens of the answer, >= 1; an answer that needs more is an error, never
            half an answer.
        temperature: in [0, 2].
        seed: for repeated runs that are to differ; part of the key under which a call is recorded.
        schema: JSON schema of the answer. A provider that does not take one is asked without: check
            the answer.
        background: the call can wait, so that a spending limit stops it before any other.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    background: bool = False

    def __post_init__(self) -> None:
        if self.max_tokens is not None:
            whole_field("max_tokens", self.max_tokens, 1)
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InvalidInput("temperature", self.temperature, "a number from 0 to 2")


#: Leave everything to the provider.
PLAIN = Options()


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls have used.

    Attributes:
        cached_tokens: those of ``prompt_tokens`` that the provider took from its cache.
        requests: HTTP requests, failed ones as well.
        cost: in the currency of the prices; None when a price was not known.
        estimated: True when a provider did not say, so that tokens were counted here.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    requests: int = 0
    cost: float | None = 0.0
    estimated: bool = False

    @property
    def tokens(self) -> int:
        """Those of prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        cost = None
        if self.cost is not None and other.cost is not None:
            cost = self.cost + other.cost
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            requests=self.requests + other.requests,
            cost=cost,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model gave: whole, or it would have been an error.

    Attributes:
        finish: why it ended, in the provider's word (``stop``).
        usage: of all requests of the call, the failed ones as well.
        model: as the provider names it.
    """

    text: str
    finish: str
    usage: Usage
    model: str


@runtime_checkable
class ChatModel(Protocol):
    """Complete a prompt, synchronously or not; both raise the same errors.

    Raises:
        ModelError: when the provider fails, or what it gave cannot be used.
        BudgetSpent: when a spending limit stops the call.
    """

    @property
    def name(self) -> str:
        """The model, as the provider names it."""
        ...

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Complete a prompt, waiting for it."""
        ...

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Complete a prompt, awaited."""
        ...


def _rendered(prompt: Prompt) -> str:
    return "".join(f"{message.role}\0{message.text}\0" for message in prompt.messages)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
