"""Read MemoryArena (He et al., 2026): tasks of several sessions, each needing what came before.

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

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.arena_evidence import evidence_of
from demem_agent.evaluate.data.arena_tasks import SUBSETS, TRAVEL, Row, Task, common_turns, tasks_of
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.data.plain import Entry, json_lines
from demem_agent.turns import Turn

__all__ = ["SUBSETS", "load_memoryarena"]


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
    rows = _rows(Path(path))
    if not rows:
        allowed = "a file of MemoryArena rows, or a folder with such files (*.jsonl)"
        raise InvalidInput("path", str(path), allowed)
    dialogues: list[Dialogue] = []
    for row in _chosen(rows, sample):
        dialogues += _dialogues(row, every)
    return dialogues


def _chosen(rows: Mapping[str, Row], sample: str | None) -> list[Row]:
    """Return the row of this name, or all rows where none is named."""
    if sample is None:
        return list(rows.values())
    if sample not in rows:
        raise InvalidInput("sample", sample, f"the name of a row, such as {next(iter(rows))!r}")
    return [rows[sample]]


def _rows(path: Path) -> dict[str, Row]:
    """Return all rows by their names."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    rows: dict[str, Row] = {}
    for file in files:
        for where, given in json_lines(file):
            row = _row(file, where, given)
            if row.name in rows:
                allowed = "that of no earlier row of its subset"
                raise InvalidInput(f"{where}: id", row.fields.get("id"), allowed)
            rows[row.name] = row
    return rows


def _row(file: Path, where: str, given: object) -> Row:
    fields = _checked(where, given)
    subset = _subset(file, fields)
    id = fields.get("id", where.rpartition(" ")[2])
    return Row(f"{subset}-{id}", subset, where, fields)


def _checked(where: str, given: object) -> Entry:
    """Return a row that has as many answers as questions."""
    if not isinstance(given, Mapping):
        raise InvalidInput(where, given, "an object with questions and answers")
    for field in ("questions", "answers"):
        if not isinstance(given.get(field), list):
            allowed = "a list with one entry a sub-task"
            raise InvalidInput(f"{where}: {field}", given.get(field), allowed)
    questions = len(given["questions"])
    if questions != len(given["answers"]):
        allowed = f"as many as questions ({questions})"
        raise InvalidInput(f"{where}: answers", given["answers"], allowed)
    return given


def _subset(file: Path, given: Entry) -> str:
    """Return the subset that the file names, else the one that has these fields."""
    told = (file.parent.name, file.stem, given.get("category"))
    for subset in SUBSETS:
        if subset in told:
            return subset
    if given.get("base_person"):
        return TRAVEL
    if any(isinstance(answer, Mapping) for answer in given["answers"]):
        return "bundled_shopping"
    if given.get("paper_name") or given.get("backgrounds"):
        return "formal_reasoning"
    return "progressive_search"


def _dialogues(row: Row, every: bool) -> Iterator[Dialogue]:
    tasks = tasks_of(row)
    last = len(tasks) - 1
    first = 1 if every else max(last, 1)
    for place in range(first, len(tasks)):
        task = tasks[place]
        before = tasks[:place]
        turns = _turns(row, before)
        probe = _probe(row, task, before, last=place == last)
        name = f"{row.name}/{task.number}" if every else row.name
        yield Dialogue(name, turns, (probe,))


def _turns(row: Row, before: Sequence[Task]) -> tuple[Turn, ...]:
    turns = list(common_turns(row))
    for task in before:
        turns += task.turns()
    return tuple(turns)


def _probe(row: Row, task: Task, before: Sequence[Task], *, last: bool) -> Probe:
    question = f"{task.background}\n\n{task.question}" if task.background else task.question
    reference = "\n".join(result.turn.text for result in task.results)
    evidence = dict.fromkeys(evidence_of(row.subset, task, before, last=last))
    category = row.subset.replace("_", " ")
    return Probe(question, reference, tuple(evidence), category)
