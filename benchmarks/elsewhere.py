"""Does feedback on some questions harm what is read for others?

    pip install demem-agent
    python benchmarks/elsewhere.py --data FOLDER [--only locomo] [--settings off] [--json]

FOLDER holds any of ``locomo/*.json``, ``longmemeval/*.json.gz`` and ``beam/N/chat.json``. All turns
of a dialogue are remembered. Half of its questions, drawn by a seed, are answered with the line
that scores highest and told of, each once; the other half is read before and after. Told is

* ``reference``: the answer that would be right;
* ``reward``: 1 if the line that scores highest is of a gold turn, else 0;
* ``correction``: that answer as a correction where the reward would be 0, else a reward of 1.

A LongMemEval haystack has one question. Five haystacks, in the order of the file, are remembered
together there, sessions they share once: a memory of 2,500 turns in which five people say "I".
Questions that nothing answers, and those without evidence or without an answer, are left out.

Measured on each question of the other half:

* ``first``: whether the line that scores highest is of a gold turn;
* ``in five``: the share of gold turns among the turns of the five lines that score highest;
* ``read``: their share among those of the reading, of 6,000 characters;
* ``known again``: whether it is taken for a question that was told of. It is none of them, though
  benchmarks ask some things twice.

A correction is no gold turn: where its line stands first, it stands before the gold one. Intervals
are of 95 %, by dialogue, or by five haystacks, over all seeds.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from locomo_loop import Progress
from update_data import after, beam_dated

from demem_agent import SlotMemory, Turn
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import Dialogue, Probe, load_beam, load_locomo, load_longmemeval
from demem_agent.evaluate.bootstrap import bootstrap
from demem_agent.types import Reading

Told = Literal["reference", "reward", "correction"]
Row = dict[str, float | None]

#: Lines that are looked at, those that score highest.
TOP = 5
#: From this probability on a question is known again.
KNOWN = 0.5
#: LongMemEval haystacks in one memory.
TOGETHER = 5
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "off": {"decisions": False},
}


# What is asked


def load(folder: Path, only: Sequence[str] = ()) -> dict[str, list[Dialogue]]:
    """Read what a folder has of the three benchmarks, or of some of them.

    Raises:
        InvalidInput: for the name of another benchmark, or if there is none of them.
    """
    for name in only:
        if name not in _WHERE:
            raise InvalidInput("only", name, f"one of {list(_WHERE)}")
    found = {}
    for name, where in _WHERE.items():
        paths = sorted(folder.glob(where))
        if paths and (not only or name in only):
            dialogues = map(answerable, _READ[name](paths[0]))
            found[name] = [dialogue for dialogue in dialogues if len(dialogue.probes) > 1]
    if not found:
        allowed = f"a folder with any of {', '.join(_WHERE.values())}"
        raise InvalidInput("data", str(folder), allowed)
    return found


def _beam(folder: Path) -> Iterator[Dialogue]:
    for dialogue in load_beam(folder):
        turns = beam_dated(dialogue.turns, folder / dialogue.name)
        at = after(turns)
        probes = tuple(replace(probe, at=at) for probe in dialogue.probes)
        yield Dialogue(dialogue.name, turns, probes)


def _longmemeval(path: Path) -> list[Dialogue]:
    return together(load_longmemeval(path))


def together(haystacks: Sequence[Dialogue]) -> list[Dialogue]:
    """Put five haystacks each into one, turns in the order of their dates."""
    found = []
    for start in range(0, len(haystacks), TOGETHER):
        part = haystacks[start : start + TOGETHER]
        turns: dict[str, Turn] = {}
        probes: list[Probe] = []
        for haystack in part:
            for turn in haystack.turns:
                turns.setdefault(turn.source_id or "", turn)
            probes += haystack.probes
        ordered = sorted(turns.values(), key=_when)
        found.append(Dialogue(part[0].name, tuple(ordered), tuple(probes)))
    return found


def _when(turn: Turn) -> datetime:
    return turn.at if isinstance(turn.at, datetime) else datetime.min


_READ = {"locomo": load_locomo, "longmemeval": _longmemeval, "beam": _beam}
_WHERE = {"locomo": "locomo/*.json", "longmemeval": "longmemeval/*.json*", "beam": "beam"}


def answerable(dialogue: Dialogue) -> Dialogue:
    """Leave out what nothing answers, and questions without evidence or without an answer."""
    probes = []
    for probe in dialogue.probes:
        told = probe.evidence and probe.reference.strip()
        if told and probe.has_answer:
            probes.append(probe)
    return replace(dialogue, probes=tuple(probes))


def halves(probes: Sequence[Probe], seed: int) -> tuple[list[Probe], list[Probe]]:
    """Return the questions to be told of, and the others, which are one more if they are odd."""
    mixed = list(probes)
    random.Random(seed).shuffle(mixed)
    half = len(mixed) // 2
    return mixed[:half], mixed[half:]


# What is measured


@dataclass(frozen=True, slots=True)
class Seen:
    """What is read for a question.

    Attributes:
        first: 1.0 where the line that scores highest is of a gold turn.
        five: the share of gold turns among the turns of the five best lines; ``read``: among those
            of all lines.
        known: 1.0 where the question is taken for one that was told of.
    """

    first: float
    five: float
    read: float
    known: float


MEASURES = {"first": "first", "five": "in five", "read": "read", "known": "known again"}


def seen(reading: Reading, probe: Probe) -> Seen:
    """Look at a reading."""
    gold = frozenset(probe.evidence)
    ranked = sorted(reading.lines, key=lambda line: -line.score)
    turns = [line.evidence.source_id for line in ranked]
    return Seen(
        first=float(bool(gold.intersection(turns[:1]))),
        five=len(gold.intersection(turns[:TOP])) / len(gold),
        read=len(gold.intersection(turns)) / len(gold),
        known=float(reading.recognised >= KNOWN),
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """What is read for a question before feedback on others, and after."""

    dialogue: str
    told: Told
    before: Seen
    after: Seen


class Subject:
    """A memory of a dialogue, and what it reads while it was told nothing."""

    def __init__(self, dialogue: Dialogue, settings: Mapping[str, Any]) -> None:
        self._dialogue = dialogue
        self._memory = SlotMemory(**{"clock": None, **settings})
        self._memory.ingest_many(dialogue.turns)
        self._before = {probe: self._seen(self._memory, probe) for probe in dialogue.probes}

    def pairs(self, told: Told, seed: int) -> Iterator[Pair]:
        """Tell of half of the questions, and compare what is read for the others."""
        memory = copy.deepcopy(self._memory)
        taught, others = halves(self._dialogue.probes, seed)
        for probe in taught:
            tell(memory, probe, told)
        memory.check()
        for probe in others:
            now = self._seen(memory, probe)
            yield Pair(self._dialogue.name, told, self._before[probe], now)

    def _seen(self, memory: SlotMemory, probe: Probe) -> Seen:
        return seen(memory.read(probe.question, at=probe.at), probe)


def tell(memory: SlotMemory, probe: Probe, told: Told) -> None:
    """Answer a question with the line that stands first, and tell how that did."""
    reading = memory.read(probe.question, at=probe.at)
    first = max(reading.lines, key=lambda line: line.score, default=None)
    said = "" if first is None else first.text
    answer = memory.answered(probe.question, said, at=probe.at, reading=reading)
    right = seen(reading, probe).first
    if told == "reference":
        memory.feedback(answer, reference=probe.reference)
    elif told == "correction" and not right:
        memory.feedback(answer, correction=probe.reference)
    else:
        memory.feedback(answer, reward=right)


def tabled(pairs: Sequence[Pair]) -> dict[str, Row]:
    """Return each measure before and after, and its change with an interval."""
    dialogues = [pair.dialogue for pair in pairs]
    found = {}
    for field in fields(Seen):
        before = [getattr(pair.before, field.name) for pair in pairs]
        after = [getattr(pair.after, field.name) for pair in pairs]
        changes = [late - early for early, late in zip(before, after, strict=True)]
        change = bootstrap(changes, dialogues)
        found[MEASURES[field.name]] = {
            "before": _mean(before),
            "after": _mean(after),
            "change": change.mean,
            "low": change.low,
            "high": change.high,
            "readings": change.questions,
        }
    return found


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 6)


# Running


def main() -> None:
    """Measure what feedback does to questions it was not about, and print the tables."""
    given = _arguments()
    data = _chosen(given)
    tables = _tables(data, given)
    sizes = {name: _sizes(dialogues) for name, dialogues in data.items()}
    report = {"seeds": given.seeds, "data": sizes, "tables": tables}
    if given.json:
        print(json.dumps(report, indent=1))
    else:
        show(report)


def _tables(
    data: Mapping[str, Sequence[Dialogue]], given: argparse.Namespace
) -> dict[str, dict[str, Row]]:
    """Return a table for each benchmark, kind of settings and kind of feedback."""
    runs = len(given.settings) * len(given.told) * given.seeds
    progress = Progress(sum(map(len, data.values())) * runs)
    tables: dict[str, dict[str, Row]] = {}
    for name, dialogues in data.items():
        for settings in given.settings:
            pairs = list(measured(dialogues, settings, given, progress))
            for told in given.told:
                chosen = [pair for pair in pairs if pair.told == told]
                tables[f"{name}, {settings}, told by {told}"] = tabled(chosen)
    progress.close()
    return tables


def measured(
    dialogues: Iterable[Dialogue], settings: str, given: argparse.Namespace, progress: Progress
) -> Iterator[Pair]:
    """Measure all dialogues of a benchmark with one kind of settings."""
    for dialogue in dialogues:
        subject = Subject(dialogue, SETTINGS[settings])
        for told in given.told:
            for seed in range(given.seeds):
                progress.step(f"{dialogue.name} {told}")
                yield from subject.pairs(told, seed)


def _sizes(dialogues: Sequence[Dialogue]) -> dict[str, int]:
    return {
        "memories": len(dialogues),
        "turns": sum(len(dialogue.turns) for dialogue in dialogues),
        "questions": sum(len(dialogue.probes) for dialogue in dialogues),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the benchmarks' files")
    parser.add_argument("--only", nargs="+", default=[], help="of locomo, longmemeval, beam")
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=["default", "off"])
    parser.add_argument("--told", nargs="+", choices=get_args(Told), default=list(get_args(Told)))
    parser.add_argument("--seeds", type=int, default=1, help="draws of the half that is told of")
    parser.add_argument("--first", type=int, help="only so many memories of each benchmark")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    found = parser.parse_args()
    if found.seeds < 1:
        parser.error("--seeds must be 1 or more")
    return found


def _chosen(given: argparse.Namespace) -> dict[str, list[Dialogue]]:
    """Return what to measure on; what cannot be read ends the program."""
    try:
        found = load(given.data, given.only)
    except InvalidInput as error:
        raise SystemExit(f"elsewhere.py: {error}") from error
    return {name: dialogues[: given.first] for name, dialogues in found.items()}


def show(report: Mapping[str, Any]) -> None:
    """Print the tables."""
    for name, sizes in report["data"].items():
        told = ", ".join(f"{count:,} {what}" for what, count in sizes.items())
        print(f"{name}: {told}; {report['seeds']} draws")
    for title, table in report["tables"].items():
        print(f"\n{title:<44} before   after  change")
        for measure, row in table.items():
            figures = f"{row['before']:>6.3f}  {row['after']:>6.3f}  {row['change']:>+6.3f}"
            print(f"  {measure:<42} {figures}  {_ends(row)}")


def _ends(row: Mapping[str, Any]) -> str:
    low, high = row["low"], row["high"]
    return "" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"


if __name__ == "__main__":
    main()
