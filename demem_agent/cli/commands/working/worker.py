"""``demem worker``: notes, verdicts, summaries and what is kept no longer, in the background."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demem_agent.cli.commands.serving.places import Served
from demem_agent.cli.commands.working.rules import rules_of
from demem_agent.cli.faults import UsageError
from demem_agent.cli.measuring.announcing import spent_words, used_value
from demem_agent.cli.memory_options import Place
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_line
from demem_agent.cli.tables.cells import cell
from demem_agent.jobs import KINDS, Means, Runner, kinds_of, runner_of
from demem_agent.stores import opened_store

if TYPE_CHECKING:
    from demem_agent.llms import Ledger

__all__ = ["worker"]

#: What a model has to be asked for.
_ASKING = ("notes", "changes", "summaries")


def worker(
    output: Output,
    served: Served,
    model_options: ModelOptions,
    kinds: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {','.join(KINDS)}. [retention; with --model the others too]",
        ),
    ] = None,
    forget_older_than: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DAYSd",
            help="Such as 365d; PREFIX=365d for memories whose ids begin so; may be repeated.",
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(metavar="N", min=1, max=256, help="Memories that are worked on at once.")
    ] = 1,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Between two looks for work.")
    ] = 10.0,
    once: Annotated[bool, typer.Option("--once", help="End when nothing more can be done.")] = (
        False
    ),
    tenant: Annotated[str, typer.Option(metavar="NAME", help="Whose memories.")] = "default",
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="DEMEM_ENCODER",
            help="A sentence-transformers or model2vec model, or its folder. [the shipped one]",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log faults alone.")] = False,
) -> None:
    """Do what is due for memories, until it is told to end; what is at hand is done first.

    Notes of what was said, verdicts on what changed and summaries of slots need --model. Retention
    forgets what a memory was made to keep no longer, and what --forget-older-than names. What is
    due follows from the memories: a worker may be killed at any time, and another goes on. The log
    on stderr has kinds, ids and numbers, and no text.
    """
    names = _kinds(kinds, model_options.model)
    Place(served.url).require_file()
    rules = rules_of(forget_older_than or ())
    if rules and "retention" not in names:
        raise UsageError("--forget-older-than needs retention among --kinds")
    ledger = _ledger(model_options)
    options: dict[str, Any] = {
        **Place(encoder=encoder).options(),
        **_helpers(names, model_options, ledger),
    }
    with opened_store(served.url) as store, _logging(quiet):
        means = Means(options, rules)  # type: ignore[arg-type]  # checked when a memory is opened
        runner = runner_of(store, names, means, tenant=tenant, concurrency=concurrency)
        with _ended_by_signals(runner):
            if once:
                runner.once()
            else:
                _say_begin(served.url, names, output)
                runner.run(every)
        _say_end(runner, ledger, output)


def _kinds(typed: str | None, model: str | None) -> tuple[str, ...]:
    """Return the kinds of work that are done.

    Raises:
        UsageError: for one that needs a model, where none is named.
        InvalidInput: for another name.
    """
    if typed is None:
        return tuple(KINDS) if model else tuple(kind for kind in KINDS if kind not in _ASKING)
    names = kinds_of([name.strip() for name in typed.split(",")])
    asking = [name for name in names if name in _ASKING]
    if asking and model is None:
        raise UsageError(f"{asking[0]} need --model, which names a language model")
    return names


def _ledger(model_options: ModelOptions) -> Ledger | None:
    name = model_options.model
    return None if name is None else model_options.ledger("worker", [name])


def _helpers(
    names: tuple[str, ...], model_options: ModelOptions, ledger: Ledger | None
) -> dict[str, Any]:
    """Return who takes notes, judges and writes summaries, as options of a memory."""
    if model_options.model is None or ledger is None or not set(names) & set(_ASKING):
        return {}
    from demem_agent import llms  # others start sooner without

    chat = model_options.chat(model_options.model, ledger)
    return {
        "note_taker": llms.ModelNoteTaker(chat),
        "judge_change": llms.ModelChangeJudge(chat),
        "compressor": llms.ModelCompressor(chat),
    }


@contextmanager
def _ended_by_signals(runner: Runner) -> Iterator[None]:
    """Have SIGINT and SIGTERM end the work meanwhile, once what is at hand is done."""
    before = {
        number: signal.signal(number, lambda *_: runner.end())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _logging(quiet: bool) -> Iterator[None]:
    """Have what is said of the work go to stderr meanwhile; Procrastinate says it once more."""
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
    log = logging.getLogger("demem.work")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    log.setLevel(logging.WARNING if quiet else logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = True


def _say_begin(url: str, names: tuple[str, ...], output: Output) -> None:
    if not output.json:
        print_line(f"working on {url}: {', '.join(names)}; SIGTERM ends it")
        sys.stdout.flush()


def _say_end(runner: Runner, ledger: Ledger | None, output: Output) -> None:
    """Print what was done and what waits."""
    backlog = runner.backlog
    document: dict[str, Any] = {
        "done": runner.counts,
        "waiting": dict(backlog.waiting),
        "given_up": backlog.given_up,
    }
    done = ", ".join(f"{kind} {count}" for kind, count in runner.counts.items())
    waiting = sum(backlog.waiting.values())
    parts = [f"Done: {done}. Waiting: {waiting}. Given up: {backlog.given_up}."]
    if ledger is not None:
        document["used"] = used_value(ledger)
        parts.append(spent_words(document["used"]))
    output.show(document, *map(cell, parts))
