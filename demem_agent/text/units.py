"""Measure text in the unit a budget is declared in: characters, UTF-8 bytes or tokens."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from numbers import Integral
from pathlib import Path

from demem_agent.errors import CollaboratorError, InvalidInput
from demem_agent.text.words import clean
from demem_agent.types import Unit

__all__ = ["Measure", "measure"]

#: Returns the size of a text; must be monotone: a longer text is never smaller than a part of it.
Measure = Callable[[str], int]

_ENCODING = "o200k_base"
#: What tiktoken derives the name of its cached file from, and the digest it demands of it. Never
#: opened here.
_ENCODING_KEY = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_ENCODING_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def measure(unit: Unit, counter: Measure | None = None) -> Measure:
    """Return the function that measures text in ``unit``.

    ``tokens`` uses ``counter`` if given, else tiktoken where its vocabulary already lies on disk,
    else the number of UTF-8 bytes. No byte-level tokenizer exceeds that: a budget in tokens then
    still holds, and is merely used less fully. Nothing is ever downloaded. The function that is
    returned raises CollaboratorError where the counter raises, or returns no whole number.

    Raises:
        InvalidInput: for another unit, or a counter with a unit that needs none.
    """
    _check(unit, counter)
    if unit == "chars":
        return len
    if unit == "bytes":
        return _bytes
    if counter is not None:
        return _reported(counter)
    return _tiktoken() or _bytes


def _check(unit: Unit, counter: Measure | None) -> None:
    if unit not in ("chars", "bytes", "tokens"):
        raise InvalidInput("unit", unit, "'chars', 'bytes' or 'tokens'")
    if counter is None:
        return
    if not callable(counter):
        raise InvalidInput("counter", counter, "a function from text to its number of tokens")
    if unit != "tokens":
        raise InvalidInput("counter", counter, "given with unit='tokens' only")


def _reported(counter: Measure) -> Measure:
    """Return a counter whose failures say that it was the counter.

    A tokenizer may refuse what a user writes.
    """

    def count(text: str) -> int:
        try:
            size = counter(text)
        except Exception as error:
            raise CollaboratorError(f"the counter failed: {type(error).__name__}") from error
        if not isinstance(size, Integral) or size < 0:
            raise CollaboratorError(
                f"the counter gave {type(size).__name__}, not a whole number of at least 0"
            )
        return int(size)

    return count


def _bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))


@cache
def _tiktoken() -> Measure | None:
    if not _vocabulary_on_disk():
        return None
    import tiktoken

    encoding = tiktoken.get_encoding(_ENCODING)

    def count(text: str) -> int:
        tokens = encoding.encode_ordinary(clean(text))
        return len(tokens)

    return count


def _vocabulary_on_disk() -> bool:
    """Whether tiktoken would find a sound vocabulary.

    A damaged one it would replace from the network.
    """
    folder = _vocabulary_folder()
    if folder is None:
        return False
    file = folder / hashlib.sha1(_ENCODING_KEY.encode()).hexdigest()
    if not file.is_file():
        return False
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return digest == _ENCODING_SHA256


def _vocabulary_folder() -> Path | None:
    """Return where tiktoken keeps vocabularies, or None where it was told to keep none."""
    named = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if named == "":
        return None
    if named is None:
        return Path(tempfile.gettempdir()) / "data-gym-cache"
    return Path(named)
