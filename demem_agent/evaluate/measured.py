"""One record a reading, and files of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from demem_agent.errors import InvalidInput

__all__ = ["MEASURES", "MeasureName", "Measured", "load", "save"]

MeasureName = Literal["recall", "half", "nine_tenths", "f1", "contained"]
#: The fields of :class:`Measured` that say how good a reading is; each is in [0, 1].
MEASURES: tuple[MeasureName, ...] = ("recall", "half", "nine_tenths", "f1", "contained")


@dataclass(frozen=True, slots=True)
class Measured:
    """One reading: what one system gave for one question at one limit.

    Attributes:
        question: its number in the dialogue's probes, from 0.
        recall: share of the gold turns' word 4-grams that are in the text, mean over the turns.
            None for a question without evidence, or one that cannot be answered.
        half, nine_tenths: share of the gold turns of which so much is in the text, by the same
            count; None as for ``recall``.
        size: characters of the text.
        seconds: that the read took.
        f1: of the extractive answer from this text against the reference. None without a reference,
            or where the question cannot be answered.
        contained: 1.0 if every part of the reference stands in one line of the text that quotes a
            gold turn, else 0.0. None as for ``f1``, and where no gold turn holds it.
        answerable: False where nothing in the dialogue answers the question.
        known, probability: whether the system said that it holds the answer, and how probable that
            was to it, in [0, 1]; None of a system that does not say.
    """

    dialogue: str
    question: int
    category: str
    system: str
    limit: int
    recall: float | None
    half: float | None
    nine_tenths: float | None
    size: int
    seconds: float
    f1: float | None
    contained: float | None
    answerable: bool = True
    known: bool | None = None
    probability: float | None = None


def save(measured: Iterable[Measured], path: str | Path) -> None:
    """Write records as JSON lines, one a reading."""
    lines: list[str] = []
    for record in measured:
        line = json.dumps(asdict(record), allow_nan=False)
        lines.append(line + "\n")
    Path(path).write_text("".join(lines), encoding="utf-8")


def load(path: str | Path) -> list[Measured]:
    """Read what :func:`save` wrote.

    Raises:
        InvalidInput: if the file cannot be read, or naming the line that is no record.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("path", str(path), f"a readable file ({error})") from error
    records: list[Measured] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            records.append(_record(number, line))
    return records


def _record(number: int, line: str) -> Measured:
    try:
        return Measured(**json.loads(line))
    except (TypeError, ValueError) as error:
        allowed = f"a record as save() writes it ({error})"
        raise InvalidInput(f"line {number}", line, allowed) from error
