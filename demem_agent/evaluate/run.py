"""The loop: every system reads for every question at every limit, and what came of it becomes
records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from time import perf_counter
from typing import TypedDict

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.gold import TurnsById, check_quotes, gold_turns
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.measured import MEASURES, Measured, MeasureName
from demem_agent.evaluate.metrics import (
    Gold,
    Wording,
    answer_f1,
    contains,
    extract,
    quoted,
    reaching,
)
from demem_agent.evaluate.rankings import Held
from demem_agent.evaluate.system import Abstains, Maker, System, too_long
from demem_agent.reading.packing import render
from demem_agent.turns import Turn, whole_field

__all__ = ["Tick", "check_dialogues", "evaluate"]

#: Called with (readings done, readings in all).
Tick = Callable[[int, int], object]
#: So much of a gold turn is in a text that it is said to be found, or found as good as whole.
HALF, NINE_TENTHS = 0.5, 0.9


class _Said(TypedDict, total=False):
    known: bool
    probability: float


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question of a dialogue, with its gold turns cut once for all readings.

    Attributes:
        quotable: its reference can be looked for in a text: a line of its gold turns holds it, or
            it has none.
    """

    dialogue: str
    number: int
    probe: Probe
    gold: tuple[Gold, ...]
    quotable: bool


@dataclass(frozen=True, slots=True)
class _Reader:
    """A system that was told a dialogue, with its name."""

    name: str
    system: System


def evaluate(
    dialogues: Sequence[Dialogue],
    systems: Mapping[str, Maker],
    limits: Sequence[int],
    *,
    tick: Tick | None = None,
) -> list[Measured]:
    """Have every system read for every question at every limit, and measure the texts.

    A fresh system is made for each dialogue and told all its turns before the first question.
    Nothing it returns but the text is looked at.

    Args:
        dialogues: with names of their own and probes.
        limits: in characters, each >= 1.
        tick: called after the readings for each question of each system.

    Returns:
        one record per dialogue, system, question and limit, in this order.

    Raises:
        InvalidInput: without questions, systems or limits; for two dialogues of one name; for
            evidence that no turn has as its ``source_id``; for quotes that no turn of the evidence
            has; and naming the system that gave more
            than ``limit`` characters or no text.
    """
    check_dialogues(dialogues)
    _check_systems_and_limits(systems, limits)
    probes = sum(len(dialogue.probes) for dialogue in dialogues)
    total = probes * len(systems) * len(limits)
    answerer = ExtractiveAnswerer()
    measured: list[Measured] = []
    for reader, asked in _readings(dialogues, systems):
        told = _told_of(reader, asked.probe)
        found = (_measured(reader, asked, limit, answerer) for limit in limits)
        measured += [replace(one, **told) for one in found]
        if tick:
            tick(len(measured), total)
    return measured


def _readings(
    dialogues: Sequence[Dialogue], systems: Mapping[str, Maker]
) -> Iterator[tuple[_Reader, _Asked]]:
    """Yield every question with each system that was told its dialogue."""
    for dialogue in dialogues:
        questions = _questions(dialogue)
        for name, make in systems.items():
            reader = _told(name, make, dialogue)
            for asked in questions:
                yield reader, asked


def check_dialogues(dialogues: Sequence[Dialogue]) -> None:
    """Raise InvalidInput without any question, or for two dialogues of one name."""
    names = [dialogue.name for dialogue in dialogues]
    if not any(dialogue.probes for dialogue in dialogues):
        raise InvalidInput("dialogues", names, "dialogues with at least one question")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidInput("dialogues", repeated, "dialogues with names of their own")


def _check_systems_and_limits(systems: Mapping[str, Maker], limits: Sequence[int]) -> None:
    if not systems:
        raise InvalidInput("systems", systems, "at least one system")
    if not limits or len(set(limits)) != len(limits):
        raise InvalidInput("limits", limits, "at least one limit, and each of them once")
    for limit in limits:
        whole_field("limits", limit, 1)


def _told(name: str, make: Maker, dialogue: Dialogue) -> _Reader:
    system = make()
    system.ingest(dialogue.turns)
    return _Reader(name, system)


def _questions(dialogue: Dialogue) -> list[_Asked]:
    turns = _by_id(dialogue.turns)
    asked = []
    for number, probe in enumerate(dialogue.probes):
        _check_evidence(dialogue.name, number, probe, turns)
        gold = _gold(probe, turns) if probe.has_answer else ()
        quotable = probe.has_answer and _is_quotable(probe, turns)
        asked.append(_Asked(dialogue.name, number, probe, gold, quotable))
    return asked


def _is_quotable(probe: Probe, turns: TurnsById) -> bool:
    """Whether the gold turns themselves hold the reference.

    "Three" is counted and not quoted; other lines hold it by chance, as numbers of lists do.
    """
    if not probe.evidence:
        return True
    return contains(render(Held(list(gold_turns(probe, turns))).lines), probe.reference)


def _by_id(turns: Sequence[Turn]) -> TurnsById:
    """Return turns by their ``source_id``, which several may have."""
    return grouped(turns, lambda turn: turn.source_id)


def _check_evidence(dialogue: str, number: int, probe: Probe, turns: TurnsById) -> None:
    for id in probe.evidence:
        if id not in turns:
            field = f"evidence of question {number} of {dialogue}"
            raise InvalidInput(field, id, "the source_id of one of its turns")
    check_quotes(f"quotes of question {number} of {dialogue}", probe, turns)


def _gold(probe: Probe, turns: TurnsById) -> tuple[Gold, ...]:
    """Return the gold turns of a question that have a word in them, each cut once."""
    gold = map(Gold.of, gold_turns(probe, turns))
    return tuple(one for one in gold if one.grams)


def _measured(reader: _Reader, asked: _Asked, limit: int, answerer: ExtractiveAnswerer) -> Measured:
    text, seconds = _read(reader, asked.probe, limit)
    found = _found(text, asked, answerer)
    return Measured(
        dialogue=asked.dialogue,
        question=asked.number,
        category=asked.probe.category,
        system=reader.name,
        limit=limit,
        size=len(text),
        seconds=seconds,
        recall=found["recall"],
        half=found["half"],
        nine_tenths=found["nine_tenths"],
        f1=found["f1"],
        contained=found["contained"],
        answerable=asked.probe.has_answer,
    )


def _told_of(reader: _Reader, probe: Probe) -> _Said:
    """Return what a system says of whether it holds the answer; nothing where it does not say."""
    if not isinstance(reader.system, Abstains):
        return {}
    known, probability = reader.system.knows(probe.question, probe.at)
    if not 0.0 <= probability <= 1.0:
        raise InvalidInput(f"the probability of {reader.name!r}", probability, "from 0 to 1")
    return {"known": bool(known), "probability": float(probability)}


def _read(reader: _Reader, probe: Probe, limit: int) -> tuple[str, float]:
    """Return a text and the seconds that reading it took.

    The text is within the limit, unless no limit binds the system.
    """
    began = perf_counter()
    text = reader.system.read(probe.question, limit, probe.at)
    seconds = perf_counter() - began
    field = f"the reading of {reader.name!r}"
    if not isinstance(text, str):
        raise InvalidInput(field, text, "a text")
    if too_long(reader.system, text, limit):
        raise InvalidInput(field, f"{len(text)} characters", f"at most {limit} characters")
    return text, seconds


def _found(
    text: str, asked: _Asked, answerer: ExtractiveAnswerer
) -> dict[MeasureName, float | None]:
    """Return every measure of a text, None where the question does not have it."""
    found: dict[MeasureName, float | None] = dict.fromkeys(MEASURES)
    if asked.gold:
        shares = Wording.of(text).shares(asked.gold)
        found["recall"] = fsum(shares) / len(shares)
        found["half"] = reaching(shares, HALF)
        found["nine_tenths"] = reaching(shares, NINE_TENTHS)
    probe = asked.probe
    reference = probe.reference
    if probe.has_answer and reference.strip():
        answer = extract(text, probe, answerer)
        found["f1"] = answer_f1(answer, reference)
        if asked.quotable:
            said = quoted(text, asked.gold) if asked.gold else text
            found["contained"] = float(contains(said, reference))
    return found
