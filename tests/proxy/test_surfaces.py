"""What is put into the text of a request is what an adapter would put into its arguments, and all
else stays as it came.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from often import often

from demem_adapters.common import block, put_before
from demem_adapters.common.protocols.anthropic.messages import Conversation
from demem_adapters.common.served import ServedMemories
from demem_adapters.proxy.splicing import JsonText
from demem_adapters.proxy.surfaces import ASKER, WHOSE, Surface, surfaces_of
from demem_agent.pool import MemoryPool
from demem_agent.server import House, KeyRing
from demem_agent.testing import BagEncoder

QUIET = settings(
    max_examples=often(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
WORDS = st.sampled_from(["the cat Minka", "né 猫", 'a "quoted" \\ word', "\n", "", "[1, 2]", "}"])
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool"])
PART = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
OTHER = st.fixed_dictionaries({"type": st.just("image_url"), "image_url": st.just({"url": "a"})})
CONTENT = st.none() | TEXTS | st.lists(PART | OTHER, max_size=3)
CALLS = st.just([{"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
MESSAGE = st.fixed_dictionaries({"role": ROLES, "content": CONTENT}, optional={"tool_calls": CALLS})
EXTRA = st.dictionaries(st.sampled_from(["model", "tools", "n", "zzz"]), TEXTS | st.integers())

CACHE = st.just({"type": "ephemeral"})
BLOCK = st.fixed_dictionaries(
    {"type": st.just("text"), "text": TEXTS}, optional={"cache_control": CACHE}
)
RESULT = st.fixed_dictionaries(
    {"type": st.just("tool_result"), "tool_use_id": st.just("t1"), "content": TEXTS}
)
ANTHROPIC = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant"]),
        "content": TEXTS
        | st.lists(RESULT, max_size=2).flatmap(
            lambda results: st.lists(BLOCK, max_size=3).map(lambda parts: [*results, *parts])
        ),
    }
)


@pytest.fixture(scope="module")
def surfaces() -> Iterator[dict[tuple[str, bytes], Surface]]:
    pool = MemoryPool("memory://", encoder=BagEncoder(), clock=None)
    memory = pool.of("ana")
    memory.ingest("The cat is called Minka.", speaker="Ana")
    house = House(pool, KeyRing())
    memories = ServedMemories(house, "proxy", recall_patience=10)
    # What is asked here is not remembered, or later examples would read of earlier ones.
    memories.heard = lambda *_, **__: None  # type: ignore[method-assign,assignment,return-value]
    yield surfaces_of(memories)
    memories.close()
    house.close()


def spliced(surface: Surface, data: bytes) -> tuple[Any, Any]:
    """Return what was recalled for a request, and the request with it."""
    text = JsonText(data)
    talk = surface.talk(text, {WHOSE: "ana", ASKER: None})
    assert talk is not None
    talk.recall()
    edits = talk.edits(text)
    edited = text.edited(edits)
    rest, moved = edited.decode(), 0
    for edit in sorted(edits, key=lambda one: one.start):
        at = edit.start + moved
        assert rest[at : at + len(edit.text)] == edit.text
        kept = text.text[edit.start : edit.end]
        rest = rest[:at] + kept + rest[at + len(edit.text) :]
        moved += len(kept) - (edit.end - edit.start)
    assert rest.encode() == data
    return talk.reading, json.loads(edited, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object that has each name once."""
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@QUIET
@given(st.lists(MESSAGE, max_size=5), EXTRA, st.booleans(), st.sampled_from([None, 1]))
def test_a_chat_has_what_the_adapter_would_put_there(
    surfaces: dict[tuple[str, bytes], Surface],
    messages: list[Any],
    extra: dict[str, Any],
    is_ascii: bool,
    indent: int | None,
) -> None:
    body = {"zz": 1, **extra, "messages": messages, "last": [{"messages": []}]}
    data = json.dumps(body, ensure_ascii=is_ascii, indent=indent).encode()
    reading, sent = spliced(surfaces["openai", b"/v1/chat/completions"], data)
    assert sent == {**body, "messages": put_before(messages, reading)}


@QUIET
@given(TEXTS | st.lists(MESSAGE, max_size=4), EXTRA)
def test_a_response_has_what_the_adapter_would_put_there(
    surfaces: dict[tuple[str, bytes], Surface], given_input: Any, extra: dict[str, Any]
) -> None:
    body = {**extra, "input": given_input}
    reading, sent = spliced(surfaces["openai", b"/v1/responses"], json.dumps(body).encode())
    if reading is None:
        assert sent == body
        return
    items = given_input
    if isinstance(given_input, str):
        items = [{"role": "user", "content": given_input}]
    assert sent == {**body, "input": put_before(items, reading)}


@QUIET
@given(st.lists(ANTHROPIC, max_size=4), st.booleans(), st.booleans())
def test_a_message_has_what_the_adapter_would_put_there(
    surfaces: dict[tuple[str, bytes], Surface],
    messages: list[Any],
    is_cached: bool,
    comes_first: bool,
) -> None:
    cache = {"cache_control": {"type": "ephemeral"}} if is_cached else {}
    body = {**cache, "messages": messages} if comes_first else {"messages": messages, **cache}
    data = json.dumps(body, ensure_ascii=False).encode()
    reading, sent = spliced(surfaces["anthropic", b"/v1/messages"], data)
    expected, _ = Conversation.of(body).with_recalled(body, block(reading), None)
    if sent.get("cache_control", 0) is None:
        del sent["cache_control"]
    assert [_parts(one) for one in sent.pop("messages")] == [
        _parts(one) for one in expected.pop("messages")
    ]
    assert sent == expected


def _parts(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of Anthropic's with its content in parts."""
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": parts}
