"""Which memories are served, and where their keys are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Place

__all__ = ["Served"]

#: Of a folder, or of the working directory where nothing is named.
_FILE = "demem.db"


@dataclass(frozen=True, slots=True)
class Served:
    """The store that is served and the file of its keys."""

    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            "--memory",
            "-m",
            metavar="PATH",
            envvar="DEMEM_MEMORY",
            help=f"SQLite file, its folder, or URL. [{_FILE}]",
        ),
    ] = None
    keys: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="File of the keys. [beside the store, .keys]"),
    ] = None

    @property
    def url(self) -> str:
        """The URL of the store."""
        given = Place(self.store or _FILE)
        if given.path is not None and given.path.is_dir():
            return Place(str(given.path / _FILE)).url
        return given.url

    @property
    def keys_path(self) -> str | None:
        """The file of the keys; None for a store in RAM, which has none unless they are named."""
        if self.keys is not None:
            return self.keys
        path = Place(self.url).path
        return None if path is None else f"{path}.keys"

    def require_folder(self) -> None:
        """Raise UsageError unless there are folders in which the files can be made."""
        Place(self.url).require_folder()
        if self.keys is not None and not Path(self.keys).absolute().parent.is_dir():
            raise UsageError(f"there is no folder to make {self.keys} in")
