"""Answers of a run in the forms that the benchmarks' own evaluation scripts read.

* ``longmemeval``: JSON lines with ``question_id`` and ``hypothesis``, for ``evaluate_qa.py`` of
  github.com/xiaowu0162/LongMemEval.
* ``locomo``: a list of ``{"sample_id", "qa"}``, where each question of the data has its answer
  under ``<name>_prediction``, for ``task_eval`` of github.com/snap-research/locomo.
* ``mem0``: by the number of the dialogue in the data, a list of ``{"question", "answer",
  "category", "evidence", "response"}``, for ``evaluation/evals.py`` of github.com/mem0ai/mem0.

Each takes one answer a question: those of one run. What the model said not to know is said in
words, as the scripts look for such; an answer that could not be used is empty. Questions that were
not asked (LoCoMo's adversarial ones) are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.protocol.results import Contents
from demem_agent.evaluate.protocol.run import Mark

__all__ = ["CONTRACTS", "NOT_KNOWN", "Contract", "answers_of", "contract_named"]

NOT_KNOWN = "No information available"
#: The data as the file has it: a list of dialogues or questions.
Entries = Sequence[Mapping[str, Any]]
#: The answers, by dialogue and the question's number there.
Answers = Mapping[tuple[str, int], str]


@dataclass(frozen=True, slots=True)
class Contract:
    """What a script reads.

    Attributes:
        benchmark: whose answers it marks.
        written: makes its file of the data, the answers and a name for what gave them.
        marked_by: the script.
    """

    benchmark: str
    written: Callable[[Entries, Answers, str], str]
    marked_by: str


def contract_named(name: str | None, benchmark: str) -> Contract:
    """Return a contract by name; that of the benchmark's own script unless one is named.

    Raises:
        InvalidInput: if there is none such, or it is of another benchmark.
    """
    own = [one for one, contract in CONTRACTS.items() if contract.benchmark == benchmark]
    if not own:
        says = f"no public script that marks answers to {benchmark} is known here"
        raise InvalidInput("benchmark", benchmark, f"of {', '.join(CONTRACTS)}", says)
    wanted = name or own[0]
    if wanted not in own:
        raise InvalidInput("contract", wanted, f"one of {', '.join(own)} for {benchmark}")
    return CONTRACTS[wanted]


def answers_of(
    contents: Contents, run: int, system: str | None = None
) -> dict[tuple[str, int], str]:
    """Return the answers of one run of one system, in the order of its questions.

    Raises:
        InvalidInput: for a run or a system that there is not, and where answers are missing.
    """
    header = contents.header
    name = system or header.systems[0]
    if name not in header.systems:
        raise InvalidInput("system", name, f"one of {', '.join(header.systems)}")
    if not 0 <= run < header.runs:
        raise InvalidInput("run", run, f"from 0 to {header.runs - 1}")
    marks = [mark for mark in contents.counted if mark.run == run and mark.system == name]
    given = {(mark.dialogue, mark.question): _said(mark) for mark in marks if not mark.failed}
    if len(given) != header.questions:
        expected = f"a run with all {header.questions:,} answers; this has {len(given):,}"
        raise InvalidInput("run", run, expected)
    return given


def _said(mark: Mark) -> str:
    return mark.answer or ("" if mark.useless else NOT_KNOWN)


def _longmemeval(entries: Entries, answers: Answers, name: str) -> str:
    asked = [entry["question_id"] for entry in entries]
    lines = [
        json.dumps({"question_id": dialogue, "hypothesis": answer}) + "\n"
        for (dialogue, _), answer in answers.items()
        if dialogue in asked
    ]
    return "".join(lines)


def _locomo(entries: Entries, answers: Answers, name: str) -> str:
    found = []
    for entry in entries:
        qa = [
            {**asked, f"{name}_prediction": answer} for asked, answer in _answered(entry, answers)
        ]
        if qa:
            found.append({"sample_id": entry["sample_id"], "qa": qa})
    return json.dumps(found, indent=1) + "\n"


def _mem0(entries: Entries, answers: Answers, name: str) -> str:
    found = {}
    for number, entry in enumerate(entries):
        own = [{**asked, "response": answer} for asked, answer in _answered(entry, answers)]
        if own:
            found[str(number)] = own
    return json.dumps(found, indent=1) + "\n"


def _answered(
    entry: Mapping[str, Any], answers: Answers
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each question of a LoCoMo dialogue that was answered, with the answer."""
    for number, asked in enumerate(entry["qa"]):
        if (entry["sample_id"], number) in answers:
            yield asked, answers[entry["sample_id"], number]


CONTRACTS: Mapping[str, Contract] = {
    "longmemeval": Contract("longmemeval", _longmemeval, "LongMemEval's evaluate_qa.py"),
    "locomo": Contract("locomo", _locomo, "LoCoMo's task_eval"),
    "mem0": Contract("locomo", _mem0, "mem0's evaluation/evals.py"),
}
