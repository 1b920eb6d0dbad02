"""The memories that ``benchmarks/flood.py`` reads: lines of one mould, talk, and what is asked."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

flood = benchmark("flood")


@pytest.mark.parametrize("kind", flood.KINDS, ids=lambda kind: kind.name)
def test_one_line_answers_and_is_read(kind: object) -> None:
    memory = flood.flooded(kind, 50)
    assert len(memory) == 50 + len(flood.TALK) + 1
    assert kind.told in memory.read(kind.question, limit=2000).text  # type: ignore[attr-defined]
