"""What is remembered of texts between calls, for speed: it can be let go of as a whole."""

from __future__ import annotations

from demem_agent.text.language import words
from demem_agent.text.times import foreign_dates

__all__ = ["forget_texts"]


def forget_texts() -> None:
    """Let go of every text that this process keeps to save work."""
    words.forget_texts()
    foreign_dates.forget_texts()
