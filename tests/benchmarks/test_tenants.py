"""``benchmarks/reliability/tenants.py`` finds nothing, and each bug that is put in for it."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

pytest.importorskip("msgspec")
pytest.importorskip("httpx2")

from demem_adapters.common.served import ServedMemories
from demem_agent.server.house import House
from demem_agent.server.keys import Key

tenants = benchmark("tenants", "reliability")

Patch = pytest.MonkeyPatch


def test_nobody_is_told_what_is_another_s() -> None:
    told = tenants.measured(300, 1)
    assert (told.foreign, told.shown, told.leaked) == (0, [], 0)
    assert told.holds


@pytest.mark.slow
def test_a_key_that_reaches_all_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Key, "reaches", lambda self, memory_id: True)
    told = tenants.measured(400, 1)
    assert told.foreign > 0
    assert {line.split(": ")[1].split()[0] for line in told.shown} & {"http", "cursor", "mcp"}


@pytest.mark.slow
def test_an_id_whose_capitals_are_lost_is_found(monkeypatch: Patch) -> None:
    known = House.memory
    monkeypatch.setattr(House, "memory", lambda self, id: known(self, id.casefold()))
    assert tenants.measured(400, 1).foreign > 0


@pytest.mark.slow
def test_a_reading_of_another_before_a_model_is_found(monkeypatch: Patch) -> None:
    recall = ServedMemories.recall

    def of_one(self: ServedMemories, namespace: str | None, query: str, **about: object) -> object:
        return recall(self, "team/bot", query, **about)

    monkeypatch.setattr(ServedMemories, "recall", of_one)
    told = tenants.measured(400, 1)
    assert "sent to the provider" in " ".join(told.shown)


@pytest.mark.slow
def test_a_fault_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(House, "memory", lambda self, id: 1 // 0)
    assert tenants.measured(200, 1).faults > 0


@pytest.mark.slow
def test_what_is_begun_and_not_ended_is_gone_in_time() -> None:
    late, gone, slowest = tenants.half_open(60)
    assert late == 0
    assert 1 < gone <= tenants.GONE
    assert slowest < 5
