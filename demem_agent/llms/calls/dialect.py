"""The fields of a chat request, and what a provider turns out not to take.

Not all that speak this protocol speak it whole. Newer models of OpenAI refuse ``max_tokens`` and
``temperature``, many local servers a JSON schema.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from demem_agent.llms.model import Options, Prompt
from demem_agent.text.language.words import clean

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
) -> dict[str, object]:
    """Return the fields of a request, but for the model, without those that were refused."""
    fields: dict[str, object] = {"messages": _messages(prompt)}
    if stream:
        fields["stream"] = True
    for name, value in _wanted(options, stream).items():
        taken = _OPTIONAL[name] if name in refused else name
        if taken is not None and value is not None:
            fields[taken] = value
    return fields


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": said.role, "content": clean(said.text)} for said in prompt.messages]


def _wanted(options: Options, stream: bool) -> dict[str, object]:
    """Return the fields that a request can do without; None is one that it need not have."""
    schema = options.schema
    return {
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "seed": options.seed,
        "response_format": None if schema is None else _response_format(schema),
        "stream_options": {"include_usage": True} if stream else None,
    }


def to_leave_out(named: str | None, sent: Collection[str]) -> str | None:
    """Return the field that the next request should do without.

    None where none can be the reason for the refusal.

    Args:
        named: the field that the provider names, if it does; many name none, and then a schema is
            the likeliest.
    """
    if named is not None:
        return named if named in _OPTIONAL and named in sent else None
    for likely in ("response_format", "stream_options"):
        if likely in sent:
            return likely
    return None


def _response_format(schema: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
    }
