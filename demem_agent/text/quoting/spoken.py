"""Which part of a text its speaker says: not its code, quotations, headings, titles and links.

"Yesterday" in a program, a table of data or somebody else's words is not the day before the one on
which they are passed on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from demem_agent.later import pattern
from demem_agent.text.quoting.fences import block_at, blocks
from demem_agent.text.quoting.titles import is_title
from demem_agent.text.times.dates import Span

__all__ = ["spoken"]

#: What stands between two marks of the same text, and is not the speaker's own.
_PASSED_ON = pattern(
    r"```.*?(?:```|\Z)|`[^`\n]+`"
    r"|(?<!\w)\"[^\"\n]*\"(?!\w)|(?<!\w)'[^'\s]*'(?!\w)"
    r"|(?<![*\w])\*[^*\s][^*\n]*\*(?!\*)"
    r"|(?<!\w)'(?!(?:Twas|Tis|Til|Cause|Em|Bout)\b)[A-Z0-9][\w ’!?&-]{0,60}'(?!\w)"
    r"|‘[^’\n]{1,60}’(?!\w)"
    r"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«\n]*«|「[^」]*」|『[^』]*』|《[^》]*》|https?://\S+",
    re.DOTALL,
)
#: How a line begins that is a quotation, a heading or the row of a table.
_NOT_SAID = pattern(r"[ \t]*(?:>|#{1,6}[ \t]|\|)")
#: What each of these has in it.
_MARKS = pattern("[`\"'‘“„«»「『《*/]")
#: Signs that join values in data, right before or behind one.
_BEFORE = frozenset(",;=/\\|{[<>@#$_-")
_BEHIND = pattern(r"[,;=/\\|}\]<>@#$_](?=\S)")


def spoken(text: str, start: int, end: int, spans: Iterable[Span]) -> list[Span]:
    """Return those of some spans that a speaker means.

    Args:
        text: the whole of what was said.
        start, end: the stretch of it that the spans are in, counted from its start.
    """
    found = list(spans)
    if not found:
        return found
    words = text[start:end]
    block = block_at(blocks(text), start)
    if block is not None:
        fenced = min(block.end - start, len(words))
        words = " " * fenced + words[fenced:]
        found = [span for span in found if span.start >= fenced]
    passed_on: list[tuple[int, int]] = []
    if _MARKS.search(words):  # few have one; much faster
        passed_on = [match.span() for match in _PASSED_ON.finditer(words)]
    said = [span for span in found if _is_meant(words, span, passed_on)]
    return [span for span in said if not _NOT_SAID.match(text, _line(text, start + span.start))]


def _line(text: str, place: int) -> int:
    """Return where the line begins that a place is in."""
    return text.rfind("\n", 0, place) + 1


def _is_meant(words: str, span: Span, passed_on: list[tuple[int, int]]) -> bool:
    if any(first < span.end and span.start < last for first, last in passed_on):
        return False
    before = words[: span.start]
    is_value = before[-1:] in _BEFORE and bool(before)
    if is_value or _BEHIND.match(words, span.end):
        return False
    return not is_title(words, span.start, span.end)
