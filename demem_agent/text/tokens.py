"""Count tokens with tiktoken, where its vocabulary lies on disk: nothing is ever downloaded."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from demem_agent.text.language.words import clean

__all__ = ["tokens"]

_ENCODING = "o200k_base"
#: What tiktoken derives the name of its cached file from, and the digest it demands of it. Never
#: opened here.
_ENCODING_KEY = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_ENCODING_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


@cache
def tokens() -> Callable[[str], int] | None:
    """Return what counts the tokens of a text; None without tiktoken's vocabulary on disk."""
    if not _vocabulary_on_disk():
        return None
    import tiktoken

    encoding = tiktoken.get_encoding(_ENCODING)

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(clean(text)))

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
