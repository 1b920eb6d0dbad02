"""Cut text into sentences and passages; nothing here knows what the text is for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from demem_agent.text.dates import Span, find
from demem_agent.text.saying import name_of
from demem_agent.text.words import clean
from demem_agent.types import Line

__all__ = ["PASSAGE_CHARS", "Parts", "parts", "passages", "sentences"]

#: Longest stretch that is scored and packed as one piece; the evaluation of DESIGN section 8 used
#: the same.
PASSAGE_CHARS = 350


#: Not after an initial or a title: "J. K. Rowling", "Dr. Ito".
_ABBREVIATED = r"(?<![\s.][A-Z]\.)(?<!^[A-Z]\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)"


_SENTENCE_END = re.compile(rf"(?<=[.!?…。！？]){_ABBREVIATED}[\"'”’)\]]*\s+|\n+")


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Give the (start, end) of every sentence in ``text[start:end]``, without surrounding white
    space.
    """
    end = len(text) if end is None else end
    cuts = [start, *(match.end() for match in _SENTENCE_END.finditer(text, start, end)), end]
    return [span for a, b in pairwise(cuts) if (span := _strip(text, a, b))]


def passages(text: str, limit: int = PASSAGE_CHARS) -> list[tuple[int, int]]:
    """Cut a text into (start, end) pieces of at most ``limit`` characters, at sentence or word ends
    if possible.

    A text that fits is one piece. The pieces are in order, do not overlap and hold every character
    that is not white space.
    """
    if len(text) <= limit:
        return [_strip(text, 0, len(text)) or (0, len(text))]
    pieces: list[tuple[int, int]] = []
    for start, end in sentences(text):
        cut = (_strip(text, a, b) for a, b in _hard_cut(text, start, end, limit))
        for a, b in filter(None, cut):
            if pieces and b - pieces[-1][0] <= limit:
                pieces[-1] = (pieces[-1][0], b)
            else:
                pieces.append((a, b))
    return pieces or [(0, min(len(text), limit))]


def _hard_cut(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    cuts = []
    while end - start > limit:
        cut = text.rfind(" ", start + 1, start + limit)
        cut = cut if cut > start else start + limit
        cuts.append((start, cut))
        start = cut + 1 if text[cut].isspace() else cut
    if start < end:
        cuts.append((start, end))
    return cuts


def _strip(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


#: What a sentence is worth besides the words it shares with the question: numbers and names, up to
#: three; length, since "Wow!" seldom decides anything; less for a question.
_SPECIFIC, _MOST_SPECIFIC, _LONG, _LONG_CHARS, _ASKS = 0.5, 3, 0.3, 40, -0.5


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
    text, at = line.evidence.text, line.evidence.at
    spans = tuple(sentences(text, line.start, line.end))
    said = [text[a:b] for a, b in spans]
    return Parts(
        spans,
        tuple(sentence.lower() for sentence in said),
        tuple(len(sentence.split()) for sentence in said),
        tuple(map(_own, said)),
        name_of(line.evidence),
        tuple(find(clean(text[line.start : line.end]), at.date())) if at else (),
    )


def _own(text: str) -> float:
    specifics = min(len(_SPECIFICS.findall(text)), _MOST_SPECIFIC)
    asks = text.rstrip("\"'”’) ").endswith("?")
    return _SPECIFIC * specifics + _LONG * (len(text) > _LONG_CHARS) + _ASKS * asks
