"""A row of MemoryArena as sub-tasks: what was said in each, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from demem_agent.evaluate.data.plain import Entry
from demem_agent.turns import Turn, text_field

__all__ = ["SUBSETS", "TRAVEL", "Result", "Row", "Task", "common_turns", "tasks_of"]

#: As the data set names them; a row whose file names none is told by its fields.
SUBSETS = (
    "bundled_shopping",
    "group_travel_planner",
    "progressive_search",
    "formal_reasoning_math",
    "formal_reasoning_phys",
)

TRAVEL = "group_travel_planner"
_NAME = re.compile(r"\s*I(?: a|['’])m (\w+)\.")
#: Under these names a plan says which day it is for.
_DAYS = ("days", "day")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        name: its subset and its id.
        where: its place in words.
        fields: as they stand in the file.
    """

    name: str
    subset: str
    where: str
    fields: Entry


@dataclass(frozen=True, slots=True)
class Result:
    """One turn of a result, and the day that it plans; "" where it plans none."""

    day: str
    turn: Turn


@dataclass(frozen=True, slots=True)
class Task:
    """A sub-task as memory holds it: what is said before its results, and these.

    Attributes:
        number: from 1; 0 is the plan that stands before the first sub-task.
        person: who travels; "" where nobody does.
    """

    number: int
    question: str
    background: str
    person: str
    said: tuple[Turn, ...]
    results: tuple[Result, ...]

    def turns(self) -> list[Turn]:
        """Return all turns in order."""
        return [*self.said, *(result.turn for result in self.results)]

    def ids(self, days: frozenset[str] = frozenset()) -> Iterator[str]:
        """Yield the ids of the results, of these days if there are any."""
        for result in self.results:
            if not days or result.day in days:
                yield result.turn.source_id or ""


def tasks_of(row: Row) -> list[Task]:
    """Return the sub-tasks in order, the first traveller's plan ahead of them.

    Raises:
        InvalidInput: naming the question that is no text.
    """
    answers = row.fields["answers"]
    backgrounds = _own_backgrounds(row)
    tasks = list(_base(row.fields.get("base_person")))
    for place, asked in enumerate(row.fields["questions"]):
        question = text_field(f"{row.where}: questions[{place}]", asked)
        background = backgrounds[place] if backgrounds else ""
        person = _traveller(question) if row.subset == TRAVEL else ""
        tasks.append(_task(place + 1, question, background, person, answers[place]))
    return tasks


def common_turns(row: Row) -> tuple[Turn, ...]:
    """Return a background that is not split by sub-task: the card allows one text for all."""
    if _own_backgrounds(row):
        return ()
    background = _text(row.fields.get("backgrounds"))
    return _present([_turn(0, "background", background)])


def _task(number: int, question: str, background: str, person: str, answer: object) -> Task:
    said = (
        _turn(number, "background", background),
        _turn(number, "question", question, person or "user"),
    )
    return Task(
        number=number,
        question=question,
        background=background,
        person=person,
        said=_present(said),
        results=tuple(_results(number, person, answer)),
    )


def _traveller(question: str) -> str:
    found = _NAME.match(question)
    return found[1] if found else ""


def _base(person: object) -> Iterator[Task]:
    """Yield the first traveller, whose plan stands before the first sub-task, as sub-task 0."""
    if not isinstance(person, Mapping):
        return
    name = _text(person.get("name"))
    query = _text(person.get("query"))
    task = _task(0, query, "", name, person.get("daily_plans"))
    if task.results:
        yield task


def _own_backgrounds(row: Row) -> list[str]:
    given = row.fields.get("backgrounds")
    if not isinstance(given, list) or len(given) != len(row.fields["questions"]):
        return []
    return list(map(_text, given))


def _results(number: int, person: str, answer: object) -> Iterator[Result]:
    """Yield a turn for each day of a plan, and one for any other answer; what is blank has none."""
    for result in _all_results(number, person, answer):
        if result.turn.text:
            yield result


def _all_results(number: int, person: str, answer: object) -> Iterator[Result]:
    if not _is_plan(answer):
        yield Result("", _turn(number, "result", _text(answer), "assistant"))
        return
    for place, planned in enumerate(answer, 1):
        yield _planned(number, person, place, planned)


def _is_plan(answer: object) -> TypeGuard[list[Entry]]:
    """Whether an answer is a list of days."""
    return isinstance(answer, list) and all(isinstance(day, Mapping) for day in answer)


def _planned(number: int, person: str, place: int, planned: Entry) -> Result:
    day = str(planned.get("days") or planned.get("day") or place)
    whose = f"{person}'s plan for day {day}" if person else f"Plan for day {day}"
    rest = {key: value for key, value in planned.items() if key not in _DAYS}
    what = _text(rest)
    text = f"{whose}: {what}" if what else ""
    return Result(day, _turn(number, f"day {place}", text, "assistant"))


def _turn(number: int, what: str, text: str, speaker: str = "user") -> Turn:
    return Turn(
        text=text,
        speaker=speaker,
        session=f"task {number}",
        source="memoryarena",
        source_id=f"{number}:{what}",
    )


def _present(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    return tuple(turn for turn in turns if turn.text.strip())


def _text(value: object) -> str:
    """Write any answer as a line of text; what is missing, or a dash in a plan, is left out."""
    if isinstance(value, Mapping):
        return "; ".join(_named_parts(value))
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    text = "" if value is None else str(value).strip()
    return "" if text == "-" else text


def _named_parts(value: Mapping[object, object]) -> Iterator[str]:
    for key, part in value.items():
        name = str(key).replace("_", " ")
        text = _text(part)
        if text:
            yield f"{name}: {text}"
