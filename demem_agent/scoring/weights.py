"""The weights of Score_theta's linear form, as data.

They are ``weights.json`` beside this module, made by ``benchmarks/fit_weights.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.features import FEATURES
from demem_agent.shipped import shipped

__all__ = ["PassageScore", "Weights", "default_weights", "ordered", "weights_from"]

Value = TypeVar("Value")
Floats = NDArray[np.float64]
#: Features of n passages, shape (n, len(FEATURES)).
Table = NDArray[np.float32]


class PassageScore(Protocol):
    """A form of Score_theta: what the features of a passage come to, in log-odds.

    ``chat`` says whether the memory is of a user with a model, or of people.
    """

    def scores(self, table: Table, chat: bool) -> Floats:
        """Return the score of each passage, shape (n,)."""
        ...

    def without(self, table: Table, chat: bool, scores: Floats, columns: Sequence[int]) -> Floats:
        """Return what the scores would be if some features were 0, shape (n,).

        Args:
            scores: of the same passages, as they were rounded.
        """
        ...

    def parts(self, row: Table, chat: bool) -> dict[str, float]:
        """Return what adds to the score of one passage, by name; the sum is the score.

        Args:
            row: its features, shape (len(FEATURES),).
        """
        ...


@dataclass(frozen=True, slots=True)
class Weights:
    """Weight of each feature of :data:`~demem_agent.scoring.features.FEATURES`, in their order.

    Attributes:
        values: where people speak among themselves, or nobody is named.
        chat: where a user speaks with a model; the same when None.
    """

    values: tuple[float, ...]
    chat: tuple[float, ...] | None = None

    def of(self, chat: bool) -> tuple[float, ...]:
        """Return those for a memory of a user with a model, or of people."""
        return self.values if self.chat is None or not chat else self.chat

    def scores(self, table: Table, chat: bool) -> Floats:
        """Return the weighted sum of the features of each passage, shape (n,)."""
        summed: Floats = table.astype(np.float64) @ np.asarray(self.of(chat))
        return summed

    def without(self, table: Table, chat: bool, scores: Floats, columns: Sequence[int]) -> Floats:
        """Return the scores less what some features have added, shape (n,)."""
        few = list(columns)
        added = table[:, few].astype(np.float64) @ np.asarray(self.of(chat))[few]
        left: Floats = scores - added
        return left

    def parts(self, row: Table, chat: bool) -> dict[str, float]:
        """Return what each feature adds, without those that add nothing."""
        added = row * np.asarray(self.of(chat))
        return {name: part for name, part in zip(FEATURES, added.tolist(), strict=True) if part}


@cache
def default_weights() -> Weights:
    """Return the weights that ship with DeMem, loaded at the first use.

    Raises:
        LookupError: if the file lacks a feature; the text names it.
    """
    found = json.loads(shipped("scoring/weights.json"))
    return weights_from(found["weights"], found["chat"])


def weights_from(people: Mapping[str, float], chat: Mapping[str, float]) -> Weights:
    """Put weights by name in the order of the features; names that are none are left out.

    Raises:
        LookupError: if a feature has no weight; the text names it.
    """
    return Weights(tuple(map(float, ordered(people))), tuple(map(float, ordered(chat))))


def ordered(found: Mapping[str, Value], file: str = "weights.json") -> list[Value]:
    """Return what a file has for each feature, in the order of the features.

    Raises:
        LookupError: if it lacks one; the text names it.
    """
    missing = [name for name in FEATURES if name not in found]
    if missing:
        raise LookupError(f"{file} has no weight for the features {', '.join(missing)}")
    return [found[name] for name in FEATURES]
