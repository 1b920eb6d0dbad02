"""The sentences of a passage, each weighed by itself: all that a question does not decide."""

from __future__ import annotations

import re
from dataclasses import dataclass

from demem_agent.text.dates import Span, find
from demem_agent.text.saying import name_of
from demem_agent.text.sentences import sentences
from demem_agent.text.words import clean
from demem_agent.types import Line

__all__ = ["Parts", "parts"]

#: What a sentence is worth besides the words it shares with the question: numbers and names, up to
#: three; length, since "Wow!" seldom decides anything; less for a question.
_SPECIFIC = 0.5
_MOST_SPECIFIC = 3
_LONG = 0.3
_LONG_CHARS = 40
_ASKS = -0.5
_SPECIFICS = re.compile(r"\d+|(?<=[a-z,] )[A-Z][\w'-]+|\b(?:yesterday|tomorrow|ago|last|next)\b")


@dataclass(frozen=True, slots=True)
class Parts:
    """The sentences of a passage, as far as they do not depend on the question.

    Attributes:
        spans: (start, end) of each in the text of its item.
        texts: in lower case.
        words: how many each has.
        worth: of each by itself.
        name: the speaker's, "" for none.
        times: the relative times of the passage; their positions count from its start.
    """

    spans: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]
    words: tuple[int, ...]
    worth: tuple[float, ...]
    name: str
    times: tuple[Span, ...]


def parts(line: Line) -> Parts:
    """Cut a passage into sentences and weigh them."""
    text = line.evidence.text
    spans = sentences(text, line.start, line.end)
    said = [text[start:end] for start, end in spans]
    words = map(str.split, said)
    return Parts(
        spans=tuple(spans),
        texts=tuple(map(str.lower, said)),
        words=tuple(map(len, words)),
        worth=tuple(map(_own_worth, said)),
        name=name_of(line.evidence),
        times=_times(line),
    )


def _times(line: Line) -> tuple[Span, ...]:
    at = line.evidence.at
    if at is None:
        return ()
    return tuple(find(clean(line.text), at.date()))


def _own_worth(text: str) -> float:
    specifics = min(len(_SPECIFICS.findall(text)), _MOST_SPECIFIC)
    is_long = len(text) > _LONG_CHARS
    asks = text.rstrip("\"'”’) ").endswith("?")
    return _SPECIFIC * specifics + _LONG * is_long + _ASKS * asks
