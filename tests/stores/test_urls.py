"""Which stores a URL names."""

from __future__ import annotations

from typing import Any

import pytest
from stored import HERE

from demem_agent.errors import InvalidInput
from demem_agent.settings import Settings
from demem_agent.stores import SCHEMES, open_store


@pytest.mark.parametrize(
    "url",
    [
        "",
        "bot.db",
        "sqlite://bot.db",
        "sqlite:///",
        "postgres://host/db",
        "sqlite:///a\0b",
        "memory:",
        None,
        7,
    ],
)
def test_a_url_that_names_no_store_is_refused(url: Any) -> None:
    with pytest.raises(InvalidInput, match="url must be 'memory://'") as refused:
        open_store(url)
    named = [repr(scheme.example) for scheme in SCHEMES.values()]
    assert refused.value.allowed == " or ".join(named)
    assert "'sqlite:///path/to/file.db'" in named


def test_every_store_in_ram_is_its_own() -> None:
    first, second = open_store("memory://"), open_store("memory://")
    first.create(HERE, Settings())
    assert second.memories("tenant") == []
