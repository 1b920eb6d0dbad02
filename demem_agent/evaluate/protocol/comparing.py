"""Compare a results file with the data that it is of, and with what memory reads now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.protocol.library import Library
from demem_agent.evaluate.protocol.lines import Asked, Header, Key, key_of
from demem_agent.evaluate.protocol.posing import Posed, is_posed, posed
from demem_agent.evaluate.protocol.results import Contents
from demem_agent.evaluate.protocol.verifying import Check, named
from demem_agent.evaluate.system import Maker

__all__ = ["checks_with_data"]


def checks_with_data(
    contents: Contents,
    digest: str,
    dialogues: Sequence[Dialogue],
    makers: Mapping[str, Maker],
    *,
    unanswerable: bool,
    library: Library,
) -> list[Check]:
    """Check a file against the data that it is of.

    Args:
        digest: SHA-256 of the data, as the header has it.
        makers: of the systems that are known here; those of others cannot be made again.
        unanswerable: whether questions are posed that nothing answers.
        library: that runs now.
    """
    header = contents.header
    return [
        _same_data(header, digest),
        _same_questions(contents, dialogues, unanswerable=unanswerable),
        _same_readings(contents, dialogues, makers, library, unanswerable=unanswerable),
    ]


def _same_data(header: Header, digest: str) -> Check:
    if header.sha256 == digest:
        return Check("data", True, f"it is the data that was run on: {digest}")
    return Check(
        "data", False, f"the run was on {header.data} of {header.sha256}; this is {digest}"
    )


def _same_questions(
    contents: Contents, dialogues: Sequence[Dialogue], *, unanswerable: bool
) -> Check:
    """Check that the questions of the file are those of the data, with the data's references."""
    made = _of_data(dialogues, unanswerable=unanswerable)
    faults: list[str] = []
    for system in contents.header.systems:
        own = _of_system(contents.questions, system)
        for place in {**made, **own}:
            if own.get(place) != made.get(place):
                how = _how(in_file=place in own, in_data=place in made)
                faults.append(f"{named((system, *place))}: {how}")
    if faults:
        return Check("questions", False, "they are not those of the data", tuple(faults))
    return Check("questions", True, f"{len(made):,} questions and references are those of the data")


#: By dialogue and number: what is asked and when, of which category it is, and the reference.
_Questions = Mapping[tuple[str, int], tuple[str, datetime | None, str, str]]


def _of_data(dialogues: Iterable[Dialogue], *, unanswerable: bool) -> _Questions:
    """Return the questions that are posed of the data."""
    found = {}
    for dialogue in dialogues:
        for number, probe in enumerate(dialogue.probes):
            if is_posed(probe, unanswerable=unanswerable):
                told = (probe.question, probe.at, probe.category, probe.reference)
                found[dialogue.name, number] = told
    return found


def _of_system(lines: Iterable[Asked], system: str) -> _Questions:
    """Return the questions that a file has of one system."""
    found = {}
    for line in lines:
        if line.system == system:
            told = (line.asked, line.at, line.category, line.reference)
            found[line.dialogue, line.question] = told
    return found


def _how(*, in_file: bool, in_data: bool) -> str:
    if not in_file:
        return "missing"
    return "asked otherwise than in the data" if in_data else "not in the data"


def _same_readings(
    contents: Contents,
    dialogues: Sequence[Dialogue],
    makers: Mapping[str, Maker],
    library: Library,
    *,
    unanswerable: bool,
) -> Check:
    """Read anew for every question, and compare, where this is the version that read."""
    header = contents.header
    why = library.why_not(header.library)
    if why:
        return Check("readings", None, f"not made again: {why}")
    known = {name: makers[name] for name in header.systems if name in makers}
    others = ", ".join(name for name in header.systems if name not in makers)
    if not known:
        return Check("readings", None, f"not made again: {others} is not of this library")
    made = posed(dialogues, known, header.limit, unanswerable=unanswerable)
    lines = {key_of(line): line for line in contents.questions}
    faults = list(_faults_of_readings(made, lines))
    if faults:
        return Check("readings", False, "memory reads otherwise", tuple(faults))
    says = f"memory reads the same again for {len(made):,} questions"
    if others:
        says += f"; {others} is not of this library, and was not asked"
    return Check("readings", True, says)


def _faults_of_readings(made: Iterable[Posed], lines: Mapping[Key, Asked]) -> Iterator[str]:
    for one in made:
        line = lines.get(key_of(one))
        if line is None:
            continue
        if line.prompt != one.prompt:
            yield f"{named(key_of(one))}: another reading"
        elif line.recall != one.recall:
            yield f"{named(key_of(one))}: recall is {one.recall}, and not {line.recall}"
