"""Read BEAM chats (Tavakoli et al., 2025) in their native format: a folder with ``chat.json`` and
its questions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.turns import Turn

__all__ = ["load_beam"]

#: Where the kinds of questions keep what a right answer says.
_REFERENCES = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
#: A mark of how the chats were generated, at the end of the user's turns.
_MARK = re.compile(r"\s*->->\s*[\d,\s]+$")


def load_beam(path: str | Path, sample: str | None = None) -> list[Dialogue]:
    """Read the chat in a folder, or those in its subfolders; ``sample`` is the name of one of
    these.

    A batch is a session, dated by its time anchor. Evidence ids that name no turn are left out.

    Raises:
        InvalidInput: if no chat is there, a file is not BEAM, or there is no such sample.
    """
    root = Path(path)
    found = (
        [root]
        if (root / "chat.json").is_file()
        else sorted((p.parent for p in root.glob("*/chat.json")), key=_order)
    )
    if not found:
        raise InvalidInput(
            "path", str(path), "a folder with chat.json, or with subfolders that hold one"
        )
    chosen = [folder for folder in found if sample is None or folder.name == sample]
    if not chosen:
        raise InvalidInput("sample", sample, f"one of {[folder.name for folder in found]}")
    return [_dialogue(folder) for folder in chosen]


def _order(folder: Path) -> tuple[int, str]:
    return (int(folder.name) if folder.name.isdecimal() else 0, folder.name)


def _dialogue(folder: Path) -> Dialogue:
    try:
        turns = tuple(_turns(_json(folder / "chat.json")))
        known = {turn.source_id for turn in turns}
        kinds = _json(folder / "probing_questions.json").items()
        return Dialogue(
            folder.name,
            turns,
            tuple(_probe(q, kind, known) for kind, asked in kinds for q in asked),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise InvalidInput(
            "path", str(folder), f"a BEAM chat ({type(error).__name__}: {error})"
        ) from error


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _turns(batches: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    for batch in batches:
        session = f"session_{batch['batch_number']}"
        anchor = batch.get("time_anchor")
        at = datetime.strptime(anchor, "%B-%d-%Y") if anchor else None
        for turn in (turn for group in batch["turns"] for turn in group):
            text = _MARK.sub("", turn["content"])
            if text.strip():
                yield Turn(text, turn["role"], at, session, "beam", str(turn["id"]))


def _probe(question: Mapping[str, Any], kind: str, known: set[str | None]) -> Probe:
    reference = next((str(question[name]) for name in _REFERENCES if name in question), "")
    ids = [id for id in _flat(question.get("source_chat_ids")) if id in known]
    return Probe(question["question"], reference, tuple(dict.fromkeys(ids)), kind.replace("_", " "))


def _flat(ids: Any) -> Iterator[str]:
    """Give the ids in a number, a list or a mapping of these, however deep."""
    if isinstance(ids, Mapping):
        ids = list(ids.values())
    if isinstance(ids, list):
        for part in ids:
            yield from _flat(part)
    elif ids is not None:
        yield str(ids)
