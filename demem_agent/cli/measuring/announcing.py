"""What a run with a language model is about to ask, and what it has used, in words."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.printing import print_line
from demem_agent.evaluate.protocol.forecast import Estimate
from demem_agent.llms import Ledger

__all__ = ["announcement", "limits_words", "spent_words", "start", "used_value"]


def announcement(
    expected: Estimate,
    everything: int,
    options: ModelOptions,
    seconds: float | None,
    parallel: int,
) -> Iterator[str]:
    """Yield the lines that say what is about to be asked, before anything is.

    Args:
        expected: what is still to be asked.
        everything: how many answers are to be marked, those that are recorded included.
        seconds: that a call took where that was tried.
        parallel: how many questions are asked at once.
    """
    done = everything - expected.questions
    recorded = f", {done:,} of them recorded" if done else ""
    yield f"{everything:,} answers to be marked{recorded}."
    if not expected.questions:
        return
    yield _estimate_words(expected)
    if seconds is None:
        yield _time_words(expected.calls / parallel, parallel, "a second a call")
    else:  # on this machine calls wait for each other
        yield _time_words(expected.calls * seconds, 1, f"{seconds:,.1f} s a call, as one took")
    yield limits_words(options)


def _estimate_words(expected: Estimate) -> str:
    prompts = f"{expected.prompt_tokens:,} tokens of prompts"
    answers = f"{expected.completion_tokens:,} of answers"
    cost = "cost not known without --price"
    if expected.cost is not None:
        cost = f"cost {expected.cost:,.4f}"
    return (
        f"About {expected.calls:,} calls: {prompts} and {answers}, {cost}; "
        "what has to be repeated not counted."
    )


def _time_words(seconds: float, parallel: int, each: str) -> str:
    """Say how long it takes all in all."""
    minutes = max(round(seconds / 60), 1)
    took = f"{minutes} minute{'s' if minutes > 1 else ''}"
    if minutes > 90:
        took = f"{minutes / 60:,.1f} hours"
    at_once = f"{parallel} question{'s' if parallel > 1 else ''} at once"
    return f"With {at_once}, and {each}, about {took}."


def used_value(ledger: Ledger) -> Json:
    """Return what was used, as a JSON value; its cost is None where a price is not known."""
    spending = ledger.spending
    used = spending.spent
    return {
        "requests": used.requests,
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "cached_tokens": used.cached_tokens,
        "estimated": used.estimated,
        "cost": None if spending.unpriced else used.cost,
    }


def spent_words(used: Json) -> str:
    """Say what was used, from the value of :func:`used_value`."""
    requests = f"{used['requests']:,} requests"
    prompts = f"{used['prompt_tokens']:,} tokens of prompts"
    answers = f"{used['completion_tokens']:,} of answers"
    cost = "cost not known" if used["cost"] is None else f"cost {used['cost']:.4f}"
    return f"Asked in this run: {requests}, {prompts}, {answers}, {cost}."


def start(lines: Iterable[str], *, agreed: bool) -> None:
    """Say on the error stream what is about to be asked, and go on only if that is wanted.

    Args:
        agreed: whether it was said before that it is wanted, or nothing is to be asked.

    Raises:
        UsageError: where nobody is there to ask.
        typer.Abort: if the answer is no.
    """
    for line in lines:
        print_line(line, sys.stderr)
    if agreed:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "nothing of it was asked yet: pass --yes to start where nobody can be asked"
        )
    typer.confirm("Start?", abort=True, err=True)


def limits_words(options: ModelOptions) -> str:
    """Say where a run stops."""
    limits: list[str] = []
    if options.limit_cost is not None:
        limits.append(f"a cost of {options.limit_cost:g}")
    if options.limit_tokens is not None:
        limits.append(f"{options.limit_tokens:,} tokens")
    if not limits:
        return "Neither --limit-cost nor --limit-tokens is set."
    return f"It stops at {' or '.join(limits)}."
