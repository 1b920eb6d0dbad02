"""What a message asks for, told by its words alone, in any language that the word table knows.

A small network (Kim, 2014): filters over three words in a row, their largest and their summed
answers, the sum of the word vectors, and a weight for each pair of words. It is data, ``asked.npz``
beside this module, made by ``benchmarks/fit_asked.py`` from messages written for it.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.odds import logistic
from demem_agent.scoring.wording import WIDTH, tokens, wording_of
from demem_agent.shipped import shipped

__all__ = ["ASKED", "BUCKETS", "INPUTS", "Asked", "asked_of", "inputs_of", "pairs_of"]

#: What the network tells, in the order of its outputs.
ASKED = ("of_reply", "of_memory")
#: Words of a message that are looked at, half of them its last.
MOST_WORDS = 48
#: Numbers of a word: its vector, and whether it is no function word, a number, a mark, and "?".
INPUTS = WIDTH + 4
#: Pairs of words share so many weights, by a hash.
BUCKETS = 1 << 13

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a message asks for, each in log-odds.

    Attributes:
        of_reply: what an assistant said before answers it.
        of_memory: something that was said before is needed for the answer.
    """

    of_reply: float
    of_memory: float

    @property
    def reply(self) -> float:
        """Probability in (0, 1) that what an assistant said before answers it."""
        return logistic(self.of_reply)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """The weights of C filters.

    Attributes:
        filters, offset: shapes (3, INPUTS, C) and (C,).
        pooled: of the largest and the summed answers of the filters, shape (2 * C, len(ASKED)).
        words: of the sum of vectors, shape (WIDTH, len(ASKED)).
        pairs: of words and pairs, shape (BUCKETS, len(ASKED)).
        bias: shape (len(ASKED),).
    """

    filters: Floats
    offset: Floats
    pooled: Floats
    words: Floats
    pairs: Floats
    bias: Floats

    def log_odds(self, text: str) -> Floats:
        """Return the log-odds of each of :data:`ASKED` for a message, shape (len(ASKED),)."""
        inputs = inputs_of(text)
        root = np.float32(max(len(inputs), 1) ** 0.5)
        around = np.pad(inputs, ((1, 1 if len(inputs) else 2), (0, 0)))
        windows = np.concatenate([around[:-2], around[1:-1], around[2:]], axis=1)
        answers = np.maximum(windows @ self.filters.reshape(3 * INPUTS, -1) + self.offset, 0)
        seen = np.concatenate([answers.max(axis=0), answers.sum(axis=0) / root])
        pairs = pairs_of(text)
        found: Floats = (
            self.bias
            + seen @ self.pooled
            + (inputs[:, :WIDTH].sum(axis=0) / root) @ self.words
            + self.pairs[pairs].sum(axis=0) / np.float32(len(pairs) ** 0.5)
        )
        return found


def inputs_of(text: str) -> Floats:
    """Return the words of a message as numbers, in order, shape (n, INPUTS)."""
    found = wording_of([text])
    kinds = np.stack([found.content, found.number, found.mark, found.asks], axis=1)
    return _ends(np.concatenate([found.vectors, kinds.astype(np.float32)], axis=1))


def _ends(inputs: Floats) -> Floats:
    if len(inputs) <= MOST_WORDS:
        return inputs
    half = MOST_WORDS // 2
    return np.concatenate([inputs[:half], inputs[-half:]])


def pairs_of(text: str) -> list[int]:
    """Return the weights that words of a message, and pairs of them, have; each once, at least two.

    Pairs are of neighbours, and of words with one between them.
    """
    words = ["<", *tokens(text), ">"]
    if len(words) > MOST_WORDS + 2:
        words = words[: MOST_WORDS // 2 + 1] + words[-MOST_WORDS // 2 - 1 :]
    return sorted({zlib.crc32(one.encode()) % BUCKETS for one in _pairs(words)})


def _pairs(words: list[str]) -> Iterator[str]:
    yield from words
    for one, other in pairwise(words):
        yield f"{one} {other}"
    for one, other in zip(words, words[2:], strict=False):
        yield f"{one} _ {other}"


def asked_of(text: str) -> Asked:
    """Return what a message asks for."""
    return Asked(*_network().log_odds(text).tolist())


@cache
def _network() -> Network:
    with np.load(io.BytesIO(shipped("scoring/asked.npz"))) as stored:
        return Network(**{name: stored[name].astype(np.float32) for name in stored.files})
