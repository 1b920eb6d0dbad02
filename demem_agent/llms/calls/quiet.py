"""Keep prompts out of logs: at DEBUG some versions of ``openai`` write whole requests."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

__all__ = ["quiet"]

_QUIET: ContextVar[bool] = ContextVar("demem_quiet", default=False)
_LOGGERS = ("openai._base_client", "openai._response", "openai._legacy_response")


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what the client logs below WARNING in this context.

    Calls that are not ours log as they did.
    """
    _install()
    token = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(token)


@cache
def _install() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_passes)


def _passes(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or not _QUIET.get()
