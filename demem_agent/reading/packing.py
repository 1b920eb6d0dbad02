"""Pack evidence under a limit and render it; recognise what was rendered when it comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from demem_agent.later import dataclass, pattern
from demem_agent.summaries.compress import Excerpt, Summary, summary_text
from demem_agent.text.quoting.saying import Told, day, margin, told
from demem_agent.text.times.dates import moment
from demem_agent.text.times.periods import day_name
from demem_agent.text.units import Measure
from demem_agent.types import Evidence, Line, Order, number_of

__all__ = [
    "CLOSE",
    "OPEN",
    "Packed",
    "Shorten",
    "assemble",
    "in_order",
    "in_time_order",
    "packed",
    "render",
    "strip_rendered",
    "until",
    "wrap",
]

_NAME = "demem:memory"
OPEN = f"<{_NAME}>"
CLOSE = f"</{_NAME}>"

#: What a line that was cut off may be: the start of a header, a line, a further line or the mark.
_BEGUN = ["#", "-", " ", *(CLOSE[:length] for length in range(1, len(CLOSE)))]
_CUT_OFF = "|".join(map(re.escape, _BEGUN))
#: With what rendered lines begin.
_BULLET = "(?:# |- |  )"
#: What a line may hold that rendering can produce, and what ends it. No line holds a mark.
_LINE = rf"{_BULLET}(?:(?!{CLOSE}|{OPEN}).)*(?:\n|\Z|(?={CLOSE}))"
#: A rendered block: the opening mark, then only such lines, then the closing mark, or the end of a
#: text that was cut off there.
_BLOCK = pattern(rf"{OPEN}\r?\n(?:{_LINE})*(?:{CLOSE}(?:\r?\n)?|(?:{_CUT_OFF})?\Z)")
#: The same within a text that was escaped, once or more often, as by JSON or a log: all in one
#: line, the ends of its own written with backslashes, the marks perhaps as well.
_LESS, _MORE = r"(?:<|\\+u003[cC])", r"(?:>|\\+u003[eE])"
_OPENED = rf"{_LESS}{_NAME}{_MORE}"
_CLOSED = rf"{_LESS}\\*/{_NAME}{_MORE}"
_END = r"(?<!\\)(?P=end)"
_ESCAPED_LINE = rf"{_BULLET}(?:(?!{_CLOSED}|{_OPENED}|{_END}).)*(?:{_END}|(?={_CLOSED}))"
#: Where it was cut off, all up to a quote, which may be the end of the string.
_ESCAPED_REST = rf"(?:{_BULLET}(?:(?!{_OPENED}|\").)*)?\Z"
_ESCAPED = pattern(
    rf"{_OPENED}(?P<end>(?:\\+r)?\\+n)"
    rf"(?:(?:{_ESCAPED_LINE})*{_CLOSED}(?:(?P=end))?|{_ESCAPED_REST})"
)
#: Lines that did not fit before packing gives up looking for shorter ones.
_MISSES = 12
#: Returns a line as it is told.
Tell = Callable[[Line], Told]
#: Returns lines that were taken, with what is known once all are.
Count = Callable[[Sequence[Line]], Sequence[Line]]
#: Yields parts of a line, the best first.
Shorten = Callable[[Line], Iterable[Line]]


def _tell(line: Line) -> Told:
    return told(line.evidence, line.start, line.end)


def _whole(_: Line) -> tuple[Line, ...]:
    """Return no part of a line: it is read as a whole, or not at all."""
    return ()


def _uncounted(taken: Sequence[Line]) -> Sequence[Line]:
    return taken


@dataclass(frozen=True, slots=True)
class Packed:
    """Lines that were taken, and those that were looked at in vain.

    Attributes:
        lines: those taken, in the order of the text.
        text: at most the limit; the head alone if none fits, "" without one.
        missed: those that did not fit, best first.
        next_limit: the smallest limit at which the first of these would have been taken; None where
            there is none.
    """

    lines: list[Line]
    text: str
    missed: tuple[Line, ...] = ()
    next_limit: int | None = None


def packed(
    best_first: Iterable[Line],
    limit: int,
    measure: Measure,
    tell: Tell = _tell,
    head: str = "",
    order: Order = "time",
    shorten: Shorten = _whole,
    count: Count = _uncounted,
) -> Packed:
    """Take lines best first while they fit, and render them in an order of days.

    Of the first one that does not fit a part is taken that does, if there is one.

    Args:
        tell: says a line; what it says may be kept between questions.
        shorten: yields parts of a line, the best first.
        head: what stands before all lines; must fit the limit, marks included.
        count: says of lines how many more there are like them, once it is known which are taken;
            what is said of the only line is left away rather than the line.
    """
    rendered = _once(tell)
    room = _Room(limit, measure, rendered, head)
    missed: list[Line] = []
    next_limit: int | None = None
    for line in best_first:
        if room.takes(line):
            continue
        # Up to here a larger limit would have taken the same.
        next_limit = next_limit or room.needed
        missed.append(line)
        if len(missed) == 1:
            any(map(room.takes, shorten(line)))
        if len(missed) > _MISSES:
            break
    # Counts take room as well, and a tokenizer need not be additive.
    taken = room.taken
    ordered, text = _told(count(taken), rendered, head, order)
    while taken and (size := measure(text)) > limit:
        if len(taken) == 1 and any(line.more for line in ordered):
            count = _uncounted
        else:
            missed.insert(0, taken.pop())
            next_limit = size
        ordered, text = _told(count(taken), rendered, head, order)
    return Packed(ordered, text, tuple(missed), next_limit)


class _Room:
    """What is left of a limit while lines are taken.

    Attributes:
        taken: the lines that fitted, in the order in which they came.
        needed: what all of them and the last one that did not fit would measure.
    """

    def __init__(
        self, limit: int, measure: Measure, rendered: Callable[[Line], str], head: str
    ) -> None:
        self._limit = limit
        self._measure = measure
        self._rendered = rendered
        self._by_item: dict[str, list[Line]] = {}
        self._sizes: dict[str, int] = {}
        self._days: set[str] = set()
        self._total = measure(wrap(head)) + 1
        self.taken: list[Line] = []
        self.needed = self._total

    def takes(self, line: Line) -> bool:
        """Take a line if it fits."""
        id = line.evidence.id
        together = [*self._by_item.get(id, ()), line]
        runs = together if len(together) == 1 else _runs(together)  # as of nearly every item
        size = 0
        for run in runs:
            size += self._measure(self._rendered(run) + "\n")
        needed = self._total + size - self._sizes.get(id, 0)
        header = day(line.evidence)
        if header not in self._days:
            needed += self._measure(_header(header) + "\n")
        if needed > self._limit:
            self.needed = needed
            return False
        self._total = needed
        self._days.add(header)
        self._by_item[id] = together
        self._sizes[id] = size
        self.taken.append(line)
        return True


def _once(tell: Tell) -> Callable[[Line], str]:
    """Return what renders lines, each stretch of an item once: it is measured, and then put in."""
    known: dict[tuple[str, int, int, int], str] = {}

    def rendered(line: Line) -> str:
        stretch = (line.evidence.id, line.start, line.end, line.more)
        if stretch not in known:
            known[stretch] = _rendered(line, tell)
        return known[stretch]

    return rendered


def _told(
    taken: Sequence[Line], rendered: Callable[[Line], str], head: str, order: Order
) -> tuple[list[Line], str]:
    """Return lines in an order of days, and as they are rendered."""
    in_time = in_time_order(taken)
    runs = _by_day(_joined(in_time), order)
    text = _body([(run, rendered(run)) for run in runs], head)
    return _by_day(in_time, order), text


def _runs(lines: Sequence[Line]) -> list[Line]:
    """Join lines of one item between which nothing stands, in time order.

    A line that no longer holds, that was said again or that has more like it stays alone: its
    margin is of it alone.
    """
    return _joined(in_time_order(lines))


def _joined(in_time: Iterable[Line]) -> list[Line]:
    """Join lines that are in time order already."""
    runs: list[Line] = []
    for line in in_time:
        if runs and _follows(runs[-1], line):
            runs[-1] = Line(line.evidence, runs[-1].start, line.end)
        else:
            runs.append(line)
    return runs


def _follows(run: Line, line: Line) -> bool:
    if run.evidence is not line.evidence:
        return False
    if _is_noted(run) or _is_noted(line):
        return False
    return not line.evidence.text[run.end : line.start].strip()


def _is_noted(line: Line) -> bool:
    return bool(line.superseded or line.again or line.more)


def assemble(
    summary: Summary, ledger: Mapping[str, Evidence], limit: int, measure: Measure
) -> Packed:
    """Return a slot's summary as a reading of at most ``limit``, with its lines.

    What ranks last goes first when it does not fit.
    """
    kept = list(summary.kept)
    missed: list[Excerpt] = []
    next_limit: int | None = None
    text = wrap(summary.text)
    while kept and (size := measure(text)) > limit:
        missed.insert(0, kept.pop())
        next_limit = size
        text = wrap(summary_text(kept))
    lines = _quoted(kept, ledger)
    return Packed(lines, text if lines else "", tuple(_quoted(missed, ledger)), next_limit)


def _quoted(excerpts: Iterable[Excerpt], ledger: Mapping[str, Evidence]) -> list[Line]:
    """Return the lines that excerpts stand for, in time order."""
    lines = []
    for excerpt in excerpts:
        item = ledger[excerpt.evidence_id]
        lines.append(Line(item, excerpt.start, excerpt.end))
    return in_time_order(lines)


def render(lines: Sequence[Line], tell: Tell = _tell) -> str:
    """Render lines in time order under a header per day, as one marked block; "" for no lines."""
    return _body([(run, _rendered(run, tell)) for run in _runs(lines)])


def wrap(body: str) -> str:
    """Put the marks around a body by which :func:`strip_rendered` knows it again."""
    return f"{OPEN}\n{body}\n{CLOSE}"


def strip_rendered(text: str) -> str:
    """Remove every block that :func:`wrap` marked, also from within text that was escaped, as JSON
    is; text without one comes back unchanged.
    """
    if _NAME not in text:
        return text
    return _ESCAPED.sub("", _BLOCK.sub("", text))


def in_time_order(lines: Sequence[Line]) -> list[Line]:
    """Sort lines by when they were said, then by ingestion, then by their place in the item."""
    return sorted(lines, key=_place)


def in_order(lines: Sequence[Line], order: Order) -> list[Line]:
    """Sort lines as a reading gives them.

    The newest day comes first where that is asked for. Within it what was said stays in its order,
    so that an answer stands below its question in any case.
    """
    return _by_day(in_time_order(lines), order)


def _by_day(in_time: list[Line], order: Order) -> list[Line]:
    """Return lines in time order with the newest day first, where that is asked for."""
    return sorted(in_time, key=_day_number, reverse=True) if order == "latest" else in_time


def _day_number(line: Line) -> int:
    """Return the day under which a line stands as a number; 0 where it is not known."""
    at = line.evidence.at
    return at.toordinal() if at else 0


def _place(line: Line) -> tuple[float, int, int]:
    return (moment(line.evidence.at), number_of(line.evidence.id), line.start)


def _body(rendered: Sequence[tuple[Line, str]], head: str = "") -> str:
    """Put lines in order under a header per day, after what stands before them."""
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


def _rendered(line: Line, tell: Tell = _tell) -> str:
    """Return a line behind its margin: "- [until 6 July 2024] Ana: I live in Porto."."""
    found = tell(line)
    notes = found.meant
    if _is_noted(line):  # few are
        notes = (*until(line), *_often(line), *_more(line), *notes)
    return f"- {margin(notes)}{found.words}"


def until(line: Line) -> Iterator[str]:
    """Yield until when a line held that no longer does."""
    if not line.superseded:
        return
    covered = sum(one.end - one.start for one in line.superseded)
    in_part = "" if covered >= (line.end - line.start) else "in part "
    last = max(line.superseded, key=lambda one: moment(one.at))
    when = f"until {day_name(last.at)}" if last.at else "no longer"
    yield f"{in_part}{when}"


def _often(line: Line) -> Iterator[str]:
    """Yield how often a line was said, where it was more than once: "said 3 times"."""
    if not line.again:
        return
    last = max([line.evidence, *line.again], key=lambda item: moment(item.at))
    when = "" if day(last) == day(line.evidence) else f", last on {day(last)}"
    yield f"said {len(line.again) + 1} times{when}"


def _more(line: Line) -> Iterator[str]:
    """Yield how many lines of its mould are not read: "and 187 more like this"."""
    if line.more:
        yield f"and {line.more:,} more like this"


def _header(day: str) -> str:
    return f"# {day}"
