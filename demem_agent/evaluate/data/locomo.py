"""Read LoCoMo files (Maharana et al., 2024) in their native format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.turns import Turn

__all__ = ["CATEGORIES", "load_locomo"]

#: The file's numbers; the fifth, adversarial, has no reference and is not scored in the paper.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_TURN_ID = re.compile(r"D\d+:\d+")


def load_locomo(path: str | Path, sample: str | None = None) -> list[Dialogue]:
    """Read all dialogues of a file, or the one named ``sample``.

    A picture shared in a turn counts by its caption. Evidence ids that name no turn are left out.

    Raises:
        InvalidInput: if the file is not LoCoMo, or has no such sample.
    """
    try:
        raw = json.loads(Path(path).read_text(encoding="utf-8"))
        dialogues = [
            _dialogue(entry) for entry in raw if sample is None or entry["sample_id"] == sample
        ]
        names = [entry["sample_id"] for entry in raw]
    except OSError as error:
        raise InvalidInput("path", str(path), f"a readable file ({error.strerror})") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(
            "path", str(path), f"a LoCoMo file ({type(error).__name__}: {error})"
        ) from error
    if not dialogues:
        raise InvalidInput("sample", sample, f"one of {names}")
    return dialogues


def _dialogue(entry: Mapping[str, Any]) -> Dialogue:
    turns = tuple(_turns(entry["conversation"]))
    known = {turn.source_id or "" for turn in turns}
    return Dialogue(entry["sample_id"], turns, tuple(_probe(qa, known) for qa in entry["qa"]))


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(name[8:]) for name in conversation if re.fullmatch(r"session_\d+", name))
    for number in numbers:
        session = f"session_{number}"
        at = datetime.strptime(conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in conversation[session]:
            caption = turn.get("blip_caption")
            text = f"{turn['text']} [shares {caption}]" if caption else turn["text"]
            yield Turn(text, turn["speaker"], at, session, "locomo", turn["dia_id"])


def _probe(qa: Mapping[str, Any], known: set[str]) -> Probe:
    ids: list[str] = [
        id for entry in qa.get("evidence", []) for id in _TURN_ID.findall(str(entry)) if id in known
    ]
    category = CATEGORIES.get(qa["category"], str(qa["category"]))
    return Probe(qa["question"], str(qa.get("answer", "")), tuple(dict.fromkeys(ids)), category)
