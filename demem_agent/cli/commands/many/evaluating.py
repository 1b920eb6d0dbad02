"""``demem bulk eval``: many dialogues measured by several processes, as one would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

import demem_agent
from demem_agent import SlotMemory
from demem_agent.bulk import Done, Load, loads_of
from demem_agent.cli.commands.many.doing import (
    Totals,
    Workers,
    doing,
    print_compact,
    print_totals,
    shared,
    watched,
)
from demem_agent.cli.commands.many.files import Files
from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.systems import systems
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import Measured
from demem_agent.evaluate.kept import Kept
from demem_agent.evaluate.many import Asked, Evaluated, Evaluating, Task, key_of, merged, tasks_of
from demem_agent.stores import opened_store

__all__ = ["Questions", "Source", "evaluate_many"]

#: Makes a document and tables of records.
Told = Callable[[Sequence[Measured]], tuple[Json, list[RenderableType]]]


@dataclass(frozen=True, slots=True)
class Questions:
    """What eval asks, and where it keeps what came of it."""

    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="eval: files of questions, called as their memories are, or lines with --by.",
        ),
    ] = None
    benchmark: Annotated[
        str | None, typer.Option(metavar="NAME", help="eval: of which benchmark the path is.")
    ] = None
    records: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="eval: keep what each dialogue comes to there, and do not measure it again.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Source:
    """What dialogues are made of.

    Attributes:
        settings: of memories that are made.
    """

    path: Path | None
    place: Place
    tenant: str
    files: Files
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be measured.

    Attributes:
        names: of all dialogues, in the order in which one process measures them.
        store: that has the memories; None where they are made.
        told: makes a document and tables of the records.
    """

    tasks: Sequence[Task]
    names: Sequence[str]
    told: Told
    store: str | None = None


def evaluate_many(source: Source, questions: Questions, trial: Trial, who: Workers) -> None:
    """Measure dialogues, and print what one process would print of them.

    Raises:
        Exit: where a dialogue could not be measured. It is named, and there is no table, since its
            means would be of other questions.
    """
    trial.ready()
    wanted = _wanted(source, questions, trial)
    work = _work(source, trial, wanted.store)
    if questions.records is None:
        done = doing(work, wanted.tasks, who)
    else:
        done = _resumed(work, wanted.tasks, who, questions.records, trial.system or ())
    totals = Totals()
    measured: list[Measured] = []
    for one in watched(done, len(wanted.tasks), who.json, totals):
        if isinstance(one, Evaluated):
            measured += one.measured
    if totals.failed:
        print_totals(totals, who.json)
        raise typer.Exit(1)
    document, parts = wanted.told(merged(wanted.names, measured))
    if who.json:
        print_compact({**asdict(totals), "report": document})
    else:
        Output().show(document, *parts)


def _wanted(source: Source, questions: Questions, trial: Trial) -> _Wanted:
    if questions.benchmark is not None:
        if questions.questions is not None or source.files != Files():
            raise UsageError("a benchmark has its questions and its format; name it alone")
        return _of_benchmark(source, questions.benchmark, trial)
    if questions.questions is None:
        raise UsageError("which questions? --questions PATH, or --benchmark NAME for its file")
    asked = loads_of(questions.questions, source.files.by)
    if source.path is None:
        return _of_store(source, asked, trial)
    return _of_files(source, source.path, asked, trial)


def _of_benchmark(source: Source, name: str, trial: Trial) -> _Wanted:
    from demem_agent.cli.measuring.benchmarks import benchmark_named, loaded
    from demem_agent.cli.measuring.readings import told_of_benchmark

    dialogues = loaded(benchmark_named(name), source.path, "PATH")
    names = [dialogue.name for dialogue in dialogues]
    return _Wanted(tasks_of(dialogues), names, partial(told_of_benchmark, name, trial=trial))


def _of_files(source: Source, path: Path, asked: Sequence[Load], trial: Trial) -> _Wanted:
    told = {load.memory_id: load for load in loads_of(path, source.files.by)}
    _require_known(asked, told, f"a file of {path}")
    questions = {load.memory_id: load for load in asked}
    names = [name for name in told if name in questions]
    tasks = [Asked(name, questions[name], told[name]) for name in names]
    return _Wanted(tasks, names, partial(trial.told, data=path.name))


def _of_store(source: Source, asked: Sequence[Load], trial: Trial) -> _Wanted:
    if source.settings:
        raise UsageError("a memory that is there has its own settings; leave them out")
    source.place.require_file()
    with opened_store(source.place.url) as opened:
        known = {one.memory_id: one for one in opened.survey(source.tenant)}
    _require_known(asked, known, f"a memory of {source.place.shown}")
    questions = {load.memory_id: load for load in asked}
    names = [name for name in known if name in questions]
    tasks = [Asked(name, questions[name], state=repr(known[name])) for name in names]
    data = source.place.shown
    return _Wanted(tasks, names, partial(trial.told, data=data), shared(source.place))


def _require_known(asked: Iterable[Load], known: Iterable[str], allowed: str) -> None:
    names = set(known)
    for load in asked:
        if load.memory_id not in names:
            raise InvalidInput("questions", load.memory_id, f"named as {allowed} is")


def _work(source: Source, trial: Trial, store: str | None) -> Evaluating:
    SlotMemory(**source.settings, **source.place.options())  # checks them before all is measured
    named = tuple(map(_absolute, trial.system or ()))
    return Evaluating(
        systems=partial(systems, named),
        limits=tuple(trial.limits),
        settings=source.settings,
        encoder=source.place.encoder,
        store=store,
        tenant=source.tenant,
        format=source.files.named(),
        how=source.files.how(),
    )


def _absolute(system: str) -> str:
    """Return a system by a name that is the same in every folder: workers have their own."""
    file, colon, maker = system.rpartition(":")
    return f"{Path(file).resolve()}:{maker}" if colon else system


def _resumed(
    work: Evaluating, tasks: Sequence[Task], who: Workers, path: Path, named: Sequence[str]
) -> Iterator[Done]:
    """Yield what is kept of tasks, and then what the others come to, which is kept."""
    kept = Kept(path)
    by = tuple(_by(work, named))
    keys: dict[str, str] = {}
    left: list[Task] = []
    for task in tasks:
        name = work.named(task)
        keys[name] = key_of(task, *by)
        before = kept.of(keys[name])
        if before is None:
            left.append(task)
        else:
            yield Evaluated(name, known=len(before), measured=tuple(before))
    for done in doing(work, left, who):
        if isinstance(done, Evaluated):
            kept.keep(keys[done.memory_id], done.measured)
        yield done


def _by(work: Evaluating, named: Sequence[str]) -> Iterator[object]:
    """Yield all that records depend on beside the dialogue: by what it is measured, and how."""
    yield demem_agent.__version__
    yield work.limits
    yield work.settings
    yield work.encoder
    yield work.store
    yield work.tenant
    yield work.format
    yield work.how
    for system in named:
        file, colon, maker = system.rpartition(":")
        code = sha256(Path(file).read_bytes()).hexdigest() if colon else ""
        yield maker, code
