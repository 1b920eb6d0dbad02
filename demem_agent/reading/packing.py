"""Pack evidence under a limit and render it; recognise what was rendered when it comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from demem_agent.reading.trimming import Cut
from demem_agent.summaries.compress import Excerpt, Summary, summary_text
from demem_agent.text.dates import moment
from demem_agent.text.periods import day_name
from demem_agent.text.saying import day, said
from demem_agent.text.units import Measure
from demem_agent.types import Evidence, Line, number_of

__all__ = ["CLOSE", "OPEN", "assemble", "in_time_order", "pack", "render", "strip_rendered", "wrap"]

OPEN = "<demem:memory>"
CLOSE = "</demem:memory>"

#: What a line that was cut off may be: the start of a header, a line, a further line or the mark.
_BEGUN = ["#", "-", " ", *(CLOSE[:length] for length in range(1, len(CLOSE)))]
_CUT_OFF = "|".join(map(re.escape, _BEGUN))
#: A rendered block: the opening mark, then only lines that rendering can produce, then the closing
#: mark, or the end of a text that was cut off there.
_BLOCK = re.compile(
    rf"{OPEN}\r?\n(?:(?:# |- |  ).*(?:\n|\Z))*(?:{CLOSE}(?:\r?\n)?|(?:{_CUT_OFF})?\Z)"
)
#: Lines that did not fit before packing gives up looking for shorter ones.
_MISSES = 12
#: Share of a limit that the best lines fill untrimmed: they most likely hold the answer, wherever
#: in them it stands.
WHOLE = 0.2


def _as_it_is(line: Line, _: bool) -> tuple[Line, str]:
    return line, said(line.evidence, line.start, line.end)


def pack(
    best_first: Iterable[Line],
    limit: int,
    measure: Measure,
    cut: Cut = _as_it_is,
    head: str = "",
) -> tuple[list[Line], str]:
    """Take lines best first while they fit, and render them in time order.

    Lines are asked for shorter once the best have filled a part of the limit.

    Args:
        head: what stands before all lines; must fit the limit, marks included.

    Returns:
        The lines in the order of the text, and a text of at most ``limit``; no lines and the head
        alone if none fits, "" without one.
    """
    taken: list[tuple[Line, str]] = []
    days: set[str] = set()
    total = measure(wrap(head)) + 1
    misses = 0
    for whole in best_first:
        shorter = total > WHOLE * limit
        line, told = cut(whole, shorter)
        words = f"- {_margin(line)}{told}"
        header = day(line.evidence)
        cost = measure(words + "\n")
        if header not in days:
            cost += measure(_header(header) + "\n")
        if total + cost > limit:
            misses += 1
            if misses > _MISSES:
                break
            continue
        total += cost
        days.add(header)
        taken.append((line, words))
    return _fitting(taken, limit, measure, head)


def _fitting(
    taken: list[tuple[Line, str]], limit: int, measure: Measure, head: str
) -> tuple[list[Line], str]:
    """Render lines in time order, without the last ones taken where the whole does not fit.

    A tokenizer need not be additive.
    """
    while True:
        ordered = sorted(taken, key=lambda pair: _place(pair[0]))
        text = _body(ordered, head)
        if not taken or measure(text) <= limit:
            return [line for line, _ in ordered], text
        taken.pop()


def assemble(
    summary: Summary, ledger: Mapping[str, Evidence], limit: int, measure: Measure
) -> tuple[list[Line], str]:
    """Return a slot's summary as a reading of at most ``limit``, with its lines.

    What ranks last goes first when it does not fit.
    """
    kept = list(summary.kept)
    text = wrap(summary.text)
    while kept and measure(text) > limit:
        kept.pop()
        text = wrap(summary_text(kept))
    if not kept:
        return [], ""
    return _quoted(kept, ledger), text


def _quoted(excerpts: Iterable[Excerpt], ledger: Mapping[str, Evidence]) -> list[Line]:
    """Return the lines that excerpts stand for, in time order."""
    lines = []
    for excerpt in excerpts:
        item = ledger[excerpt.evidence_id]
        lines.append(Line(item, excerpt.start, excerpt.end))
    return in_time_order(lines)


def render(lines: Sequence[Line]) -> str:
    """Render lines in time order under a header per day, as one marked block; "" for no lines."""
    rendered = []
    for line in in_time_order(lines):
        told = said(line.evidence, line.start, line.end)
        rendered.append((line, f"- {_margin(line)}{told}"))
    return _body(rendered)


def wrap(body: str) -> str:
    """Put the marks around a body by which :func:`strip_rendered` knows it again."""
    return f"{OPEN}\n{body}\n{CLOSE}"


def strip_rendered(text: str) -> str:
    """Remove every block that :func:`wrap` marked; text without one comes back unchanged."""
    return _BLOCK.sub("", text) if OPEN in text else text


def in_time_order(lines: Sequence[Line]) -> list[Line]:
    """Sort lines by when they were said, then by ingestion, then by their place in the item."""
    return sorted(lines, key=_place)


def _place(line: Line) -> tuple[float, int, int]:
    return (moment(line.evidence.at), number_of(line.evidence.id), line.start)


def _body(rendered: Sequence[tuple[Line, str]], head: str = "") -> str:
    """Put lines that are in time order under a header per day, after what stands before them."""
    if not rendered:
        return wrap(head) if head else ""
    parts = [head] if head else []
    over = ""
    for line, words in rendered:
        header = day(line.evidence)
        if header != over:
            over = header
            parts.append(_header(header))
        parts.append(words)
    return wrap("\n".join(parts))


def _margin(line: Line) -> str:
    """Return what stands before a line that no longer holds, as in "[until 6 July 2024] "."""
    if not line.superseded:
        return ""
    covered = sum(one.end - one.start for one in line.superseded)
    in_part = "" if covered >= (line.end - line.start) else "in part "
    last = max(line.superseded, key=lambda one: moment(one.at))
    when = f"until {day_name(last.at)}" if last.at else "no longer"
    return f"[{in_part}{when}] "


def _header(day: str) -> str:
    return f"# {day}"
