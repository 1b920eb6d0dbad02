"""A memory that fails where that must not cost a model's answer."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from demem_agent import DeMemError, InvalidInput

__all__ = ["LOG", "logged"]

#: Where adapters log: what failed by its kind, and never a text that somebody has said.
LOG = logging.getLogger("demem_adapters")


@contextlib.contextmanager
def logged(what: str) -> Iterator[None]:
    """Log a memory that fails, where that must not cost a model's answer.

    It is named by its kind, and bad input by its field: in the text of an error somebody's words
    may stand.
    """
    try:
        yield
    except DeMemError as error:
        field = f" ({error.field})" if isinstance(error, InvalidInput) else ""
        LOG.warning("%s: %s%s", what, type(error).__name__, field)
