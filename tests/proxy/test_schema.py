"""What comes through the proxy, and what it says itself, is what OpenAI's own document allows.

The document (openai/openai-openapi, MIT) is not part of this repository: ``OPENAI_DOCUMENT`` names
a copy of its JSON, and without one these are skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from proxied import Proxied, of_provider, proxied, sent

from demem_agent.testing import Provider

validators = pytest.importorskip("jsonschema_rs")
DOCUMENT = os.environ.get("OPENAI_DOCUMENT", "")
pytestmark = pytest.mark.skipif(not DOCUMENT, reason="OPENAI_DOCUMENT names no file")

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hello!"}]}


@pytest.fixture(scope="module")
def valid() -> Callable[[str, object], list[str]]:
    """Return what tells the mistakes of a value by the name of a schema."""
    document = json.loads(Path(DOCUMENT).read_text(encoding="utf-8"))
    schemas = document["components"]["schemas"]

    def mistakes(name: str, value: object) -> list[str]:
        schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}
        validator: Any = validators.Draft202012Validator(schema)
        return [str(one) for one in validator.iter_errors(value)]

    return mistakes


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxied]:
    with Provider("Noted.") as provider, proxied(*of_provider(provider)) as made:
        yield made


def ask(proxy: Proxied, path: str, body: object) -> Any:
    return json.loads(sent(proxy.url, "POST", path, body=json.dumps(body).encode())[2])


def test_a_chat_completion_is_one(proxy: Proxied, valid: Any) -> None:
    for _ in range(2):
        answer = ask(proxy, "/m/ana/openai/v1/chat/completions", CHAT)
        choice = answer["choices"][0]
        # What the document wants, and the provider for tests leaves out.
        choice.setdefault("logprobs", None)
        choice["message"].setdefault("refusal", None)
        assert valid("CreateChatCompletionResponse", answer) == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/openai/v1/chat/completions", 400),
        ("/openai/v1/../x", 404),
        ("/openai/v2/models", 404),
    ],
)
def test_an_error_of_the_proxy_is_one_of_openais(
    proxy: Proxied, valid: Any, path: str, status: int
) -> None:
    got, _, body = sent(proxy.url, "POST", path, body=json.dumps(CHAT).encode())
    assert got == status
    assert valid("ErrorResponse", json.loads(body)) == []


def test_what_goes_up_with_a_reading_is_a_request(valid: Any) -> None:
    with Provider("Noted.") as provider, proxied(*of_provider(provider)) as proxy:
        for surface, name, member in (
            ("chat/completions", "CreateChatCompletionRequest", "messages"),
            ("responses", "CreateResponse", "input"),
        ):
            for text in ("I have a cat.", "What of my cat?"):
                said = [{"role": "user", "content": text}]
                ask(proxy, f"/m/ana/openai/v1/{surface}", {"model": "gpt-4o", member: said})
            sent_up = provider.requests[-1].body
            assert len(sent_up[member]) == 2
            assert valid(name, sent_up) == []
