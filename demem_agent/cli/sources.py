"""What ``demem ingest`` remembers: a file, or what is piped in, as turns with a key each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

import typer

from demem_agent import imports
from demem_agent.cli.faults import UsageError
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import Dialogue, load_locomo
from demem_agent.imports.own import keyed
from demem_agent.imports.stamps import Dates
from demem_agent.imports.wanted import Extra

__all__ = ["FORMATS", "STDIN", "Source"]

FORMATS = ("auto", *imports.FORMATS, "locomo")
#: The name of a file that stands for standard input.
STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Source:
    """How a file is read, and by which name its turns are known."""

    format: Annotated[
        str,
        typer.Option(
            metavar="|".join(FORMATS), help="What the file is; auto goes by what is in it."
        ),
    ] = "auto"
    sample: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which dialogue of a LoCoMo file, such as conv-26."),
    ] = None
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name that the turns are known by; the file's own unless given."
        ),
    ] = None
    tools: Annotated[
        bool, typer.Option("--tools", help="Remember calls of tools and their results as well.")
    ] = False
    speaker: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME", help="Who a role in messages is: user=Ana; may be given again."
        ),
    ] = None
    extra: Annotated[
        str,
        typer.Option(
            metavar="refuse|drop|metadata",
            help="What becomes of fields that a turn has no place for.",
        ),
    ] = "refuse"
    dates: Annotated[
        str | None,
        typer.Option(
            metavar="day|month",
            help="What dates in a chat begin with; told by the file unless given.",
        ),
    ] = None

    def read(self, file: Path) -> imports.Import:
        """Begin to read; ``auto`` goes by what is in the file.

        Raises:
            InvalidInput: for an unknown format, a damaged file, or a LoCoMo file of which one
                sample must be named.
            UsageError: if there is no such file.
        """
        if file.is_dir():
            raise UsageError(f"{file} is a folder, not a file")
        if file != STDIN and not file.exists():
            raise UsageError(f"there is no file {file}")
        format = "text" if self.format == "txt" else self.format
        if format not in FORMATS:
            raise InvalidInput("format", format, f"one of {', '.join(FORMATS)}")
        if format == "locomo":
            return self._locomo(file)
        if self.sample is not None:
            raise InvalidInput("sample", self.sample, "left out, except for the format locomo")
        return imports.read(
            typer.get_text_stream("stdin", "utf-8") if file == STDIN else file,
            None if format == "auto" else format,
            name=self.name or ("stdin" if file == STDIN else None),
            tools=self.tools,
            speakers=_named(self.speaker or ()),
            extra=cast(Extra, self.extra),
            dates=cast(Dates | None, self.dates),
        )

    def _locomo(self, file: Path) -> imports.Import:
        dialogue = _sampled(file, self.sample)
        name = self.name or dialogue.name
        return imports.Import("locomo", name, keyed(dialogue.turns, "locomo", name), [])


def _named(speakers: Sequence[str]) -> dict[str, str]:
    """Return who each role is."""
    found: dict[str, str] = {}
    for given in speakers:
        role, _, name = given.partition("=")
        if not role or not name:
            raise InvalidInput("speaker", given, "a role or name and who that is: user=Ana")
        found[role] = name
    return found


def _sampled(file: Path, sample: str | None) -> Dialogue:
    dialogues = load_locomo(file, sample)
    if len(dialogues) > 1:
        names = ", ".join(dialogue.name for dialogue in dialogues)
        expected = f"one of {names}, since the file holds several dialogues"
        raise InvalidInput("sample", sample, expected)
    return dialogues[0]
