"""``demem bench verify FILE``: whether the figures of a run follow from what models replied.

``demem bench submit FILE``: its answers, in the form that a public script marks.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.benchmarks import benchmark_named, digest_of, found
from demem_agent.cli.measuring.protocol import RESULTS
from demem_agent.cli.measuring.submit_options import SubmitOptions
from demem_agent.cli.measuring.systems import systems
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_exact
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.protocol import marks_table
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.protocol.comparing import checks_with_data
from demem_agent.evaluate.protocol.library import this_library
from demem_agent.evaluate.protocol.results import Contents, closing_of, read_results
from demem_agent.evaluate.protocol.submitting import answers_of, contract_named
from demem_agent.evaluate.protocol.verifying import Check, checks_of

__all__ = ["submit", "verify"]

#: Faults of one check that are shown.
_SHOWN = 5
_MARKS = {True: ("agrees", "green"), False: ("does not", "red"), None: ("not known", "yellow")}


def verify(file: Path, data: Path | None, output: Output) -> None:
    """Check a results file, against its data where it is named; leave with 1 where they differ."""
    contents = read_results(_results(file))
    checks = checks_of(contents, this_library())
    if data is not None:
        checks += _with_data(contents, data)
    agrees = all(check.agrees is not False for check in checks)
    figures = closing_of(contents).figures
    document: Json = {
        "file": str(file),
        "agrees": agrees,
        "digest": contents.digest,
        "checks": list(map(asdict, checks)),
        "figures": figures,
    }
    output.show(document, *_parts(contents, checks, figures, data=data))
    if not agrees:
        raise typer.Exit(1)


def submit(
    file: Path, data: Path | None, options: SubmitOptions, system: Sequence[str] | None
) -> None:
    """Print the answers of a run in the form of a script.

    Args:
        system: whose answers; of the first in the file unless one is named.

    Raises:
        UsageError: without the data, which the forms repeat, or for several systems.
        InvalidInput: if the data is another, or answers are missing.
    """
    if system and len(system) > 1:
        raise UsageError("a submission is of one system; name one with --system")
    contents = read_results(_results(file))
    header = contents.header
    contract = contract_named(options.contract, header.benchmark)
    place = found(benchmark_named(header.benchmark), data)
    if digest_of(place) != header.sha256:
        raise InvalidInput("data", str(place), f"the data of the run, {header.data}")
    answers = answers_of(contents, options.run, system[0] if system else None)
    print_exact(contract.written(_entries(place), answers, header.model).rstrip("\n"))


def _results(file: Path) -> Path:
    """Return the results file of a folder, or the file that was named.

    Raises:
        UsageError: if it is not there.
    """
    place = file / RESULTS if file.is_dir() else file
    if not place.is_file():
        raise UsageError(f"there is no file {place}; a run with --model and --out DIR writes it")
    return place


def _entries(data: Path) -> list[dict[str, Any]]:
    content = data.read_bytes()
    if data.suffix == ".gz":
        content = gzip.decompress(content)
    entries: list[dict[str, Any]] = json.loads(content)
    return entries


def _with_data(contents: Contents, data: Path) -> list[Check]:
    benchmark = benchmark_named(contents.header.benchmark)
    place = found(benchmark, data)
    dialogues = (benchmark.for_model or benchmark.load)(place)
    return checks_with_data(
        contents,
        digest_of(place),
        dialogues,
        systems((), dialogues),
        unanswerable=benchmark.unanswerable,
        library=this_library(),
    )


def _parts(
    contents: Contents, checks: Sequence[Check], figures: Json, *, data: Path | None
) -> Iterator[RenderableType]:
    header = contents.header
    yield cell(
        f"{header.data}: {header.model} answers from {header.limit:,} characters, marked by "
        f"{', '.join(header.judges)}; {header.library}, begun {header.began}."
    )
    for check in checks:
        word, style = _MARKS[check.agrees]
        yield cell(f"{check.name}: {word}. {_sentence(check.says)}", style)
        for fault in check.faults[:_SHOWN]:
            yield cell(f"  {fault}")
        if len(check.faults) > _SHOWN:
            yield cell(f"  and {len(check.faults) - _SHOWN:,} more")
    if data is None:
        yield cell("Questions and readings are compared where --data names the data.")
    yield _verdict(checks)
    yield marks_table(figures)


def _verdict(checks: Sequence[Check]) -> RenderableType:
    wrong = [check.name for check in checks if check.agrees is False]
    if wrong:
        return cell(f"It does not agree: {', '.join(wrong)}. From its marks come:", "bold red")
    return cell("All that was looked at agrees. From its marks come:", "bold green")


def _sentence(says: str) -> str:
    return f"{says[:1].upper()}{says[1:]}."
