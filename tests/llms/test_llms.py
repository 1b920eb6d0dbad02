"""A model behind HTTP: a call ends in time with a whole answer or an error that says why.

It does so whatever its provider does. The client is the real one and talks to a server on this
machine.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.errors import InvalidInput, ModelError
from demem_agent.llms import (
    Breaker,
    ChatModel,
    Message,
    OpenAIChat,
    Options,
    Prompt,
    Recorded,
    Retry,
    Usage,
    shared_prefix,
)
from demem_agent.llms.calls.access import Access
from demem_agent.testing import FAULTS, Provider, Seen

KEY = "sk-this-is-the-secret"
PROMPT = Prompt("You answer briefly.", "Where does Ana live, whose name is Zuleika?")
TEXT = '{"summary": "Ana lives in Lisbon", "ids": ["e1", "e2"]}'
FULL = Options(max_tokens=50, temperature=0.0, schema={"type": "object"})
QUICK = Retry(seconds=5.0, first_wait=0.01)
BRIEF = Retry(seconds=0.15, first_wait=0.01)
SOUND = {
    "other-reason",
    "unknown-ids",
    "too-long",
    "invented-numbers",
    "injected",
    "no-usage",
    "cut-text",
    "wrong-json",
}
VECTORS = {"shuffled", "one-missing", "other-dimensions", "not-a-number"}

#: By fault: the kind of error, and the requests that the call makes.
ENDS: Mapping[str, tuple[str, int]] = {
    "429": ("rate limited", 3),
    "500": ("unavailable", 3),
    "overloaded": ("unavailable", 3),
    "error-event": ("unavailable", 3),
    "reset": ("unavailable", 3),
    "stall": ("timeout", 1),
    "slow-drip": ("timeout", 1),
    "html": ("malformed", 3),
    "null-content": ("malformed", 3),
    "no-choices": ("malformed", 3),
    "cut-json": ("malformed", 3),
    "wrong-schema": ("malformed", 3),
    "401": ("unauthorised", 1),
    "404": ("no such model", 1),
    "quota": ("quota", 1),
    "context": ("too long", 1),
    "length": ("cut off", 1),
    "filtered": ("refused", 1),
    "refusal": ("refused", 1),
    "no-finish": ("cut off", 1),
    "empty": ("malformed", 3),
    "cut-body": ("unavailable", 3),
}
#: What a stream that has begun ends as, where that differs: it is not asked again.
STREAM_ENDS = {
    **ENDS,
    "cut-json": ("cut off", 1),
    "cut-body": ("cut off", 1),
    "error-event": ("malformed", 3),
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(TEXT, retry_after=0.02, drip=0.01) as serving:
        model(serving).complete(
            PROMPT
        )  # imports the client, for which short deadlines leave no time
        yield serving


def model(provider: Provider, fault: str = "", **options: Any) -> OpenAIChat:
    options = {"retry": QUICK, "api_key": KEY, **options}
    return OpenAIChat(f"fault-{fault}" if fault else "sound", base_url=provider.url, **options)


def in_time(fault: str) -> Retry:
    """Return a deadline that only those faults run into that would last for ever."""
    return BRIEF if fault in ("stall", "slow-drip") else QUICK


def raised(call: Callable[[], object]) -> ModelError:
    with pytest.raises(ModelError) as caught:
        call()
    return caught.value


async def joined(chat: OpenAIChat) -> str:
    return "".join([piece async for piece in chat.stream(PROMPT)])


# What can go wrong


def test_every_fault_of_the_provider_is_in_one_of_these_tables() -> None:
    assert set(FAULTS) == {*ENDS, *SOUND, *VECTORS, "no-schema", "no-temperature", "no-max-tokens"}


@pytest.mark.parametrize(("fault", "end"), ENDS.items())
def test_a_call_ends_as_its_fault_says_with_few_requests_and_in_time(
    provider: Provider, fault: str, end: tuple[str, int]
) -> None:
    before, started = len(provider.requests), time.perf_counter()
    error = raised(lambda: model(provider, fault, retry=in_time(fault)).complete(PROMPT, FULL))
    assert (error.kind, error.requests) == end
    assert len(provider.requests) - before == error.requests <= 3
    assert time.perf_counter() - started < BRIEF.seconds + 2.0  # a busy machine takes its time


@pytest.mark.parametrize(("fault", "end"), STREAM_ENDS.items())
def test_a_stream_ends_as_its_fault_says_with_few_requests_and_in_time(
    provider: Provider, fault: str, end: tuple[str, int]
) -> None:
    before, started = len(provider.requests), time.perf_counter()
    error = raised(lambda: list(model(provider, fault, retry=in_time(fault)).stream(PROMPT)))
    assert (error.kind, error.requests) == end
    assert len(provider.requests) - before == error.requests <= 3
    assert time.perf_counter() - started < BRIEF.seconds + 2.0


@pytest.mark.parametrize("fault", ["429", "reset", "html", "length"])
def test_awaiting_ends_as_waiting_does(provider: Provider, fault: str) -> None:
    chat = model(provider, fault, retry=in_time(fault))
    errors = [
        raised(lambda: asyncio.run(chat.acomplete(PROMPT))),
        raised(lambda: asyncio.run(joined(chat))),
    ]
    assert [(error.kind, error.requests) for error in errors] == [ENDS[fault]] * 2


@pytest.mark.parametrize("fault", sorted(SOUND))
def test_what_a_text_says_is_not_judged_here(provider: Provider, fault: str) -> None:
    chat = model(provider, fault)
    stream = chat.stream(PROMPT)
    text = "".join(stream)
    assert stream.completion is not None
    assert chat.complete(PROMPT).text == text == stream.completion.text


ODD: list[Any] = [
    None, [], 7, "text", {},
    {"choices": 5}, {"choices": [None]}, {"choices": ["x"]}, {"choices": [{}]},
    {"choices": [{"message": None, "finish_reason": "stop"}]},
    {"choices": [{"message": {"content": ["a", "b"]}, "finish_reason": "stop"}]},
    {"choices": [{"message": {"content": 7}, "finish_reason": "stop"}]},
    {"choices": [{"message": {"content": "ok"}, "finish_reason": 7}]},
    {"error": {"message": "overloaded", "code": 502}},
]  # fmt: skip


class Odd(Provider):
    """Reply with any JSON value."""

    value: Any = None

    def body(self, seen: Seen, fault: str) -> Any:
        return self.value


def test_no_json_value_whatever_passes_for_an_answer() -> None:
    with Odd() as odd:
        chat = model(odd, retry=Retry(1, 5.0), breaker=Breaker(99))
        for odd.value in ODD:
            assert raised(lambda: chat.complete(PROMPT)).kind in ("malformed", "cut off")


def test_odd_usage_is_counted_here_instead() -> None:
    with Odd() as odd:
        chat = model(odd)
        for usage in (
            None,
            7,
            {},
            {"prompt_tokens": -1},
            {"prompt_tokens": "many"},
            {"prompt_tokens": True},
        ):
            odd.value = {
                "choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}],
                "usage": usage,
            }
            used = chat.complete(PROMPT).usage
            assert used.estimated
            assert used.prompt_tokens > 0 < used.completion_tokens


def test_nobody_at_the_address_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        error = raised(lambda: OpenAIChat("m", base_url=url, retry=QUICK).complete(PROMPT))
    assert (error.kind, error.requests) == ("unavailable", 3)


# Asking again


def test_a_fault_that_passes_is_got_over() -> None:
    with Provider(TEXT) as provider:
        done = model(provider, "500:2").complete(PROMPT)
    assert (done.text, done.finish, done.usage.requests) == (TEXT, "stop", 3)


def test_a_stalled_attempt_can_be_bounded_so_that_another_is_made() -> None:
    with Provider(TEXT) as provider:
        chat = model(provider, "stall:1", retry=Retry(attempt_seconds=1.0, first_wait=0.01))
        assert chat.complete(PROMPT).usage.requests == 2


def test_a_provider_is_given_the_time_that_it_asks_for() -> None:
    with Provider(retry_after=0.3) as slow:
        model(slow, "429:1", retry=Retry(first_wait=0.0)).complete(PROMPT)
        first, second = slow.requests
    assert second.at - first.at >= 0.3


def test_a_provider_that_asks_for_more_time_than_there_is_is_given_up_on_at_once() -> None:
    with Provider(retry_after=60.0) as slow:
        started = time.perf_counter()
        error = raised(lambda: model(slow, "429", retry=Retry(seconds=5.0)).complete(PROMPT))
        assert time.perf_counter() - started < 2.0
    assert (error.kind, error.requests, error.retry_after) == ("rate limited", 1, 60.0)


def test_the_deadline_holds_for_a_call_that_waits_for_a_place(provider: Provider) -> None:
    async def two() -> list[Any]:
        chat = model(provider, "stall", concurrency=1, retry=Retry(seconds=0.3))
        raised(lambda: chat.complete(PROMPT))  # the client is made with the first call
        return await asyncio.gather(
            chat.acomplete(PROMPT), chat.acomplete(PROMPT), return_exceptions=True
        )

    started = time.perf_counter()
    errors = asyncio.run(two())
    assert [error.kind for error in errors] == ["timeout"] * 2
    assert time.perf_counter() - started < 0.88  # one after the other they would take 0.9 s


def test_what_a_provider_refuses_is_left_out_from_then_on() -> None:
    faults = {"old": "no-schema", "new": "no-max-tokens", "fixed": "no-temperature"}
    left_out = {"old": "response_format", "new": "max_tokens", "fixed": "temperature"}
    with Provider(TEXT, faults=faults) as provider:
        for name in faults:
            chat = OpenAIChat(name, base_url=provider.url, retry=QUICK)
            assert [chat.complete(PROMPT, FULL).usage.requests for _ in range(2)] == [2, 1]
            assert left_out[name] not in provider.requests[-1].body
        bodies = [seen.body for seen in provider.requests if seen.model == "new"]
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 50, 50]


def test_a_refusal_that_leaving_out_does_not_cure_is_not_learned_from() -> None:
    class Refusing(Provider):
        def take(self, seen: Seen) -> str:
            super().take(seen)
            return "no-schema" if len(self.requests) <= 2 else ""

    with Refusing(TEXT) as provider:
        chat = model(provider)
        error = raised(lambda: chat.complete(PROMPT, FULL))
        assert (error.kind, error.requests) == ("rejected", 2)
        chat.complete(PROMPT, FULL)
        assert "response_format" in provider.requests[-1].body


# The breaker and the counts


def test_a_provider_that_keeps_failing_is_left_alone_and_tried_again_later() -> None:
    now = [0.0]
    with Provider(TEXT) as provider:
        chat = model(provider, "500:4", retry=Retry(1), breaker=Breaker(2, 30.0, lambda: now[0]))
        left_alone(chat, now)


def left_alone(chat: OpenAIChat, now: list[float]) -> None:
    kinds = [raised(lambda: chat.complete(PROMPT)).kind for _ in range(4)]
    assert kinds == ["unavailable", "unavailable", "circuit open", "circuit open"]
    assert (chat.health.breaker, chat.health.requests) == ("open", 2)
    for now[0] in (31.0, 62.0):
        assert [raised(lambda: chat.complete(PROMPT)).kind for _ in range(2)] == [
            "unavailable",
            "circuit open",
        ]
    now[0] = 93.0
    assert chat.complete(PROMPT).text == TEXT
    assert chat.health.breaker == "closed"


@pytest.mark.parametrize("fault", ["401", "context", "refusal", "length"])
def test_what_does_not_speak_against_the_provider_opens_no_breaker(
    provider: Provider, fault: str
) -> None:
    chat = model(provider, fault, breaker=Breaker(1))
    assert (
        raised(lambda: chat.complete(PROMPT)).kind
        == raised(lambda: chat.complete(PROMPT)).kind
        != "circuit open"
    )


def test_a_stall_opens_the_breaker(provider: Provider) -> None:
    chat = model(provider, "stall", retry=Retry(seconds=0.1), breaker=Breaker(1))
    assert [raised(lambda: chat.complete(PROMPT)).kind for _ in range(2)] == [
        "timeout",
        "circuit open",
    ]


def test_health_shows_every_call() -> None:
    with Provider(TEXT) as provider:
        chat = model(provider, "html:4")
        raised(lambda: chat.complete(PROMPT))
        chat.complete(PROMPT)
    seen = chat.health
    assert (seen.calls, seen.succeeded, seen.running) == (2, 1, 0)
    assert (dict(seen.failures), seen.requests, seen.retries) == ({"malformed": 1}, 5, 3)


# Secrets

ALL_KEYS = {"headers": {"X-Token": f"{KEY}-2"}, "query": {"code": f"{KEY}-3"}}


@pytest.mark.parametrize("fault", ["401", "500", "html", "reset", "length", "stall", ""])
def test_neither_keys_nor_prompts_are_in_errors_logs_or_reprs(
    provider: Provider, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "openai")
    caplog.set_level(logging.DEBUG, "demem_agent")
    chat = model(
        provider,
        fault,
        retry=Retry(2, 0.15, first_wait=0.0) if fault == "stall" else QUICK,
        **ALL_KEYS,
    )
    shown = [repr(chat), repr(chat.health), str(vars(chat))]
    if fault:
        for call in (lambda: chat.complete(PROMPT), lambda: list(chat.stream(PROMPT))):
            error = raised(call)
            shown.append("".join(traceback.format_exception(error)))
            shown.append(repr(vars(error)))
            shown.append(repr(pickle.dumps(error)))
            assert error.__context__ is None  # what the client raised holds the whole request
    else:
        chat.complete(PROMPT)
    assert provider.requests[-1].key == KEY
    everything = "\n".join([*shown, caplog.text])
    for secret in (KEY, "Zuleika", "briefly"):
        assert secret not in everything


def test_an_address_is_shown_without_what_may_be_secret_in_it() -> None:
    address = f"https://me:{KEY}@example.org:8080/{KEY}/v1?key={KEY}"
    for shown in (repr(OpenAIChat("m", base_url=address)), repr(Access(address, KEY))):
        assert "https://example.org:8080" in shown
        assert KEY not in shown


def test_a_bad_address_is_refused_without_showing_it() -> None:
    with pytest.raises(InvalidInput, match="base_url") as caught:
        OpenAIChat("m", base_url=f"me:{KEY}@example.org")
    assert KEY not in str(caught.value)


def test_without_key_and_address_no_model_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY"):
        OpenAIChat("m")


# Streams


def test_pieces_come_one_by_one_and_make_up_the_whole(provider: Provider) -> None:
    stream = model(provider).stream(PROMPT)
    pieces = list(stream)
    assert len(pieces) > 3
    assert stream.completion is not None
    assert "".join(pieces) == stream.completion.text == TEXT
    assert stream.completion.usage.prompt_tokens > 0
    assert not stream.completion.usage.estimated


def test_a_stream_that_just_ends_gives_its_pieces_and_then_an_error(provider: Provider) -> None:
    stream = model(provider, "no-finish").stream(PROMPT)
    pieces: list[str] = []
    assert raised(lambda: pieces.extend(stream)).kind == "cut off"
    assert TEXT.startswith("".join(pieces))
    assert stream.completion is None


def test_the_first_piece_is_there_before_the_last_is_sent() -> None:
    with Provider("one two", drip=0.0001) as slow:
        stream = iter(model(slow, "slow-drip").stream(PROMPT))
        assert next(stream) == "one"
        assert "".join(stream) == " two"


def test_a_stream_that_is_left_gives_its_place_back() -> None:
    with Provider("one " * 999, drip=0.0005) as slow:
        chat = model(slow, "slow-drip", concurrency=1, retry=Retry())
        for piece in chat.stream(PROMPT):
            assert piece == "one"
            break
        ended_within(lambda: chat.health.abandoned == 1 and chat.health.running == 0)


def ended_within(condition: Callable[[], bool], seconds: float = 3.0) -> None:
    until = time.perf_counter() + seconds
    while not condition():
        assert time.perf_counter() < until
        time.sleep(0.005)


# Loops and threads


def test_a_cancelled_call_gives_its_place_back() -> None:
    async def cancelled(chat: OpenAIChat) -> None:
        call = asyncio.create_task(chat.acomplete(PROMPT))
        while not provider.requests:
            await asyncio.sleep(0.005)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    with Provider(TEXT) as provider:
        chat = model(provider, "stall:1", concurrency=1)
        asyncio.run(cancelled(chat))
        assert chat.complete(PROMPT).text == TEXT
        assert chat.health.abandoned == 1


def test_one_model_serves_many_loops_and_threads(provider: Provider) -> None:
    chat, texts = model(provider), []

    def use() -> None:
        texts.append(asyncio.run(chat.acomplete(PROMPT)).text)
        texts.append(chat.complete(PROMPT).text)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [TEXT] * 16


def test_no_more_calls_run_at_once_than_are_allowed() -> None:
    running, most, lock = [0], [0], threading.Lock()

    def reply(messages: Any) -> str:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.02)
        with lock:
            running[0] -= 1
        return "ok"

    async def many(chat: OpenAIChat) -> None:
        await asyncio.gather(*(chat.acomplete(PROMPT) for _ in range(12)))

    with Provider(reply) as provider:
        asyncio.run(many(model(provider, concurrency=3, retry=Retry())))
    assert most[0] == 3


def test_a_closed_model_opens_again(provider: Provider) -> None:
    chat = model(provider)
    chat.complete(PROMPT)
    chat.close()
    assert chat.complete(PROMPT).text == TEXT


# Prompts and options


def test_the_stable_part_comes_first_and_the_rest_in_order(provider: Provider) -> None:
    more = (Message("assistant", "Porto"), Message("user", "That is not in the evidence."))
    model(provider).complete(
        Prompt("stable", "variable \ud800", more), Options(max_tokens=7, seed=3)
    )
    body = provider.requests[-1].body
    sent = [(message["role"], message["content"]) for message in body["messages"]]
    assert sent[:2] == [
        ("system", "stable"),
        ("user", "variable \ufffd"),
    ]  # lone surrogates are not UTF-8
    assert sent[2:] == [("assistant", "Porto"), ("user", "That is not in the evidence.")]
    assert (body["max_tokens"], body["seed"]) == (7, 3)
    assert not {"temperature", "response_format"} & set(body)


def test_extra_fields_go_with_every_request(provider: Provider) -> None:
    model(provider, extra={"top_p": 0.9}).complete(PROMPT)
    assert provider.requests[-1].body["top_p"] == 0.9


@given(st.text(), st.text(), st.text())
def test_a_shared_prefix_is_at_least_the_stable_part(stable: str, one: str, other: str) -> None:
    first, second = Prompt(stable, one), Prompt(stable, other)
    assert 0.0 <= first.stable_share <= 1.0
    assert shared_prefix(first, first) == 1.0
    size = len(second.text.encode("utf-8", "surrogatepass"))
    assert shared_prefix(first, second) * (size + 20) >= second.stable_share * size


@pytest.mark.parametrize("options", [{"max_tokens": 0}, {"max_tokens": True}, {"temperature": 3.0}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Options(**options)


@pytest.mark.parametrize(
    "options", [{"attempts": 0}, {"seconds": 0}, {"seconds": float("nan")}, {"first_wait": -1}]
)
def test_a_retry_out_of_range_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Retry(**options)


def test_usage_adds_up_and_an_unknown_cost_stays_unknown() -> None:
    assert Usage(1, 2, 1, 1, 0.5) + Usage(3, 4, 0, 1, 0.25, True) == Usage(4, 6, 1, 2, 0.75, True)
    assert (Usage(1, cost=None) + Usage(1)).cost is None


def test_chat_models_are_what_the_protocol_says(provider: Provider, tmp_path: Any) -> None:
    chat = model(provider)
    assert isinstance(chat, ChatModel)
    assert isinstance(Recorded(chat, tmp_path / "calls"), ChatModel)


# What is imported when


def loaded_by(module: str) -> set[str]:
    """Return the modules that a new process holds once it has imported one."""
    script = f"import sys, {module}; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert module in loaded
    return loaded


def test_the_client_is_imported_with_the_first_call_only() -> None:
    assert not loaded_by("demem_agent.llms") & {"openai", "tenacity", "httpx"}


def test_the_package_does_not_import_its_models() -> None:
    assert "demem_agent.llms" not in loaded_by("demem_agent")


# Speed


@pytest.mark.slow
def test_fifty_calls_at_once_take_little_more_than_one() -> None:
    async def fifty(chat: OpenAIChat) -> float:
        started = time.perf_counter()
        await asyncio.gather(*(chat.acomplete(PROMPT) for _ in range(50)))
        return time.perf_counter() - started

    with Provider(delay_ms=200) as provider:
        chat = model(provider, retry=Retry())
        chat.complete(PROMPT)
        best = min(asyncio.run(fifty(chat)) for _ in range(5))
    assert (
        best < 0.2 * 3
    )  # one after the other they would take 10 s; client and server share one process here
