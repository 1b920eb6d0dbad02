"""What ``benchmarks/proxy.py`` measures of the proxy, in its short form."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

pytest.importorskip("msgspec")
pytest.importorskip("httpx2")

proxy = benchmark("proxy")


def test_no_byte_differs_while_memory_is_off() -> None:
    assert proxy.differing(60) == 0


def test_a_request_that_differs_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from demem_adapters.proxy import guest

    monkeypatch.setattr(guest, "up", lambda raw, upstream, heard: [(b"x-added", b"1")])
    assert proxy.differing(10) == 10


@pytest.mark.slow
def test_a_talk_with_tools_stays_in_the_providers_cache() -> None:
    kept = proxy.kept_of(20)
    assert kept.recalled == kept.prompts == 40
    assert kept.share >= proxy.SHARE


def test_what_was_recalled_does_not_count_as_kept() -> None:
    block = '"<demem:memory> a line"'
    assert proxy._alike(f"system\n{block}\nasked", f"system\n{block}\nasked else") == 11
    assert proxy._alike("system\nasked", f"system\n{block}\nasked") == 6
