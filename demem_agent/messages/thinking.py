"""What a model writes for itself before it answers, such as ``<think>...</think>``, is no part of
what it says.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["spoken_so_far", "without_thinking"]

#: The tags around thinking, as models write them, and as Open WebUI puts it into a message.
_TAG = pattern(
    r"<(?P<ends>/?)(?P<name>think|thinking|reasoning|details)\b(?P<more>[^<>]*)>", re.IGNORECASE
)
_REASONING = ('type="reasoning"', "type='reasoning'")
#: What may become a tag with the next piece.
_COMING = pattern(r"(?:\A|(?<=\n))[ \t]*<[^<>\n]{0,200}\Z")


def without_thinking(text: str) -> str:
    """Return what a model says without what it thinks; a text without any comes back unchanged.

    Thinking begins at the beginning of a line. That of which the end is missing was cut off where
    nothing is said before it; elsewhere somebody speaks of a tag.
    """
    if "<" not in text:  # as in most; much faster
        return text
    said, thinking = _parted(text)
    if thinking is not None and said.strip():
        said += thinking
    return text if said == text else said.strip()


def spoken_so_far(text: str) -> str:
    """Return what of a text that is still being written is surely said, and not thought."""
    said, thinking = _parted(text)
    return _COMING.sub("", said) if thinking is None else said


def _parted(text: str) -> tuple[str, str | None]:
    """Return what is said, and the thinking at the end that goes on; None where none does."""
    said: list[str] = []
    at, name, depth = 0, "", 0
    for tag in _TAG.finditer(text):
        opens, named = not tag["ends"], tag["name"].lower()
        if depth:
            depth += (1 if opens else -1) if named == name else 0
            if not depth:
                at = tag.end()
        elif opens and _begins_line(text, tag.start()) and _is_thinking(named, tag["more"]):
            said.append(text[at : tag.start()])
            at, name, depth = tag.start(), named, 1
        elif not opens and not said and not at and _ends_thinking(text, tag):
            at = tag.end()  # the template of a chat began it, before the text
    return ("".join(said), text[at:]) if depth else ("".join([*said, text[at:]]), None)


def _begins_line(text: str, place: int) -> bool:
    return not text[text.rfind("\n", 0, place) + 1 : place].strip()


def _is_thinking(name: str, more: str) -> bool:
    return name != "details" or any(one in more.lower() for one in _REASONING)


def _ends_thinking(text: str, tag: re.Match[str]) -> bool:
    alone = _begins_line(text, tag.start()) or text[tag.end() : tag.end() + 1] in ("\n", "")
    return alone and tag["name"].lower() != "details"
