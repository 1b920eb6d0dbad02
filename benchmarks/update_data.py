"""Facts that change in BEAM, LongMemEval and Letta: which lines say what holds, and what held.

Each question of type knowledge update has a current value and a stale one. A line of memory says a
value if it holds all words of it and belongs to a passage that is known to say it. Which passages
these are is derived from what the benchmarks themselves note, by one rule for each:

* BEAM notes what was said before and after, and the turns. A value is the numbers that the note of
  what is right has (``rubric``), or the note of what is easily confused with it, before "instead
  of"; numbers of the question, or of both values, tell nothing. Passages of the noted turns that
  hold all numbers of a value say it; so do other passages of the user's that hold them and more
  than two thirds of the words of the benchmark's sentence of it (``conversation_references``), its
  heading apart.
* LongMemEval marks turns. Those in the last marked session hold the current value: the numbers of
  the answer, or else its words; passages with all of them say it. Marked turns of earlier sessions
  say the stale one, by the passage of each that has most words of the question.
* Letta tells a fact that contradicts others: it says the current value, they the stale one.

What no passage says cannot be told, and such questions are left out: of the development halves 3 of
20 in BEAM (one note has no number, and two name a turn that does not say it), and 2 of 4 in
LongMemEval (one cannot be answered, and one has its earlier value unmarked). The passages of the 19
others were read one by one. Each says its value. No rule finds two in which a user says a stale
value in other words ("the 1,000 daily call limit"), and one that tells the stale value beside a
still later one. The assistant's lines, which repeat either, count as neither.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from demem_agent import Turn
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.beam import load_beam
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.data.letta import Update, load_letta
from demem_agent.evaluate.data.longmemeval import load_longmemeval
from demem_agent.text.language.numbers import digits
from demem_agent.text.language.words import content_terms
from demem_agent.text.pieces import pieces
from demem_agent.types import Line

__all__ = ["Change", "Chat", "Found", "Passage", "after", "beam_dated", "load"]

#: More than this share of the words of a benchmark's sentence are in what repeats it.
REPEATED = 2 / 3
KIND = "knowledge-update"

_NUMBER = re.compile(r"\d[\d,]*(?:[.:/]\d+)*")
#: What introduces the value itself in a rubric.
_STATES = "should state:"
_INSTEAD = re.compile(r"\b(?:instead of|rather than)\b")
#: A heading of a BEAM note: "Information Update: ...", "Labels:Version Control: ...".
_HEADING = re.compile(r"^[A-Z][^.:]{0,60}:")

#: The words or numbers that make a value out.
Value = frozenset[str]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a turn that says a value.

    Attributes:
        turn: its ``source_id``.
        value: the words that a line must hold to say it; empty where any part of the stretch does.
    """

    turn: str
    start: int
    end: int
    value: Value = frozenset()

    def said_by(self, line: Line) -> bool:
        """Whether a line of a reading says the value here."""
        if line.evidence.source_id != self.turn:
            return False
        overlaps = line.start < self.end and self.start < line.end
        return overlaps and self.value <= words_of(line.text)


@dataclass(frozen=True, slots=True)
class Change:
    """A question about something that changed."""

    question: str
    at: datetime | None
    current: tuple[Passage, ...]
    stale: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Chat:
    """What was said, and questions about what changed in it."""

    name: str
    turns: tuple[Turn, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The chats of a benchmark that have a change, and how many questions were left out."""

    chats: tuple[Chat, ...]
    left_out: int

    @classmethod
    def of(cls, chats: Iterable[Chat], asked: int) -> Found:
        """Keep the chats with a change.

        Args:
            asked: how many questions there are about changes.
        """
        kept = tuple(chat for chat in chats if chat.changes)
        return cls(kept, asked - sum(len(chat.changes) for chat in kept))


def words_of(text: str) -> set[str]:
    """Return the numbers of a text, number words as digits, and the stems of its content words."""
    return numbers(text) | set(content_terms(text))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text; "1,200" is 1200, and "4:30" is one number."""
    return {found.replace(",", "") for found in _NUMBER.findall(digits(text))}


# BEAM


def beam(folder: Path) -> Found:
    """Read the chats in a folder's subfolders, dated.

    Raises:
        InvalidInput: if no chat is there, or a file is not BEAM.
    """
    chats = []
    asked = 0
    for dialogue in load_beam(folder):
        notes = _json(folder / dialogue.name / "probing_questions.json")["knowledge_update"]
        asked += len(notes)
        turns = beam_dated(dialogue.turns, folder / dialogue.name)
        at = after(turns)
        changes = (beam_change(note, turns, at) for note in notes)
        chats.append(Chat(dialogue.name, turns, _told(changes)))
    return Found.of(chats, asked)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def beam_dated(turns: Sequence[Turn], folder: Path) -> tuple[Turn, ...]:
    """Date the turns of the chat in a folder.

    The time anchor stands at a turn of a batch. The loader looks for it at the batch itself, and
    gives turns without a date.
    """
    days = anchors(_json(folder / "chat.json"))
    return tuple(replace(turn, at=turn.at or days.get(turn.session or "")) for turn in turns)


def anchors(batches: Iterable[Mapping[str, Any]]) -> dict[str, datetime]:
    """Return the first date in each batch that has one, by its session."""
    days: dict[str, datetime] = {}
    for batch in batches:
        for turn in chain.from_iterable(batch["turns"]):
            anchor = turn.get("time_anchor")
            if anchor:
                session = f"session_{batch['batch_number']}"
                days.setdefault(session, datetime.strptime(anchor, "%B-%d-%Y"))
    return days


def after(turns: Sequence[Turn]) -> datetime | None:
    """Return the day after the last dated turn."""
    dated = [turn.at for turn in turns if isinstance(turn.at, datetime)]
    return max(dated) + timedelta(days=1) if dated else None


def beam_change(note: Mapping[str, Any], turns: Sequence[Turn], at: datetime | None) -> Change:
    """Derive what a BEAM question is about; without passages where they cannot be told."""
    current, stale = beam_values(note)
    ids = note["source_chat_ids"]
    first, *_, last = note["conversation_references"]
    return Change(
        question=note["question"],
        at=at,
        current=_saying(turns, current, _noted(ids, "updated_info"), last),
        stale=_saying(turns, stale, _noted(ids, "original_info"), first),
    )


def beam_values(note: Mapping[str, Any]) -> tuple[Value, Value]:
    """Return the numbers of the current value, and of the stale one."""
    right = " ".join(said.split(_STATES)[-1] for said in note["rubric"])
    confused = _INSTEAD.split(note["potential_confusion"])[0]
    asked = numbers(note["question"])
    current = numbers(right) - asked
    stale = numbers(confused) - asked
    return frozenset(current - stale), frozenset(stale - current)


def _noted(ids: Mapping[str, Any], name: str) -> set[str]:
    return set(map(str, ids.get(name) or ()))


def _saying(
    turns: Sequence[Turn], value: Value, noted: set[str], sentence: str
) -> tuple[Passage, ...]:
    """Return the passages that say a value, none unless a noted turn does."""
    found = []
    for turn in turns:
        for start, end in pieces(turn.text):
            text = turn.text[start:end]
            own = turn.source_id in noted
            repeats = turn.speaker == "user" and _repeats(text, sentence)
            if value and value <= numbers(text) and (own or repeats):
                found.append(Passage(turn.source_id or "", start, end, value))
    told = any(passage.turn in noted for passage in found)
    return tuple(found) if told else ()


def _repeats(text: str, sentence: str) -> bool:
    """Whether a text has more than two thirds of the words of a sentence, its heading apart."""
    words = set(content_terms(_HEADING.sub("", sentence)))
    return len(words & set(content_terms(text))) > REPEATED * len(words)


def _told(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Keep what can be told."""
    return tuple(change for change in changes if change.current and change.stale)


# LongMemEval


def longmemeval(path: Path) -> Found:
    """Read a file, plain or gzipped.

    Raises:
        InvalidInput: if the file is not LongMemEval.
    """
    chats = []
    asked = 0
    kinds = _kinds(path)
    for dialogue in load_longmemeval(path):
        if kinds[dialogue.name] == KIND:
            asked += 1
            changes = _told([longmemeval_change(dialogue)])
            chats.append(Chat(dialogue.name, dialogue.turns, changes))
    return Found.of(chats, asked)


def _kinds(path: Path) -> dict[str, str]:
    """Return the type of each question as the file has it."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return {entry["question_id"]: entry["question_type"] for entry in json.loads(content)}


def longmemeval_change(dialogue: Dialogue) -> Change:
    """Derive what a LongMemEval question is about; without passages where they cannot be told."""
    probe = dialogue.probes[0]
    marked = [turn for turn in dialogue.turns if turn.source_id in probe.evidence]
    last = marked[-1].session if marked else None
    value = frozenset(numbers(probe.reference) or content_terms(probe.reference))
    current: list[Passage] = []
    stale: list[Passage] = []
    for turn in marked:
        if turn.session == last:
            current += _holding(turn, value)
        else:
            stale += _nearest(turn, probe.question)
    return Change(probe.question, probe.at, tuple(current), tuple(stale))


def _holding(turn: Turn, value: Value) -> Iterator[Passage]:
    """Yield the passages of a turn that hold a value."""
    for start, end in pieces(turn.text):
        if value and value <= words_of(turn.text[start:end]):
            yield Passage(turn.source_id or "", start, end, value)


def _nearest(turn: Turn, question: str) -> Iterator[Passage]:
    """Yield the passages of a turn that have most words of a question."""
    asked = set(content_terms(question))
    shared = {}
    for start, end in pieces(turn.text):
        shared[start, end] = len(asked & set(content_terms(turn.text[start:end])))
    for (start, end), count in shared.items():
        if count == max(shared.values()):
            yield Passage(turn.source_id or "", start, end)


# Letta


def letta(path: Path) -> Found:
    """Read a ``core_memory_update`` file.

    Raises:
        InvalidInput: if the file is not Letta's.
    """
    updates = load_letta(path)
    return Found.of(map(_chat, updates), len(updates))


def _chat(update: Update) -> Chat:
    current = (_whole(update.correction),)
    stale = [_whole(fact) for fact in update.facts if fact.source_id in update.supporting]
    changes = _told([Change(update.question, None, current, tuple(stale))])
    return Chat(update.name, (*update.facts, update.correction), changes)


def _whole(turn: Turn) -> Passage:
    return Passage(turn.source_id or "", 0, len(turn.text))


# A folder with any of them

_READ = {"beam": beam, "longmemeval": longmemeval, "letta": letta}
_WHERE = {"beam": "beam", "longmemeval": "longmemeval/*.json*", "letta": "letta/*.jsonl"}


def load(folder: Path, only: Sequence[str] = ()) -> dict[str, Found]:
    """Read what a folder has of the three benchmarks, or of some of them.

    They are where their names say: ``beam/N/chat.json``, a file in ``longmemeval/``, one in
    ``letta/``.

    Raises:
        InvalidInput: for the name of another benchmark, or if there is none of them.
    """
    for name in only:
        if name not in _WHERE:
            raise InvalidInput("only", name, f"one of {list(_WHERE)}")
    found = {}
    for name, where in _WHERE.items():
        paths = sorted(folder.glob(where))
        if paths and (not only or name in only):
            found[name] = _READ[name](paths[0])
    if not found:
        allowed = f"a folder with any of {', '.join(_WHERE.values())}"
        raise InvalidInput("data", str(folder), allowed)
    return found
