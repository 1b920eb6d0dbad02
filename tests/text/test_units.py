"""Units: a budget in tokens needs no network and holds whatever counts them."""

from __future__ import annotations

import hashlib
import socket
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.errors import CollaboratorError
from demem_agent.text import tokens
from demem_agent.text.units import measure, warn_of_uncounted


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*_: object) -> None:
        raise AssertionError("counting reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    tokens.tokens.cache_clear()
    yield
    tokens.tokens.cache_clear()


@pytest.mark.parametrize("content", [None, b"", b"IQ== 0\n"], ids=["absent", "empty", "damaged"])
def test_without_a_sound_vocabulary_tokens_are_bounded_by_bytes(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    if content is not None:
        name = hashlib.sha1(tokens._ENCODING_KEY.encode()).hexdigest()
        (tmp_path / name).write_bytes(content)
    assert measure("tokens")("naïve") == len("naïve".encode())
    assert not content or "tiktoken" not in sys.modules or (tmp_path / name).read_bytes() == content


@given(st.text(max_size=60))
def test_no_byte_level_tokenizer_counts_more_than_the_bound(text: str) -> None:
    import tiktoken

    letters = {bytes([value]): value for value in range(256)}
    pairs = letters | {b"th": 256, b"the": 257}
    encoding = tiktoken.Encoding(
        "small", pat_str=r"\S+|\s+", mergeable_ranks=pairs, special_tokens={}
    )
    assert len(encoding.encode_ordinary(text)) <= measure("bytes")(text)


@pytest.mark.parametrize("gives", ["ten", None, -1, 2.5])
def test_a_counter_that_gives_no_number_is_named(gives: object) -> None:
    memory = SlotMemory(unit="tokens", counter=lambda _: gives)  # type: ignore[arg-type, return-value]
    with pytest.raises(CollaboratorError, match="counter"):
        memory.ingest("Ana lives in Lisbon.")


def test_a_counter_that_fails_leaves_the_memory_as_it_was() -> None:
    def picky(text: str) -> int:
        if "<|endoftext|>" in text:
            raise ValueError(text)
        return len(text)

    memory = SlotMemory(unit="tokens", counter=picky)
    memory.ingest("Ana lives in Lisbon.")
    with pytest.raises(CollaboratorError, match=r"counter failed: ValueError$"):
        memory.ingest("Ana says <|endoftext|> now.")
    assert [item.text for item in memory.evidence()] == ["Ana lives in Lisbon."]
    memory.check()


def test_a_budget_in_tokens_holds_by_the_users_own_counter() -> None:
    memory = SlotMemory(
        unit="tokens", counter=lambda text: len(text.split()), slot_limit=40, read_limit=60
    )
    memory.ingest_many(
        [{"text": f"Ana paid {n} euros for the boiler in Porto."} for n in range(40)]
    )
    reading = memory.read("What did Ana pay?")
    assert reading.size == len(reading.text.split()) <= 60
    memory.check()


@pytest.fixture
def without_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    warn_of_uncounted.cache_clear()


@pytest.mark.usefixtures("without_vocabulary")
def test_that_bytes_count_for_tokens_is_warned_of_once_in_a_process() -> None:
    with pytest.warns(UserWarning, match=r"tokens are not counted.*counter="):
        SlotMemory(unit="tokens")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SlotMemory(unit="tokens")


@pytest.mark.usefixtures("without_vocabulary")
def test_health_says_that_bytes_count_for_tokens() -> None:
    with pytest.warns(UserWarning, match="not counted"):
        health = SlotMemory(unit="tokens").health()
    assert "UTF-8 bytes" in health.uncounted
    assert health.uncounted in str(health)


@pytest.mark.usefixtures("without_vocabulary")
@pytest.mark.parametrize(
    "options", [{}, {"unit": "bytes"}, {"unit": "tokens", "counter": len}], ids=str
)
def test_nothing_is_said_where_the_unit_is_counted(options: dict[str, Any]) -> None:
    health = SlotMemory(**options).health()
    assert health.uncounted == ""
    assert "not counted" not in str(health)


def test_a_vocabulary_on_disk_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "tokens", cache(lambda: len))
    assert SlotMemory(unit="tokens").health().uncounted == ""
