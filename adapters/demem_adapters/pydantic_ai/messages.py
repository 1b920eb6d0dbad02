"""What the user asked in the messages of a run, and what is put among them for one request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    UserPromptPart,
)

from demem_adapters.common import Inject, Spoken, said_last, text_of

__all__ = ["Run", "prompts", "put_into", "said_before", "said_last_of"]

#: How the names of tools begin by which a model gives an output that is no text.
_OUTPUT = "final_result"
#: What Pydantic AI tells of a run, whatever the agent's dependencies are.
Run: TypeAlias = RunContext[Any]


def prompts(messages: Iterable[ModelMessage]) -> Iterator[str]:
    """Yield the texts of the user's prompts, oldest first."""
    for message in messages:
        if not isinstance(message, ModelRequest):
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                yield text_of(part.content)


def said_before(messages: Iterable[ModelMessage]) -> list[str]:
    """Return what the user and the model said before the user's last prompt, in order."""
    spoken: list[str] = []
    before = 0
    for message in messages:
        asked = [*prompts([message])]
        if asked:
            before = len(spoken)
        answered = [message.text or ""] if isinstance(message, ModelResponse) else []
        spoken += asked + answered
    return spoken[:before]


def said_last_of(messages: Iterable[ModelMessage]) -> tuple[list[Spoken], list[str]]:
    """Return what was said before, and all that the user has said since the last answer.

    What a model said beside calls of tools is no answer; an output that is no text is one.
    """
    spoken: list[Spoken] = []
    for message in messages:
        spoken += [Spoken(True, asked) for asked in prompts([message])]
        if isinstance(message, ModelResponse):
            spoken.append(Spoken(False, _answer(message)))
    return said_last(spoken)


def _answer(response: ModelResponse) -> str:
    """Return what a model answered, "" where it has called tools instead."""
    for call in response.tool_calls:
        if call.tool_name.startswith(_OUTPUT):
            return call.args_as_json_str()
    return "" if response.tool_calls else response.text or ""


def put_into(messages: Sequence[ModelMessage], recalled: str, inject: Inject) -> list[ModelMessage]:
    """Put a block before the last prompt, or after the first instructions of the system's.

    Nothing that is given is changed.
    """
    if inject == "system":
        part: ModelRequestPart = SystemPromptPart(recalled)
        number, place = _after_instructions(messages)
    else:
        part = UserPromptPart(recalled)
        number, place = _last_prompt(messages)
    put = [*messages]
    request = put[number]
    if isinstance(request, ModelRequest):
        parts = [*request.parts[:place], part, *request.parts[place:]]
        put[number] = replace(request, parts=parts)
    return put


def _after_instructions(messages: Sequence[ModelMessage]) -> tuple[int, int]:
    """Return the number of the first request, and where its instructions of the system's end."""
    number = next(n for n, message in enumerate(messages) if isinstance(message, ModelRequest))
    for place, part in enumerate(messages[number].parts):
        if not isinstance(part, SystemPromptPart):
            return number, place
    return number, 0


def _last_prompt(messages: Sequence[ModelMessage]) -> tuple[int, int]:
    """Return the number of the request with the last prompt, and the place of that in it."""
    found = (0, 0)
    for number, message in enumerate(messages):
        if not isinstance(message, ModelRequest):
            continue
        for place, part in enumerate(message.parts):
            if isinstance(part, UserPromptPart):
                found = number, place
    return found
