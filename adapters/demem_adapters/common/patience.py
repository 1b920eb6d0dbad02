"""How long what an application calls itself waits for others who hold a memory or its store."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from demem_agent.stores import remaining, waiting_at_most

__all__ = ["patient"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


class _Patient(Protocol):
    @property
    def patience(self) -> float: ...


Self = TypeVar("Self", bound=_Patient)


def patient(
    method: Callable[Concatenate[Self, Given], Result],
) -> Callable[Concatenate[Self, Given], Result]:
    """Have a method wait for others no longer than the ``patience`` of what it belongs to.

    Inside of what has been told already how long it may wait, that holds.
    """

    @functools.wraps(method)
    def waiting(self: Self, /, *args: Given.args, **about: Given.kwargs) -> Result:
        if remaining(math.inf) < math.inf:
            return method(self, *args, **about)
        with waiting_at_most(self.patience):
            return method(self, *args, **about)

    return waiting
