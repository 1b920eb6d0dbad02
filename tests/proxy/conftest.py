"""What the tests of a proxy share: an upstream that says what a test has put there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from proxied import Raw, Scripted, raw_upstream


@pytest.fixture(scope="module")
def told() -> Scripted:
    """Return what the upstream says."""
    return Scripted()


@pytest.fixture(scope="module")
def raw(told: Scripted) -> Iterator[Raw]:
    """Serve the upstream that says it."""
    with raw_upstream(told.reply) as made:
        yield made
