"""``demem cool``: put memories aside that are not used."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.safekeeping import Cooled, put_aside

__all__ = ["cool"]


def cool(
    output: Output,
    to: Annotated[
        str,
        typer.Option(metavar="URL", help="Where they go: file:///var/cold, s3://bucket/prefix."),
    ],
    file: File = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory", "-m", metavar="PATH", envvar="DEMEM_MEMORY", help="The same as FILE."
        ),
    ] = None,
    older_than: Annotated[
        float, typer.Option(metavar="DAYS", min=0, help="Since they were last written to.")
    ] = 30,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of this tenant alone. [of all]")
    ] = None,
) -> None:
    """Put memories aside that were not written to for a while; who opens one has it put back.

    The first time the file is only made ready for that: start anew what has it open, and call it
    again.
    """
    place = Place(memory).at(file)
    place.require_file()
    done = put_aside(place.url, to=to, days=older_than, tenant=tenant)
    output.show(asdict(done), cell(_said(done, to)))


def _said(done: Cooled, to: str) -> str:
    if not done.was_ready:
        return "made ready; start anew what has it open, and then call this again"
    memories = "1 memory" if done.memories == 1 else f"{done.memories} memories"
    said = f"{memories} with {done.items:,} items put aside at {to}, {done.size:,} bytes"
    return f"{said}; {done.busy} were written to meanwhile" if done.busy else said
