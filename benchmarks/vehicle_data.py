"""Read VehicleMemBench: months of talk in a car, and decisions that rest on it.

A file has a history (one line a turn) and questions. Of each question the data tells the memories
it rests on, as sentences with a time, and the calls that would be right. From these come the lines
of the history that say what is right for who asks, and those that contradict it: another person's
preference, an older one, one for another condition, or what was corrected a minute later.
What cannot be told apart so is left out, such as answers that have to be computed.

Besides the question itself its counterpart is made: for two people of different preferences the
same question by the other one, for a rule with a condition the other condition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import vehicle_values as values
from vehicle_people import People, quotations, unquoted
from vehicle_values import Call, condition_clause, conditions_of, words_of

from demem_agent import Turn

__all__ = ["Car", "Decision", "Origin", "load"]

Origin = Literal["question", "mirrored", "other condition"]

#: How long after the time of a memory its lines may stand.
AFTER = timedelta(minutes=3)
#: How long before a correction the line that it corrects may stand.
BEFORE = timedelta(minutes=6)
#: Words that two lines share at least if one is about the other.
SHARED = 2
#: Words that a line shares at least with a memory that it repeats later that day.
REPEATED = 3
#: A line of which this share of the words are a memory's is part of it.
MOSTLY = 0.6
LIST = "related_to_vehicle_preference"

_LINE = re.compile(r"(?:\[(\d{4}-\d\d-\d\d \d\d:\d\d)\] )+([^:]+): (.*)")
_MEMORY = re.compile(r"\[(\w+ \d+, \d{4})\] At (\d+:\d\d [AP]M),? (.*)")
_CORRECTS = re.compile(r"\b(?:correct\w*|actually|wait|meant|realized|mistake)\b", re.I)
#: What a scene says of every drive, so that it is no condition.
_EVERY_DRIVE = frozenset(words_of("drove driving drive car told said alone home work got was"))


@dataclass(frozen=True, slots=True)
class Decision:
    """Something to be decided for somebody, and what the history says of it.

    Attributes:
        conditions: short facts of the situation, where the question tells one.
        right: numbers of the lines that say what is right; the first is the one to be told.
        wrong: numbers of the lines that contradict them; often empty.
        answer_text: what is right, as one sentence.
        device: what is to be set, in words; ``value`` is to what.
        quotation: what the asker said, without who said it.
        kind: of reasoning, as the data calls it.
        of: id of the question it was made from; its own for a question of the data.
    """

    id: str
    file: int
    query: str
    asker: str
    conditions: tuple[str, ...]
    right: tuple[int, ...]
    wrong: tuple[int, ...]
    answer_text: str
    device: str
    value: str
    quotation: str
    kind: str
    origin: Origin
    of: str


@dataclass(frozen=True, slots=True)
class Car:
    """A file: what was said in the car, by line, and what is to be decided."""

    number: int
    people: tuple[str, ...]
    turns: tuple[Turn, ...]
    decisions: tuple[Decision, ...]
    left_out: int

    @property
    def last(self) -> datetime:
        """When the last turn was said."""
        at = self.turns[-1].at
        assert isinstance(at, datetime)
        return at


@dataclass(frozen=True, slots=True)
class _Said:
    """A line of the history."""

    number: int
    at: datetime
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class _Memory:
    """A memory that a question rests on: when, whose, what it says, the lines it stands in."""

    time: str
    owner: str
    text: str
    stated: str | None
    mentions: bool
    lines: tuple[_Said, ...]


def load(folder: Path, files: Sequence[int] = ()) -> list[Car]:
    """Read the files of a folder, or those with these numbers.

    Raises:
        SystemExit: in words, where the folder does not hold them.
    """
    numbers = sorted(files) or _numbers(folder)
    if not numbers:
        raise SystemExit(f"{folder}: no history_N.txt there; get the files of VehicleMemBench")
    return [_car(folder, number) for number in numbers]


def _numbers(folder: Path) -> list[int]:
    return sorted(int(path.stem.split("_")[1]) for path in folder.glob("history_*.txt"))


def _car(folder: Path, number: int) -> Car:
    history = folder / f"history_{number}.txt"
    asked = folder / f"qa_{number}.json"
    for path in (history, asked):
        if not path.is_file():
            raise SystemExit(f"{path} is missing; get the files of VehicleMemBench")
    said = list(_lines(history.read_text(encoding="utf-8")))
    people = People(tuple(dict.fromkeys(line.speaker for line in said)))
    questions = json.loads(asked.read_text(encoding="utf-8"))[LIST]
    decisions: list[Decision] = []
    left_out = 0
    for question in _once(questions):
        made = _decisions(question, number, len(decisions), said, people)
        decisions += made
        left_out += not made
    turns = tuple(map(_turn, said))
    return Car(number, people.names, turns, tuple(decisions), left_out)


def _once(questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what a file asks twice in the same words."""
    found: dict[str, dict[str, Any]] = {}
    for question in questions:
        found.setdefault(question["query"], question)
    return list(found.values())


def _lines(text: str) -> Iterator[_Said]:
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match:
            at, speaker, words = match.groups()
            yield _Said(number, datetime.fromisoformat(at), speaker, words)


def _turn(line: _Said) -> Turn:
    return Turn(
        line.text,
        speaker=line.speaker,
        at=line.at,
        session=line.at.date().isoformat(),
        source_id=str(line.number),
    )


# Decisions


def _decisions(
    question: dict[str, Any], file: int, count: int, said: Sequence[_Said], people: People
) -> list[Decision]:
    """Return the decision of a question and its counterpart; none where it is ambiguous."""
    query = " ".join(question["query"].split())
    asker = people.owner(query)
    call = values.decisive(question["new_answer"], question["gold_memory"])
    if asker is None or call is None:
        return []
    memories = list(_memories(question["gold_memory"], call, said, people))
    right = _decisive(memories, call, asker)
    if not right or not all(memory.lines for memory in right):
        return []
    wrong = [memory for memory in memories if memory not in right and _contradicts(memory, call)]
    kind = question["reasoning_type"]
    right_lines = _ordered(right, call)
    wrong_lines = _numbers_of(wrong)
    if kind == "error_correction" or any(map(_corrects, right)):
        wrong_lines += _corrected(right, right_lines, call, said)
    id = f"{file}/{count + 1}"
    original = Decision(
        id=id,
        file=file,
        query=query,
        asker=asker,
        conditions=conditions_of(query),
        right=right_lines,
        wrong=_apart(wrong_lines, right_lines),
        answer_text=call.answer(asker),
        device=call.device,
        value=call.value,
        quotation=_quotation(query),
        kind=kind,
        origin="question",
        of=id,
    )
    other = _counterpart(original, call, wrong, people)
    return [original] if other is None else [original, other]


def _quotation(query: str) -> str:
    """Return what the asker says in a question, or all of it where nothing is quoted."""
    quoted = quotations(query)
    return quoted[-1] if quoted else query


def _memories(text: str, call: Call, said: Sequence[_Said], people: People) -> Iterator[_Memory]:
    for line in text.splitlines():
        match = _MEMORY.match(line.strip())
        if not match:
            continue
        day, time, words = match.groups()
        at = datetime.strptime(f"{day} {time}", "%B %d, %Y %I:%M %p")
        owner = people.owner(words) or ""
        stated = call.stated(words)
        lines = _resolved(words, at, owner, stated, call, said)
        yield _Memory(time, owner, words, stated, call.mentioned(words), lines)


def _resolved(
    words: str, at: datetime, owner: str, stated: str | None, call: Call, said: Sequence[_Said]
) -> tuple[_Said, ...]:
    """Return the lines soon after a memory's time that share most words with it, the owner's first.

    A preference and its reason are often two lines, and the value a third; what the owner repeats
    of it on that day counts as well.
    """
    known = words_of(words)
    soon = [line for line in said if at <= line.at <= at + AFTER]
    own = [line for line in soon if line.speaker == owner]
    found = _best_of(own, known, stated, call) or _best_of(soon, known, stated, call)
    if not found:
        return ()
    repeated: list[_Said] = []
    for line in said:
        is_later = line.speaker == owner and at <= line.at and line.at.date() == at.date()
        if is_later and _says(line, stated, call) and _shared(line, known) >= REPEATED:
            repeated.append(line)
    return tuple(dict.fromkeys([*found, *repeated]))


def _best_of(
    lines: Sequence[_Said], known: frozenset[str], stated: str | None, call: Call
) -> list[_Said]:
    """Return the lines that share most words with a memory, what says its value first."""
    says = [line for line in lines if _shared(line, known) and _says(line, stated, call)]
    most = max((_shared(line, known) for line in lines), default=0)
    found = says[:1]
    for line in lines:
        shared = _shared(line, known)
        whole = shared >= MOSTLY * len(words_of(line.text))
        fits = whole and not _says_other(line, stated, call)
        if shared >= SHARED and (shared == most or fits or line in says):
            found.append(line)
    return found


def _shared(line: _Said, known: frozenset[str]) -> int:
    return len(words_of(line.text) & known)


def _says(line: _Said, stated: str | None, call: Call) -> bool:
    return stated is not None and call.stated(line.text) == stated


def _says_other(line: _Said, stated: str | None, call: Call) -> bool:
    return stated is not None and call.stated(line.text) not in (None, stated)


def _decisive(memories: Sequence[_Memory], call: Call, asker: str) -> list[_Memory]:
    """Return the memories that say what is right: that set it, or else that mention it.

    The asker's own come before those of others; several of one person are right together, and all
    that name the same place or piece are.
    """
    found = [memory for memory in memories if memory.stated == call.value]
    found = found or [memory for memory in memories if memory.mentions]
    if call.free:
        return found
    own = [memory for memory in found if memory.owner == asker]
    found = own or found
    return found if len({memory.owner for memory in found}) == 1 else []


def _contradicts(memory: _Memory, call: Call) -> bool:
    if call.free:
        return not memory.mentions
    return memory.stated not in (None, call.value)


def _ordered(memories: Sequence[_Memory], call: Call) -> tuple[int, ...]:
    """Return the numbers of the lines of memories; those that say the value come first."""
    lines: list[_Said] = []
    for memory in memories:
        lines += memory.lines
    lines.sort(key=lambda line: not call.mentioned(line.text))
    return tuple(dict.fromkeys(line.number for line in lines))


def _numbers_of(memories: Sequence[_Memory]) -> tuple[int, ...]:
    found: list[int] = []
    for memory in memories:
        found += [line.number for line in memory.lines]
    return tuple(found)


def _corrects(memory: _Memory) -> bool:
    return _CORRECTS.search(memory.text) is not None


def _corrected(
    memories: Sequence[_Memory], right: Sequence[int], call: Call, said: Sequence[_Said]
) -> tuple[int, ...]:
    """Return the lines that were corrected a few minutes later, by who said them."""
    found: list[int] = []
    for memory in memories:
        told = words_of(memory.text)
        for line in memory.lines:
            before = [earlier for earlier in said if _precedes(earlier, line)]
            found += [e.number for e in before if _is_corrected(e, line, told, call)]
    return tuple(number for number in found if number not in right)


def _is_corrected(earlier: _Said, line: _Said, told: frozenset[str], call: Call) -> bool:
    """Whether a line sets another value, as the memory tells, or is about the same as a later."""
    if call.mentioned(earlier.text):
        return False
    known = told if call.stated(earlier.text) else words_of(line.text)
    return _shared(earlier, known) >= SHARED


def _precedes(earlier: _Said, line: _Said) -> bool:
    """Whether the same person said one line a few minutes before another."""
    if earlier.speaker != line.speaker or earlier.number >= line.number:
        return False
    return line.at - BEFORE <= earlier.at


def _apart(lines: Iterable[int], others: Sequence[int]) -> tuple[int, ...]:
    return tuple(line for line in dict.fromkeys(lines) if line not in others)


# Counterparts


def _counterpart(
    decision: Decision, call: Call, wrong: Sequence[_Memory], people: People
) -> Decision | None:
    """Return the other person's decision of a conflict, or the other condition of a rule."""
    for memory in wrong:
        if memory.stated is None or not memory.lines or not memory.owner:
            continue
        own = memory.owner == decision.asker
        if decision.kind == "preference_conflict" and not own:
            return _mirrored(decision, call, memory, people)
        if decision.kind == "conditional_constraint" and own:
            return _other_condition(decision, call, memory)
    return None


def _mirrored(decision: Decision, call: Call, memory: _Memory, people: People) -> Decision:
    other = replace(call, value=memory.stated or "")
    return replace(
        decision,
        id=f"{decision.id}m",
        query=people.swapped(decision.query, decision.asker, memory.owner),
        asker=memory.owner,
        right=_ordered([memory], other),
        wrong=_apart(decision.right, [line.number for line in memory.lines]),
        answer_text=other.answer(memory.owner),
        value=other.value,
        quotation=people.swapped(decision.quotation, decision.asker, memory.owner),
        origin="mirrored",
    )


def _other_condition(decision: Decision, call: Call, memory: _Memory) -> Decision | None:
    """Ask for what the memory says by its scene and condition alone, without its value."""
    quoted = " ".join(quotations(memory.text))
    clause = condition_clause(quoted)
    scene = unquoted(memory.text)
    facts = conditions_of(memory.text)
    names = words_of(f"{decision.asker} {memory.owner}")
    if not (clause or facts or words_of(scene) - _EVERY_DRIVE - names):
        return None
    other = replace(call, value=memory.stated or "")
    said = f"Set the {call.device} as I like it{' ' + clause if clause else ' then'}."
    return replace(
        decision,
        id=f"{decision.id}c",
        query=f"At {memory.time}, {scene} {decision.asker} told the car: '{said}'",
        conditions=facts,
        right=_ordered([memory], other),
        wrong=_apart(decision.right, [line.number for line in memory.lines]),
        answer_text=other.answer(decision.asker),
        value=other.value,
        quotation=said,
        origin="other condition",
    )
