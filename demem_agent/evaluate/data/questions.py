"""Read a user's own questions about a conversation, and where their answers stand: JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import UNANSWERABLE, Dialogue, Probe
from demem_agent.evaluate.data.plain import json_lines, load_jsonl
from demem_agent.evaluate.gold import check_quotes
from demem_agent.evaluate.grouping import grouped
from demem_agent.turns import text_field, time_field

__all__ = ["load_own", "load_questions", "with_probes", "with_questions"]

_FIELDS = tuple(field.name for field in fields(Probe))


def load_questions(path: str | Path) -> tuple[Probe, ...]:
    """Read one question a line.

    A line is ``{"question": ..., "reference": ..., "evidence": [...], "quotes": [...],
    "category": ..., "at": ..., "answerable": ...}``. Only the question and its reference, a right
    answer in a few words, are required.

    Evidence is the ``source_id`` of each turn that the answer rests on; a question without any is
    left out of recall. Where such a turn is long, quotes are the exact words of it that must be
    read: it counts by these alone. The category groups the report. ``"answerable": false`` is that
    of questions that cannot be answered, as is the category "abstention"; they need no reference.
    ``at`` is when it is asked.

    Raises:
        InvalidInput: naming the line and the field, or if the file has no question.
    """
    return tuple(_probe(given, where) for where, given in _found_in(path))


def load_own(turns_path: str | Path, questions_path: str | Path) -> Dialogue:
    """Read a conversation with the questions about it.

    The conversation is read as :func:`demem_agent.evaluate.load_jsonl` does.

    Raises:
        InvalidInput: naming the line and the field in either file, or the question whose evidence
            names no turn.
    """
    return with_questions(load_jsonl(turns_path), questions_path)


def with_questions(dialogue: Dialogue, path: str | Path) -> Dialogue:
    """Return the dialogue with the questions of a file in the place of its own.

    Raises:
        InvalidInput: as :func:`load_questions` does, or naming the line whose evidence names no
            turn of the dialogue, or whose quotes stand in none of these.
    """
    return with_probes(dialogue, _found_in(path))


def with_probes(dialogue: Dialogue, given: Iterable[tuple[str, object]]) -> Dialogue:
    """Return the dialogue with other questions in the place of its own.

    Args:
        given: the place of each question in words, and the object that it is there.

    Raises:
        InvalidInput: as :func:`with_questions` does.
    """
    turns = grouped(dialogue.turns, lambda turn: turn.source_id)
    probes: list[Probe] = []
    for where, value in given:
        probe = _probe(value, where)
        for id in probe.evidence:
            if id not in turns:
                allowed = f"the source_id of a turn of {dialogue.name}"
                raise InvalidInput(f"{where}: evidence", id, allowed)
        check_quotes(f"{where}: quotes", probe, turns)
        probes.append(probe)
    return replace(dialogue, probes=tuple(probes))


def _found_in(path: str | Path) -> list[tuple[str, object]]:
    """Return the place of each question in words, and what stands there."""
    found = list(json_lines(path))
    if not found:
        raise InvalidInput("path", str(path), "a file with a question a line")
    return found


def _probe(given: object, where: str) -> Probe:
    if not isinstance(given, dict):
        raise InvalidInput(where, given, "an object with a question and a reference")
    _check_fields(given, where)
    category = _category(f"{where}: category", given.get("category"))
    question = text_field(f"{where}: question", given.get("question"))
    answerable = _answerable(f"{where}: answerable", given.get("answerable", True))
    can_be = answerable and category not in UNANSWERABLE
    reference = _reference(f"{where}: reference", given.get("reference"), can_be)
    ids = _texts(f"{where}: evidence", given.get("evidence"), "a list of source ids")
    quotes = _texts(f"{where}: quotes", given.get("quotes"), "a list of words as they were said")
    return Probe(
        question=question,
        reference=reference,
        evidence=tuple(dict.fromkeys(ids)),
        category=category,
        at=time_field(f"{where}: at", given.get("at")),
        answerable=answerable,
        quotes=tuple(dict.fromkeys(quotes)),
    )


def _check_fields(given: Mapping[str, object], where: str) -> None:
    for key, value in given.items():
        if key not in _FIELDS:
            allowed = f"left out, as no field of a question ({', '.join(_FIELDS)})"
            raise InvalidInput(f"{where}: {key}", value, allowed)


def _category(field: str, value: object) -> str:
    return "" if value is None else text_field(field, value)


def _answerable(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(field, value, "true or false")
    return value


def _reference(field: str, value: object, answerable: bool) -> str:
    needless = value is None and not answerable
    return "" if needless else text_field(field, value)


def _texts(field: str, value: object, allowed: str) -> Iterator[str]:
    if not isinstance(value, list | None):
        raise InvalidInput(field, value, allowed)
    for text in value or []:
        yield text_field(field, text)
