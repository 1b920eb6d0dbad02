"""Measure what a question reads that asks for nothing but a day, or a stretch of days.

    python benchmarks/by_day.py --data FOLDER [--sample N]

FOLDER is laid out as ``fit_weights.py`` says; only LoCoMo is asked about, whose sessions have
dates. For every session :func:`questions` asks about nothing but its day: with the date, by two
dates around it, by its month, and by a relative time as if it were asked on a later day.

**own** is the share of the characters of a reading's lines that were said on the days asked for.
**filled** is the share of what was said then that the reading holds, or, where that is more than
the limit, of the limit. **summary** is the share of the content words of the published summaries
of these sessions that are in its lines: what people noted down of a day. The table comes out in
Markdown, averaged over questions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import fmean

from demem_agent import Reading, SlotMemory
from demem_agent.evaluate import Dialogue, load_locomo
from demem_agent.text.language.words import content_terms
from demem_agent.text.times.periods import day_name

LIMITS = (2000, 6000)
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question for the days [first, last], asked on the day ``at``."""

    kind: str
    text: str
    at: date
    first: date
    last: date

    def covers(self, at: datetime | None) -> bool:
        return at is not None and self.first <= at.date() <= self.last


def questions(day: date, last: date, name: str) -> Iterator[Asked]:
    """Yield the questions for what was said on a day.

    Args:
        last: the last day of the dialogue; the day after it is that of questions with a date.
        name: of a speaker.
    """
    later = last + DAY
    before, after = day - 2 * DAY, day + 2 * DAY
    month = day_name(day).partition(" ")[2]
    yield Asked("date", f"What was said on {day_name(day)}?", later, day, day)
    yield Asked("date", f"What did we talk about on {day.isoformat()}?", later, day, day)
    yield Asked("yesterday", "what happened yesterday?", day + DAY, day, day)
    between = f"What did {name} tell me between {_without_year(before)} and {day_name(after)}?"
    if before.month == after.month:
        between = f"What did {name} tell me between {before.day} and {day_name(after)}?"
    yield Asked("between", between, later, before, after)
    first = day.replace(day=1)
    yield Asked("month", f"anything in {month}?", later, first, _end_of_month(first))
    monday = day - day.weekday() * DAY
    yield Asked(
        "last week", "What did we talk about last week?", day + WEEK, monday, monday + 6 * DAY
    )


def _without_year(day: date) -> str:
    return day_name(day).rpartition(" ")[0]


def _end_of_month(first: date) -> date:
    return (first + 31 * DAY).replace(day=1) - DAY


def summaries(path: Path) -> dict[str, dict[str, str]]:
    """Return what was noted down of each session, by dialogue and session."""
    noted: dict[str, dict[str, str]] = {}
    for entry in json.loads(path.read_text(encoding="utf-8")):
        of_sessions = entry.get("session_summary", {})
        noted[entry["sample_id"]] = {
            name.removesuffix("_summary"): text for name, text in of_sessions.items()
        }
    return noted


def remembered(dialogue: Dialogue) -> SlotMemory:
    memory = SlotMemory(clock=None)
    memory.ingest_many(list(dialogue.turns))
    return memory


def asked_of(dialogue: Dialogue) -> list[Asked]:
    days = sorted({turn.at.date() for turn in dialogue.turns if isinstance(turn.at, datetime)})
    names = sorted({turn.speaker or "" for turn in dialogue.turns})
    found: list[Asked] = []
    for n, day in enumerate(days):
        found += questions(day, days[-1], names[n % len(names)])
    return found


def figures(
    asked: Asked, reading: Reading, memory: SlotMemory, noted: Mapping[str, str]
) -> dict[str, float]:
    """Return what a reading comes to, by the name of the figure."""
    sizes = defaultdict(int)
    for line in reading.lines:
        sizes[asked.covers(line.evidence.at)] += line.end - line.start
    then = [item for item in memory.evidence() if asked.covers(item.at)]
    said = sum(len(item.text) for item in then)
    told = " ".join(noted.get(name, "") for name in sorted({item.session or "" for item in then}))
    words = set(content_terms(told))
    held = set(content_terms(" ".join(line.text for line in reading.lines)))
    return {
        "own": sizes[True] / max(sizes[True] + sizes[False], 1),
        "filled": sizes[True] / max(min(said, reading.limit), 1),
        "summary": len(words & held) / max(len(words), 1),
    }


def measure(path: Path, sample: int | None) -> dict[tuple[str, int], list[dict[str, float]]]:
    """Ask about every session, or every ``sample``-th question; by kind and limit."""
    noted = summaries(path)
    found: dict[tuple[str, int], list[dict[str, float]]] = defaultdict(list)
    for dialogue in load_locomo(path):
        memory = remembered(dialogue)
        for asked in asked_of(dialogue)[:: sample or 1]:
            for limit in LIMITS:
                at = datetime.combine(asked.at, datetime.min.time())
                reading = memory.read(asked.text, at=at, limit=limit)
                row = figures(asked, reading, memory, noted[dialogue.name])
                found[asked.kind, limit].append(row)
    return found


def markdown(found: Mapping[tuple[str, int], Sequence[Mapping[str, float]]]) -> str:
    lines = [
        "| asked by | limit | questions | own | filled | summary |",
        "|---|---|---|---|---|---|",
    ]
    for (kind, limit), rows in sorted(found.items()):
        means = [fmean(row[name] for row in rows) for name in ("own", "filled", "summary")]
        cells = [kind, f"{limit:,}", str(len(rows)), *(f"{mean:.3f}" for mean in means)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sample", type=int, metavar="N", help="only every Nth question")
    given = parser.parse_args()
    paths = sorted(given.data.glob("locomo/*.json"))
    if not paths:
        sys.exit(f"{given.data} holds no LoCoMo; see fit_weights.py for the layout")
    for path in paths:
        print(markdown(measure(path, given.sample)))


if __name__ == "__main__":
    main()
