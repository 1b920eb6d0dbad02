"""Words as they are counted where one text is looked for in another."""

from __future__ import annotations

import re

__all__ = ["words"]

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, in lower case."""
    return _WORD.findall(text.lower())
