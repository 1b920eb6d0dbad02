"""Notes: plain text by paragraph, and Markdown with its headings as sessions.

A plain text of which most paragraphs begin as "Ana: ..." does is what people said to each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice

from demem_agent.imports.own import keyed
from demem_agent.imports.signed import LOOKED_AT, is_signed, signed_turns
from demem_agent.imports.sources import Source
from demem_agent.imports.wanted import Wanted
from demem_agent.messages.hearing import digest
from demem_agent.turns import Turn

__all__ = ["paragraphs", "read_markdown", "read_text"]

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})\b")
_SESSION_LEVEL = 2
#: Of the digest of a paragraph: it tells the paragraphs of one file apart.
_DIGITS = 12


def read_text(source: Source, wanted: Wanted) -> Iterator[Turn]:
    """Yield a turn a paragraph; in a file its ``source_id`` is that ("notes.txt#2").

    Of what people said to each other it is a turn each, with its speaker.
    """
    said = turns_said(source.lines())
    if not wanted.by_place:
        yield from keyed(said, "text", wanted.name, by_place=False)
        return
    for number, turn in enumerate(said, 1):
        own = f"{source.name}#{number}"
        key = f"text:{wanted.name}:{own}"
        yield replace(turn, source=source.name, source_id=own, key=key)


def read_markdown(source: Source, wanted: Wanted) -> Iterator[Turn]:
    """Yield a turn a paragraph; a heading of the first two levels begins a session of its name.

    Deeper headings stay with the paragraph below them; a list or a fenced block is one paragraph.
    A heading that begins with a date, such as "2024-05-02", dates what stands below it. A
    paragraph is known by its words and its session, so that a file that was edited adds what is
    new. Front matter is left out.
    """
    seen: Counter[str] = Counter()
    for turn in _paragraphs_of(_without_front_matter(source, wanted)):
        about = digest(turn.session, turn.text)[:_DIGITS]
        seen[about] += 1
        own = f"{about}.{seen[about]}" if seen[about] > 1 else about
        turn = replace(turn, key=f"markdown:{wanted.name}:{own}")
        if wanted.by_place:
            turn = replace(turn, source=source.name, source_id=f"{source.name}#{own}")
        yield turn


def _paragraphs_of(lines: Iterable[str]) -> Iterator[Turn]:
    """Yield the paragraphs with the session and the day of the heading above them."""
    session: str | None = None
    at: datetime | None = None
    for text in _blocks(lines):
        heading = _HEADING.match(text)
        if heading and "\n" not in text and len(heading[1]) <= _SESSION_LEVEL:
            session, at = heading[2] or None, _date(heading[2])
        else:
            yield Turn(text, at=at, session=session)


def turns_said(lines: Iterable[str]) -> Iterator[Turn]:
    """Yield a turn a paragraph, or one for each that somebody said, where they are signed."""
    coming = iter(lines)
    first = list(islice(coming, LOOKED_AT))
    every = chain(first, coming)
    if is_signed(first):
        yield from signed_turns(every)
        return
    for text in paragraphs(every):
        yield Turn(text)


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield what blank lines part."""
    gathered: list[str] = []
    for line in lines:
        if line.strip():
            gathered.append(line)
        elif gathered:
            yield _joined(gathered)
            gathered = []
    if gathered:
        yield _joined(gathered)


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """Yield paragraphs of Markdown; headings that begin a session by themselves.

    A deeper heading goes with what follows it, and a blank line in a fenced block ends nothing.
    """
    gathered: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        heading = None if fence else _HEADING.match(line.rstrip())
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence):
            fence = ""
        if heading:
            yield from _ended(gathered)
            gathered = [line]
            if len(heading[1]) <= _SESSION_LEVEL:
                yield from _ended(gathered)
        elif line.strip() or fence:
            gathered.append(line)
        elif not _only_heading(gathered):
            yield from _ended(gathered)
    yield from _ended(gathered)


def _ended(gathered: list[str]) -> Iterator[str]:
    text = _joined(gathered)
    gathered.clear()
    if text:
        yield text


def _only_heading(gathered: list[str]) -> bool:
    return len(gathered) == 1 and _HEADING.match(gathered[0].rstrip()) is not None


def _without_front_matter(source: Source, wanted: Wanted) -> Iterator[str]:
    """Yield the lines behind what stands between two lines of dashes at the beginning."""
    lines = source.lines()
    first = next(lines, "")
    if first.strip() != "---":
        yield first
        yield from lines
        return
    held = [first]
    for line in lines:
        held.append(line)
        if line.strip() in ("---", "..."):
            wanted.leave_out(f"{source.name} line 1", "front matter")
            held = []
            break
    yield from held
    yield from lines


def _joined(lines: list[str]) -> str:
    return "".join(lines).replace("\r\n", "\n").strip()


def _date(heading: str) -> datetime | None:
    """Return the day that a heading begins with; a number that looks like one is none."""
    found = _DATE.match(heading)
    try:
        return datetime.fromisoformat(found[1]) if found else None
    except ValueError:
        return None
