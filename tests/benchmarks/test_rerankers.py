"""What is counted of a reranker, question by question."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

from demem_agent.evaluate import Dialogue, Probe
from demem_agent.slots import reranking
from demem_agent.testing import ScriptedReranker
from demem_agent.turns import Turn

rerankers = benchmark("rerankers")

TURNS = tuple(Turn(f"The boat {n} lies in harbour {n}", source_id=f"t{n}") for n in range(9))
PROBES = tuple(Probe(f"Where is boat {n}?", f"harbour {n}", evidence=(f"t{n}",)) for n in range(4))


def test_one_that_says_nothing_adds_nothing_at_any_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reranking, "RERANK_WEIGHT", 0.5)
    silent = ScriptedReranker(lambda *_: 0.0)
    plain, added = rerankers.measured(
        [Dialogue("boats", TURNS, PROBES)], {"silent": silent}, [0.5, 4.0], every=2
    )
    assert {limit: len(found) for limit, found in plain.items()} == {2000: 2, 6000: 2}
    assert added == {("silent", w, limit): [0.0] * 2 for w in (0.5, 4.0) for limit in plain}


def test_the_overlap_is_the_share_of_the_questions_words() -> None:
    assert rerankers.overlap("a red boat", "Ana: one boat, all red") == pytest.approx(2 / 3)
