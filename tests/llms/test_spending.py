"""Spending: what calls use adds up, no limit is passed, and background work stops first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.errors import BudgetSpent, InvalidInput, ModelError
from demem_agent.llms import (
    PROCESS,
    Ledger,
    Limit,
    OpenAIChat,
    OpenAIEmbeddings,
    Options,
    Prompt,
    Retry,
    Usage,
)
from demem_agent.llms.spending import ASSUMED_TOKENS
from demem_agent.testing import BagEncoder, Provider
from demem_agent.types import Question

PRICES = {"m": (2.0, 10.0)}
PROMPT = Prompt("Answer.", "Where?")
SHORT = Options(max_tokens=10)
LATER = Options(max_tokens=10, background=True)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider("in Lisbon") as serving:  # 2 tokens in and 2 out, as the provider counts words
        yield serving


@pytest.fixture
def process_limit() -> Iterator[None]:
    """Put the ledger of this process back as it was."""
    limit, prices = PROCESS.limit, PROCESS.prices
    yield
    PROCESS.limit, PROCESS.prices = limit, prices


def use(
    ledger: Ledger, prompt: int, answer: int, *, held: int | None = None, background: bool = False
) -> None:
    """Make a call that uses as much as was held for it; ``held`` is for its answer."""
    most = answer if held is None else held
    with ledger.hold("m", prompt, most, "background" if background else "normal") as hold:
        hold.settle(Usage(prompt, answer, requests=1))


# Adding up


def test_a_cost_is_what_the_prices_say_for_a_million_tokens() -> None:
    assert Ledger(prices=PRICES).priced("m", Usage(500_000, 100_000)).cost == pytest.approx(
        1.0 + 1.0
    )


def test_what_is_used_adds_up_and_nothing_stays_held() -> None:
    ledger = Ledger(prices=PRICES)
    for _ in range(3):
        use(ledger, 100, 20)
    now = ledger.spending
    assert (now.spent.prompt_tokens, now.spent.completion_tokens, now.spent.requests) == (
        300,
        60,
        3,
    )
    assert now.spent.cost == pytest.approx(3 * (100 * 2 + 20 * 10) / 1e6)
    assert now.held == Usage()


def test_a_ledger_goes_on_from_what_was_spent_before() -> None:
    before = Usage(10, 5, cost=0.5)
    assert Ledger(spent=before).spending.spent == before


def test_a_model_without_price_has_an_unknown_cost_that_is_counted_apart() -> None:
    ledger = Ledger()
    assert ledger.priced("m", Usage(3, 4)).cost is None
    use(ledger, 3, 4)
    assert (ledger.spending.unpriced, ledger.spending.spent.cost) == (7, 0.0)


def test_all_that_a_memory_uses_counts_for_the_ledgers_around_it() -> None:
    team = Ledger("team", prices=PRICES)
    before = PROCESS.spending.spent
    use(Ledger("memory", within=team), 100, 20)
    assert team.spending.spent.tokens == 120
    assert team.spending.spent.cost == pytest.approx(400e-6)
    assert PROCESS.spending.spent.tokens - before.tokens == 120


# Limits


def test_background_work_stops_first() -> None:
    ledger = Ledger(limit=Limit(tokens=1000, background=0.5))
    for _ in range(4):
        use(ledger, 100, 20, background=True)
    with pytest.raises(BudgetSpent, match="background") as caught:
        use(ledger, 100, 20, background=True)
    assert caught.value.background
    use(ledger, 100, 20)
    assert ledger.spending.stopped == "background"
    assert (ledger.open(background=True), ledger.open()) == (False, True)


def test_a_spent_limit_stops_everything() -> None:
    ledger = Ledger(limit=Limit(tokens=120))
    use(ledger, 100, 20)
    assert (ledger.spending.stopped, ledger.open()) == ("everything", False)
    with pytest.raises(BudgetSpent, match="120 of 120 tokens") as caught:
        use(ledger, 1, 0)
    assert caught.value.ledger == "memory"


def test_a_cost_is_limited_too() -> None:
    ledger = Ledger(prices=PRICES, limit=Limit(cost=0.001))
    use(ledger, 300, 20)
    with pytest.raises(BudgetSpent, match=r"0\.0008 of 0\.001"):
        use(ledger, 100, 1)


def test_a_limit_of_nothing_lets_nothing_through() -> None:
    with pytest.raises(BudgetSpent):
        use(Ledger(limit=Limit(tokens=0)), 1, 0)


@pytest.mark.usefixtures("process_limit")
def test_the_limit_of_the_process_holds_for_every_memory() -> None:
    PROCESS.limit = Limit(tokens=PROCESS.spending.spent.tokens + 100)
    memory = Ledger("memory")
    use(memory, 50, 10)
    with pytest.raises(BudgetSpent) as caught:
        use(memory, 50, 10)
    assert caught.value.ledger == "process"
    assert (
        memory.spending.held == Usage()
    )  # what was held here before the process refused is let go


def test_a_limited_cost_needs_a_price(provider: Provider) -> None:
    ledger = Ledger(prices=PRICES, limit=Limit(cost=1.0))
    with pytest.raises(InvalidInput, match="prices"):
        OpenAIChat("other", base_url=provider.url, ledger=ledger)
    with pytest.raises(InvalidInput, match="prices"):
        OpenAIEmbeddings("other", base_url=provider.url, ledger=ledger)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Limit(cost=-1.0),
        lambda: Limit(cost=float("nan")),
        lambda: Limit(tokens=-1),
        lambda: Limit(background=1.5),
        lambda: Ledger(prices={"m": (1.0, -1.0)}),
        lambda: Ledger(prices={"m": (1.0,)}),  # type: ignore[dict-item]
    ],
)
def test_limits_and_prices_out_of_range_are_refused(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300), st.booleans())),
    st.integers(0, 2000),
)
def test_no_sequence_of_calls_passes_a_limit(
    calls: list[tuple[int, int, bool]], limit: int
) -> None:
    ledger = Ledger(prices=PRICES, limit=Limit(tokens=limit, cost=limit * 5e-6, background=0.5))
    for prompt, answer, background in calls:
        before = ledger.spending.spent
        try:
            use(ledger, prompt, answer, background=background)
        except BudgetSpent:
            assert ledger.spending.spent == before
        else:
            share = 0.5 if background else 1.0
            assert ledger.spending.spent.tokens <= share * limit
            assert (ledger.spending.spent.cost or 0.0) <= share * limit * 5e-6
        assert ledger.spending.held == Usage()


def test_calls_at_once_do_not_pass_a_limit_together() -> None:
    ledger, together = Ledger(limit=Limit(tokens=1000)), threading.Barrier(16)

    def call(_: int) -> bool:
        together.wait()
        try:
            use(ledger, 100, 30, held=60)  # 160 held, 130 used
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(16) as threads:
        let_through = sum(threads.map(call, range(16)))
    assert 6 <= let_through <= 7
    assert ledger.spending.spent.tokens == 130 * let_through <= 1000


# With a model


def test_every_answer_says_what_it_used_and_the_ledger_the_same(provider: Provider) -> None:
    ledger = Ledger(prices=PRICES)
    model = OpenAIChat("m", base_url=provider.url, ledger=ledger)
    done = model.complete(PROMPT)
    assert done.usage == Usage(2, 2, 0, 1, (2 * 2 + 2 * 10) / 1e6)
    assert ledger.spending.spent == done.usage == model.health.usage


def test_what_a_useless_answer_used_is_counted_too(provider: Provider) -> None:
    ledger = Ledger()
    model = OpenAIChat(
        "fault-null-content", base_url=provider.url, ledger=ledger, retry=Retry(3, first_wait=0.0)
    )
    with pytest.raises(ModelError):
        model.complete(PROMPT)
    assert (ledger.spending.spent.prompt_tokens, ledger.spending.spent.requests) == (6, 3)


def test_a_stream_is_counted(provider: Provider) -> None:
    ledger = Ledger()
    list(OpenAIChat("m", base_url=provider.url, ledger=ledger).stream(PROMPT))
    assert ledger.spending.spent == replace(Usage(2, 2, 0, 1), cost=0.0)


def test_embeddings_are_counted(provider: Provider) -> None:
    ledger = Ledger(prices={"v": (1.0, 0.0)})
    OpenAIEmbeddings("v", base_url=provider.url, ledger=ledger, batch=1).encode(
        ["one two", "three"]
    )
    assert ledger.spending.spent == Usage(3, 0, 0, 2, pytest.approx(3e-6))


def test_a_call_that_the_limit_stops_makes_no_request(provider: Provider) -> None:
    ledger = Ledger(limit=Limit(tokens=200, background=0.1))
    model = OpenAIChat("m", base_url=provider.url, ledger=ledger)
    before = len(provider.requests)
    with pytest.raises(BudgetSpent):
        model.complete(PROMPT, LATER)
    with pytest.raises(BudgetSpent):
        model.complete(PROMPT)  # without max_tokens an answer may be long
    assert len(provider.requests) == before
    assert model.complete(PROMPT, SHORT).text == "in Lisbon"
    assert (dict(model.health.failures), model.health.breaker) == ({"budget spent": 2}, "closed")


def test_an_answer_without_bound_is_held_to_be_long() -> None:
    ledger = Ledger()
    with ledger.hold("m", 5, None):
        assert ledger.spending.held.tokens == 5 + ASSUMED_TOKENS


def test_a_retry_is_stopped_as_well(provider: Provider) -> None:
    ledger = Ledger(limit=Limit(tokens=80))
    model = OpenAIChat(
        "fault-no-usage", base_url=provider.url, ledger=ledger, retry=Retry(3, first_wait=0.0)
    )
    model.complete(PROMPT, SHORT)  # the usage is estimated here, and that counts
    before = len(provider.requests)
    with pytest.raises(BudgetSpent):
        model.complete(PROMPT, SHORT)
    assert len(provider.requests) == before


def test_no_limit_stops_ingesting_or_reading(provider: Provider) -> None:
    ledger = Ledger(limit=Limit(tokens=0))
    model = OpenAIChat("m", base_url=provider.url, ledger=ledger)

    class Asking:
        def answer(self, question: Question) -> str:
            return model.complete(Prompt("Answer.", question.query)).text

    embeddings = OpenAIEmbeddings("v", base_url=provider.url, ledger=ledger)
    for encoder in (BagEncoder(), embeddings):
        memory = SlotMemory(encoder=encoder, answerer=Asking())
        memory.ingest("Ana moved to Lisbon.")
        assert "Lisbon" in memory.read("Where did Ana move?").text
        with pytest.raises(BudgetSpent):
            memory.answer("Where did Ana move?")
    assert ledger.spending.spent.tokens > 0
