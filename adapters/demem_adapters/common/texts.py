"""What a message says in words, whatever a framework makes a message of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["Spoken", "said_last", "text_of"]

#: Parts that hold text which nobody says to anybody: what a model thinks.
_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking", "thought", "summary_text"})


class Spoken(NamedTuple):
    """One message of a conversation: of the user's, or of the model's."""

    by_user: bool
    text: str


def text_of(content: object) -> str:
    """Return the text of a content; of one in parts the texts of these, a line each.

    Pictures, calls and results of tools, refusals and thoughts have none.

    Args:
        content: a text; a part with ``text``, or ``content`` of its own, as a mapping or an
            object; or a list of such.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _of_mapping(content)
    if isinstance(content, list | tuple):  # a model of Pydantic's is iterable as well
        texts = [text_of(part) for part in content]
        return "\n".join(text for text in texts if text.strip())
    return _of_object(content)


def _of_mapping(part: Mapping[str, object]) -> str:
    if part.get("type") in _THOUGHTS or part.get("thought"):
        return ""
    text = part.get("text")
    if isinstance(text, Mapping):  # of OpenAI's threads
        text = text.get("value")
    if isinstance(text, str):
        return text
    cited = part.get("citationsContent")  # of Bedrock: one level down
    return text_of(cited.get("content")) if isinstance(cited, Mapping) else ""


def _of_object(part: object) -> str:
    if getattr(part, "thought", None) or getattr(part, "type", None) in _THOUGHTS:
        return ""
    for name in ("text", "content"):
        text = getattr(part, name, None)
        if isinstance(text, str):
            return text
    return ""


def said_last(conversation: Iterable[Spoken]) -> tuple[list[Spoken], list[str]]:
    """Split a conversation into what was said before, and all that the user has said since.

    The latter is what the user said after the model's last answer before it; what follows the
    user's last message is left out.
    """
    said = [one for one in conversation if one.text.strip()]
    while said and not said[-1].by_user:
        said.pop()
    begin = len(said)
    while begin and said[begin - 1].by_user:
        begin -= 1
    return said[:begin], [one.text for one in said[begin:]]
