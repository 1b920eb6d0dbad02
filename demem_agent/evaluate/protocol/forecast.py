"""What the paper's protocol will take, before it is run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from demem_agent.evaluate.protocol.posing import Posed
from demem_agent.evaluate.protocol.run import KINDS, Mark, Panel
from demem_agent.llms.answerer import answering_prompt
from demem_agent.llms.model import Usage
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.spending import Ledger
from demem_agent.text.units import measure

__all__ = ["Estimate", "estimate"]

#: Tokens of an answer as JSON with its quotations, and of a mark, as they mostly are; of a message
#: beside its text.
_ANSWER, _MARK, _AROUND = 90, 8, 16
#: Bytes of a token, where no tokenizer is at hand.
_BYTES = 4
#: A question of a system: the system, the dialogue, and its number there.
Place = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Estimate:
    """About what is left to be asked; ``cost`` is None where a price is not known."""

    questions: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(slots=True)
class _Prompts:
    """Tokens of prompts: for answers, and for all the marks that one judge gives them."""

    answers: int = 0
    marks: int = 0


def estimate(
    questions: Sequence[Posed], panel: Panel, ledger: Ledger, known: Sequence[Mark] = ()
) -> Estimate:
    """Return about what a call of :func:`mark` will take, repairs and retries aside.

    Args:
        ledger: with the prices.
        known: marks of an earlier call that is recorded; those that are whole are not asked for
            again.
    """
    left = list(_left(questions, panel.runs, known))
    total = _used(left, panel, ledger)
    calls_a_question = 1 + len(KINDS) * len(panel.judges)
    return Estimate(
        questions=len(left),
        calls=len(left) * calls_a_question,
        prompt_tokens=total.prompt_tokens,
        completion_tokens=total.completion_tokens,
        cost=total.cost,
    )


def _used(left: Sequence[Posed], panel: Panel, ledger: Ledger) -> Usage:
    """Return what the answers and all their marks take, with its cost."""
    prompts = _prompts(left)
    answers = Usage(prompts.answers, _ANSWER * len(left))
    marks = Usage(prompts.marks, _MARK * len(KINDS) * len(left))
    total = Usage() + ledger.priced(panel.model.name, answers)
    for judge in panel.judges:
        total += ledger.priced(judge.name, marks)
    return total


def _left(questions: Sequence[Posed], runs: int, known: Sequence[Mark]) -> Iterator[Posed]:
    """Yield the questions that are not marked yet, each once for every run that lacks it."""
    done: set[tuple[int, Place]] = set()
    for mark in known:
        if not mark.failed:
            done.add((mark.run, _place(mark)))
    for run in range(runs):
        for one in questions:
            if (run, _place(one)) not in done:
                yield one


def _prompts(left: Sequence[Posed]) -> _Prompts:
    """Count the tokens of all prompts; each question is counted once and added for every run."""
    rules = 0
    for kind in KINDS:
        rules += _tokens(prompt_text(f"judge_{kind}"))
    total = _Prompts()
    counted: dict[Place, _Prompts] = {}
    for one in left:
        place = _place(one)
        if place not in counted:
            counted[place] = _prompts_of(one, rules)
        of_one = counted[place]
        total.answers += of_one.answers
        total.marks += of_one.marks
    return total


def _place(one: Posed | Mark) -> Place:
    return one.system, one.dialogue, one.question


def _prompts_of(one: Posed, rules: int) -> _Prompts:
    answering = answering_prompt(one.asked).text
    judged = _tokens(one.asked.query + one.reference) + _ANSWER
    return _Prompts(_tokens(answering), rules + len(KINDS) * judged)


def _tokens(text: str) -> int:
    """Return about how many tokens a message takes, with what is around its text."""
    size = len(text.encode("utf-8", "surrogatepass"))
    counted = measure("tokens")(text)
    if counted >= size:  # without a tokenizer, bytes are counted
        counted = math.ceil(size / _BYTES)
    return counted + 2 * _AROUND
