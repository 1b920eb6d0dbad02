"""Compare the marks of judges with those of people: python benchmarks/judge_agreement.py
MARKS.jsonl LABELS.jsonl [--json]

MARKS is the results.jsonl that `demem bench BENCHMARK --model NAME --judge NAME --out DIR` writes.
A line of LABELS says what people found of one answer, as right or not, each of them in the same
place of the list: {"system": "demem", "dialogue": "conv-26", "question": 3, "run": 0, "right":
[true, true, false]}. Prints Fleiss' kappa of the people, Cohen's kappa and agreement of their
majority with the judges (right where the mean of their binary marks is above one half), and
McNemar's test of whether the judges are more lenient than people, for all answers and by system, as
in the paper's appendix on human agreement.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from demem_agent.evaluate.agreement import cohens_kappa, fleiss_kappa, mcnemar

#: An answer: its system, dialogue, question and run.
Key = tuple[str, str, int, int]


def main() -> None:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("marks", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    found = compared(lines(given.marks), lines(given.labels))
    if given.json:
        print(json.dumps(found, indent=1))
        return
    for name, one in found.items():
        print(f"{name}: {in_words(one)}")


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def compared(
    marks: Iterable[Mapping[str, Any]], labels: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the figures of all answers that people labelled, and those of each system."""
    judged = {key(one): fmean(one["binary"]) > 0.5 for one in marks if one.get("binary")}
    people = {key(one): list(map(bool, one["right"])) for one in labels}
    missing = people.keys() - judged.keys()
    if missing:
        sys.exit(f"{len(missing)} labels are of answers that nobody marked, such as {min(missing)}")
    if not people:
        sys.exit("there are no labels")
    found = {"all": figures(list(people.values()), [judged[one] for one in people])}
    for system in dict.fromkeys(system for system, *_ in people):
        own = [one for one in people if one[0] == system]
        found[system] = figures([people[one] for one in own], [judged[one] for one in own])
    return found


def key(one: Mapping[str, Any]) -> Key:
    """Return which answer a record is of."""
    return one["system"], one["dialogue"], one["question"], one.get("run", 0)


def figures(people: Sequence[Sequence[bool]], judges: Sequence[bool]) -> dict[str, Any]:
    """Return how people agree among themselves, and their majority with judges."""
    majority = [fmean(labels) > 0.5 for labels in people]
    several = len(people[0]) > 1
    return {
        "answers": len(judges),
        "people_kappa": fleiss_kappa(list(zip(*people, strict=True))) if several else None,
        "judges_kappa": cohens_kappa(majority, judges),
        "agreed": fmean(a == b for a, b in zip(majority, judges, strict=True)),
        "lenient": asdict(mcnemar(judges, majority)),
    }


def in_words(one: Mapping[str, Any]) -> str:
    """Return the figures of one line."""
    lenient = one["lenient"]
    return (
        f"{one['answers']} answers, people {number(one['people_kappa'])} (Fleiss), "
        f"judges and people {number(one['judges_kappa'])} (Cohen), {one['agreed']:.1%} agree; "
        f"judges alone say right {lenient['first_only']}, people alone {lenient['second_only']} "
        f"(McNemar, p = {lenient['p']:.3f})"
    )


def number(kappa: float | None) -> str:
    """Return a kappa in words."""
    return "kappa not defined" if kappa is None else f"kappa {kappa:.2f}"


if __name__ == "__main__":
    main()
