"""Records as HTML, as notebooks show what a cell gives; loaded when one is shown.

What was said is escaped, nothing is fetched, and colours are those of the page, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from demem_agent.types import (
        Answer,
        Candidate,
        Evidence,
        FeedbackReport,
        Line,
        Reading,
        Slot,
        SplitCertificate,
    )

__all__ = ["answer", "certificate", "evidence", "feedback", "reading", "slot"]

#: Lines, and characters of one text, that are shown; a notebook is no archive.
LINES = 40
LONGEST = 600

_BOX = "border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:.6em .8em;max-width:60em"
_BAR = "height:6px;border-radius:3px;background:rgba(128,128,128,.25);margin:.35em 0"
_FILL = "height:6px;border-radius:3px;background:currentColor;opacity:.55"
_DIM = "opacity:.65;font-size:.9em"
_CELL = "text-align:left;vertical-align:top;padding:.15em .8em .15em 0"
_TEXT = f"{_CELL};white-space:pre-wrap"


def reading(shown: Reading) -> str:
    """Show how full a reading is, and its lines in their order."""
    used = f"{shown.size:,} of {shown.limit:,} {shown.unit}"
    known = f"probability {shown.probability:.2f}"
    parts = [_head("Reading", used, shown.mode, known), _bar(shown.size / shown.limit)]
    if shown.advice:
        parts.append(_dim(shown.advice))
    parts.append(_table(_line(line) for line in shown.lines[:LINES]))
    beyond = len(shown.lines) - LINES
    if beyond > 0:
        parts.append(_dim(f"and {beyond:,} more lines"))
    left = shown.left_out
    if left.next_limit is not None:
        parts.append(_dim(f"{left.lines:,} left out; the next comes in at {left.next_limit:,}"))
    return _box(parts)


def answer(shown: Answer) -> str:
    """Show what was asked and answered, what that rests on, and what it was read from."""
    known = "known" if shown.known else "not known"
    rests = ", ".join(shown.evidence) or "nothing"
    text = shown.text or "(no answer)"
    parts = [_head("Answer", shown.id, known, f"rests on {rests}"), _dim(shown.query)]
    parts.append(f'<div style="white-space:pre-wrap;margin:.3em 0">{_cut(text)}</div>')
    parts.append(_folded("what was read", reading(shown.reading)))
    return _box(parts)


def evidence(shown: Evidence) -> str:
    """Show an item: what was said, by whom, when and where."""
    where = (shown.speaker, _day(shown.at), shown.session, shown.source, shown.source_id)
    parts = [_head(shown.id, *filter(None, where))]
    parts.append(f'<div style="white-space:pre-wrap">{_cut(shown.text)}</div>')
    return _box(parts)


def slot(shown: Slot) -> str:
    """Show a slot: its summary, and how much is in it."""
    name = f"Slot {shown.number}" + (f" · {shown.name}" if shown.name else "")
    pinned = "pinned" if shown.pinned else ""
    counts = f"{len(shown.evidence):,} items", f"{len(shown.contexts):,} answers"
    covered = len(shown.cover) / max(len(shown.evidence), 1)
    parts = [_head(name, *counts, pinned), _bar(covered)]
    parts.append(
        _dim(f"{len(shown.cover):,} of them in the summary, which measures {shown.size:,}")
    )
    parts.append(f'<div style="white-space:pre-wrap">{_cut(shown.summary)}</div>')
    return _box(parts)


def feedback(shown: FeedbackReport) -> str:
    """Show what feedback came to, and what it did."""
    did = "split a slot" if shown.split else f"{shown.tested:,} pairs tested"
    parts = [_head("Feedback", shown.answer_id, shown.channel, f"reward {shown.reward:.2f}", did)]
    parts.append(_bar(shown.reward))
    rows = ([escape(name), f"{value:.2f}"] for name, value in shown.rewards.items())
    parts.append(_table(rows))
    if shown.remembered:
        parts.append(_dim(f"remembered as {shown.remembered}"))
    if shown.failed:
        parts.append(_dim(f"tests not finished: {shown.failed}"))
    if shown.certificate is not None:
        parts.append(_folded("the certificate", certificate(shown.certificate)))
    return _box(parts)


def certificate(shown: SplitCertificate) -> str:
    """Show why two answers must not share a slot: what each content would cost them."""
    undone = "undone" if shown.undone else ""
    beyond = f"radius {shown.radius:.3f} beyond {shown.threshold:.3f}"
    parts = [_head(f"Certificate {shown.id}", f"slot {shown.slot}", shown.decision, undone, beyond)]
    asked = ([escape(id), _cut(query)] for id, query in zip(shown.pair, shown.queries, strict=True))
    parts.append(_table(asked))
    parts.append(_table(map(_candidate, shown.candidates), ("content", "loses", "loses")))
    parts.append(_dim(f"{shown.regime}: {shown.conditions}"))
    return _box(parts)


def _line(line: Line) -> list[str]:
    item = line.evidence
    text = _cut(line.text)
    if line.superseded:
        by = ", ".join(dict.fromkeys(one.by[0] for one in line.superseded))
        text = f"<s>{text}</s> {_dim(f'superseded by {by}', 'span')}"
    score = f"{line.score:.1f}" if line.score else ""
    return [escape(item.id), escape(_day(item.at)), escape(item.speaker or ""), text, score]


def _candidate(one: Candidate) -> list[str]:
    first, second = one.losses
    return [escape(one.name), f"{first:.3f}", f"{second:.3f}"]


def _day(at: datetime | None) -> str:
    return "" if at is None else f"{at.day} {at:%B} {at.year}"


def _cut(text: str) -> str:
    return escape(text if len(text) <= LONGEST else f"{text[:LONGEST]} …")


def _head(title: str, *facts: str) -> str:
    told = " · ".join(escape(fact) for fact in facts if fact)
    return f'<div><b>{escape(title)}</b> <span style="{_DIM}">{told}</span></div>'


def _dim(text: str, tag: str = "div") -> str:
    return f'<{tag} style="{_DIM}">{_cut(text)}</{tag}>'


def _bar(share: float) -> str:
    width = 100 * min(max(share, 0.0), 1.0)
    return f'<div style="{_BAR}"><div style="{_FILL};width:{width:.1f}%"></div></div>'


def _table(rows: Iterable[list[str]], heads: Iterable[str] = ()) -> str:
    """Return rows of cells that are HTML already, below heads that are none."""
    named = "".join(f'<th style="{_CELL};{_DIM}">{escape(head)}</th>' for head in heads)
    body = [f"<tr>{named}</tr>"] if named else []
    for row in rows:
        cells = "".join(f'<td style="{_TEXT}">{cell}</td>' for cell in row)
        body.append(f"<tr>{cells}</tr>")
    return f'<table style="border-collapse:collapse;background:none">{"".join(body)}</table>'


def _folded(title: str, inside: str) -> str:
    return f'<details><summary style="{_DIM}">{escape(title)}</summary>{inside}</details>'


def _box(parts: Iterable[str]) -> str:
    return f'<div style="{_BOX}">{"".join(parts)}</div>'
