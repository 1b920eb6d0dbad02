"""A memory that fails where that must not cost a model's answer."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from demem_agent import DeMemError, InvalidInput
from demem_agent.errors import StoreError

__all__ = ["LOG", "Outage", "logged"]

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
        _tell(what, error)


class Outage:
    """Log a store that fails, or that others hold for too long, once until it is well again.

    Attributes:
        lasts: whether it was so the last time.
    """

    def __init__(self) -> None:
        self.lasts = False

    @contextlib.contextmanager
    def logged(self, what: str) -> Iterator[None]:
        """Log what fails, as :func:`logged` does; of failures of the store in a row the first."""
        try:
            yield
            self.lasts = False
        except StoreError as error:
            if not self.lasts:
                _tell(what, error)
            self.lasts = True
        except DeMemError as error:
            _tell(what, error)


def _tell(what: str, error: DeMemError) -> None:
    field = f" ({error.field})" if isinstance(error, InvalidInput) else ""
    LOG.warning("%s: %s%s", what, type(error).__name__, field)
