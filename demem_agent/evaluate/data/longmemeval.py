"""Read LongMemEval files (Wu et al., 2025) in their native format: one question with its own
haystack each.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.turns import Turn

__all__ = ["load_longmemeval"]

_DATE = "%Y/%m/%d (%a) %H:%M"


def load_longmemeval(path: str | Path, sample: str | None = None) -> list[Dialogue]:
    """Read all questions of a file, plain or gzipped, or the one named ``sample``; a dialogue is a
    haystack.

    Evidence is the turns marked ``has_answer``, or every turn of the answer sessions where none is
    marked. Questions that cannot be answered, whose id ends in ``_abs``, have the category
    "abstention" and no evidence: what some of them mark is only close to what is asked. Turns
    without text are left out. A question is asked at its date, which is earlier than the last turns
    of the same day in some haystacks.

    Raises:
        InvalidInput: if the file is not LongMemEval, or has no such sample.
    """
    try:
        raw = json.loads(_bytes(Path(path)).decode())
        dialogues = [
            _dialogue(entry) for entry in raw if sample is None or entry["question_id"] == sample
        ]
        names = [entry["question_id"] for entry in raw]
    except (KeyError, TypeError, ValueError, AttributeError, OSError, EOFError) as error:
        raise InvalidInput(
            "path", str(path), f"a LongMemEval file ({type(error).__name__}: {error})"
        ) from error
    if not dialogues:
        raise InvalidInput("sample", sample, f"one of {names}")
    return dialogues


def _bytes(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _dialogue(entry: Mapping[str, Any]) -> Dialogue:
    name = entry["question_id"]
    marked, of_sessions, turns = [], [], []
    for turn, session, has_answer in _turns(entry):
        turns.append(turn)
        if has_answer:
            marked.append(turn.source_id or "")
        if session in entry["answer_session_ids"]:
            of_sessions.append(turn.source_id or "")
    unanswerable = name.endswith("_abs")
    category = "abstention" if unanswerable else entry["question_type"]
    evidence = () if unanswerable else tuple(marked or of_sessions)
    at = datetime.strptime(entry["question_date"], _DATE)
    probe = Probe(entry["question"], str(entry["answer"]), evidence, category, at)
    return Dialogue(name, tuple(turns), (probe,))


def _turns(entry: Mapping[str, Any]) -> Iterator[tuple[Turn, str, bool]]:
    """Give each turn with its session's id in the file and whether it is marked; a repeated session
    is numbered.
    """
    seen: Counter[str] = Counter()
    sessions = zip(
        entry["haystack_session_ids"],
        entry["haystack_dates"],
        entry["haystack_sessions"],
        strict=True,
    )
    for session, date, turns in sessions:
        seen[session] += 1
        name = session if seen[session] == 1 else f"{session}#{seen[session]}"
        at = datetime.strptime(date, _DATE)
        for number, turn in enumerate(turns):
            if turn["content"].strip():
                said = Turn(
                    turn["content"], turn["role"], at, name, "longmemeval", f"{name}:{number}"
                )
                yield said, session, bool(turn.get("has_answer"))
