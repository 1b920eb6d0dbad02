"""What the paper's protocol will take, before it is run, and what it comes to, after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from demem_agent.evaluate.protocol.run import KINDS, Mark, Marked, Panel, Posed
from demem_agent.llms.answerer import answering_prompt
from demem_agent.llms.judges import Judging
from demem_agent.llms.model import Usage
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.spending import Ledger
from demem_agent.text.units import measure

__all__ = ["Estimate", "estimate", "marks_report"]

#: Tokens of an answer as JSON with its quotations, and of a mark, as they mostly are; of a message
#: beside its text.
_ANSWER, _MARK, _AROUND = 90, 8, 16
#: Bytes of a token, where no tokenizer is at hand.
_BYTES = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    """About what is left to be asked; ``cost`` is None where a price is not known."""

    questions: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


def estimate(
    questions: Sequence[Posed], panel: Panel, ledger: Ledger, known: Sequence[Mark] = ()
) -> Estimate:
    """Give about what a call of :func:`mark` will take, repairs and retries aside.

    Args:
        ledger: with the prices.
        known: marks of an earlier call that is recorded; those that are whole are not asked for
            again.
    """
    done = {(m.run, m.system, m.dialogue, m.question) for m in known if not m.failed}
    left = [
        one
        for run in range(panel.runs)
        for one in questions
        if (run, one.system, one.dialogue, one.question) not in done
    ]
    distinct = {_place(one): one for one in left}
    answers = {place: _tokens(answering_prompt(one.asked).text) for place, one in distinct.items()}
    rules = sum(_tokens(prompt_text(f"judge_{kind}")) for kind in KINDS)
    marking = {
        place: rules + len(KINDS) * (_tokens(one.asked.query + one.reference) + _ANSWER)
        for place, one in distinct.items()
    }
    costs = [Usage(sum(answers[_place(one)] for one in left), _ANSWER * len(left))]
    costs += [
        Usage(sum(marking[_place(one)] for one in left), _MARK * len(KINDS) * len(left))
        for _ in panel.judges
    ]
    models = [panel.model, *panel.judges]
    total = sum(
        (ledger.priced(m.name, usage) for m, usage in zip(models, costs, strict=True)), Usage()
    )
    calls = len(left) * (1 + len(KINDS) * len(panel.judges))
    return Estimate(len(left), calls, total.prompt_tokens, total.completion_tokens, total.cost)


def _place(one: Posed) -> tuple[str, str, int]:
    return one.system, one.dialogue, one.question


def _tokens(text: str) -> int:
    counted, size = measure("tokens")(text), len(text.encode("utf-8", "surrogatepass"))
    return (counted if counted < size else math.ceil(size / _BYTES)) + 2 * _AROUND


def marks_report(marked: Marked, panel: Panel, questions: Sequence[Posed]) -> dict[str, Any]:
    """Sum up marks as JSON values.

    Returns:
        ``{"model", "judges", "runs", "questions", "marked", "useless", "failed": {kind: number},
        "stopped", "whole_runs", "systems": {system: {"overall": figures, "categories": {category:
        figures}}}}``. Figures are ``{"score", "graded", "questions"}``; score (binary, the paper's)
        and graded are ``{"mean", "deviation", "runs"}``, None where nothing was marked. A run that
        was cut short counts only where there is no whole one.
    """
    asked = len(questions)
    tried = [sum(m.run == run for m in marked.marks) for run in range(panel.runs)]
    whole = [run for run, count in enumerate(tried) if count == asked]
    counted = [m for m in marked.marks if not m.failed and (m.run in whole or not whole)]
    failures = [m.failed for m in marked.marks if m.failed]
    categories = dict.fromkeys(one.category for one in questions)
    return {
        "model": panel.model.name,
        "judges": [judge.name for judge in panel.judges],
        "runs": panel.runs,
        "questions": asked,
        "marked": sum(not m.failed for m in marked.marks),
        "useless": sum(m.useless for m in marked.marks),
        "failed": {kind: failures.count(kind) for kind in sorted(set(failures))},
        "stopped": marked.stopped,
        "whole_runs": len(whole),
        "systems": {
            name: {
                "overall": _figures([m for m in counted if m.system == name]),
                "categories": {
                    category: _figures(
                        [m for m in counted if (m.system, m.category) == (name, category)]
                    )
                    for category in categories
                },
            }
            for name in dict.fromkeys(one.system for one in questions)
        },
    }


def _figures(marks: Sequence[Mark]) -> dict[str, Any]:
    questions = len({(m.dialogue, m.question) for m in marks})
    return {
        "score": _over_runs(marks, "binary"),
        "graded": _over_runs(marks, "graded"),
        "questions": questions,
    }


def _over_runs(marks: Sequence[Mark], kind: Judging) -> dict[str, Any] | None:
    """Give the mean over runs of the mean over questions, with one sample standard deviation; None
    of one run.
    """
    runs = sorted({m.run for m in marks})
    means = [fmean(fmean(getattr(m, kind)) for m in marks if m.run == run) for run in runs]
    if not means:
        return None
    deviation = round(stdev(means), 6) if len(means) > 1 else None
    return {"mean": round(fmean(means), 6), "deviation": deviation, "runs": len(means)}
