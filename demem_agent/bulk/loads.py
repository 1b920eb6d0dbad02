"""Which memory is told what: a file each, or lines that name their memory in a field."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Unpack

from demem_agent import imports
from demem_agent.errors import InvalidInput
from demem_agent.imports.reading import How
from demem_agent.later import dataclass
from demem_agent.turns import Turn, text_field

__all__ = ["Load", "Piece", "loads_of"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or those of its lines that are of one memory.

    Attributes:
        path: of the file, absolute.
        name: below the folder that was named; turns of lines without an id are known by it.
        field: of each line, which names the memory; None for the whole file.
        starts: of these lines, in bytes from the beginning of the file, in order.
    """

    path: Path
    name: str
    field: str | None = None
    starts: array[int] | None = None

    def turns(self, format: str | None = None, **how: Unpack[How]) -> Iterator[Turn]:
        """Yield the turns, each with a key that is the same whenever they are read.

        Args:
            format: of a file; lines are JSON. The others as for :func:`demem_agent.imports.read`.

        Raises:
            InvalidInput: for what cannot be read.
        """
        if self.starts is None:
            return imports.turns(self.path, format, **how)
        how["name"] = self.name
        return imports.turns(list(self.values()), **how)

    def values(self) -> Iterator[Mapping[str, Any]]:
        """Yield the objects of lines that name their memory, without the field that does."""
        for line in self.lines():
            value = json.loads(line)
            value.pop(self.field)
            yield value

    def lines(self) -> Iterator[bytes]:
        """Yield the lines as they stand in the file.

        Raises:
            InvalidInput: for a file that cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                yield from file if self.starts is None else _lines_at(file, self.starts)
        except OSError as error:
            allowed = f"a readable file ({error.strerror})"
            raise InvalidInput("path", str(self.path), allowed) from error


@dataclass(frozen=True, slots=True)
class Load:
    """What one memory is told, in this order."""

    memory_id: str
    pieces: tuple[Piece, ...]


def loads_of(path: Path, by: str | None = None) -> list[Load]:
    """Return what each memory is to be told, by what is in a file or a folder.

    A file is one memory, which is called as it is without its extension: ``team/ana.jsonl`` below
    the folder is ``team/ana``. With ``by`` files are JSON lines, and each line names its memory in
    that field. Names that begin with a dot are passed over.

    Raises:
        InvalidInput: for no such file, two files of one name, or a line without the field.
    """
    files = _files(path)
    return _by_file(files) if by is None else _by_field(files, by)


def _lines_at(file: BinaryIO, starts: Iterable[int]) -> Iterator[bytes]:
    for start in starts:
        file.seek(start)
        yield file.readline()


def _files(path: Path) -> list[tuple[str, Path]]:
    """Return files by their names below the folder, in order of these."""
    whole = path.absolute()
    if whole.is_file():
        return [(whole.name, whole)]
    if not whole.is_dir():
        raise InvalidInput("path", str(path), "a file or a folder that is there")
    below = ((file.relative_to(whole), file) for file in whole.rglob("*") if file.is_file())
    named = [(at.as_posix(), file) for at, file in below if not _is_hidden(at)]
    return sorted(named)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _by_file(files: list[tuple[str, Path]]) -> list[Load]:
    loads: dict[str, Load] = {}
    for name, file in files:
        memory_id = str(Path(name).with_suffix("").as_posix())
        if memory_id in loads:
            other = loads[memory_id].pieces[0].name
            raise InvalidInput("path", name, f"of another name than {other}, but for its extension")
        loads[memory_id] = Load(memory_id, (Piece(file, name),))
    return list(loads.values())


def _by_field(files: list[tuple[str, Path]], field: str) -> list[Load]:
    pieces: dict[str, list[Piece]] = {}
    for name, file in files:
        for memory_id, starts in _starts(name, file, field).items():
            pieces.setdefault(memory_id, []).append(Piece(file, name, field, starts))
    return [Load(memory_id, tuple(these)) for memory_id, these in pieces.items()]


def _starts(name: str, file: Path, field: str) -> dict[str, array[int]]:
    """Return where the lines of each memory begin."""
    found: dict[str, array[int]] = {}
    start = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                memory_id = _memory_of(line, field, f"{name} line {number}")
                found.setdefault(memory_id, array("Q")).append(start)
            start += len(line)
    return found


def _memory_of(line: bytes, field: str, where: str) -> str:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise InvalidInput(where, line[:40], "an object of JSON") from error
    if not isinstance(value, Mapping) or field not in value:
        raise InvalidInput(where, line[:40], f"an object of JSON with the field {field}")
    return text_field(f"{where}: {field}", value[field])
