"""The fakes that DeMem is tested with, for the tests of those who build on it.

Deterministic, offline, tiny.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.text.language.words import content_terms
from demem_agent.types import Attempt, ChangeTask, ChangeVerdict, Draft, Question, Slot

__all__ = [
    "Async",
    "BagEncoder",
    "Failing",
    "ReadingAnswerer",
    "ScriptedAnswerer",
    "ScriptedChangeJudge",
    "ScriptedReranker",
    "ScriptedRouter",
    "ScriptedScorer",
    "Slow",
]


class BagEncoder:
    """Encode a text as the sum of one pseudo-random direction per stemmed word.

    Shared words are all that counts.
    """

    def __init__(self, dimensions: int = 16, name: str = "bag") -> None:
        self.dimensions = dimensions
        self.name = name
        self.fingerprint = f"bag-{dimensions}"

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        """Return an array of shape (n, dimensions), rows not normalised."""
        rows = [self._row(text) for text in sentences]
        return np.array(rows, np.float32).reshape(len(sentences), self.dimensions)

    def _row(self, text: str) -> NDArray[np.float32]:
        row = self._direction("")
        for word in content_terms(text):
            row = row + self._direction(word)
        return row

    def _direction(self, word: str) -> NDArray[np.float32]:
        return _direction(word, self.dimensions)


@lru_cache(maxsize=10_000)
def _direction(word: str, dimensions: int) -> NDArray[np.float32]:
    """Return the direction of a word, drawn from a seed that follows from the word."""
    digest = hashlib.sha256(word.encode()).digest()
    seed = int.from_bytes(digest[:8], "little")
    direction = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return direction * np.float32(1.0 if word else 0.01)


class ReadingAnswerer:
    """Answer every question with its whole reading.

    The answer is right whenever the evidence was read.
    """

    def answer(self, question: Question) -> Draft:
        """Return the reading, resting on all that is in it."""
        read = tuple(item.id for item in question.reading.evidence)
        return Draft(question.reading.text, read)


class ScriptedAnswerer:
    """Answer from a mapping of queries; ``asked`` keeps every question."""

    def __init__(self, answers: Mapping[str, str], otherwise: str = "") -> None:
        self._answers = answers
        self._otherwise = otherwise
        self.asked: list[Question] = []

    def answer(self, question: Question) -> str:
        """Return the answer that stands for the query, or ``otherwise``."""
        self.asked.append(question)
        return self._answers.get(question.query, self._otherwise)


class ScriptedReranker:
    """Score texts by a function of the query and one text; ``asked`` keeps every call."""

    def __init__(self, relevance: Callable[[str, str], float]) -> None:
        self._relevance = relevance
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, query: str, texts: list[str], /) -> list[float]:
        """Return one number a text."""
        self.asked.append((query, texts))
        return [self._relevance(query, text) for text in texts]


class ScriptedRouter:
    """Choose by a function of the query and the slots, or always the same number.

    ``asked`` keeps every call.
    """

    def __init__(self, choice: int | Callable[[str, Sequence[Slot]], int]) -> None:
        self._choice = choice
        self.asked: list[tuple[str, list[Slot]]] = []

    def choose(self, query: str, slots: Sequence[Slot], /) -> int:
        """Return the number of a slot."""
        self.asked.append((query, list(slots)))
        return self._choice(query, slots) if callable(self._choice) else self._choice


class ScriptedScorer:
    """Score by a function of the attempt, or always the same."""

    def __init__(self, score: float | Callable[[Attempt], float], name: str = "scripted") -> None:
        self.name = name
        self._score = score

    def score(self, attempt: Attempt) -> float:
        """Return the score of an attempt."""
        return self._score(attempt) if callable(self._score) else self._score


class ScriptedChangeJudge:
    """Judge two lines by a function of the task, or always the same; ``asked`` keeps every task."""

    def __init__(
        self, verdict: ChangeVerdict | Callable[[ChangeTask], ChangeVerdict], name: str = "scripted"
    ) -> None:
        self.name = name
        self._verdict = verdict
        self.asked: list[ChangeTask] = []

    def judge(self, task: ChangeTask, /) -> ChangeVerdict:
        """Return the verdict on two lines."""
        self.asked.append(task)
        return self._verdict(task) if callable(self._verdict) else self._verdict


class Failing:
    """Raise, as any collaborator, after ``good`` calls that go to ``inner``."""

    name = "failing"

    def __init__(self, inner: Any = None, good: int = 0, error: Exception | None = None) -> None:
        self._inner = inner
        self._left = good
        self._error = error or RuntimeError("made to fail")

    def encode(self, sentences: list[str], /) -> Any:
        """Encode, or raise."""
        return self._call("encode", sentences)

    @property
    def encode_query(self) -> Callable[[list[str]], Any]:
        """Encode questions, or raise; there is none where ``inner`` has none."""
        _ = self._inner.encode_query
        return partial(self._call, "encode_query")

    def answer(self, question: Question, /) -> Any:
        """Answer, or raise."""
        return self._call("answer", question)

    def score(self, *given: Any) -> Any:
        """Score an attempt, or texts for a query, or raise."""
        return self._call("score", *given)

    def choose(self, query: str, slots: Sequence[Slot], /) -> Any:
        """Choose a slot, or raise."""
        return self._call("choose", query, slots)

    def judge(self, task: ChangeTask, /) -> Any:
        """Judge two lines, or raise."""
        return self._call("judge", task)

    def _call(self, method: str, *given: object) -> Any:
        if self._left <= 0:
            raise self._error
        self._left -= 1
        return getattr(self._inner, method)(*given)


class Slow:
    """Block the calling thread for ``seconds`` before every call of ``inner``."""

    def __init__(self, inner: Any, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self.name = getattr(inner, "name", type(inner).__name__)
        self.fingerprint = getattr(inner, "fingerprint", "")

    def encode(self, sentences: list[str], /) -> Any:
        """Encode, late."""
        time.sleep(self._seconds)
        return self._inner.encode(sentences)

    @property
    def encode_query(self) -> Callable[[list[str]], Any]:
        """Encode questions, late; there is none where ``inner`` has none."""
        encode: Callable[[list[str]], Any] = self._inner.encode_query

        def late(sentences: list[str], /) -> Any:
            time.sleep(self._seconds)
            return encode(sentences)

        return late

    def answer(self, question: Question, /) -> Any:
        """Answer, late."""
        time.sleep(self._seconds)
        return self._inner.answer(question)

    def score(self, *given: Any) -> Any:
        """Score an attempt, or texts for a query, late."""
        time.sleep(self._seconds)
        return self._inner.score(*given)

    def choose(self, query: str, slots: Sequence[Slot], /) -> Any:
        """Choose a slot, late."""
        time.sleep(self._seconds)
        return self._inner.choose(query, slots)

    def judge(self, task: ChangeTask, /) -> Any:
        """Judge two lines, late."""
        time.sleep(self._seconds)
        return self._inner.judge(task)


class Async:
    """Make coroutine methods out of those of ``inner``.

    They yield to the loop once before they run.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.name = getattr(inner, "name", type(inner).__name__)
        self.fingerprint = getattr(inner, "fingerprint", "")

    async def encode(self, sentences: list[str], /) -> Any:
        """Encode, in the loop."""
        return await self._later(self._inner.encode, sentences)

    @property
    def encode_query(self) -> Callable[[list[str]], Awaitable[Any]]:
        """Encode questions, in the loop; there is none where ``inner`` has none."""
        return partial(self._later, self._inner.encode_query)

    async def answer(self, question: Question, /) -> Any:
        """Answer, in the loop."""
        return await self._later(self._inner.answer, question)

    async def score(self, *given: Any) -> Any:
        """Score an attempt, or texts for a query, in the loop."""
        return await self._later(self._inner.score, *given)

    async def choose(self, query: str, slots: Sequence[Slot], /) -> Any:
        """Choose a slot, in the loop."""
        return await self._later(self._inner.choose, query, slots)

    async def judge(self, task: ChangeTask, /) -> Any:
        """Judge two lines, in the loop."""
        return await self._later(self._inner.judge, task)

    async def _later(self, call: Callable[..., Any], *given: Any) -> Any:
        await asyncio.sleep(0)
        value = call(*given)
        return await value if isinstance(value, Awaitable) else value
