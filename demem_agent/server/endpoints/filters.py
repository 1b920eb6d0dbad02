"""Filters as they stand in an address."""

from __future__ import annotations

from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.wire.requests import Filter, Filtered, Items, given
from demem_agent.wire.values import Unreadable, decoded

__all__ = ["filter_in", "where_of"]


def filter_in(query: Filtered) -> dict[str, Any] | None:
    """Return the filter that an address has as JSON; None without one.

    Raises:
        InvalidInput: for what is no filter.
    """
    if query.where is None:
        return None
    try:
        return given(decoded(query.where.encode(), Filter))
    except Unreadable as error:
        raise InvalidInput("where", query.where, "a filter as JSON") from error


def where_of(query: Items) -> dict[str, Any]:
    """Return the filter that the parameters of a list come to."""
    names = ("slot", "session", "speaker", "source", "since", "until")
    found = {name: getattr(query, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}
