"""Does a memory remember what was decided, for whom? Decisions in a car come back in other words.

    pip install demem-agent
    python benchmarks/decisions.py --data FOLDER [--files 2 7] [--told line] [--json]
    python benchmarks/decisions.py --data FOLDER --streams recurring --settings off

FOLDER has history_N.txt and qa_N.json of VehicleMemBench: what several people said in a car over
months, and decisions that rest on it. ``benchmarks/vehicle_data.py`` tells which lines say what is
right for each decision and which contradict them, ``benchmarks/vehicle_wordings.py`` how it is put,
and ``benchmarks/vehicle_memory.py`` how a memory is asked, told and judged.

* ``recurring``: five rounds, all decisions of a file in each, every time in a wording not used
  before, measured before its own feedback. Rounds 4 and 5 are what counts.
* ``corrections``: the same where a wrong answer is corrected, and a right one is rewarded; then,
  by the corrections of one person alone, the decision of the other who wants it otherwise.
* ``never-asked``: feedback for three rounds on every other decision; the others are asked before
  and after it, in five wordings; then the other way round. ``never-asked-corrections``: the same
  where the others are corrected.
* ``transfer``: feedback on the question, asked by naming the device, and the reverse.
* ``no-feedback``: five wordings of each, nothing told.

An agent acts on the line that stands first, and what is told is of that. Told is the ``line`` that
says what is right, as a reference, or the ``text`` of the answer; either with a reward of 1 if the
right line was first and of 0 if not; or that ``reward`` alone; or the text as a ``correction``
where the right line was not first, and else the reward. ``thumbs`` are of what the built-in
answerer quotes: up where it rests on the right line, and else down.

"first" is the line with the highest score of what the answer was read from. Contradictions are
counted over the decisions that have one: in a reading of 500 characters, and above the right line
(or without it) in one of 2,000. A correction is right for the decision it was made of alone, and
contradicts decisions of another value of the same device. Intervals are of 95 %, by file. All
streams take about eight minutes of one core; ``recurring`` takes one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from updates import unaided
from vehicle_data import Car, Decision, load
from vehicle_memory import Event, Judge, Situation, Subject, Told, taught
from vehicle_wordings import WORDINGS, by_device, wordings

from demem_agent.evaluate.bootstrap import bootstrap

ROUNDS = 5
#: Rounds that count, from 1.
JUDGED = (4, 5)
#: Rounds of feedback before what was told is measured elsewhere.
TAUGHT = 3
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "off": {"decisions": False},
}


# The streams


@dataclass(slots=True)
class Streams:
    """All streams of one car, each on a copy of the same memory."""

    car: Car
    subject: Subject
    told: Told
    judge: Judge = field(init=False)
    put: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self.judge = Judge(self.car)
        self.put = {d.id: wordings(d, self.car.people) for d in self.car.decisions}

    def recurring(self, told: Told | None = None) -> list[Event]:
        subject = self.subject.copied()
        chance = random.Random(self.car.number)
        orders = {d.id: _shuffled(range(ROUNDS), chance) for d in self.car.decisions}
        events = []
        for turn in range(1, ROUNDS + 1):
            for decision in _shuffled(self.car.decisions, chance):
                asked = self._asked(decision, orders[decision.id][turn - 1], turn)
                events.append(taught(subject, self.judge, self.car, asked, told or self.told))
            self._progress(f"round {turn}")
        subject.memory.check()
        return events

    def unaided(self) -> list[Event]:
        """Measure every wording of every decision on a memory that was told nothing."""
        return self._read(self.subject, self.car.decisions, round=0)

    def never_asked(self, told: Told | None = None) -> tuple[list[Event], list[Event]]:
        """Return what is read of decisions before and after feedback on the others."""
        chance = random.Random(self.car.number)
        mixed = _shuffled(self.car.decisions, chance)
        before: list[Event] = []
        after: list[Event] = []
        for half in (0, 1):
            kept, rest = mixed[half::2], mixed[1 - half :: 2]
            if kept and rest:
                before += self._read(self.subject, rest, round=0)
                after += self._after(kept, rest, told or self.told, chance)
        return before, after

    def other_person(self) -> tuple[list[Event], list[Event]]:
        """Return what is read of one's decisions before and after the other's corrections."""
        chance = random.Random(self.car.number)
        pairs = [d for d in self.car.decisions if self.judge.paired(d)]
        before: list[Event] = []
        after: list[Event] = []
        for mirrored in (False, True):
            kept = [d for d in pairs if (d.origin == "mirrored") == mirrored]
            rest = [d for d in pairs if (d.origin == "mirrored") != mirrored]
            if kept and rest:
                before += self._read(self.subject, rest, round=0)
                after += self._after(kept, rest, "correction", chance)
        return before, after

    def transfer(self) -> tuple[list[Event], list[Event]]:
        """Return what is read by device once the question was told of, and the reverse."""
        by_question = {d.id: d.query for d in self.car.decisions}
        named = {d.id: by_device(d) for d in self.car.decisions}
        return self._transferred(by_question, named), self._transferred(named, by_question)

    def _transferred(self, told: Mapping[str, str], asked: Mapping[str, str]) -> list[Event]:
        subject = self.subject.copied()
        chance = random.Random(self.car.number)
        for turn in range(1, TAUGHT + 1):
            for decision in _shuffled(self.car.decisions, chance):
                situation = Situation(decision, told[decision.id], "told", turn)
                taught(subject, self.judge, self.car, situation, self.told)
        events = []
        for decision in self.car.decisions:
            situation = Situation(decision, asked[decision.id], "asked", TAUGHT + 1)
            events.append(self.judge.looked(subject, situation))
        self._progress("transfer")
        return events

    def _after(
        self,
        kept: Sequence[Decision],
        rest: Sequence[Decision],
        told: Told,
        chance: random.Random,
    ) -> list[Event]:
        subject = self.subject.copied()
        orders = {d.id: _shuffled(range(len(WORDINGS)), chance) for d in kept}
        for turn in range(1, TAUGHT + 1):
            for decision in _shuffled(kept, chance):
                asked = self._asked(decision, orders[decision.id][turn - 1], turn)
                taught(subject, self.judge, self.car, asked, told)
            self._progress(f"told of others {turn}")
        return self._read(subject, rest, round=TAUGHT + 1)

    def _read(self, subject: Subject, decisions: Sequence[Decision], round: int) -> list[Event]:
        events = []
        for decision in decisions:
            for number in range(len(WORDINGS)):
                asked = self._asked(decision, number, round)
                events.append(self.judge.looked(subject, asked))
        return events

    def _asked(self, decision: Decision, wording: int, round: int) -> Situation:
        return Situation(decision, self.put[decision.id][wording], list(WORDINGS)[wording], round)

    def _progress(self, what: str) -> None:
        print(f"file {self.car.number}: {what}", end="\x1b[K\r", file=sys.stderr)


def _shuffled(items: Iterable[Any], chance: random.Random) -> list[Any]:
    found = list(items)
    chance.shuffle(found)
    return found


# Counting

#: A measure: of which events, and what of each.
Measure = tuple[Callable[[Event], bool], Callable[[Event], bool | None]]
MEASURES: dict[str, Measure] = {
    "right line first": (lambda e: True, lambda e: e.first),
    "right line in 500": (lambda e: True, lambda e: e.right_in_short),
    "contradiction in 500": (lambda e: e.contradicted, lambda e: e.wrong_in_short),
    "contradiction in 2000": (lambda e: e.contradicted, lambda e: e.wrong_in_long),
    "contradiction above": (lambda e: e.contradicted, lambda e: e.wrong_above),
    "answer rests on the right": (lambda e: e.rests_right is not None, lambda e: e.rests_right),
    "answer contradicts": (
        lambda e: e.contradicted and e.rests_wrong is not None,
        lambda e: e.rests_wrong,
    ),
}
Row = dict[str, float | int | None]


def counted(events: Sequence[Event]) -> dict[str, Row]:
    """Return the mean of each measure, with its interval."""
    found = {}
    for name, (concerned, of) in MEASURES.items():
        chosen = [event for event in events if concerned(event)]
        if chosen:
            found[name] = _row([float(bool(of(e))) for e in chosen], [e.file for e in chosen])
    return found


def changed(before: Sequence[Event], after: Sequence[Event]) -> dict[str, Row]:
    """Return how much each measure changed, event by event."""
    found = {}
    for name, (concerned, of) in MEASURES.items():
        values = []
        files = []
        for one, other in zip(before, after, strict=True):
            if concerned(one) and concerned(other):
                values.append(float(bool(of(other))) - float(bool(of(one))))
                files.append(one.file)
        if values:
            found[name] = _row(values, files)
    return found


def _row(values: list[float], files: list[int]) -> Row:
    found = bootstrap(values, files)
    return {"mean": found.mean, "low": found.low, "high": found.high, "events": len(values)}


def _late(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if event.round in JUDGED]


@dataclass(slots=True)
class Found:
    """The events of all files, by stream."""

    events: dict[str, list[Event]] = field(default_factory=dict)

    def add(self, stream: str, events: Iterable[Event]) -> None:
        self.events.setdefault(stream, []).extend(events)

    def tables(self) -> dict[str, dict[str, Row]]:
        """Return one table for each stream, and for what its feedback changed elsewhere."""
        tables = {}
        for stream, events in self.events.items():
            if stream in ("recurring", "corrections"):
                late = _late(events)
                tables[f"{stream}, rounds 4 and 5"] = counted(late)
                tables[f"{stream}, where two decide otherwise"] = counted(
                    [event for event in late if event.paired]
                )
                tables |= _by_round(stream, events)
            else:
                tables[stream] = counted(events)
            before = self.events.get(f"{stream}, before")
            if before is not None:
                tables[f"{stream}, change"] = changed(before, events)
        return tables


def _by_round(stream: str, events: Sequence[Event]) -> dict[str, dict[str, Row]]:
    found = {}
    for turn in range(1, ROUNDS + 1):
        found[f"{stream}, round {turn}"] = counted([e for e in events if e.round == turn])
    return found


# Running


def run_recurring(streams: Streams, found: Found) -> None:
    found.add("recurring", streams.recurring())


def run_corrections(streams: Streams, found: Found) -> None:
    found.add("corrections", streams.recurring("correction"))
    before, after = streams.other_person()
    found.add("one corrected, the other asks, before", before)
    found.add("one corrected, the other asks", after)


def run_never_asked(streams: Streams, found: Found) -> None:
    before, after = streams.never_asked()
    found.add("never asked, before", before)
    found.add("never asked", after)


def run_never_asked_corrections(streams: Streams, found: Found) -> None:
    before, after = streams.never_asked("correction")
    found.add("never asked, others corrected, before", before)
    found.add("never asked, others corrected", after)


def run_transfer(streams: Streams, found: Found) -> None:
    device, question = streams.transfer()
    found.add("told by question, asked by device", device)
    found.add("told by device, asked by question", question)


def run_no_feedback(streams: Streams, found: Found) -> None:
    found.add("no feedback", streams.unaided())


RUNS: dict[str, Callable[[Streams, Found], None]] = {
    "recurring": run_recurring,
    "corrections": run_corrections,
    "never-asked": run_never_asked,
    "never-asked-corrections": run_never_asked_corrections,
    "transfer": run_transfer,
    "no-feedback": run_no_feedback,
}


def main() -> None:
    given = _arguments()
    cars = load(given.data, given.files)
    found = Found()
    begun = time.process_time()
    for car in cars:
        subject = Subject.of(car, SETTINGS[given.settings], given.without)
        streams = Streams(car, subject, given.told)
        for name in given.streams:
            RUNS[name](streams, found)
    report = {
        "settings": given.settings,
        "told": given.told,
        "without": given.without,
        "files": [car.number for car in cars],
        "decisions": _kinds(cars),
        "left out": sum(car.left_out for car in cars),
        "processor seconds": round(time.process_time() - begun, 1),
        "tables": found.tables(),
    }
    if given.updates:
        report["updates"] = unaided(given.updates)
    if given.events:
        rows = {name: list(map(asdict, events)) for name, events in found.events.items()}
        given.events.write_text(json.dumps(rows), encoding="utf-8")
    print("", end="\x1b[K", file=sys.stderr)
    if given.json:
        print(json.dumps(report, indent=1))
    else:
        show(report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of VehicleMemBench files")
    parser.add_argument(
        "--files", type=int, nargs="*", default=[], help="numbers; all unless given"
    )
    parser.add_argument(
        "--streams", nargs="+", choices=list(RUNS), default=list(RUNS), help="all unless given"
    )
    parser.add_argument("--told", choices=get_args(Told), default="line", help="as feedback")
    parser.add_argument("--settings", choices=list(SETTINGS), default="default")
    parser.add_argument(
        "--without", nargs="*", choices=["asker", "conditions"], default=[], help="not to be told"
    )
    parser.add_argument(
        "--updates", type=Path, help="a Letta core_memory_update file, read as well"
    )
    parser.add_argument("--events", type=Path, help="write every event there, as JSON")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args()


def _kinds(cars: Sequence[Car]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for car in cars:
        for decision in car.decisions:
            counts[f"{decision.kind}, {decision.origin}"] += 1
    return dict(sorted(counts.items()))


def show(report: Mapping[str, Any]) -> None:
    """Print the tables."""
    kinds = report["decisions"]
    print(
        f"{sum(kinds.values())} decisions of {len(report['files'])} files,"
        f" {report['left out']} questions left out; told: {report['told']};"
        f" settings: {report['settings']}; {report['processor seconds']} s of processor"
    )
    for kind, count in kinds.items():
        print(f"  {count:>4} {kind}")
    for title, table in report["tables"].items():
        print(f"\n{title}")
        for name, row in table.items():
            print(f"  {name:<26} {row['mean']:>6.3f} {_ends(row):<16} {row['events']:>6}")
    for name, count in report.get("updates", {}).items():
        print(f"{name:<40} {count:>6}")


def _ends(row: Row) -> str:
    low, high = row["low"], row["high"]
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
