"""The fields of a chat request, and what a provider turns out not to take: not all that speak this
protocol speak it whole. Newer models of OpenAI refuse ``max_tokens`` and ``temperature``, many
local servers a JSON schema."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from demem_agent.llms.model import Options, Prompt
from demem_agent.text.words import clean

__all__ = ["chat_fields", "to_leave_out"]

#: What a request can do without, each with what stands in for it.
_OPTIONAL: Mapping[str, str | None] = {
    "response_format": None,
    "stream_options": None,
    "temperature": None,
    "seed": None,
    "max_tokens": "max_completion_tokens",
}


def chat_fields(
    prompt: Prompt, options: Options, stream: bool, refused: Collection[str]
) -> dict[str, Any]:
    """Give the fields of a request, but for the model, without those that were refused."""
    wanted: dict[str, Any] = {
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "seed": options.seed,
        "response_format": _response_format(options.schema) if options.schema is not None else None,
        "stream_options": {"include_usage": True} if stream else None,
    }
    fields: dict[str, Any] = {
        "messages": [
            {"role": message.role, "content": clean(message.text)} for message in prompt.messages
        ]
    }
    if stream:
        fields["stream"] = True
    for name, value in wanted.items():
        taken = _OPTIONAL[name] if name in refused else name
        if taken is not None and value is not None:
            fields[taken] = value
    return fields


def to_leave_out(named: str | None, sent: Collection[str]) -> str | None:
    """Give the field that the next request should do without, or None where none can be the reason
    for the refusal.

    Args:
        named: the field that the provider names, if it does; many name none, and then a schema is
            the likeliest.
    """
    if named is not None:
        return named if named in _OPTIONAL and named in sent else None
    return next((name for name in ("response_format", "stream_options") if name in sent), None)


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
    }
