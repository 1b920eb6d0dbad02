"""Read LoCoMo files (Maharana et al., 2024) in their native format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.data.plain import Entry
from demem_agent.turns import Turn

__all__ = ["CATEGORIES", "load_locomo"]

#: The file's numbers; the fifth, adversarial, has no reference and is not scored in the paper.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_TURN_ID = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_\d+")


def load_locomo(path: str | Path, sample: str | None = None) -> list[Dialogue]:
    """Read all dialogues of a file, or the one named ``sample``.

    A picture shared in a turn counts by its caption. Evidence ids that name no turn are left out.

    Raises:
        InvalidInput: if the file is not LoCoMo, or has no such sample.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        entries = json.loads(text)
        dialogues = list(map(_dialogue, _chosen(entries, sample)))
        names = [entry["sample_id"] for entry in entries]
    except OSError as error:
        raise InvalidInput("path", str(path), f"a readable file ({error.strerror})") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        name = Path(path).name
        says = f"{name} is no LoCoMo file: that is a JSON list of dialogues with sample_id and qa"
        raise InvalidInput("path", str(path), "a LoCoMo file", says) from error
    if not dialogues:
        raise InvalidInput("sample", sample, f"one of {names}")
    return dialogues


def _chosen(entries: Iterable[Entry], sample: str | None) -> Iterator[Entry]:
    for entry in entries:
        if sample is None or entry["sample_id"] == sample:
            yield entry


def _dialogue(entry: Entry) -> Dialogue:
    turns = tuple(_turns(entry["conversation"]))
    known = {turn.source_id or "" for turn in turns}
    probes = [_probe(asked, known) for asked in entry["qa"]]
    return Dialogue(entry["sample_id"], turns, tuple(probes))


def _turns(conversation: Entry) -> Iterator[Turn]:
    for number in _numbers(conversation):
        session = f"session_{number}"
        date = conversation[f"{session}_date_time"]
        at = datetime.strptime(date, "%I:%M %p on %d %B, %Y")
        for turn in conversation[session]:
            yield Turn(
                text=_said(turn),
                speaker=turn["speaker"],
                at=at,
                session=session,
                source="locomo",
                source_id=turn["dia_id"],
            )


def _numbers(conversation: Entry) -> list[int]:
    """Return the numbers of the sessions in their order; a date alone makes none."""
    numbers: list[int] = []
    for name in filter(_SESSION.fullmatch, conversation):
        number = name.removeprefix("session_")
        numbers.append(int(number))
    return sorted(numbers)


def _said(turn: Entry) -> str:
    text: str = turn["text"]
    caption = turn.get("blip_caption")
    return f"{text} [shares {caption}]" if caption else text


def _probe(asked: Entry, known: set[str]) -> Probe:
    evidence: dict[str, None] = {}
    for entry in asked.get("evidence", []):
        for id in _TURN_ID.findall(str(entry)):
            if id in known:
                evidence[id] = None
    number = asked["category"]
    return Probe(
        question=asked["question"],
        reference=str(asked.get("answer", "")),
        evidence=tuple(evidence),
        category=CATEGORIES.get(number, str(number)),
    )
