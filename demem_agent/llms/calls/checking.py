"""Take nothing that a provider sends for granted: what comes back as a success may be anything."""

from __future__ import annotations

from collections.abc import Callable

from demem_agent.errors import ModelError
from demem_agent.llms.model import Usage

__all__ = ["check_finish", "completed_so_far", "completed_text", "first_choice", "reported_usage"]

_CUT = frozenset(("length", "max_tokens"))
_FILTERED = frozenset(("content_filter", "safety", "recitation"))


def completed_text(raw: object, model: str) -> tuple[str, str]:
    """Return the text of a completion and the word for why it ended.

    Raises:
        ModelError: malformed, refused or cut off.
    """
    choice = first_choice(raw)
    message = getattr(choice, "message", None)
    if message is None:
        raise ModelError("malformed", model, note="no choices")
    finish = check_finish(getattr(choice, "finish_reason", None), model)
    if getattr(message, "refusal", None):
        raise ModelError("refused", model)
    text = getattr(message, "content", None)
    if not isinstance(text, str) or not text.strip():
        raise ModelError("malformed", model, note="no text")
    return text, finish


def check_finish(finish: object, model: str) -> str:
    """Return a finish reason that stands for a whole answer, at most 20 characters of it.

    Raises:
        ModelError: cut off, also where there is no reason at all; or refused.
    """
    if not isinstance(finish, str) or not finish:
        raise ModelError("cut off", model, note="no finish reason")
    if finish.lower() in _CUT:
        raise ModelError("cut off", model, note="the answer needs more tokens")
    if finish.lower() in _FILTERED:
        raise ModelError("refused", model)
    return finish[:20]


def first_choice(raw: object) -> object | None:
    """Return the first choice of a completion or of a piece of one, or None."""
    choices = getattr(raw, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def completed_so_far(raw: object) -> str:
    """Return what text there is, whole or not."""
    text = getattr(getattr(first_choice(raw), "message", None), "content", None)
    return text if isinstance(text, str) else ""


def reported_usage(raw: object, estimate: Callable[[], Usage]) -> Usage:
    """Return the usage that a provider reports, or the estimate; always of one request."""
    said = getattr(raw, "usage", None)
    prompt = _count(said, "prompt_tokens")
    if prompt is None:
        return estimate()
    answer = _count(said, "completion_tokens") or 0
    cached = _count(getattr(said, "prompt_tokens_details", None), "cached_tokens") or 0
    return Usage(prompt, answer, min(cached, prompt), requests=1)


def _count(thing: object, name: str) -> int | None:
    count = getattr(thing, name, None)
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    return count if count >= 0 else None
