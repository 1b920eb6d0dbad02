"""The file of a run with a model: every prompt, reply, mark and seed, one JSON object a line.

First a header, then a line for each question with what was read for it, then a line for each answer
with all calls behind it, in the order in which they came, and last a closing line with the figures
and a digest: the SHA-256 of all lines before it, as ``head -n -1 FILE | sha256sum`` prints it. The
file is written as the run goes. One that was cut off is gone on with: what failed or is missing is
asked again, and nothing else. Lines of attempts that failed stay.

Neither addresses nor keys of providers are in it. What was remembered and asked is, so it is as
private as that.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from demem_agent.errors import InvalidInput, StoreError
from demem_agent.evaluate.arena import arena_by_system
from demem_agent.evaluate.protocol.calls import Line
from demem_agent.evaluate.protocol.lines import (
    LINE,
    Answered,
    Asked,
    Closing,
    Header,
    key_of,
    sha256,
)
from demem_agent.evaluate.protocol.posing import Posed
from demem_agent.evaluate.protocol.reporting import figures_of
from demem_agent.evaluate.protocol.run import Mark
from demem_agent.llms.model import Usage

__all__ = ["Contents", "Results", "closing_of", "read_results", "resumed", "with_times"]

#: What the header of any such file begins with, of whatever version.
_BEGINNING = b'{"line": "header", "format": "demem-bench '
#: What may differ between the beginning of a run and its going on.
_OF_THE_MOMENT = {"began", "commit"}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a results file holds.

    Attributes:
        digest: SHA-256 of all lines but the closing one.
        size: bytes of these lines.
        torn: whether a line without an end follows, as where a run was killed.
    """

    header: Header
    questions: tuple[Asked, ...]
    answers: tuple[Answered, ...]
    closing: Closing | None
    digest: str
    size: int
    torn: bool

    @property
    def marks(self) -> list[Mark]:
        """The marks of all attempts, in the order of the file."""
        return [line.mark for line in self.answers]

    @property
    def counted(self) -> list[Mark]:
        """The marks that figures are of: the last of each answer, by run and question."""
        last = {mark.place: mark for mark in self.marks if not mark.ended}
        found: list[Mark] = []
        for run in range(self.header.runs):
            places = [(run, *key_of(line)) for line in self.questions]
            found += [last[place] for place in places if place in last]
        return found


class Results:
    """A results file that a run adds to; safe to use from several threads.

    Args:
        path: made when there is none.
        had: what is in it already; see :func:`resumed`.
    """

    def __init__(
        self, path: Path, header: Header, questions: Iterable[Posed], had: Contents | None
    ) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._size = had.size if had else 0
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.truncate(self._size)
        if had is None:
            self._append(header)
        there = {key_of(line) for line in had.questions} if had else set()
        for one in questions:
            if key_of(one) not in there:
                self._append(Asked.of(one))

    def add(self, mark: Mark) -> None:
        """Add an answer."""
        self._append(Answered.of(mark))

    def close(self) -> Closing:
        """Add the closing line, and return it."""
        closing = closing_of(read_results(self._path))
        self._append(closing)
        return closing

    def _append(self, line: Line) -> None:
        """Add a line.

        Raises:
            StoreError: if somebody else has added to the file.
        """
        text = json.dumps(line.model_dump(mode="json"), allow_nan=False) + "\n"
        with self._lock, self._path.open("ab") as file:
            if file.tell() != self._size:
                says = "another run writes there, and each needs a folder of its own"
                raise StoreError(f"{self._path} has changed: {says}")
            self._size += file.write(text.encode())


def resumed(path: Path, header: Header, questions: Sequence[Posed]) -> Contents | None:
    """Return what a file holds of this very run, None where it is not there yet.

    Raises:
        InvalidInput: for another file, or naming what is not as in the run that the file is of.
    """
    if not path.exists() or not _has_header(path):
        return None
    had = read_results(path)
    _check_header(path, had.header, header)
    lines = {key_of(line): line for line in had.questions}
    for one in questions:
        line = lines.get(key_of(one))
        if line is not None and not _asks_the_same(line, Asked.of(one)):
            _, dialogue, number = key_of(one)
            field = f"question {number} of {dialogue}"
            expected = f"asked and read as in {path}; name another folder to begin anew"
            raise InvalidInput(field, "another", expected)
    return had


def with_times(questions: Iterable[Posed], had: Contents | None) -> list[Posed]:
    """Return questions with the time that reading for them took when the run began."""
    took = {key_of(line): line.seconds for line in had.questions} if had else {}
    return [replace(one, seconds=took.get(key_of(one), one.seconds)) for one in questions]


def read_results(path: Path) -> Contents:
    """Read a results file.

    Raises:
        InvalidInput: if it cannot be read or is none, or naming the line that is not as it should
            be.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput("file", str(path), f"a readable file ({error.strerror})") from error
    lines = content.split(b"\n")
    torn = lines.pop()
    if not content.startswith(_BEGINNING) or not lines:
        raise InvalidInput("file", str(path), "the results.jsonl of a run with a model")
    found = list(_parsed(lines))
    size = len(content) - len(torn)
    closing = found.pop() if isinstance(found[-1], Closing) else None
    if closing is not None:
        size -= len(lines[-1]) + 1
    header, *rest = found
    if not isinstance(header, Header):
        raise InvalidInput("line 1", "another line", "the header")
    for number, line in enumerate(rest, 2):
        if isinstance(line, Header | Closing):
            raise InvalidInput(f"line {number}", line.line, "a question or an answer")
    return Contents(
        header=header,
        questions=tuple(line for line in rest if isinstance(line, Asked)),
        answers=tuple(line for line in rest if isinstance(line, Answered)),
        closing=closing if isinstance(closing, Closing) else None,
        digest=sha256(content[:size]),
        size=size,
        torn=bool(torn),
    )


def closing_of(contents: Contents) -> Closing:
    """Return the closing line that a file should have, made from its other lines alone."""
    header = contents.header
    figures = figures_of(contents.counted, header.judges, header.runs, contents.questions)
    if header.benchmark == "memoryarena":
        figures["arena"] = arena_by_system(contents.counted)
    used = Usage()
    for line in contents.answers:
        for call in line.calls:
            if not call.kept:
                used += call.usage
    return Closing(
        answers=len(contents.answers), figures=figures, used=asdict(used), digest=contents.digest
    )


def _parsed(lines: Iterable[bytes]) -> Iterator[Line]:
    for number, line in enumerate(lines, 1):
        try:
            # Not parsed by pydantic, which has no lone surrogates, as what people write may.
            yield LINE.validate_python(json.loads(line))
        except (ValueError, RecursionError) as error:
            expected = f"a line of a results file ({_fault(error)})"
            shown = line[:60].decode(errors="replace")
            raise InvalidInput(f"line {number}", shown, expected) from error


def _fault(error: Exception) -> str:
    """Say where a line is not as it should be."""
    if not isinstance(error, ValidationError):
        return "no JSON"
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, fault["loc"])) or "the whole"
    return f"{place}: {fault['msg']}"


def _has_header(path: Path) -> bool:
    """Whether a file has a header; one that was cut off within it is begun anew.

    Raises:
        InvalidInput: if it is another file.
    """
    with path.open("rb") as file:
        first = file.readline()
    begins = first.startswith(_BEGINNING) or _BEGINNING.startswith(first)
    if not begins:
        raise InvalidInput("out", str(path), "a file of a run with a model, or none yet")
    return first.endswith(b"\n")


def _check_header(path: Path, had: Header, now: Header) -> None:
    for name in Header.model_fields:
        before, wanted = getattr(had, name), getattr(now, name)
        if name not in _OF_THE_MOMENT and before != wanted:
            expected = f"{_short(before)}, as in {path}; name another folder to begin anew"
            raise InvalidInput(name, _short(wanted), expected)


def _short(value: object) -> str:
    return str(value)[:60]


def _asks_the_same(had: Asked, now: Asked) -> bool:
    return had == now.model_copy(update={"seconds": had.seconds})
