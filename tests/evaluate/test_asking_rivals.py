"""Rivals that ask a model, with a provider that replies as one would: recorded once, replayed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from extracting import REWRITTEN, Extracting

from demem_agent.evaluate.rivals import ASKING, Asking, missing
from demem_agent.evaluate.rivals.asking.told import Told
from demem_agent.evaluate.weighed import Cost, Weighed
from demem_agent.llms import ChatModel, Ledger, Recorded, Retry
from demem_agent.llms.passing import Passing
from demem_agent.testing import Provider
from demem_agent.turns import Turn

ROOT = Path(__file__).parents[2]
QUESTION = "Which instrument does Ana play, the violin?"
ANSWER = REWRITTEN["My sister Ana plays the violin in Porto."]


def turns() -> list[Turn]:
    told = []
    for number, text in enumerate(REWRITTEN):
        day, session = ("2025-03-06", "one") if number < 3 else ("2025-03-09", "two")
        told.append(Turn(text, speaker="Bo", at=day, session=session))
    return told


def installed(name: str) -> Asking:
    rival = ASKING[name]
    if lacking := missing(rival):
        pytest.skip(f"not installed: {', '.join(lacking)}")
    return rival


def priced(provider: Provider) -> Passing:
    ledger = Ledger("run", prices={"m": (1.0, 2.0)})
    retry = Retry(attempts=1, seconds=60.0)
    return Passing("m", base_url=provider.url, retry=retry, ledger=ledger)


def measured(rival: Asking, model: ChatModel) -> tuple[list[str], Cost]:
    cost = Cost()
    system = Weighed(Told(rival.remembering, model), cost)
    system.ingest(turns())
    return [system.read(QUESTION, limit) for limit in (110, 1000)], cost


@pytest.mark.parametrize("name", ASKING)
def test_what_a_model_made_comes_back_and_a_recording_does_for_the_model(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rival = installed(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "calls.jsonl"
    with Extracting() as provider:
        texts, cost = measured(rival, Recorded(priced(provider), file))
        asked = len(provider.requests)
    first, whole = texts
    assert ANSWER in whole
    assert len(first) <= 110
    if rival.encoder:  # what has no search gives the newest first, whatever is asked
        assert ANSWER in first
    used = cost.used
    assert used is not None
    assert used.requests == asked >= 2
    assert used.cost == pytest.approx((used.prompt_tokens + 2 * used.completion_tokens) / 1e6)
    again, cost_again = measured(rival, Recorded("m", file, "replay"))
    assert again == texts
    assert cost_again.used == used


def test_what_a_rival_needs_is_in_an_extra() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"\nrivals-models = \[(.*?)\n\]", project, re.DOTALL)
    for rival in ASKING.values():
        for package in rival.packages:
            assert re.search(rf'"{package}[>=\[]', listed), package
