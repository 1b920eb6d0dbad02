"""Run whole LoCoMo dialogues: ingest every turn, then answer each question and learn from its
reference.

    python benchmarks/locomo_loop.py --data locomo10.json [--mode strict] [--json]

Questions of categories 1 to 4 are asked in the file's order; all invariants are checked after each.
"split/q" counts splits per routing event, that is, per question. "contained" and "f1" are the two
scorers' means over the answers as they were given, before their feedback. "answers" is how many
counterfactual answers one feedback took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent import Settings, SlotMemory, SplitSettings
from demem_agent.evaluate import Dialogue, load_locomo

#: What of :class:`Settings` can be given on the command line.
BUDGET = ("slots", "slot_limit", "read_limit", "initial_slots", "near", "mode")
#: Marks in the progress bar.
BAR = 30


@dataclass(slots=True)
class Run:
    """What one dialogue took and gave.

    ``feedback_ms`` and ``answers`` hold one entry a question.
    """

    name: str
    items: int = 0
    questions: int = 0
    splits: int = 0
    suppressed: int = 0
    capped: int = 0
    slots_before: int = 0
    slots_after: int = 0
    contained: float = 0.0
    f1: float = 0.0
    seconds: float = 0.0
    answers: list[int] = field(default_factory=list)
    feedback_ms: list[float] = field(default_factory=list)


def main() -> None:
    """Run the loop of feedback over the dialogues, and print what it did."""
    given = arguments()
    dialogues = load_locomo(given.data, given.sample)
    options = settings_of(given)
    progress = Progress(sum(len(asked(dialogue)) for dialogue in dialogues))
    runs = [run(dialogue, options, progress) for dialogue in dialogues]
    progress.close()
    rows = [figures(one) for one in [*runs, together(runs)]]
    if given.json:
        print(
            json.dumps(
                {"settings": {**options, "split": asdict(options["split"])}, "dialogues": rows},
                indent=1,
            )
        )
    else:
        show(rows)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo file")
    parser.add_argument("--sample", help="only the dialogue of this name")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    for names, defaults in (
        (BUDGET, Settings()),
        ([f.name for f in fields(SplitSettings)], SplitSettings()),
    ):
        for name in names:
            default = getattr(defaults, name)
            option = "--" + name.replace("_", "-")
            parser.add_argument(option, type=type(default), help=f"default: {default}")
    return parser.parse_args()


def settings_of(given: argparse.Namespace) -> dict[str, Any]:
    """Give the options of a memory; what was not given keeps the library's default."""
    split = {
        f.name: value
        for f in fields(SplitSettings)
        if (value := getattr(given, f.name)) is not None
    }
    budget = {name: value for name in BUDGET if (value := getattr(given, name)) is not None}
    return {**budget, "split": SplitSettings(**split)}


def asked(dialogue: Dialogue) -> list[tuple[str, str]]:
    """Return the questions of a dialogue with their answers, but for the adversarial ones."""
    return [
        (probe.question, probe.reference)
        for probe in dialogue.probes
        if probe.category != "adversarial"
    ]


def run(dialogue: Dialogue, options: Mapping[str, Any], progress: Progress) -> Run:
    """Run one dialogue in a memory of its own.

    Raises:
        InvariantBroken: if an invariant does not hold after some question.
    """
    result = Run(dialogue.name)
    started = time.perf_counter()
    memory = SlotMemory(**{"clock": None, **options})
    memory.ingest_many(dialogue.turns)
    result.items, result.slots_before = len(memory), len(memory.slots)
    for question, reference in asked(dialogue):
        learn(memory, question, reference, result)
        memory.check()
        progress.step(dialogue.name)
    result.slots_after = len(memory.slots)
    result.seconds = time.perf_counter() - started
    return result


def learn(memory: SlotMemory, question: str, reference: str, result: Run) -> None:
    """Have a question answered, tell the reference, and note what that took."""
    answer = memory.answer(question)
    started = time.perf_counter()
    report = memory.feedback(answer, reference=reference)
    result.feedback_ms.append((time.perf_counter() - started) * 1e3)
    result.answers.append(report.counterfactuals)
    result.questions += 1
    result.splits += report.split
    result.suppressed += report.certificate is not None and not report.split
    result.capped += report.capped
    result.contained += report.rewards["contained"]
    result.f1 += report.rewards["token_f1"]


def together(runs: Sequence[Run]) -> Run:
    """Add up the runs."""
    result = Run("all")
    for one in runs:
        for name in (f.name for f in fields(Run) if f.name != "name"):
            setattr(result, name, getattr(result, name) + getattr(one, name))
    return result


def figures(one: Run) -> dict[str, Any]:
    """Put a run in the columns of the table."""
    questions = max(one.questions, 1)
    return {
        "dialogue": one.name,
        "items": one.items,
        "questions": one.questions,
        "splits": one.splits,
        "suppressed": one.suppressed,
        "split/q": round(one.splits / questions, 4),
        "slots before": one.slots_before,
        "after": one.slots_after,
        "contained": round(one.contained / questions, 3),
        "f1": round(one.f1 / questions, 3),
        "answers p50": float(np.median(one.answers)) if one.answers else 0.0,
        "max": max(one.answers, default=0),
        "capped": one.capped,
        "feedback ms p50": _percentile(one.feedback_ms, 50),
        "p99": _percentile(one.feedback_ms, 99),
        "seconds": round(one.seconds, 1),
    }


def _percentile(values: Sequence[float], percent: float) -> float:
    return round(float(np.percentile(values, percent)), 1) if values else 0.0


def condensed(row: Mapping[str, Any]) -> dict[str, str]:
    """Give the columns as they are shown: what belongs together in one."""
    together = {
        "slots": f"{row['slots before']} > {row['after']}",
        "answers": f"{row['answers p50']:g} / {row['max']}",
        "feedback ms": f"{row['feedback ms p50']} / {row['p99']}",
    }
    folded = {"slots before": "slots", "answers p50": "answers", "feedback ms p50": "feedback ms"}
    names = [
        folded.get(name, name) for name in row if name not in ("after", "max", "p99", "capped")
    ]
    return {name: together.get(name, str(row.get(name))) for name in names}


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a table: with rich where it is installed, else in plain columns."""
    shown = [condensed(row) for row in rows]
    names, cells = list(shown[0]), [list(row.values()) for row in shown]
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        print(plain([names, *cells]))
    else:
        table = Table(
            caption="slots: before > after; answers: median / most; feedback ms: p50 / p99"
        )
        for name in names:
            table.add_column(name, justify="left" if name == "dialogue" else "right")
        for n, row in enumerate(cells):
            table.add_row(*row, end_section=n == len(cells) - 2)
        Console(width=None if sys.stdout.isatty() else 140).print(table)
    if capped := rows[-1]["capped"]:
        print(f"{capped} feedbacks ran into the cap on counterfactual answers")


def plain(cells: Sequence[Sequence[str]]) -> str:
    """Align the cells of a table."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(padded))
    return "\n".join(lines)


class Progress:
    """A bar on stderr, where stdout may be going to a file; silent where that is no terminal."""

    def __init__(self, total: int) -> None:
        self._total, self._done = max(total, 1), 0
        self._seen = sys.stderr.isatty()

    def step(self, name: str) -> None:
        """Say that another dialogue is done."""
        self._done += 1
        marks = BAR * self._done // self._total
        self._write(f"\r{name:<12.12} [{'#' * marks:<{BAR}}] {self._done}/{self._total}")

    def close(self) -> None:
        """Take the bar away."""
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        if self._seen:
            print(text, end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
