"""Read records of a fact that is corrected: Letta's ``core_memory_update`` files, JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.plain import Entry, json_lines
from demem_agent.turns import Turn, text_field

__all__ = ["Update", "load_letta"]


@dataclass(frozen=True, slots=True)
class Update:
    """Some facts, a later one that contradicts them, and a question whose answer it changes.

    Attributes:
        old: the answer by the facts alone; empty where the record does not tell it.
        new: the answer once the correction is known.
        supporting: the ``source_id`` of each fact that the old answer rests on.
    """

    name: str
    facts: tuple[Turn, ...]
    correction: Turn
    question: str
    old: str
    new: str
    supporting: tuple[str, ...]


def load_letta(path: str | Path, sample: str | None = None) -> list[Update]:
    """Read all records of a file, or the one named ``sample``.

    Records have no name, so it is the line: "line 7".

    A record tells two answers, ``ground_truth`` and ``contradicting_answer``. The second is the new
    one. The first is taken for the old one where it differs; where both are the same, as in the
    published update set, ``old`` is empty, and only the supporting facts tell what was true before.

    Raises:
        InvalidInput: naming the line of another kind, or if there is no such sample.
    """
    updates = [_update(given, where) for where, given in json_lines(path)]
    if not updates:
        raise InvalidInput("path", str(path), "a file with a record a line")
    if sample is None:
        return updates
    chosen = [update for update in updates if update.name == sample]
    if not chosen:
        raise InvalidInput("sample", sample, f"the line of a record, such as {updates[0].name!r}")
    return chosen


def _update(given: Entry, where: str) -> Update:
    try:
        return _read(given, where)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        allowed = f"a Letta record ({type(error).__name__}: {error})"
        raise InvalidInput(where, given, allowed) from error


def _read(given: Entry, where: str) -> Update:
    name = where[where.rindex("line") :]
    extra = given["agent_args"]["extra"]
    facts = _facts(extra["facts"], name, where)
    told = text_field(f"{where}: ground_truth", given["ground_truth"])
    new = text_field(f"{where}: contradicting_answer", extra["contradicting_answer"])
    correction = _turn(extra["contradicting_fact"], name, "correction", where)
    return Update(
        name=name,
        facts=facts,
        correction=correction,
        question=text_field(f"{where}: input", given["input"]),
        old="" if told == new else told,
        new=new,
        supporting=_ids(facts, extra["supporting_fact_indices"]),
    )


def _facts(told: Sequence[object], name: str, where: str) -> tuple[Turn, ...]:
    facts: list[Turn] = []
    for number, fact in enumerate(told):
        facts.append(_turn(fact, name, f"fact {number}", where))
    return tuple(facts)


def _turn(text: object, name: str, what: str, where: str) -> Turn:
    kind, *_ = what.split()
    return Turn(
        text=text_field(f"{where}: {what}", text),
        session=kind,
        source="letta",
        source_id=f"{name}: {what}",
    )


def _ids(facts: tuple[Turn, ...], indices: Sequence[int]) -> tuple[str, ...]:
    found = []
    for index in indices:
        if index < 0:  # would count from the end
            raise IndexError(f"no fact {index}")
        found.append(facts[index].source_id or "")
    return tuple(found)
