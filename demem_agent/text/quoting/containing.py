"""Have what was said stand in a reading so that nothing in it passes for a part of the reading.

A remembered text may hold anything: the marks around a reading, a line that looks like a heading or
like another speaker's, signs that act on a terminal or turn the direction of what follows. A model
that reads it must be able to tell all of these from the reading's own.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern
from demem_agent.text.language.words import clean

__all__ = ["UNSIGNED", "contained", "entry", "on_one_line", "passes_for_entry", "shown", "unsigned"]

#: Control characters but for tab and line feed, and those of Unicode's property Bidi_Control.
_ACTING = pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
#: What nobody sees between two letters.
_UNSEEN = "\xad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff"


def _written_anyhow(word: str) -> str:
    """Return a pattern of a word in any case; both cases in full, since that is faster."""
    return f"[{_UNSEEN}]*".join(f"[{letter}{letter.upper()}]" for letter in word)


_HIDES = pattern(f"[{_UNSEEN}]")
#: The name of a reading's marks, however it is written.
_MARK = pattern(
    rf"({_written_anyhow('demem')}[{_UNSEEN}\s]*)[:\uff1a\ufe55]"
    rf"([{_UNSEEN}\s]*{_written_anyhow('memory')})"
)
#: A text that begins as a line does that somebody has said, or as a margin: up to three words and a
#: colon, or a bracket.
_SAYS = r"(?:\[|[\w'’.-]+(?:[^\S\n][\w'’.-]+){0,2}[^\S\n]?:(?!\S))"
_SIGNED = pattern(rf"\s*{_SAYS}")
#: One that begins as an entry of a reading does: "- Ana: ".
_ENTRY = pattern(rf"\s*[-*•–—][^\S\n]+{_SAYS}")
#: Stands before such a text where nobody is named.
UNSIGNED = "[no speaker] "


def contained(text: str) -> str:
    """Return a text in which nothing forges the marks of a reading."""
    if "demem" in text.lower() or (not text.isascii() and _HIDES.search(text)):
        return _MARK.sub(r"\1-\2", text)
    return text  # as most are; much faster


def entry(text: str) -> str:
    """Return a text as one entry of a list, shown: all its lines but the first are indented."""
    if text.isprintable():
        return text
    lines = text.splitlines()  # at whatever ends a line for somebody: a terminal, an editor
    told = "\n  ".join(lines)
    return told if all(map(str.isprintable, lines)) else shown(told)


def shown(text: str) -> str:
    """Return a text in which what could act on a reader is written out, as ``\\x1b``.

    Line feeds and tabs stay.
    """
    return _ACTING.sub(_written_out, clean(text))


def on_one_line(name: str) -> str:
    """Return a name without line breaks and without what could pass for the marks of a reading."""
    return contained(shown(" ".join(name.split())))


def passes_for_entry(words: str) -> bool:
    """Whether words begin as the entries of a reading do, each of which names its speaker."""
    return _ENTRY.match(words) is not None


def unsigned(words: str) -> str:
    """Return the words of nobody in particular so that they do not name a speaker themselves."""
    return f"{UNSIGNED}{words}" if _SIGNED.match(words) else words


def _written_out(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]
