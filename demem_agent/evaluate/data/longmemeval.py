"""Read LongMemEval files (Wu et al., 2025) in their native format: a question and its haystack."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.data.plain import Entry
from demem_agent.turns import Turn

__all__ = ["load_longmemeval"]

_DATE = "%Y/%m/%d (%a) %H:%M"


def load_longmemeval(
    path: str | Path, sample: str | None = None, *, by_type: bool = False
) -> list[Dialogue]:
    """Read all questions of a file, plain or gzipped, or the one named ``sample``.

    A dialogue is the haystack of one question. Evidence is the turns marked ``has_answer``, or
    every turn of the answer sessions where none is marked. Questions that cannot be answered, whose
    id ends in ``_abs``, have the category "abstention" and no evidence: what some of them mark is
    only close to what is asked. Turns without text are left out. A question is asked at its date,
    which is earlier than the last turns of the same day in some haystacks.

    Args:
        by_type: give questions that cannot be answered the category of their type, as the tables of
            both papers count them; they are still told apart by ``answerable``.

    Raises:
        InvalidInput: if the file is not LongMemEval, or has no such sample.
    """
    try:
        entries = json.loads(_bytes(Path(path)).decode())
        dialogues = [_dialogue(entry, by_type) for entry in _chosen(entries, sample)]
        names = [entry["question_id"] for entry in entries]
    except (KeyError, TypeError, ValueError, AttributeError, OSError, EOFError) as error:
        allowed = f"a LongMemEval file ({type(error).__name__}: {error})"
        raise InvalidInput("path", str(path), allowed) from error
    if not dialogues:
        raise InvalidInput("sample", sample, f"one of {names}")
    return dialogues


def _bytes(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def _chosen(entries: Iterable[Entry], sample: str | None) -> Iterator[Entry]:
    for entry in entries:
        if sample is None or entry["question_id"] == sample:
            yield entry


@dataclass(frozen=True, slots=True)
class _Said:
    """A turn, with what tells whether it is evidence.

    Attributes:
        session: its session's id in the file; several sessions may have the same.
        marked: whether the file says that the answer stands in it.
    """

    turn: Turn
    session: str
    marked: bool


def _dialogue(entry: Entry, by_type: bool) -> Dialogue:
    said = list(_said(entry))
    turns = tuple(one.turn for one in said)
    return Dialogue(entry["question_id"], turns, (_probe(entry, said, by_type),))


def _probe(entry: Entry, said: Sequence[_Said], by_type: bool) -> Probe:
    evidence = _evidence(said, entry["answer_session_ids"])
    category = entry["question_type"]
    answerable = not entry["question_id"].endswith("_abs")
    if not answerable:
        evidence = []
        category = category if by_type else "abstention"
    return Probe(
        question=entry["question"],
        reference=str(entry["answer"]),
        evidence=tuple(evidence),
        category=category,
        at=datetime.strptime(entry["question_date"], _DATE),
        answerable=answerable,
    )


def _evidence(said: Sequence[_Said], sessions: Sequence[str]) -> list[str]:
    """Return the ids of the marked turns; without any, those of all turns in these sessions."""
    marked = [one for one in said if one.marked]
    found = marked or [one for one in said if one.session in sessions]
    return [one.turn.source_id or "" for one in found]


def _said(entry: Entry) -> Iterator[_Said]:
    """Yield each turn that has text; a session that comes again is numbered."""
    sessions = zip(
        entry["haystack_session_ids"],
        entry["haystack_dates"],
        entry["haystack_sessions"],
        strict=True,
    )
    seen: Counter[str] = Counter()
    for session, date, turns in sessions:
        seen[session] += 1
        times = seen[session]
        name = f"{session}#{times}" if times > 1 else session
        at = datetime.strptime(date, _DATE)
        for turn, marked in _turns(turns, name, at):
            yield _Said(turn, session, marked)


def _turns(given: Iterable[Entry], session: str, at: datetime) -> Iterator[tuple[Turn, bool]]:
    """Yield each turn of a session that has text, and whether the answer stands in it."""
    for number, said in enumerate(given):
        if said["content"].strip():
            turn = _turn(said, session, at, number)
            yield turn, bool(said.get("has_answer"))


def _turn(given: Entry, session: str, at: datetime, number: int) -> Turn:
    return Turn(
        text=given["content"],
        speaker=given["role"],
        at=at,
        session=session,
        source="longmemeval",
        source_id=f"{session}:{number}",
    )
