"""Which stores a URL names."""

from __future__ import annotations

from typing import Any

import pytest
from stored import HERE

from demem_agent.errors import InvalidInput
from demem_agent.settings import Settings
from demem_agent.stores import SCHEMES, open_store, shown_url


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


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ana:pl@ver@host/db", "postgresql://ana:***@host/db"),
        ("postgresql://host/db?password=plover&rls=1", "postgresql://host/db?password=***&rls=1"),
        ("postgresql://ana@host:5432/db?x=a:b@c", "postgresql://ana@host:5432/db?x=a:b@c"),
        ("sqlite:///C:/Users/ana@home/bot.db", "sqlite:///C:/Users/ana@home/bot.db"),
        ("bot.db", "bot.db"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_every_store_in_ram_is_its_own() -> None:
    first, second = open_store("memory://"), open_store("memory://")
    first.create(HERE, Settings())
    assert second.memories("tenant") == []
