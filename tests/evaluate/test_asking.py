"""Rivals that ask a model: what they ask goes by a gate, which records, counts and stops it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openai
import pytest

from demem_agent.encoders import default_encoder
from demem_agent.errors import BudgetSpent, ModelError
from demem_agent.evaluate.rivals.asking.gate import Gate
from demem_agent.evaluate.rivals.asking.told import Told
from demem_agent.evaluate.weighed import Cost, weighed
from demem_agent.llms import ChatModel, Ledger, Limit, Recorded, Retry, Usage
from demem_agent.llms.passing import Passing
from demem_agent.testing import Provider
from demem_agent.turns import Turn

TURNS = (
    Turn("My sister Ana plays the violin.", speaker="Bo", at="2025-03-06", session="one"),
    Turn("The train leaves at nine.", speaker="Bo", at="2025-03-06", session="one"),
    Turn("I am allergic to peanuts.", speaker="Bo", at="2025-03-09", session="two"),
)


def model(provider: Provider, name: str = "m", ledger: Ledger | None = None) -> Passing:
    retry = Retry(attempts=1, seconds=5.0)
    return Passing(name, base_url=provider.url, retry=retry, ledger=ledger)


def client(gate: Gate) -> openai.OpenAI:
    return openai.OpenAI(base_url=gate.url, api_key="unused")


def shouted(messages: Sequence[Mapping[str, Any]]) -> str:
    """Answer as a model would that is asked to rewrite: here in capitals."""
    return str(messages[-1]["content"]).upper()


class Shouting:
    """A rival that has its model rewrite each session, and never says that a call failed."""

    def __init__(self, _: Path, gate: Gate) -> None:
        self._client = client(gate)
        self._model = gate.model
        self.told: list[tuple[list[str], datetime | None]] = []
        self._memories: list[str] = []

    def tell(self, passages: Sequence[str], at: datetime | None) -> None:
        self.told.append((list(passages), at))
        asked = f"{uuid.uuid4()} on {datetime.now(UTC).date()}: {' '.join(passages)}"
        try:
            done = self._client.chat.completions.create(
                model=self._model, messages=[{"role": "user", "content": asked}]
            )
        except openai.OpenAIError:
            return
        self._memories.insert(0, done.choices[0].message.content or "")

    def find(self, query: str, most: int) -> list[str]:
        return self._memories[:most]


def read(asked: ChatModel) -> tuple[str, Usage]:
    system = Told(Shouting, asked)
    system.ingest(TURNS)
    return system.read("What?", 1000), system.newly_used()


def without_ids(text: str) -> str:
    return "\n".join(line.partition(" ON ")[2] for line in text.splitlines())


def test_a_rival_is_told_a_session_at_a_time() -> None:
    made: list[Shouting] = []

    def making(folder: Path, gate: Gate) -> Shouting:
        made.append(Shouting(folder, gate))
        return made[0]

    with Provider(shouted) as provider:
        Told(making, model(provider)).ingest(TURNS)
    (first, at), (second, _) = made[0].told
    assert first == ["Bo: My sister Ana plays the violin.", "Bo: The train leaves at nine."]
    assert at == datetime(2025, 3, 6)
    assert second == ["Bo: I am allergic to peanuts."]


def test_memories_are_read_the_best_first_within_the_limit() -> None:
    with Provider(shouted) as provider:
        system = Told(Shouting, model(provider))
        system.ingest(TURNS)
    text = system.read("What?", 140)
    assert "PEANUTS" in text
    assert "VIOLIN" not in text
    assert len(text) <= 140


def test_a_dialogue_without_turns_asks_nothing() -> None:
    with Provider(shouted) as provider:
        system = Told(Shouting, model(provider))
        system.ingest(())
    assert system.read("What?", 100) == ""
    assert provider.requests == []


def test_what_was_recorded_is_replayed_without_a_model(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    with Provider(shouted) as provider:
        text, used = read(Recorded(model(provider), file))
    again, used_again = read(Recorded("m", file, "replay"))
    assert without_ids(again) == without_ids(text) != ""
    assert used_again == used
    assert used.requests == 2


def test_drawn_ids_are_numbered_for_the_model_and_put_back_for_the_rival() -> None:
    drawn, plain = str(uuid.uuid4()), uuid.uuid4().hex
    with Provider(lambda messages: str(messages[0]["content"])) as provider:
        gate = Gate(model(provider))
        text = f"{drawn} {plain} {drawn}"
        done = client(gate).chat.completions.create(
            model="m", messages=[{"role": "user", "content": text}]
        )
    assert done.choices[0].message.content == text
    (seen,) = provider.requests
    one, two, three = seen.body["messages"][0]["content"].split()
    assert one == three == f"{uuid.UUID(int=0)}"
    assert two == uuid.UUID(int=1).hex


def test_today_is_the_day_of_the_conversation() -> None:
    with Provider(shouted) as provider:
        read(model(provider))
    first, second = (seen.body["messages"][0]["content"] for seen in provider.requests)
    assert " on 2025-03-06: " in first
    assert " on 2025-03-09: " in second


def test_a_failure_that_a_rival_passes_over_is_raised() -> None:
    with Provider() as provider, pytest.raises(ModelError, match="failed"):
        read(model(provider, "fault-404"))
    assert len(provider.requests) == 1


def test_a_limit_that_a_rival_passes_over_is_raised() -> None:
    ledger = Ledger("run", limit=Limit(tokens=1))
    with Provider() as provider, pytest.raises(BudgetSpent):
        read(model(provider, ledger=ledger))
    assert provider.requests == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda to: to.chat.completions.create(model="m", messages=[], stream=True),
        lambda to: to.responses.create(model="m", input="Hello"),
    ],
)
def test_what_the_gate_does_not_serve_is_a_failure(ask: Callable[[openai.OpenAI], object]) -> None:
    with Provider() as provider:
        gate = Gate(model(provider))
        with pytest.raises(openai.BadRequestError, match="not served"):
            ask(client(gate))
    assert gate.fault is not None
    assert provider.requests == []


def test_embeddings_are_those_of_the_encoder_that_ships() -> None:
    with Provider() as provider:
        gate = Gate(model(provider))
        made = client(gate).embeddings.create(model="any", input=["a violin", "a train"])
    rows = default_encoder().encode(["a violin", "a train"])
    assert [one.embedding for one in made.data] == rows.tolist()
    assert provider.requests == []


def test_what_the_model_uses_is_counted_for_each_dialogue() -> None:
    cost = Cost()
    ledger = Ledger("run", prices={"m": (1.0, 1.0)})
    with Provider(shouted) as provider:
        make = weighed(lambda: Told(Shouting, model(provider, ledger=ledger)), cost)
        before = len(provider.requests)
        for _ in range(2):
            system = make()
            system.ingest(TURNS)
            system.read("What?", 100)
        counted = len(provider.requests) - before
    assert cost.used is not None
    assert cost.used.requests == counted == 4
    assert cost.used.cost == pytest.approx(cost.used.tokens / 1_000_000)


def test_a_recording_has_no_address_and_no_key(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    with Provider(shouted) as provider:
        read(Recorded(model(provider), file))
        text = file.read_text(encoding="utf-8")
        assert provider.url.removesuffix("/v1") not in text
    assert {json.loads(line)["model"] for line in text.splitlines()} == {"m"}
    assert "unused" not in text
