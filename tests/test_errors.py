"""Errors carry what they say across processes, and none carries more of a user's text than a glance
needs.
"""

from __future__ import annotations

import pickle

import pytest

from demem_agent.errors import (
    BudgetSpent,
    CertificateRefused,
    CollaboratorError,
    DeMemError,
    EncoderMismatch,
    IdempotencyConflict,
    InvalidInput,
    InvariantBroken,
    MemoryFull,
    MemoryGone,
    MissingExtra,
    ModelError,
    NotFound,
    RemoteError,
    StaleState,
    StoreError,
    WorkersGone,
)

ERRORS = [
    InvalidInput("reward", 7, "a number from 0 to 1"),
    NotFound("answer", "a9"),
    IdempotencyConflict("k"),
    EncoderMismatch("bag 1", "bag 2"),
    InvariantBroken("two slots too many"),
    CertificateRefused("c1", "radius", 0.5, "0.25"),
    CollaboratorError("the encoder failed: OSError"),
    MissingExtra("demem", "cli"),
    ModelError("rate limited", "a-model", status=429, retry_after=2.0),
    BudgetSpent("memory", "0.9", "1.0", True),
    StoreError("locked"),
    StaleState("moved on"),
    MemoryFull("most_items", 5, "no more are taken"),
    MemoryGone("ana"),
    WorkersGone("no worker is left"),
    RemoteError("the key is none that is valid", problem="unauthorised", status=401),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_after_pickling(error: DeMemError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_every_error_of_the_tree_is_in_the_list_above() -> None:
    tree = {kind for kind in _below(DeMemError) if kind.__module__ == DeMemError.__module__}
    assert {type(error) for error in ERRORS} == tree


class Unshown:
    """What cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


def test_a_value_that_cannot_be_shown_is_named_by_its_kind() -> None:
    assert "got a Unshown" in str(InvalidInput("reward", Unshown(), "a number"))


@pytest.mark.parametrize(
    "error", [InvalidInput("text", "x" * 5000, "short"), NotFound("evidence", "x" * 5000)]
)
def test_a_long_value_is_not_repeated_whole(error: DeMemError) -> None:
    assert len(str(error)) < 200


def _below(kind: type[DeMemError]) -> list[type[DeMemError]]:
    return [found for child in kind.__subclasses__() for found in (child, *_below(child))]
