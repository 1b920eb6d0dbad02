"""Read BEAM chats (Tavakoli et al., 2025) in their native format, a folder each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.data.plain import Entry
from demem_agent.turns import Turn

__all__ = ["load_beam"]

#: Where the kinds of questions keep what a right answer says.
_REFERENCES = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
#: A mark of how the chats were generated, at the end of the user's turns.
_MARK = re.compile(r"\s*->->\s*[\d,\s]+$")


def load_beam(path: str | Path, sample: str | None = None) -> list[Dialogue]:
    """Read the chat in a folder, or those in its subfolders.

    A folder holds ``chat.json`` and its questions. A batch is a session, dated by its time anchor.
    Evidence ids that name no turn are left out.

    Args:
        sample: the name of the one folder to read.

    Raises:
        InvalidInput: if no chat is there, a file is not BEAM, or there is no such sample.
    """
    found = _folders(Path(path))
    if not found:
        allowed = "a folder with chat.json, or with subfolders that hold one"
        raise InvalidInput("path", str(path), allowed)
    if sample is not None:
        found = _named(found, sample)
    return list(map(_dialogue, found))


def _named(folders: Sequence[Path], name: str) -> list[Path]:
    """Return the folder of this name."""
    by_name = {folder.name: folder for folder in folders}
    if name not in by_name:
        raise InvalidInput("sample", name, f"one of {list(by_name)}")
    return [by_name[name]]


def _folders(root: Path) -> list[Path]:
    if (root / "chat.json").is_file():
        return [root]
    folders = [chat.parent for chat in root.glob("*/chat.json")]
    return sorted(folders, key=_order)


def _order(folder: Path) -> tuple[int, str]:
    number = int(folder.name) if folder.name.isdecimal() else 0
    return number, folder.name


def _dialogue(folder: Path) -> Dialogue:
    try:
        turns = tuple(_turns(_json(folder / "chat.json")))
        asked = _json(folder / "probing_questions.json")
        probes = tuple(_probes(asked, turns))
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        allowed = f"a BEAM chat ({type(error).__name__}: {error})"
        raise InvalidInput("path", str(folder), allowed) from error
    return Dialogue(folder.name, turns, probes)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _turns(batches: Sequence[Entry]) -> Iterator[Turn]:
    for batch in batches:
        session = f"session_{batch['batch_number']}"
        anchor = batch.get("time_anchor")
        at = datetime.strptime(anchor, "%B-%d-%Y") if anchor else None
        for turn in chain.from_iterable(batch["turns"]):
            text = _MARK.sub("", turn["content"])
            if text.strip():
                yield Turn(
                    text=text,
                    speaker=turn["role"],
                    at=at,
                    session=session,
                    source="beam",
                    source_id=str(turn["id"]),
                )


def _probes(asked: Mapping[str, Sequence[Entry]], turns: Sequence[Turn]) -> Iterator[Probe]:
    known = {turn.source_id for turn in turns}
    for kind, questions in asked.items():
        category = kind.replace("_", " ")
        for question in questions:
            ids = filter(known.__contains__, _flat(question.get("source_chat_ids")))
            evidence = tuple(dict.fromkeys(ids))
            yield Probe(question["question"], _reference(question), evidence, category)


def _reference(question: Entry) -> str:
    for name in _REFERENCES:
        if name in question:
            return str(question[name])
    return ""


def _flat(ids: object) -> Iterator[str]:
    """Yield the ids in a number, a list or a mapping of these, however deep."""
    if isinstance(ids, Mapping):
        ids = list(ids.values())
    if isinstance(ids, list):
        for part in ids:
            yield from _flat(part)
    elif ids is not None:
        yield str(ids)
