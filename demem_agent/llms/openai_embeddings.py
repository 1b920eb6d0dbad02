"""An encoder behind any address that speaks OpenAI's embeddings."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from demem_agent.errors import InvalidInput, ModelError
from demem_agent.llms.calls.access import Access
from demem_agent.llms.calls.background import arun, run
from demem_agent.llms.calls.breaker import Breaker
from demem_agent.llms.calls.caller import Caller, Need, Progress
from demem_agent.llms.calls.checking import reported_usage
from demem_agent.llms.calls.health import Health
from demem_agent.llms.calls.retry import Retry
from demem_agent.llms.model import Usage
from demem_agent.llms.spending import Ledger
from demem_agent.text.language.words import clean
from demem_agent.text.units import measure
from demem_agent.turns import whole_field

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIEmbeddings"]

#: Of a longer text only this much is sent; providers refuse what is longer than their model reads.
_MAX_CHARS = 8192
#: Bytes of text in one request: providers bound that as well as the number of texts.
_BATCH_BYTES = 200_000
#: Stands for a blank text, which providers refuse.
_BLANK = "-"


class OpenAIEmbeddings:
    """Encode texts by an embedding model of a provider.

    What it uses is counted, but no spending limit stops it: without an encoder nothing can be
    ingested or read. It is safe to use from several threads and event loops.

    Args:
        model: as the provider names it.
        dimensions: length of its vectors, >= 1; another length is an error. When left out, that of
            the first reply.
        shorten: ask the provider for vectors of that many ``dimensions``; not every model can.
        batch: texts in one request, >= 1.

    The others are those of :class:`~demem_agent.llms.OpenAIChat`.
    """

    def __init__(
        self,
        model: str,
        *,
        dimensions: int | None = None,
        shorten: bool = False,
        batch: int = 256,
        base_url: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        retry: Retry | None = None,
        concurrency: int | None = None,
        ledger: Ledger | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        if shorten and dimensions is None:
            raise InvalidInput("dimensions", None, "given where shorten=True")
        self.dimensions = None if dimensions is None else whole_field("dimensions", dimensions, 1)
        self._shorten = shorten
        self._batch = whole_field("batch", batch, 1)
        access = Access(base_url, api_key, headers or {}, query or {})
        self._caller = Caller(
            model, access, retry=retry, concurrency=concurrency, ledger=ledger, breaker=breaker
        )
        # Known before the first call: what a memory was built with is compared before anything is
        # encoded.
        self.fingerprint = f"{model}-{self.dimensions if shorten else 'native'}"

    def __repr__(self) -> str:
        return f"OpenAIEmbeddings({self._caller.model!r}, base_url={self._caller.host!r})"

    @property
    def name(self) -> str:
        """The model's name; where it runs does not count."""
        return f"openai({self._caller.model})"

    @property
    def health(self) -> Health:
        """What became of all calls so far; one for every batch."""
        return self._caller.health

    def close(self) -> None:
        """Let go of the connection, which is closed unless other models use it.

        The next call makes a new one.
        """
        self._caller.close()

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        """Encode n texts as an array of shape (n, d), waiting for it.

        Rows are as the provider gives them.

        Raises:
            InvalidInput: for one string in place of a list.
            ModelError: if the provider fails, or gives other than one vector of finite numbers for
                each text, all of the same dimensions as ever.
        """
        return run(self._encode(_texts(sentences), self._caller.deadline()))

    async def aencode(self, sentences: list[str], /) -> NDArray[np.float32]:
        """Encode n texts; as :meth:`encode`, and may be cancelled."""
        return await arun(self._encode(_texts(sentences), self._caller.deadline()))

    async def _encode(self, texts: list[str], until: float) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimensions or 0), np.float32)
        batches = _batches(texts, self._batch)
        calls = [self._embedded(batch, until) for batch in batches]
        vectors = await asyncio.gather(*calls)
        rows: NDArray[np.float32] = np.concatenate(vectors)
        return rows

    async def _embedded(self, batch: list[str], until: float) -> NDArray[np.float32]:
        """Call the provider for the vectors of one batch."""
        shorten = self.dimensions if self._shorten else None
        asking = _Asking(self._caller.model, batch, shorten, self._checked)
        need = Need(asking.tokens, 0, "always")
        vectors, _ = await self._caller.call(asking.send, need, until)
        return vectors

    def _checked(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        _, length = rows.shape
        self.dimensions = self.dimensions or length
        if length != self.dimensions:
            note = f"vectors of {length} dimensions, not {self.dimensions}"
            raise ModelError("malformed", self._caller.model, note=note)
        return rows


@dataclass(frozen=True, slots=True)
class _Asking:
    """One batch, over all its requests."""

    model: str
    texts: list[str]
    shorten: int | None
    check: Callable[[NDArray[np.float32]], NDArray[np.float32]]

    @property
    def tokens(self) -> int:
        """What the texts measure, as far as can be told here."""
        return sum(map(measure("tokens"), self.texts))

    async def send(self, client: AsyncOpenAI, progress: Progress) -> NDArray[np.float32]:
        """Make one request; return its vectors, shape (n, d)."""
        # "float" since not every server knows base64, the client's own choice.
        fields: dict[str, Any] = {"encoding_format": "float"}
        if self.shorten is not None:
            fields["dimensions"] = self.shorten
        raw: object = await client.embeddings.create(model=self.model, input=self.texts, **fields)
        progress.spend(reported_usage(raw, self._estimate))
        vectors = _matrix(raw, len(self.texts), self.model)
        return self.check(vectors)

    def _estimate(self) -> Usage:
        return Usage(self.tokens, requests=1, estimated=True)


def _matrix(raw: object, n: int, model: str) -> NDArray[np.float32]:
    """Put the vectors of a reply in the order of the texts, shape (n, d)."""
    data = getattr(raw, "data", None)
    given = data if isinstance(data, list) else []
    vectors = list(_in_order(given, n))
    lengths = set(map(len, vectors))
    if len(given) != n or len(vectors) != n or len(lengths) != 1:
        raise ModelError("malformed", model, note=f"not {n} vectors of one length")
    return np.array(vectors, np.float32)


def _in_order(given: Sequence[object], n: int) -> Iterator[list[float]]:
    """Yield the vectors of the numbers 0 to n - 1, as far as there are any."""
    found: dict[str, object] = {}
    for one in given:
        number = str(getattr(one, "index", None))
        found[number] = getattr(one, "embedding", None)
    for number in map(str, range(n)):
        row = found.get(number)
        if _is_vector(row):
            yield row


def _is_vector(row: object) -> TypeGuard[list[float]]:
    return isinstance(row, list) and bool(row) and all(map(_is_finite, row))


def _is_finite(x: object) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _texts(sentences: list[str]) -> list[str]:
    if isinstance(sentences, str):
        raise InvalidInput("sentences", sentences, "a list of strings")
    return [_sent(text) for text in sentences]


def _sent(text: str) -> str:
    return clean(text[:_MAX_CHARS]) if text.strip() else _BLANK


def _batches(texts: list[str], most: int) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        bytes_ = len(text.encode())
        if batch and (len(batch) == most or size + bytes_ > _BATCH_BYTES):
            yield batch
            batch = []
            size = 0
        batch.append(text)
        size += bytes_
    yield batch
