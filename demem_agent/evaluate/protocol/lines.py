"""The lines of a results file: its header, questions, answers, and the closing line."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from demem_agent.evaluate.metrics import as_reading
from demem_agent.evaluate.protocol.calls import PROMPTS, Call, Line, PromptName
from demem_agent.evaluate.protocol.library import Library
from demem_agent.evaluate.protocol.posing import Posed
from demem_agent.evaluate.protocol.run import Mark
from demem_agent.llms.prompts import prompt_text
from demem_agent.types import Question

__all__ = [
    "LINE",
    "Answered",
    "Asked",
    "Closing",
    "Header",
    "Instructions",
    "Key",
    "instructions",
    "key_of",
    "sha256",
]

#: A question: its system, its dialogue and its number there.
Key = tuple[str, str, int]

_OF_MARK = [field.name for field in fields(Mark)]


class Instructions(Line):
    """What a model is told before all else, as a system message."""

    text: str
    sha256: str


class Header(Line):
    """What was run, on what and by whom.

    Attributes:
        benchmark: its name on the command line; ``data`` names the file, without its folder.
        sha256: of the data: of the file, or of all files of a folder.
        version, commit: of this library; commit is None where it is not known.
        questions: of each system.
        limit: characters that a reading may have.
        seeds: of the calls of each run.
        prompts: by their names in the calls.
    """

    line: Literal["header"] = "header"
    format: Literal["demem-bench 1"] = "demem-bench 1"
    benchmark: str
    data: str
    sha256: str
    version: str
    commit: str | None
    model: str
    judges: tuple[str, ...] = Field(min_length=1)
    systems: tuple[str, ...] = Field(min_length=1)
    questions: int = Field(ge=1)
    limit: int = Field(ge=1)
    runs: int = Field(ge=1)
    seeds: tuple[int, ...]
    prompts: dict[PromptName, Instructions]
    began: str

    @property
    def library(self) -> Library:
        """The library that ran."""
        return Library(self.version, self.commit)


class Asked(Line):
    """A question and what a system read for it.

    Attributes:
        prompt: the user's message as the model got it: the reading, and the question after it.
        size: characters of the reading, with which the prompt begins; the paper's B(q).
        recall: how much of the evidence stands in the reading, in [0, 1]; None without evidence.
        seconds: that the read took.
    """

    line: Literal["question"] = "question"
    system: str
    dialogue: str
    question: int = Field(ge=0)
    category: str
    asked: str
    at: datetime | None
    reference: str
    prompt: str
    size: int = Field(ge=0)
    recall: float | None = Field(ge=0, le=1)
    seconds: float = Field(ge=0)

    @classmethod
    def of(cls, one: Posed) -> Asked:
        """Return the line of a question."""
        return cls(
            system=one.system,
            dialogue=one.dialogue,
            question=one.question,
            category=one.category,
            asked=one.asked.query,
            at=one.asked.at,
            reference=one.reference,
            prompt=one.prompt,
            size=one.asked.reading.size,
            recall=one.recall,
            seconds=one.seconds,
        )

    @property
    def posed(self) -> Posed:
        """The question, as it was posed."""
        reading = as_reading(self.prompt[: self.size])
        return Posed(
            system=self.system,
            dialogue=self.dialogue,
            question=self.question,
            category=self.category,
            reference=self.reference,
            asked=Question(self.asked, self.at, reading),
            seconds=self.seconds,
            recall=self.recall,
        )


class Answered(Line):
    """What came of one question in one run; see :class:`~demem_agent.evaluate.protocol.run.Mark`.

    Attributes:
        seed: of all its calls.
        binary, graded: of each judge, in the order of the header.
    """

    line: Literal["answer"] = "answer"
    run: int = Field(ge=0)
    seed: int
    system: str
    dialogue: str
    question: int = Field(ge=0)
    category: str
    answer: str
    useless: bool
    failed: str
    binary: tuple[float, ...]
    graded: tuple[float, ...]
    size: int = Field(ge=0)
    seconds: float = Field(ge=0)
    calls: tuple[Call, ...]

    @classmethod
    def of(cls, mark: Mark) -> Answered:
        """Return the line of a mark."""
        return cls(seed=mark.run, **{name: getattr(mark, name) for name in _OF_MARK})

    @property
    def mark(self) -> Mark:
        """The mark."""
        return Mark(**{name: getattr(self, name) for name in _OF_MARK})


class Closing(Line):
    """The end of a run.

    Attributes:
        answers: lines of answers, those of failed attempts included.
        figures: as :func:`~demem_agent.evaluate.protocol.reporting.figures_of` makes them.
        used: what all calls of the file used, failed ones as well; its cost is None where a price
            was not known.
        digest: SHA-256 of all lines before.
    """

    line: Literal["closing"] = "closing"
    answers: int
    figures: dict[str, Any]
    used: dict[str, Any]
    digest: str


def instructions() -> dict[PromptName, Instructions]:
    """Return what models are told before all else, by name."""
    found: dict[PromptName, Instructions] = {}
    for name in PROMPTS:
        text = prompt_text(name)
        found[name] = Instructions(text=text, sha256=sha256(text.encode()))
    return found


def sha256(content: bytes) -> str:
    """Return a SHA-256 as 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def key_of(one: Posed | Asked | Answered) -> Key:
    """Return which question it is: its system, dialogue and number."""
    return one.system, one.dialogue, one.question


#: Any of them, by its ``line``.
LINE: TypeAdapter[Line] = TypeAdapter(
    Annotated[Header | Asked | Answered | Closing, Field(discriminator="line")]
)
