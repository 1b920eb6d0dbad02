"""Check a results file by itself: that what it says follows from what models replied.

Every answer is made again from the replies in the file by the code of a run, with nobody asked: the
prompts that it sends must be those of the file, and what comes of the replies the answers and marks
that stand there. Whoever edits a file and makes its digest anew has still to make all of that
agree. A reply that is changed together with all that follows from it cannot be told from the file
alone: then the digest differs from the one that was published with the figures.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from demem_agent.evaluate.protocol.calls import Heard, Replayed
from demem_agent.evaluate.protocol.library import Library
from demem_agent.evaluate.protocol.lines import (
    Answered,
    Asked,
    Header,
    Key,
    instructions,
    key_of,
    sha256,
)
from demem_agent.evaluate.protocol.posing import Posed
from demem_agent.evaluate.protocol.results import Contents, closing_of
from demem_agent.evaluate.protocol.run import Mark, Panel, answered

__all__ = ["Check", "checks_of", "named"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: what it is of, in a word.
        agrees: None where it could not be looked at.
        says: what was found, in words.
        faults: each place that does not agree.
    """

    name: str
    agrees: bool | None
    says: str
    faults: tuple[str, ...] = ()


def checks_of(contents: Contents, library: Library) -> list[Check]:
    """Check a file by itself.

    Args:
        library: that runs now.
    """
    return [
        _closed(contents),
        _complete(contents),
        _instructed(contents.header, library),
        _replayed(contents),
        _figures(contents),
    ]


def _closed(contents: Contents) -> Check:
    closing = contents.closing
    if closing is None or contents.torn:
        end = "in the middle of a line" if contents.torn else "without a closing line"
        return Check("digest", False, f"the file ends {end}: it was cut off, or is still written")
    if closing.digest != contents.digest:
        found = f"the digest is {contents.digest}, and not {closing.digest} as it says"
        return Check("digest", False, f"lines were changed: {found}")
    return Check("digest", True, f"the lines are those that were closed: {contents.digest}")


def _complete(contents: Contents) -> Check:
    header = contents.header
    faults = [*_faults_of_questions(contents), *_faults_of_answers(contents)]
    expected = len(contents.questions) * header.runs
    marked = sum(not mark.failed for mark in contents.counted)
    if marked != expected:
        faults.append(f"{expected - marked:,} of {expected:,} answers are missing or failed")
    if faults:
        return Check("answers", False, "not every question is answered R times", tuple(faults))
    says = f"{len(contents.questions):,} questions are answered and marked {header.runs} times each"
    return Check("answers", True, says)


def _faults_of_questions(contents: Contents) -> Iterator[str]:
    header = contents.header
    for key, count in Counter(map(key_of, contents.questions)).items():
        if count > 1:
            yield f"{named(key)} stands there {count} times"
    systems = Counter(line.system for line in contents.questions)
    for system in {*header.systems, *systems}:
        if systems[system] != header.questions:
            yield f"{systems[system]:,} questions of {system}, and not {header.questions:,}"
    if set(systems) != set(header.systems):
        yield f"questions are of {', '.join(systems)}, and not {', '.join(header.systems)}"
    if header.seeds != tuple(range(header.runs)):
        yield f"seeds {header.seeds} are not those of {header.runs} runs"


def _faults_of_answers(contents: Contents) -> Iterator[str]:
    categories = {key_of(line): line.category for line in contents.questions}
    whole: set[tuple[int, Key]] = set()
    for line in contents.answers:
        key = key_of(line)
        if key not in categories:
            yield f"{_answer_named(line)} is of no question in the file"
        elif line.category != categories[key]:
            yield f"{_answer_named(line)} is of another category than its question"
        if not line.run == line.seed < contents.header.runs:
            yield f"{_answer_named(line)} has the seed {line.seed}"
        if (line.run, key) in whole:
            yield f"{_answer_named(line)} was made again, though it had not failed"
        if not line.failed:
            whole.add((line.run, key))


def _instructed(header: Header, library: Library) -> Check:
    """Check the instructions: their digests, and whether they are those that ship here."""
    shipped = instructions()
    faults: list[str] = []
    for name, told in header.prompts.items():
        if told.sha256 != sha256(told.text.encode("utf-8", "surrogatepass")):
            faults.append(f"the digest of {name} is not that of its text")
    others = [name for name, told in shipped.items() if header.prompts.get(name) != told]
    if faults:
        return Check("instructions", False, "they were changed", tuple(faults))
    if not others:
        return Check("instructions", True, "models were told what this version tells them")
    if library.is_surely(header.library):
        says = f"{', '.join(others)} are not as this version has them"
        return Check("instructions", False, says)
    says = f"{', '.join(others)} are of {header.library}, and other ones here"
    return Check("instructions", None, says)


def _replayed(contents: Contents) -> Check:
    """Make every answer again from the replies in the file."""
    header = contents.header
    judges = tuple(Replayed(name) for name in header.judges)
    panel = Panel(Replayed(header.model), judges, header.runs)
    questions = {key_of(line): line for line in contents.questions}
    faults = list(_faults_of_prompts(questions))
    faults += asyncio.run(_faults_of_replies(contents.answers, questions, panel))
    if faults:
        says = "some do not follow from what models were asked and replied"
        return Check("marks", False, says, tuple(faults))
    calls = sum(len(line.calls) for line in contents.answers)
    says = f"answers and marks follow from {calls:,} calls, whose prompts are as they should be"
    return Check("marks", True, says)


def _faults_of_prompts(questions: Mapping[Key, Asked]) -> Iterator[str]:
    for key, line in questions.items():
        if line.posed.prompt != line.prompt or line.size > len(line.prompt):
            yield f"{named(key)}: the prompt is not made of its reading and its question"


async def _faults_of_replies(
    answers: Iterable[Answered], questions: Mapping[Key, Asked], panel: Panel
) -> list[str]:
    faults: list[str] = []
    made: dict[Key, Posed] = {}
    for line in answers:
        key = key_of(line)
        if key not in questions:
            continue
        if key not in made:
            made[key] = questions[key].posed
        heard = Heard(questions[key].prompt, line.calls)
        again, _ = await answered(made[key], line.run, panel, heard)
        fault = _difference(line.mark, again, heard.left)
        if fault:
            faults.append(f"{_answer_named(line)}: {fault}")
    return faults


def _difference(mark: Mark, again: Mark, left: int) -> str:
    """Say in what a mark differs from the one that its calls make; "" where it does not."""
    if again.failed == "not recorded" and mark.failed and not left:
        # What failed may have been stopped before a call was made.
        return "" if not (mark.binary or mark.graded or mark.answer) else "it failed, and is marked"
    if again.failed == "not recorded":
        return "a prompt is not as its question, its answer and the settings make it"
    if left:
        return f"{left} calls are of no use to it"
    if mark.failed != again.failed:
        return "how it failed is not how its calls did"
    if (mark.answer, mark.useless) != (again.answer, again.useless):
        return "the answer is not what the model replied"
    if (mark.binary, mark.graded) != (again.binary, again.graded):
        return "the marks are not those that the judges gave"
    if mark.size != again.size:
        return "the size is not that of its reading"
    if mark.seconds != again.seconds:
        return "the seconds are not those of its reading and its calls"
    return ""


def _figures(contents: Contents) -> Check:
    closing = contents.closing
    if closing is None:
        return Check("figures", None, "there is no closing line with figures")
    made = closing_of(contents)
    faults = list(_differing(closing.figures, made.figures, "figures"))
    faults += _differing(closing.used, made.used, "used")
    if closing.answers != made.answers:
        faults.append(f"answers: {closing.answers}, and from the lines {made.answers}")
    if faults:
        says = "they are not what the marks come to"
        return Check("figures", False, says, tuple(faults))
    return Check("figures", True, "every figure is what the marks come to")


def _differing(told: object, made: object, where: str) -> Iterator[str]:
    """Yield each place at which two JSON values differ."""
    if isinstance(told, dict) and isinstance(made, dict):
        for name in {**made, **told}:
            yield from _differing(told.get(name), made.get(name), f"{where}.{name}")
    elif isinstance(told, list) and isinstance(made, list) and len(told) == len(made):
        for place, (first, second) in enumerate(zip(told, made, strict=True)):
            yield from _differing(first, second, f"{where}[{place}]")
    elif told != made or type(told) is not type(made):
        yield f"{where}: {told}, and from the lines {made}"


def named(key: Key) -> str:
    """Say which question it is."""
    system, dialogue, question = key
    return f"question {question} of {dialogue} ({system})"


def _answer_named(line: Answered) -> str:
    return f"run {line.run}, {named(key_of(line))}"
