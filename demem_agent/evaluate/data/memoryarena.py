"""Read MemoryArena (He et al., 2026): agentic tasks of several sessions, each of which needs what
came before.

Written from the paper (arXiv 2602.16313) and the card of its data set, without any of its rows at
hand.

Known from the card: one JSON object a line, in ``<subset>/*.jsonl`` for five subsets; ``id``,
``questions`` and ``answers``, one a sub-task; ``backgrounds`` and ``paper_name`` in formal
reasoning, one background a sub-task; ``base_person`` (``name``, ``query``, ``daily_plans``) in
group travel, where an answer is a list of days; an answer in bundled shopping has a ``target_asin``
and ``attributes``; elsewhere it is text. No row names its evidence, and none has a date. Known from
the paper and public copies of the benchmark's runners: memory is asked once, at the start of a
sub-task, with its question (after its background, if it has one); the base person's plan is in
memory from the start; the sub-tasks of a task share a memory.

Assumed here: an earlier sub-task has ended with its right answer, and memory holds what was asked
and that answer, not the steps between. Evidence is what the paper says a sub-task rests on:

* bundled shopping: everything bought before, as each product must fit these and one budget holds
  for all;
* group travel: the base person's days, which everybody's plan starts from, and those days of an
  earlier traveller that a wish names ("dinner on the second day with Eric"), or all of them where
  it names no day;
* progressive search: every earlier result for the last question, which joins all; none for the
  others, which are made to stand alone;
* formal reasoning: the results of the questions that a question names ("recall Question 2 and 3"),
  or none known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.data.lines import json_lines
from demem_agent.text.sentences import sentences
from demem_agent.turns import Turn, text_field

__all__ = ["SUBSETS", "load_memoryarena"]

#: As the data set names them; a row whose file names none is told by its fields.
SUBSETS = (
    "bundled_shopping",
    "group_travel_planner",
    "progressive_search",
    "formal_reasoning_math",
    "formal_reasoning_phys",
)

_TRAVEL = "group_travel_planner"
_NAME = re.compile(r"\s*I(?: a|['’])m (\w+)\.")
_INTRODUCTION = re.compile(r"I(?: a|['’])m ")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_DAY = re.compile(rf"\bday (\d+)|\b({'|'.join(_ORDINALS)})[ -]day\b", re.IGNORECASE)
_REFERRED = re.compile(
    r"\b(?:question|problem|sub-?task)s?\s+(\d+(?:\s*(?:,\s*and|,|and|&)\s*\d+)*)(?!\.\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Task:
    """A sub-task as memory holds it: what is said before its results, and these, each with the day
    that it plans.
    """

    number: int
    question: str
    background: str
    person: str
    said: tuple[Turn, ...]
    results: tuple[tuple[str, Turn], ...]

    def turns(self) -> tuple[Turn, ...]:
        return (*self.said, *(turn for _, turn in self.results))

    def ids(self, days: frozenset[str] = frozenset()) -> list[str]:
        """Give the ids of the results, of these days if there are any."""
        return [turn.source_id or "" for day, turn in self.results if not days or day in days]


def load_memoryarena(
    path: str | Path, sample: str | None = None, *, every: bool = False
) -> list[Dialogue]:
    """Read the rows of a file, or of all ``*.jsonl`` below a folder, or the one named ``sample``.

    A row becomes a dialogue such as "formal_reasoning_math-3". Its turns are all sub-tasks but the
    last, with their results; its one probe is the last, so that no answer is in memory before it is
    asked for. The category is the subset. A row with one sub-task gives nothing. See the module for
    what is assumed.

    Args:
        every: give a dialogue for each sub-task that has others before it,
            "formal_reasoning_math-3/2" for the second. Those of one row overlap, so that intervals
            by dialogue are too narrow.

    Raises:
        InvalidInput: naming the line and the field, if there are no rows, or no such sample.
    """
    rows: dict[str, tuple[str, str, Mapping[str, Any]]] = {}
    for file in _files(Path(path)):
        for where, row in _rows(file):
            subset = _subset(file, row)
            name = f"{subset}-{row.get('id', where.rpartition(' ')[2])}"
            if name in rows:
                raise InvalidInput(
                    f"{where}: id", row.get("id"), "that of no earlier row of its subset"
                )
            rows[name] = (subset, where, row)
    if not rows:
        raise InvalidInput(
            "path", str(path), "a file of MemoryArena rows, or a folder with such files (*.jsonl)"
        )
    if sample is not None and sample not in rows:
        raise InvalidInput("sample", sample, f"the name of a row, such as {next(iter(rows))!r}")
    chosen = rows if sample is None else {sample: rows[sample]}
    return [
        dialogue for name, placed in chosen.items() for dialogue in _dialogues(name, *placed, every)
    ]


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]


def _rows(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for where, row in json_lines(file):
        if not isinstance(row, Mapping):
            raise InvalidInput(where, row, "an object with questions and answers")
        for field in ("questions", "answers"):
            if not isinstance(row.get(field), list):
                raise InvalidInput(
                    f"{where}: {field}", row.get(field), "a list with one entry a sub-task"
                )
        if len(row["questions"]) != len(row["answers"]):
            raise InvalidInput(
                f"{where}: answers",
                row["answers"],
                f"as many as questions ({len(row['questions'])})",
            )
        yield where, row


def _subset(file: Path, row: Mapping[str, Any]) -> str:
    told = (file.parent.name, file.stem, row.get("category"))
    if found := next((subset for subset in SUBSETS if subset in told), None):
        return found
    if row.get("base_person"):
        return _TRAVEL
    if any(isinstance(answer, Mapping) for answer in row["answers"]):
        return "bundled_shopping"
    return (
        "formal_reasoning"
        if row.get("paper_name") or row.get("backgrounds")
        else "progressive_search"
    )


# -- a row as sub-tasks
# ------------------------------------------------------------------------------------------


def _dialogues(
    name: str, subset: str, where: str, row: Mapping[str, Any], every: bool
) -> Iterator[Dialogue]:
    tasks = [*_base(row.get("base_person")), *_tasks(subset, row, where)]
    last = len(tasks) - 1
    for place in range(1 if every else max(last, 1), len(tasks)):
        task, before = tasks[place], tasks[:place]
        turns = (*_common(row), *(turn for earlier in before for turn in earlier.turns()))
        evidence = tuple(dict.fromkeys(_evidence(subset, task, before, place == last)))
        reference = "\n".join(turn.text for _, turn in task.results)
        asked = f"{task.background}\n\n{task.question}" if task.background else task.question
        probe = Probe(asked, reference, evidence, subset.replace("_", " "))
        yield Dialogue(f"{name}/{task.number}" if every else name, turns, (probe,))


def _tasks(subset: str, row: Mapping[str, Any], where: str) -> Iterator[_Task]:
    backgrounds = _own_backgrounds(row)
    for number, (question, answer) in enumerate(
        zip(row["questions"], row["answers"], strict=True), 1
    ):
        question = text_field(f"{where}: questions[{number - 1}]", question)
        background = backgrounds[number - 1] if backgrounds else ""
        name = _NAME.match(question) if subset == _TRAVEL else None
        person = name[1] if name else ""
        said = (
            _turn(number, "background", background),
            _turn(number, "question", question, person or "user"),
        )
        yield _Task(
            number,
            question,
            background,
            person,
            _present(said),
            tuple(_results(number, person, answer)),
        )


def _base(person: object) -> Iterator[_Task]:
    """Give the first traveller, whose plan stands before the first sub-task, as sub-task 0."""
    if isinstance(person, Mapping):
        name, query = (_text(person.get(field)) for field in ("name", "query"))
        said = _present((_turn(0, "question", query, name or "user"),))
        if results := tuple(_results(0, name, person.get("daily_plans"))):
            yield _Task(0, query, "", name, said, results)


def _own_backgrounds(row: Mapping[str, Any]) -> list[str]:
    given = row.get("backgrounds")
    return (
        [_text(one) for one in given]
        if isinstance(given, list) and len(given) == len(row["questions"])
        else []
    )


def _common(row: Mapping[str, Any]) -> tuple[Turn, ...]:
    """Give a background that is not split by sub-task: the card allows one text for all of them."""
    return (
        ()
        if _own_backgrounds(row)
        else _present((_turn(0, "background", _text(row.get("backgrounds"))),))
    )


def _results(number: int, person: str, answer: object) -> Iterator[tuple[str, Turn]]:
    """Give a turn for each day of a plan, and one for any other answer; what is blank gives none."""
    if not isinstance(answer, list) or not all(isinstance(day, Mapping) for day in answer):
        found = [("", _turn(number, "result", _text(answer), "assistant"))]
    else:
        found = [_day(number, person, place, day) for place, day in enumerate(answer, 1)]
    yield from ((day, turn) for day, turn in found if turn.text)


def _day(number: int, person: str, place: int, planned: Mapping[str, Any]) -> tuple[str, Turn]:
    day = str(planned.get("days") or planned.get("day") or place)
    rest = _text({key: value for key, value in planned.items() if key not in ("days", "day")})
    whose = f"{person}'s plan for day {day}" if person else f"Plan for day {day}"
    return day, _turn(number, f"day {place}", f"{whose}: {rest}" if rest else "", "assistant")


def _turn(number: int, what: str, text: str, speaker: str = "user") -> Turn:
    return Turn(text, speaker, None, f"task {number}", "memoryarena", f"{number}:{what}")


def _present(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    return tuple(turn for turn in turns if turn.text.strip())


def _text(value: object) -> str:
    """Write any answer as a line of text; what is missing, or a dash in a plan, is left out."""
    if isinstance(value, Mapping):
        parts = ((str(key).replace("_", " "), _text(part)) for key, part in value.items())
        return "; ".join(f"{key}: {part}" for key, part in parts if part)
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    text = "" if value is None else str(value).strip()
    return "" if text == "-" else text


# -- what a sub-task rests on
# ------------------------------------------------------------------------------------


def _evidence(subset: str, task: _Task, before: Sequence[_Task], last: bool) -> Iterable[str]:
    if subset.startswith("formal_reasoning"):
        return _referred(task, before)
    if subset == _TRAVEL:
        return _joined(task, before)
    return (
        (id for earlier in before for id in earlier.ids())
        if last or subset == "bundled_shopping"
        else ()
    )


def _referred(task: _Task, before: Sequence[_Task]) -> Iterator[str]:
    """Give the results of the earlier questions that a question names by number."""
    numbers = {
        int(number)
        for found in _REFERRED.findall(task.question)
        for number in re.findall(r"\d+", found)
    }
    for earlier in before:
        if earlier.number in numbers:
            yield from earlier.ids()


def _joined(task: _Task, before: Sequence[_Task]) -> Iterator[str]:
    """Give the base plan, and the days of other plans that a wish names; the greeting names
    everybody, for nothing.
    """
    for earlier in before:
        if earlier.number == 0:
            yield from earlier.ids()
    for wish in _wishes(task.question):
        days = frozenset(
            number or str(_ORDINALS.index(word.lower()) + 1) for number, word in _DAY.findall(wish)
        )
        for earlier in before:
            if earlier.person and re.search(rf"\b{re.escape(earlier.person)}\b", wish):
                yield from earlier.ids(days)


def _wishes(question: str) -> list[str]:
    """Give the sentences after the greeting: "I am Emma. I'm traveling with Jennifer and Eric." """
    found = [question[start:end] for start, end in sentences(question)]
    greeting = 0
    while greeting < min(2, len(found)) and _INTRODUCTION.match(found[greeting]):
        greeting += 1
    return found[greeting:]
