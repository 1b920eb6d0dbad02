"""The provider for tests: sound by default, faulty as its table says, and never a word of its own
on the screen.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from demem_agent.errors import InvalidInput
from demem_agent.testing import FAULTS, BagEncoder, Provider

TEXT = '{"summary": "Ana moved to Lisbon", "ids": ["e1", "e22"]}'
MESSAGES = [{"role": "system", "content": "Answer."}, {"role": "user", "content": "Where?"}]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(TEXT, drip=0.0001) as serving:
        yield serving


def post(
    provider: Provider, path: str, body: Any, seconds: float = 5.0
) -> tuple[int, dict[str, str], str]:
    address = urlsplit(provider.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=seconds)
    try:
        connection.request(
            "POST", f"/v1{path}", json.dumps(body), {"Authorization": "Bearer my-key"}
        )
        response = connection.getresponse()
        return (
            response.status,
            {name.lower(): value for name, value in response.getheaders()},
            response.read().decode(),
        )
    finally:
        connection.close()


def chat(provider: Provider, model: str = "m", **fields: Any) -> tuple[int, dict[str, str], str]:
    return post(provider, "/chat/completions", {"model": model, "messages": MESSAGES, **fields})


def text_of(body: str) -> str:
    text: str = json.loads(body)["choices"][0]["message"]["content"]
    return text


def events(body: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in body.split("\n\n") if line]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


# Sound replies


def test_a_sound_reply_has_what_the_protocol_asks_for(provider: Provider) -> None:
    status, headers, body = chat(provider)
    reply = json.loads(body)
    assert (status, headers["content-type"], reply["object"]) == (
        200,
        "application/json",
        "chat.completion",
    )
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert (
        reply["usage"]["total_tokens"]
        == reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"]
    )
    assert text_of(body) == TEXT


def test_a_stream_has_the_same_text_in_pieces_and_says_when_it_ends(provider: Provider) -> None:
    _, headers, body = chat(provider, stream=True, stream_options={"include_usage": True})
    *pieces, usage, done = events(body)
    assert headers["content-type"] == "text/event-stream"
    assert "".join(piece["choices"][0]["delta"].get("content", "") for piece in pieces) == TEXT
    assert [piece["choices"][0]["finish_reason"] for piece in pieces] == [None] * (
        len(pieces) - 1
    ) + ["stop"]
    assert (usage["choices"], usage["usage"]["completion_tokens"], done) == (
        [],
        len(TEXT.split()),
        "[DONE]",
    )


def test_a_stream_tells_its_usage_only_where_that_is_asked(provider: Provider) -> None:
    assert "usage" not in chat(provider, stream=True)[2]


def test_embeddings_are_those_of_the_bag(provider: Provider) -> None:
    for dimensions in (None, 5):
        reply = json.loads(
            post(provider, "/embeddings", {"input": ["a", "b"], "dimensions": dimensions})[2]
        )
        rows = BagEncoder(dimensions or 16).encode(["a", "b"]).tolist()
        assert [(one["index"], one["embedding"]) for one in reply["data"]] == list(enumerate(rows))


#: The request of each API whose form is its own, by its path.
CLAUDE = {"model": "m", "system": "Answer.", "messages": [{"role": "user", "content": "Where?"}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Where?"}]}]}
FORMS = {"/messages": CLAUDE, "/models/m:generateContent": GEMINI}


def told(body: str) -> list[Any]:
    """Return the data of the events of a stream."""
    lines = body.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_a_message_of_anthropics_says_the_same(provider: Provider) -> None:
    reply = json.loads(post(provider, "/messages", CLAUDE)[2])
    assert (reply["type"], reply["stop_reason"]) == ("message", "end_turn")
    assert reply["content"] == [{"type": "text", "text": TEXT}]
    events = told(post(provider, "/messages", {**CLAUDE, "stream": True})[2])
    pieces = [event["delta"]["text"] for event in events if event["type"].endswith("block_delta")]
    assert "".join(pieces) == TEXT
    assert [event["type"] for event in events[-2:]] == ["message_delta", "message_stop"]
    assert events[-2]["delta"]["stop_reason"] == "end_turn"


def test_a_content_of_geminis_says_the_same(provider: Provider) -> None:
    reply = json.loads(post(provider, "/models/m:generateContent", GEMINI)[2])
    (candidate,) = reply["candidates"]
    assert candidate["finishReason"] == "STOP"
    assert candidate["content"] == {"role": "model", "parts": [{"text": TEXT}]}
    events = told(post(provider, "/models/m:streamGenerateContent", GEMINI)[2])
    parts = [event["candidates"][0]["content"]["parts"][0]["text"] for event in events]
    assert "".join(parts) == TEXT
    assert events[-1]["candidates"][0]["finishReason"] == "STOP"
    assert provider.requests[-1].model == "m"


@pytest.mark.parametrize("path", FORMS)
def test_an_error_has_the_form_of_its_api(provider: Provider, path: str) -> None:
    path = path.replace("/m:", "/fault-overloaded:")
    status, _, body = post(provider, path, {**CLAUDE, **GEMINI, "model": "fault-overloaded"})
    assert status == 529
    assert "verloaded" in json.loads(body)["error"]["message"]


def test_a_stream_can_break_off_with_an_error(provider: Provider) -> None:
    streams = {"stream": True, "model": "fault-error-event"}
    assert told(post(provider, "/messages", {**CLAUDE, **streams})[2])[-1]["type"] == "error"
    path = "/models/fault-error-event:streamGenerateContent"
    assert told(post(provider, path, GEMINI)[2])[-1]["error"]["code"] == 529
    assert events(chat(provider, **streams)[2])[-1]["error"]["code"] == 529
    assert chat(provider, "fault-error-event")[0] == 529


def test_what_is_asked_of_each_api_is_heard_as_messages() -> None:
    heard: list[Any] = []

    def reply(messages: Any) -> str:
        heard.append([*messages])
        return "ok"

    instructed = {**GEMINI, "systemInstruction": {"parts": [{"text": "Answer."}]}}
    with Provider(reply) as provider:
        post(provider, "/messages", CLAUDE)
        post(provider, "/models/m:generateContent", instructed)
    assert heard == [MESSAGES, MESSAGES]


def test_one_text_alone_is_embedded_too(provider: Provider) -> None:
    assert len(json.loads(post(provider, "/embeddings", {"input": "a"})[2])["data"]) == 1


def test_a_function_of_the_messages_can_answer() -> None:
    with Provider(lambda messages: f"{messages[-1]['content']} In Lisbon.") as scripted:
        assert text_of(chat(scripted)[2]) == "Where? In Lisbon."


def test_every_request_is_kept_as_it_came() -> None:
    with Provider() as provider:
        chat(provider, "one", seed=7)
        post(provider, "/embeddings?code=5", {"model": "two", "input": ["a"]})
        first, second = provider.requests
    assert (first.path, first.model, first.key, first.body["seed"]) == (
        "/v1/chat/completions",
        "one",
        "my-key",
        7,
    )
    assert (second.path, second.model, second.body["input"]) == ("/v1/embeddings", "two", ["a"])
    assert first.at <= second.at


def test_replies_are_delayed_as_asked() -> None:
    with Provider(delay_ms=60) as slow:
        started = time.perf_counter()
        chat(slow)
        assert time.perf_counter() - started >= 0.06


def test_a_path_that_there_is_not_is_not_found(provider: Provider) -> None:
    assert post(provider, "/images", {})[0] == 404


# Faults


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ("429", 429, "rate_limit_exceeded"),
        ("500", 500, None),
        ("401", 401, "invalid_api_key"),
        ("404", 404, "model_not_found"),
        ("quota", 429, "insufficient_quota"),
        ("context", 400, "context_length_exceeded"),
    ],
)
def test_an_error_has_its_status_and_code(
    provider: Provider, fault: str, status: int, code: str | None
) -> None:
    got, headers, body = chat(provider, f"fault-{fault}")
    assert (got, json.loads(body)["error"]["code"]) == (status, code)
    assert headers.get("retry-after") == ("1" if status == 429 else None)


def test_a_refused_key_is_quoted(provider: Provider) -> None:
    assert "my-key" in chat(provider, "fault-401")[2]


@pytest.mark.parametrize(
    ("fault", "field"),
    [
        ("no-schema", "response_format"),
        ("no-temperature", "temperature"),
        ("no-max-tokens", "max_tokens"),
    ],
)
def test_a_field_is_refused_where_it_is_sent(provider: Provider, fault: str, field: str) -> None:
    assert [chat(provider, f"fault-{fault}", **fields)[0] for fields in ({field: 1}, {})] == [
        400,
        200,
    ]


@pytest.mark.parametrize("fault", ["reset", "cut-body"])
def test_a_connection_breaks(provider: Provider, fault: str) -> None:
    with pytest.raises((ConnectionError, http.client.IncompleteRead)) as caught:
        chat(provider, f"fault-{fault}")
    assert isinstance(caught.value, ConnectionResetError) == (fault == "reset")


def test_a_stalled_connection_stays_open_with_nothing_in_it(provider: Provider) -> None:
    with pytest.raises(TimeoutError):
        post(
            provider,
            "/chat/completions",
            {"model": "fault-stall", "messages": MESSAGES},
            seconds=0.1,
        )


def test_a_slow_reply_is_a_sound_one(provider: Provider) -> None:
    assert text_of(chat(provider, "fault-slow-drip")[2]) == TEXT


def test_a_reply_can_be_html_or_half_or_of_another_kind(provider: Provider) -> None:
    _, headers, page = chat(provider, "fault-html")
    assert (headers["content-type"], page[:15]) == ("text/html", "<!doctype html>")
    with pytest.raises(json.JSONDecodeError):
        json.loads(chat(provider, "fault-cut-json")[2])
    assert "choices" not in json.loads(chat(provider, "fault-wrong-schema")[2])


def test_a_reply_can_lack_its_parts(provider: Provider) -> None:
    choice = json.loads(chat(provider, "fault-null-content")[2])["choices"][0]
    assert (choice["message"]["content"], choice["message"]["refusal"]) == (None, None)
    assert json.loads(chat(provider, "fault-no-choices")[2])["choices"] == []
    assert json.loads(chat(provider, "fault-no-finish")[2])["choices"][0]["finish_reason"] is None
    assert "usage" not in json.loads(chat(provider, "fault-no-usage")[2])
    assert json.loads(chat(provider, "fault-refusal")[2])["choices"][0]["message"]["refusal"]


@pytest.mark.parametrize(
    ("fault", "finish"),
    [("length", "length"), ("filtered", "content_filter"), ("cut-text", "stop")],
)
def test_a_text_that_is_not_whole_may_say_so(provider: Provider, fault: str, finish: str) -> None:
    body = chat(provider, f"fault-{fault}")[2]
    assert json.loads(body)["choices"][0]["finish_reason"] == finish
    assert (text_of(body) == TEXT) == (fault == "filtered")


def test_a_stream_that_just_ends_has_neither_reason_nor_end_mark(provider: Provider) -> None:
    pieces = events(chat(provider, "fault-no-finish", stream=True)[2])
    assert {piece["choices"][0]["finish_reason"] for piece in pieces} == {None}


def test_a_text_can_name_evidence_that_there_is_not(provider: Provider) -> None:
    assert json.loads(text_of(chat(provider, "fault-unknown-ids")[2]))["ids"] == [
        "e999999",
        "e999999",
    ]


@pytest.mark.parametrize(
    ("fault", "sign"),
    [
        ("too-long", "and so on"),
        ("invented-numbers", "48,213.50"),
        ("injected", "Ignore all previous"),
    ],
)
def test_a_spoilt_text_keeps_its_form(provider: Provider, fault: str, sign: str) -> None:
    spoilt = json.loads(text_of(chat(provider, f"fault-{fault}")[2]))
    assert sign in spoilt["summary"]
    assert spoilt["summary"].startswith("Ana moved to Lisbon")
    assert spoilt["ids"] == ["e1", "e22"]
    assert (len(spoilt["summary"]) > 20_000) == (fault == "too-long")


def test_a_plain_text_is_spoilt_as_well() -> None:
    with Provider("Ana moved to Lisbon [e1]") as plain:
        texts = {
            name: text_of(chat(plain, f"fault-{name}")[2])
            for name in ("unknown-ids", "too-long", "injected")
        }
    assert texts["unknown-ids"] == "Ana moved to Lisbon [e999999]"
    assert len(texts["too-long"]) > 20_000
    assert "Ignore all previous" in texts["injected"]


def test_json_can_have_other_fields_than_were_asked_for(provider: Provider) -> None:
    assert set(json.loads(text_of(chat(provider, "fault-wrong-json")[2]))) == {"unexpected"}


@pytest.mark.parametrize(
    ("fault", "indexes", "length"),
    [
        ("shuffled", [2, 1, 0], 16),
        ("one-missing", [1, 2], 16),
        ("other-dimensions", [0, 1, 2], 17),
        ("no-choices", [], 0),
    ],
)
def test_embeddings_can_be_wrong(
    provider: Provider, fault: str, indexes: list[int], length: int
) -> None:
    body = post(provider, "/embeddings", {"model": f"fault-{fault}", "input": ["a", "b", "c"]})[2]
    data = json.loads(body)["data"]
    assert [one["index"] for one in data] == indexes
    assert all(len(one["embedding"]) == length for one in data)


def test_a_vector_can_hold_what_is_no_number(provider: Provider) -> None:
    assert (
        "NaN" in post(provider, "/embeddings", {"model": "fault-not-a-number", "input": ["a"]})[2]
    )


def test_a_fault_can_pass_after_some_requests_and_be_given_to_any_name() -> None:
    with Provider(faults={"gpt-x": "500:2"}) as provider:
        assert [chat(provider, "gpt-x")[0] for _ in range(3)] == [500, 500, 200]
        assert [chat(provider, "fault-429:1")[0] for _ in range(2)] == [429, 200]


def test_a_fault_that_there_is_not_is_refused_and_named() -> None:
    with pytest.raises(InvalidInput, match="gpt-x"):
        Provider(faults={"gpt-x": "bored"})
    with Provider() as provider:
        status, _, body = chat(provider, "fault-bored")
    assert status == 400
    assert "fault-bored" in body


def test_every_fault_is_told_in_a_few_words() -> None:
    assert all(5 < len(words) < 90 for words in FAULTS.values())


# The server


def test_it_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with Provider() as provider:
        for fault in ("500", "cut-body", "reset"):
            try:
                chat(provider, f"fault-{fault}")
            except (ConnectionError, http.client.IncompleteRead):
                continue
        with pytest.raises(TimeoutError):
            post(provider, "/chat/completions", {"model": "fault-stall"}, seconds=0.05)
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            post(provider, "/chat/completions", ["no object"])
    assert capfd.readouterr() == ("", "")


def test_it_closes_at_once_though_clients_wait() -> None:
    failed = threading.Event()

    def wait() -> None:
        try:
            chat(provider, "fault-stall")
        except (ConnectionError, http.client.HTTPException):
            failed.set()

    with Provider() as provider:
        client = threading.Thread(target=wait)
        client.start()
        while not provider.requests:
            time.sleep(0.002)
        started = time.perf_counter()
    assert time.perf_counter() - started < 1.0
    client.join()
    assert failed.is_set()


def test_it_has_an_address_only_while_it_serves() -> None:
    provider = Provider()
    with provider:
        assert provider.url.startswith("http://127.0.0.1:")
    with pytest.raises(RuntimeError, match="with statement"):
        _ = provider.url
