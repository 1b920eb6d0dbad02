"""What changed: is the line that says what holds now read, and above the line that no longer does?

    pip install demem-agent
    python benchmarks/knowledge_updates.py --data FOLDER [--only beam letta] [--json]
    python benchmarks/knowledge_updates.py --data FOLDER --settings off --asker user

FOLDER holds any of ``beam/N/chat.json``, ``longmemeval/*.json.gz`` and ``letta/*.jsonl``. All turns
of a chat are remembered and each question about something that changed is read once, without any
feedback. ``benchmarks/update_data.py`` tells how the lines with the current value and those with
the stale one are known. What feedback does to such facts measures ``benchmarks/updates.py``.

Readings of 500, 2,000 and 6,000 characters are looked at:

* ``current read``, ``stale read``, ``both read``: whether a line of the reading says the value;
* ``stale alone``: only the stale one, so that whoever reads it is misled;
* ``current above``: the current one is read, and its best line scores higher (``Line.score``) than
  all lines that say the stale one;
* ``above where both are``: the same over the readings that have both. How often that is depends on
  the memory, so two memories are not compared by it.

Intervals are of 95 %, by chat. Letta's records are twelve short facts each, which fit a reading of
2,000 whole: only the order tells something there. It takes half a minute of one core.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from locomo_loop import Progress
from update_data import Change, Chat, Found, Passage, load

from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.bootstrap import bootstrap
from demem_agent.types import Line, Reading

LIMITS = (500, 2000, 6000)
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "off": {"decisions": False},
}

Row = dict[str, float | int | None]


@dataclass(frozen=True, slots=True)
class Seen:
    """What one reading of one question has.

    Attributes:
        chat: the chat that it is about.
        current, stale: the highest score of a line that says the value; None where none does.
    """

    chat: str
    limit: int
    current: float | None
    stale: float | None

    @property
    def both(self) -> bool:
        """Whether the current and the stale passage were read."""
        return self.current is not None and self.stale is not None

    @property
    def stale_alone(self) -> bool:
        """Whether the stale passage was read without the current one."""
        return self.current is None and self.stale is not None

    @property
    def above(self) -> bool:
        """Whether the current value is read, and not under the stale one, nor beside it."""
        if self.current is None:
            return False
        return self.stale is None or self.current > self.stale


def seen(chat: str, limit: int, reading: Reading, change: Change) -> Seen:
    """Look at a reading."""
    current = best(reading, change.current)
    stale = best(reading, change.stale)
    return Seen(chat, limit, current, stale)


def best(reading: Reading, passages: Sequence[Passage]) -> float | None:
    """Return the highest score of the lines that say a value; None where none does."""
    saying = [line for line in reading.lines if says(line, passages)]
    return max((line.score for line in saying), default=None)


def says(line: Line, passages: Iterable[Passage]) -> bool:
    """Whether a line is of one of the passages."""
    return any(passage.said_by(line) for passage in passages)


def read(chat: Chat, settings: Mapping[str, Any], how: Mapping[str, Any]) -> Iterator[Seen]:
    """Remember a chat, and read each of its questions at every limit.

    Args:
        how: further arguments of each reading.
    """
    memory = SlotMemory(**{"clock": None, **settings})
    memory.ingest_many(chat.turns)
    for change in chat.changes:
        for limit in LIMITS:
            reading = memory.read(change.question, at=change.at, limit=limit, **how)
            yield seen(chat.name, limit, reading, change)


def tabled(events: Sequence[Seen]) -> dict[str, dict[str, Row]]:
    """Return the measures of each limit."""
    found = {}
    for limit in LIMITS:
        chosen = [event for event in events if event.limit == limit]
        found[f"{limit:,} characters"] = measured(chosen)
    return found


def measured(events: Sequence[Seen]) -> dict[str, Row]:
    """Return the mean of each measure over readings of one limit, with its interval."""
    rows = {
        "current read": share(events, (e.current is not None for e in events)),
        "stale read": share(events, (e.stale is not None for e in events)),
        "both read": share(events, (e.both for e in events)),
        "stale alone": share(events, (e.stale_alone for e in events)),
        "current above": share(events, (e.above for e in events)),
    }
    with_both = [event for event in events if event.both]
    if with_both:
        rows["above where both are"] = share(with_both, (e.above for e in with_both))
    return rows


def share(events: Sequence[Seen], values: Iterable[bool]) -> Row:
    """Return a share of events with its interval, drawn by chat."""
    found = bootstrap(list(map(float, values)), [event.chat for event in events])
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "questions": found.questions,
        "chats": found.dialogues,
    }


def main() -> None:
    """Read for every update of the file, and print what was read."""
    given = _arguments()
    found = _chosen(given)
    how = {"asker": given.asker} if given.asker else {}
    progress = Progress(sum(len(data.chats) for data in found.values()))
    report: dict[str, Any] = {"settings": given.settings, "asker": given.asker, "data": {}}
    for name, data in found.items():
        events: list[Seen] = []
        for chat in data.chats:
            events += read(chat, SETTINGS[given.settings], how)
            progress.step(name)
        report["data"][name] = {"left out": data.left_out, "tables": tabled(events)}
    progress.close()
    if given.json:
        print(json.dumps(report, indent=1))
    else:
        show(report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the benchmarks' files")
    parser.add_argument("--only", nargs="+", default=[], help="of beam, longmemeval, letta")
    parser.add_argument("--settings", choices=list(SETTINGS), default="default")
    parser.add_argument("--asker", help="who asks, such as user in BEAM and LongMemEval")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args()


def _chosen(given: argparse.Namespace) -> dict[str, Found]:
    """Return what to measure on; what cannot be read ends the program."""
    try:
        found = load(given.data, given.only)
    except InvalidInput as error:
        raise SystemExit(f"knowledge_updates.py: {error}") from error
    return {name: data for name, data in found.items() if data.chats}


def show(report: Mapping[str, Any]) -> None:
    """Print the tables."""
    print(f"settings: {report['settings']}; asked by: {report['asker'] or 'nobody in particular'}")
    for name, data in report["data"].items():
        for title, table in data["tables"].items():
            print(f"\n{name}, {title} ({data['left out']} questions left out)")
            for measure, row in table.items():
                print(f"  {measure:<22} {row['mean']:>6.3f} {ends(row):<16} {row['questions']:>5}")


def ends(row: Row) -> str:
    """Return an interval as it is shown, "" where there is none."""
    low, high = row["low"], row["high"]
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
