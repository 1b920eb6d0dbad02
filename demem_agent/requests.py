"""What a flow may ask its driver for; a flow never calls a collaborator itself."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import EncoderInfo
from demem_agent.later import dataclass
from demem_agent.slots.records import Delta
from demem_agent.types import Attempt, ChangeTask, Compression, Noting, Question, Slot

__all__ = [
    "ChooseSlot",
    "Commit",
    "Complete",
    "Compress",
    "Encode",
    "EncodeQueries",
    "Flow",
    "JudgeChange",
    "Request",
    "Rerank",
    "Score",
    "TakeNotes",
    "Vectors",
    "Waited",
]


@dataclass(frozen=True, slots=True)
class Encode:
    """Texts to encode; the reply is :class:`Vectors`."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EncodeQueries:
    """Questions to encode; the reply is :class:`Vectors`.

    Attributes:
        questions: as they were asked, for an encoder with ``encode_query``.
        subjects: what each is about, for any other.
    """

    questions: tuple[str, ...]
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The reply to :class:`Encode` and to :class:`EncodeQueries`.

    Attributes:
        matrix: shape (n, d), rows of unit length.
        encoder: which encoder made it; the memory may have been moved to another one meanwhile.
        by_query: whether ``encode_query`` made it.
    """

    matrix: NDArray[np.float32]
    encoder: EncoderInfo
    by_query: bool = False


@dataclass(frozen=True, slots=True)
class Rerank:
    """Texts to be compared with a query; the reply is a float64 array of shape (n,).

    One finite number each, on any scale, the higher the better.
    """

    query: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChooseSlot:
    """A query to be routed; the reply is the number of one of the slots, two at least."""

    query: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Complete:
    """Questions to answer; the reply is one :class:`~demem_agent.types.Draft` each."""

    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Attempts to score; the reply is a float64 array of shape (n, B) in [0, 1].

    It has one column per scorer.

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
class TakeNotes:
    """Notes to be taken; the reply is one :class:`~demem_agent.types.Proposal`."""

    task: Noting


@dataclass(frozen=True, slots=True)
class JudgeChange:
    """Two lines to be judged; the reply is one :class:`~demem_agent.types.ChangeVerdict`."""

    task: ChangeTask


@dataclass(frozen=True, slots=True)
class Commit:
    """Rows to write; when the reply (None) comes they are durable.

    The flow then applies them to the state (:func:`demem_agent.flows.commit.committed`). This is
    the only request that is carried out while the memory's lock is held.
    """

    delta: Delta


#: What somebody else carries out, outside the lock.
Waited = (
    Encode
    | EncodeQueries
    | Rerank
    | ChooseSlot
    | Complete
    | Score
    | Compress
    | TakeNotes
    | JudgeChange
)
Request = Waited | Commit
Result = TypeVar("Result")
#: A generator of requests that returns a result. Between two requests it may read the state, and
#: right after a Commit it applies the delta; the driver holds the memory's lock whenever the
#: generator runs.
Flow = Generator[Request, Any, Result]
