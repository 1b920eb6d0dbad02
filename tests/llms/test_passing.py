"""Requests that other programs wrote are passed on whole, and what comes back is whole."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from demem_agent.errors import BudgetSpent, InvalidInput, ModelError
from demem_agent.llms import Ledger, Limit, Prompt, Retry
from demem_agent.llms.passing import Passing
from demem_agent.testing import Provider

TOOLS = [{"type": "function", "function": {"name": "note", "parameters": {"type": "object"}}}]
REQUEST = {"messages": [{"role": "user", "content": "Hello"}], "tools": TOOLS, "max_tokens": 9}


def passing(provider: Provider, model: str = "m", ledger: Ledger | None = None) -> Passing:
    retry = Retry(attempts=1, seconds=5.0)
    return Passing(model, base_url=provider.url, retry=retry, ledger=ledger)


def asked(**request: Any) -> Prompt:
    return Prompt("", json.dumps({**REQUEST, **request}))


def test_a_request_comes_as_it_was_but_for_the_model() -> None:
    with Provider() as provider:
        passing(provider).complete(asked(model="another"))
    (seen,) = provider.requests
    assert seen.body["model"] == "m"
    assert {name: seen.body[name] for name in REQUEST} == REQUEST


def test_a_message_comes_back_whole() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "note", "arguments": "{}"}}]

    class Calling(Provider):
        def body(self, seen: Any, fault: str) -> dict[str, Any]:
            whole: dict[str, Any] = super().body(seen, fault)
            whole["choices"][0]["message"] = {"role": "assistant", "tool_calls": calls}
            whole["choices"][0]["finish_reason"] = "tool_calls"
            return whole

    with Calling() as provider:
        done = passing(provider).complete(asked())
    assert json.loads(done.text)["tool_calls"] == calls
    assert done.finish == "tool_calls"


def test_an_answer_that_was_cut_off_is_passed_on() -> None:
    with Provider("half", faults={"m": "length"}) as provider:
        done = passing(provider).complete(asked())
    assert (json.loads(done.text)["content"], done.finish) == ("ha", "length")


def test_what_is_used_is_counted_and_priced() -> None:
    ledger = Ledger("run", prices={"m": (1.0, 2.0)})
    with Provider("two words") as provider:
        done = passing(provider, ledger=ledger).complete(asked())
    used = done.usage
    assert (used.requests, used.prompt_tokens, used.completion_tokens) == (1, 1, 2)
    assert used.cost == pytest.approx(5e-6)
    assert ledger.spending.spent == used


def test_a_limit_stops_it() -> None:
    ledger = Ledger("run", limit=Limit(tokens=10))
    with Provider() as provider, pytest.raises(BudgetSpent):
        passing(provider, ledger=ledger).complete(asked())
    assert provider.requests == []


def test_a_failure_is_of_the_model() -> None:
    with Provider() as provider, pytest.raises(ModelError, match="failed"):
        passing(provider, "fault-404").complete(asked())


def test_what_is_no_request_is_refused() -> None:
    with Provider() as provider, pytest.raises(InvalidInput, match="prompt"):
        passing(provider).complete(Prompt("", "Hello"))


def test_it_can_be_awaited() -> None:
    with Provider("one") as provider:
        done = asyncio.run(passing(provider).acomplete(asked()))
    assert json.loads(done.text)["content"] == "one"
