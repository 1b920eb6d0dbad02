"""What a flow may ask its driver for; a flow never calls a collaborator itself."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from demem_agent.slots.records import Delta
from demem_agent.types import Attempt, Compression, Question

__all__ = ["Ask", "Commit", "Compress", "Encode", "Flow", "Request", "Score"]


@dataclass(frozen=True, slots=True)
class Encode:
    """Texts to encode; the reply is a float32 array of shape (n, d) with rows of unit length."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Questions to answer; the reply is one :class:`~demem_agent.types.Draft` each."""

    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Attempts to score; the reply is a float64 array of shape (n, B) in [0, 1], one column per
    scorer.

    Attributes:
        judged: by the judges, who know no reference, instead of the scorers.
    """

    attempts: tuple[Attempt, ...]
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Compress:
    """A summary to be written; the reply is one :class:`~demem_agent.types.Proposal`."""

    task: Compression


@dataclass(frozen=True, slots=True)
class Commit:
    """Rows to write; when the reply (None) comes they are durable, and the flow applies them to the
    state.

    The only request that is carried out while the memory's lock is held.
    """

    delta: Delta


Request = Encode | Ask | Score | Compress | Commit
Result = TypeVar("Result")
#: A generator of requests that returns a result. Between two requests it may read the state, and
#: right after a Commit it applies the delta; the driver holds the memory's lock whenever the
#: generator runs.
Flow = Generator[Request, Any, Result]
