"""The anthropic adapter keeps the contract of all adapters; the real client talks to a provider on
this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending, blocks_among
from adapter_contract import texts as texts_of
from openai_clients import MODELS
from scripted_provider import Scripted

pytest.importorskip(
    "anthropic", reason="the anthropic adapter: pip install 'demem-agent[anthropic]'"
)

import anthropic
import httpx2

from demem_adapters.anthropic import wrap
from demem_adapters.common import DECLARED, Memories
from demem_agent.testing import BagEncoder, Provider

HOT = {"type": "ephemeral"}
MESSAGE = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "good",
    "content": [{"type": "text", "text": "Of brass."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 0, "output_tokens": 0},
}
USE = {"type": "tool_use", "id": "t1", "name": "weigh", "input": {"thing": "valve"}}
THOUGHT = {"type": "thinking", "thinking": "I shall weigh it.", "signature": "s1"}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "A kilo."}
#: Clients that a test has made; they are closed after it.
MADE: list[anthropic.Anthropic] = []
#: Why a message ends that is only cut off or broken, by the name of the fault.
BROKEN = [
    "500",
    "overloaded",
    "429",
    "error-event",
    "no-finish",
    "length",
    "filtered",
    "reset",
    "cut-body",
    "html",
]


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    return f"Noted: {messages[-1]['content'].splitlines()[-1]}"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(reply) as serving:
        yield serving


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def client(provider: Provider) -> anthropic.Anthropic:
    made = anthropic.Anthropic(base_url=provider.root, api_key="unused", max_retries=0)
    MADE.append(made)
    return made


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while MADE:
        MADE.pop().close()


def said(*texts: Any) -> list[Any]:
    """Return a conversation in which these were said in turn, by the user first."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]


def call(*texts: Any, model: str = "good", **more: Any) -> dict[str, Any]:
    return {"model": model, "max_tokens": 100, "messages": said(*texts), **more}


def texts(memories: Memories) -> list[str]:
    return texts_of(memories, "default")


def sent(provider: Provider) -> dict[str, Any]:
    return dict(provider.requests[-1].body)


def contents(provider: Provider) -> list[Any]:
    """Return the content of each message that reached the model."""
    return [message["content"] for message in sent(provider)["messages"]]


def words(content: Any) -> list[str]:
    """Return the texts of a content."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content if part["type"] == "text"]


class Clients(Driver):
    """Messages of a wrapped async client."""

    def __init__(self, memories: Memories, **asking: Any) -> None:
        super().__init__(memories, **asking)
        self._turns = 0

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        self._turns += 1
        # A client has no name for a call: the same call again is one with the same words.
        system = event or f"Turn {self._turns}."
        return self._seen(call(text, model=MODELS[ending], system=system), who, reply)

    def go_on(self, before: Sequence[str], asked: str) -> None:
        self._seen(call(*before, asked), "ana", "Noted.")

    def say_all(self, said: Sequence[str]) -> None:
        self._turns += 1
        messages = [{"role": "user", "content": text} for text in said]
        self._seen({**call(), "messages": messages}, "ana", "Noted.")

    def _seen(self, arguments: dict[str, Any], who: str, reply: str) -> list[str]:
        """Call the model, and return the texts that reached it."""

        async def run(url: str) -> None:
            async with anthropic.AsyncAnthropic(
                base_url=url, api_key="unused", max_retries=0
            ) as plain:
                wrapped = wrap(
                    plain,
                    self.memories,
                    namespace=lambda call: call["metadata"]["user_id"],
                    **self.asking,
                )
                with contextlib.suppress(anthropic.AnthropicError):
                    await wrapped.messages.create(**arguments, metadata={"user_id": who})

        with Provider(lambda _: reply) as provider:
            asyncio.run(run(provider.root))
            body = provider.requests[-1].body
        shown = [body.get("system", "")]
        for message in body["messages"]:
            shown += words(message["content"])
        return shown


class TestContract(AdapterContract):
    name = "anthropic"
    driver = Clients


# Where it goes


def test_it_is_the_beginning_of_the_last_message_of_the_users(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    wrap(client(provider), memories).messages.create(
        **call("Hello.", "Good day.", ASKED, system="Be brief.")
    )
    *before, (block, asked) = contents(provider)
    assert before == ["Hello.", "Good day."]
    assert block["text"].startswith(DECLARED)
    assert "brass valve" in block["text"]
    assert asked == {"type": "text", "text": ASKED}
    assert sent(provider)["system"] == "Be brief."


def test_what_the_application_gave_is_not_changed(provider: Provider, memories: Memories) -> None:
    memories.remember("default", VALVE)
    given = call("Hello.", "Good day.", [{"type": "text", "text": ASKED}])
    before = copy.deepcopy(given)
    plain = client(provider)
    wrap(plain, memories).messages.create(**given)
    assert given == before
    plain.messages.create(**given)
    assert sent(provider)["messages"] == given["messages"]


def test_with_nothing_to_recall_a_call_is_sent_as_it_is(
    provider: Provider, memories: Memories
) -> None:
    plain = client(provider)
    given = call(ASKED, system=[{"type": "text", "text": "Be brief.", "cache_control": HOT}])
    for one in (plain, wrap(plain, memories)):
        one.messages.create(**given)
    first, second = provider.requests
    assert first.body == second.body


def test_it_stands_behind_results_of_tools_which_must_come_first(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "It is warm."}
    asked = {"type": "text", "text": ASKED}
    wrap(client(provider), memories).messages.create(**call("Look.", [use], [result, asked]))
    *_, (first, block, last) = contents(provider)
    assert (first, last) == (result, asked)
    assert block["text"].startswith(DECLARED)
    assert texts(memories)[1:3] == ["Look.", ASKED]


# What is cached


def cached_beginnings(body: Mapping[str, Any]) -> list[Any]:
    """Return what a request has Anthropic keep: all that stands up to each mark."""
    read: list[Any] = []
    kept = []
    system = body.get("system") or []
    contents = [system if isinstance(system, list) else [{"type": "text", "text": system}]]
    for message in body["messages"]:
        content = message["content"]
        contents.append(
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
    for content in contents:
        for part in content:
            bare = {name: value for name, value in part.items() if name != "cache_control"}
            read.append(bare)
            if part.get("cache_control"):
                kept.append(copy.copy(read))
    if body.get("cache_control"):
        kept.append(read)
    return kept


def marked_last(*texts: str) -> list[Any]:
    return said(*texts[:-1], [{"type": "text", "text": texts[-1], "cache_control": HOT}])


@pytest.mark.parametrize("automatic", [False, True], ids=["marked by hand", "marked by Anthropic"])
def test_what_is_cached_is_what_would_be_without_memory(
    provider: Provider, memories: Memories, automatic: bool
) -> None:
    memories.remember("default", VALVE)
    given = call("Hello.", "Good day.", ASKED, system="Be brief.")
    if automatic:
        given["cache_control"] = HOT
    else:
        given["messages"] = marked_last("Hello.", "Good day.", ASKED)
    plain = client(provider)
    for one in (plain, wrap(plain, memories)):
        one.messages.create(**given)
    without, with_memory = (seen.body for seen in provider.requests)
    assert cached_beginnings(with_memory) == cached_beginnings(without)
    assert any(DECLARED in text for text in words(contents(provider)[-1]))


def test_a_mark_on_the_system_stays_and_the_block_stands_before_the_question(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    system = [{"type": "text", "text": "Be brief.", "cache_control": HOT}]
    wrap(client(provider), memories).messages.create(**call(ASKED, system=system))
    assert sent(provider)["system"] == system
    assert [text.startswith(DECLARED) for text in words(contents(provider)[0])] == [True, False]


@pytest.mark.parametrize("automatic", [False, True], ids=["marked by hand", "marked by Anthropic"])
def test_over_many_turns_each_call_begins_with_what_the_one_before_has_cached(
    provider: Provider, memories: Memories, automatic: bool
) -> None:
    memories.remember("default", VALVE)
    wrapped = wrap(client(provider), memories)
    spoken: list[str] = []
    kept: list[Any] = []
    for turn in range(6):
        spoken.append(f"Which valve has my boiler in room {turn}?")
        given = call(*spoken)
        if automatic:
            given["cache_control"] = HOT
        else:
            given["messages"] = marked_last(*spoken)
        answer = wrapped.messages.create(**given)
        (now,) = cached_beginnings(sent(provider))
        assert now[: len(kept)] == kept
        kept = now
        spoken.append(answer.content[0].text)
    assert len(kept) == 11


# Tools


def looped(
    memories: Memories, mark: bool = False, **more: Any
) -> tuple[list[dict[str, Any]], Callable[..., Any]]:
    """Run a loop of one tool; return the requests."""
    with Scripted(([THOUGHT, USE], "tool_calls"), "It weighs a kilo.") as provider:
        wrapped = wrap(client(provider), memories)
        messages = said(ASKED)
        if mark:
            messages = marked_last(ASKED)
        first = wrapped.messages.create(model="good", max_tokens=9, messages=messages, **more)
        result: dict[str, Any] = dict(RESULT)
        if mark:  # as it wanders to the last part
            messages = said(ASKED)
            result["cache_control"] = HOT
        messages += [
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result]},
        ]
        last = wrapped.messages.create(model="good", max_tokens=9, messages=messages, **more)
        memories.feedback(last.id, namespace="default", thumbs=True)
        return [dict(seen.body) for seen in provider.requests], wrapped.messages.create


@pytest.mark.parametrize("mark", [False, True], ids=["", "marked"])
@pytest.mark.parametrize("system", ["", "changing"])
def test_while_tools_answer_the_model_the_prompt_keeps_its_beginning(
    memories: Memories, mark: bool, system: str
) -> None:
    memories.remember("default", VALVE)
    (first, second), _ = looped(memories, mark)
    again = cached_beginnings({**second, "messages": second["messages"], "cache_control": HOT})[-1]
    assert again[: len(first["messages"][0]["content"])] == [
        {name: value for name, value in part.items() if name != "cache_control"}
        for part in first["messages"][0]["content"]
    ]
    assert blocks_among(words(second["messages"][0]["content"]))


def test_thinking_stays_where_it_was_and_whole(memories: Memories) -> None:
    memories.remember("default", VALVE)
    (_, second), _ = looped(memories)
    thinking, use = second["messages"][1]["content"]
    assert (thinking["thinking"], thinking["signature"]) == ("I shall weigh it.", "s1")
    assert (use["type"], use["id"], use["input"]) == ("tool_use", "t1", {"thing": "valve"})
    assert second["messages"][2]["content"] == [RESULT]


def test_of_a_loop_of_tools_the_question_and_the_answer_are_remembered(memories: Memories) -> None:
    looped(memories)
    assert texts(memories) == [ASKED, "It weighs a kilo."]


def test_a_loop_of_tools_in_another_call_of_the_client_is_the_same_turn(
    memories: Memories,
) -> None:
    memories.remember("default", VALVE)
    with Scripted(([USE], "tool_calls"), "It weighs a kilo.") as provider:
        wrapped = wrap(client(provider), memories)
        use = wrapped.messages.create(**call(ASKED, system="It is 8:00.")).content
        block = words(contents(provider)[0])[0]
        memories.remember("default", "The valve has my boiler since May.")
        later = wrapped.with_options(timeout=5.0)
        later.messages.create(**call(ASKED, use, [RESULT], system="It is 8:01."))
        assert words(contents(provider)[0])[0] == block
    assert texts(memories)[1:] == [
        ASKED,
        "The valve has my boiler since May.",
        "It weighs a kilo.",
    ]


def test_loops_at_the_same_time_keep_to_their_own_questions(memories: Memories) -> None:
    uses = [({**USE, "id": f"t{n}"},) for n in range(3)]
    with Scripted(*((use, "tool_calls") for use in uses), "Done.") as provider:
        wrapped = wrap(client(provider), memories)
        questions = [f"What does thing {n} weigh?" for n in range(3)]
        for question in questions:
            wrapped.messages.create(**call(question))
        for n, question in enumerate(questions):
            result = {**RESULT, "tool_use_id": f"t{n}"}
            wrapped.messages.create(**call(question, [*uses[n]], [result]))
    assert [text for text in texts(memories) if text != "Done."] == questions


@pytest.mark.parametrize("thread", [{"thread": False}, {}], ids=["", "on a thread"])
def test_a_runner_of_tools_has_memory(memories: Memories, thread: Any) -> None:
    memories.remember("default", VALVE)

    @anthropic.beta_tool
    def weigh(thing: str) -> str:
        """Weigh a thing."""
        return f"A kilo of {thing}."

    with Scripted(([USE], "tool_calls"), "It weighs a kilo.") as provider:
        wrapped = wrap(client(provider), memories)
        runner = wrapped.beta.messages.tool_runner(
            max_tokens=9, model="good", tools=[weigh], messages=said(ASKED), **thread
        )
        assert runner.until_done().content[0].text == "It weighs a kilo."
        first, second = [seen.body["messages"] for seen in provider.requests]
        # On a thread Anthropic keeps the first messages itself.
        assert second[: len(first)] == first if thread else DECLARED not in str(second)
        assert blocks_among(words(first[0]["content"]))
    assert texts(memories)[1:] == [ASKED, "It weighs a kilo."]


def test_where_anthropic_keeps_the_conversation_a_turn_goes_on_by_the_result_alone(
    memories: Memories,
) -> None:
    with Scripted(([USE], "tool_calls"), "It weighs a kilo.") as provider:
        create = wrap(client(provider), memories).beta.messages.create
        create(**call(ASKED))
        going_on: Any = {"type": "continue", "previous_message_id": "msg-1"}
        create(**call([RESULT]), thread=going_on)
        assert contents(provider) == [[RESULT]]
    assert texts(memories) == [ASKED, "It weighs a kilo."]


# Streams


def test_a_stream_passes_through_and_is_remembered_at_its_end(
    provider: Provider, memories: Memories
) -> None:
    with wrap(client(provider), memories).messages.create(**call(VALVE), stream=True) as stream:
        assert isinstance(stream, anthropic.Stream)
        events = [*stream]
    assert [event.type for event in events if event.type.startswith("message")] == [
        "message_start",
        "message_delta",
        "message_stop",
    ]
    assert texts(memories) == [VALVE, f"Noted: {VALVE}"]
    told = memories.feedback(events[0].message.id, namespace="default", thumbs=False)
    assert told.reward == 0.0


@pytest.mark.parametrize("reads", ["text_stream", "get_final_message", "get_final_text", "events"])
def test_a_helper_that_streams_has_memory(
    provider: Provider, memories: Memories, reads: str
) -> None:
    memories.remember("default", VALVE)
    with wrap(client(provider), memories).messages.stream(**call(ASKED)) as stream:
        if reads == "text_stream":
            assert "".join(stream.text_stream) == f"Noted: {ASKED}"
        elif reads == "events":
            assert "text" in [event.type for event in stream]
        else:
            getattr(stream, reads)()
    assert blocks_among(words(contents(provider)[0]))
    assert texts(memories)[1:] == [ASKED, f"Noted: {ASKED}"]


def test_a_stream_that_was_left_is_not_remembered(provider: Provider, memories: Memories) -> None:
    stream = wrap(client(provider), memories).messages.create(**call(VALVE), stream=True)
    next(stream)
    stream.close()
    assert f"Noted: {VALVE}" not in texts(memories)


def test_async_calls_do_the_same(provider: Provider, memories: Memories) -> None:
    async def run() -> list[str]:
        async with anthropic.AsyncAnthropic(
            base_url=provider.root, api_key="unused", max_retries=0
        ) as plain:
            messages = wrap(plain, memories).messages
            await messages.create(**call(VALVE))
            stream = await messages.create(**call(ASKED), stream=True)
            heard = [event.type async for event in stream]
            async with messages.stream(**call("It leaks.")) as helper:
                heard.append(await helper.get_final_text())
            raw = await messages.with_raw_response.create(**call("It is green."))
            heard.append((await raw.parse()).content[0].text)
            async with messages.with_streaming_response.create(**call("It hums.")) as raw:
                heard.append(str(await raw.json()))
            return heard

    heard = asyncio.run(run())
    assert "message_stop" in heard
    asked = [VALVE, ASKED, "It leaks.", "It is green.", "It hums."]
    both = [text for one in asked for text in (one, f"Noted: {one}")]
    assert texts(memories) == both


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("kind", ["create", "events", "stream", "raw"])
def test_a_failed_or_cut_off_call_leaves_nothing_false(
    provider: Provider, memories: Memories, fault: str, kind: str
) -> None:
    messages = wrap(client(provider), memories).messages
    given = call(VALVE, model=f"fault-{fault}")
    with contextlib.suppress(Exception):  # whatever this version of the client makes of it
        if kind == "create":
            messages.create(**given)
        elif kind == "events":
            list(messages.create(**given, stream=True))
        elif kind == "raw":
            messages.with_raw_response.create(**given).parse()
        else:
            with messages.stream(**given) as stream:
                stream.until_done()
    assert [text for text in texts(memories) if text.startswith("Noted")] == []


@pytest.mark.parametrize(
    ("fault", "error"), [("overloaded", 529), ("429", 429), ("error-event", 200)]
)
def test_errors_pass_through_as_they_are(
    provider: Provider, memories: Memories, fault: str, error: int
) -> None:
    messages = wrap(client(provider), memories).messages
    with pytest.raises(anthropic.APIStatusError) as caught:
        list(messages.create(**call(VALVE, model=f"fault-{fault}"), stream=True))
    assert caught.value.status_code == error


# Why a message ends


@pytest.mark.parametrize(
    ("reason", "is_remembered"),
    [
        ("end_turn", True),
        ("stop_sequence", True),
        ("max_tokens", False),
        ("model_context_window_exceeded", False),
        ("refusal", False),
        ("pause_turn", False),
        ("something_new", True),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_is_remembered_where_its_reason_says_that_it_is_whole(
    memories: Memories, reason: str, is_remembered: bool, stream: bool
) -> None:
    with Scripted(([{"type": "text", "text": "Of brass."}], reason)) as provider:
        given = wrap(client(provider), memories).messages.create(**call(ASKED), stream=stream)
        if stream:
            list(given)
    assert ("Of brass." in texts(memories)) == is_remembered


def test_a_paused_turn_that_goes_on_is_remembered_as_one_answer(memories: Memories) -> None:
    memories.remember("default", VALVE)
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    paused = [{"type": "text", "text": "I shall look."}, search]
    rest = [{"type": "text", "text": "It is of brass."}]
    with Scripted((paused, "pause_turn"), (rest, "stop")) as provider:
        create = wrap(client(provider), memories).messages.create
        first = create(**call(ASKED))
        block = words(contents(provider)[0])[0]
        create(**call(ASKED, first.content))
        assert words(contents(provider)[0])[0] == block
    assert texts(memories)[1:] == [ASKED, "I shall look.\nIt is of brass."]


def test_words_that_were_put_into_its_mouth_are_the_beginning_of_the_answer(
    memories: Memories,
) -> None:
    with Scripted(" brass.") as provider:
        wrap(client(provider), memories).messages.create(**call(ASKED, "It is of"))
    assert texts(memories) == [ASKED, "It is of brass."]


def test_where_words_are_put_into_its_mouth_the_question_may_be_one_that_was_asked_before(
    memories: Memories,
) -> None:
    with Scripted(" brass.") as provider:
        create = wrap(client(provider), memories).messages.create
        create(**call("Yes."))
        create(**call("Yes.", "brass.", "And now?", "brass.", "Yes.", "It is of"))
    assert texts(memories).count("Yes.") == 2


def test_texts_that_citations_cut_are_one_and_others_have_a_line_each(memories: Memories) -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    parts = [
        THOUGHT,
        {"type": "text", "text": "I shall look."},
        search,
        {"type": "text", "text": "It is of "},
        {"type": "text", "text": "brass."},
    ]
    for stream in (False, True):
        with Scripted((parts, "stop")) as provider:
            given = wrap(client(provider), memories).messages.create(
                **call(f"{ASKED} {stream}"), stream=stream
            )
            if stream:
                list(given)
    assert texts(memories)[1::2] == ["I shall look.\nIt is of brass."] * 2


# The client


def test_the_client_that_was_given_is_not_changed(provider: Provider, memories: Memories) -> None:
    plain = client(provider)
    wrap(plain, memories)
    plain.messages.create(**call(VALVE))
    assert texts(memories) == []


@pytest.mark.parametrize("name", ["with_options", "copy"])
def test_a_client_with_other_options_has_memory_still(
    provider: Provider, memories: Memories, name: str
) -> None:
    again = getattr(wrap(client(provider), memories), name)(timeout=5.0)
    again.messages.create(**call(VALVE))
    assert again.timeout == 5.0
    assert len(texts(memories)) == 2


def test_so_has_one_with_middleware_and_one_that_gives_raw_responses(
    provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client(provider), memories)
    wrapped.with_middleware().messages.create(**call(VALVE))
    wrapped.with_raw_response.messages.create(**call("It leaks."))
    assert texts(memories)[::2] == [VALVE, "It leaks."]


def test_wrapped_again_it_remembers_once_and_in_the_new_memory(
    provider: Provider, memories: Memories
) -> None:
    others = Memories(encoder=BagEncoder())
    twice = wrap(wrap(client(provider), others), memories)
    memories.remember("default", VALVE)
    twice.messages.create(**call(ASKED))
    assert len(blocks_among(words(contents(provider)[0]))) == 1
    assert (len(texts(memories)), texts(others)) == (3, [])


@pytest.mark.parametrize("read", ["parse", "json", "text", "read", "none"])
def test_a_raw_response_has_memory(provider: Provider, memories: Memories, read: str) -> None:
    memories.remember("default", VALVE)
    raw = wrap(client(provider), memories).messages.with_raw_response.create(**call(ASKED))
    if read != "none":
        assert getattr(raw, read)()
    assert raw.headers["content-type"] == "application/json"
    assert blocks_among(words(contents(provider)[0]))
    assert texts(memories)[1:] == [ASKED, f"Noted: {ASKED}"]


@pytest.mark.parametrize("read", ["parse", "json", "text", "read"])
def test_a_response_that_is_streamed_has_memory_once_it_is_read(
    provider: Provider, memories: Memories, read: str
) -> None:
    messages = wrap(client(provider), memories).messages
    with messages.with_streaming_response.create(**call(VALVE)) as raw:
        assert texts(memories) == [VALVE]
        assert getattr(raw, read)()
    assert texts(memories) == [VALVE, f"Noted: {VALVE}"]


def test_a_raw_stream_has_memory(provider: Provider, memories: Memories) -> None:
    raw = wrap(client(provider), memories).messages.with_raw_response.create(
        **call(VALVE), stream=True
    )
    assert raw.parse() is raw.parse()
    list(raw.parse())
    assert texts(memories) == [VALVE, f"Noted: {VALVE}"]


def test_a_raw_response_that_cannot_be_parsed_is_given_all_the_same(
    provider: Provider, memories: Memories
) -> None:
    messages = wrap(client(provider), memories).messages
    raw = messages.with_raw_response.create(**call(VALVE, model="fault-html"))
    assert "<html>" in raw.text()
    assert f"Noted: {VALVE}" not in texts(memories)


def test_beta_and_parsed_messages_have_memory(provider: Provider, memories: Memories) -> None:
    wrapped = wrap(client(provider), memories)
    wrapped.beta.messages.create(**call(VALVE), betas=["x"])
    with wrapped.beta.messages.stream(**call("It leaks.")) as stream:
        stream.until_done()
    wrapped.messages.parse(**call("It hums."))
    asked = [VALVE, "It leaks.", "It hums."]
    assert texts(memories)[::2] == asked


def test_counting_tokens_and_batches_are_the_clients_own(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    messages = wrap(client(provider), memories).messages
    with contextlib.suppress(anthropic.NotFoundError):  # the provider has no such paths
        messages.count_tokens(model="good", messages=said(ASKED))
    assert contents(provider) == [ASKED]
    request: Any = {"custom_id": "1", "params": call(ASKED)}
    with contextlib.suppress(anthropic.NotFoundError):
        messages.batches.create(requests=[request])
    assert sent(provider) == {"requests": [request]}
    assert texts(memories) == [VALVE]


def test_a_client_of_bedrocks_has_memory(memories: Memories) -> None:
    pytest.importorskip("boto3", reason="signs the requests of Bedrock's client")
    bodies: list[Any] = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, json=MESSAGE)

    memories.remember("default", VALVE)
    plain = anthropic.AnthropicBedrock(
        aws_region="x",
        aws_access_key="x",
        aws_secret_key="x",
        http_client=httpx2.Client(transport=httpx2.MockTransport(reply)),
    )
    wrap(plain, memories).messages.create(**call(ASKED))
    assert blocks_among(words(bodies[0]["messages"][0]["content"]))
    assert texts(memories)[1:] == [ASKED, "Of brass."]


def test_a_call_whose_namespace_is_none_has_no_memory(
    provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client(provider), memories, namespace=lambda call: call.get("metadata"))
    assert wrapped.messages.create(**call(ASKED)).content[0].text == f"Noted: {ASKED}"
    assert memories.export() == {}


def test_what_the_model_is_shown_anyway_is_not_recalled(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", "The valve of the boiler was fitted in 2019.")
    wrapped = wrap(client(provider), memories)
    answer = wrapped.messages.create(**call(VALVE)).content[0].text
    wrapped.messages.create(**call(VALVE, answer, "Which valve?"))
    (block,) = blocks_among(words(contents(provider)[-1]))
    assert "2019" in block
    assert "brass" not in block


def test_pictures_and_documents_are_not_what_the_user_said(
    provider: Provider, memories: Memories
) -> None:
    parts = [
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "A"}},
        {"type": "text", "text": "My boiler."},
        {"type": "image", "source": {"type": "url", "url": "http://x"}},
    ]
    wrap(client(provider), memories).messages.create(**call(parts))
    assert texts(memories)[0] == "My boiler."


def test_messages_and_their_parts_may_come_one_by_one(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    parts = iter([{"type": "text", "text": ASKED}])
    messages: Any = iter([{"role": "user", "content": parts}])
    wrap(client(provider), memories).messages.create(model="good", max_tokens=9, messages=messages)
    block, asked = words(contents(provider)[0])
    assert (block.startswith(DECLARED), asked) == (True, ASKED)


def test_the_user_of_a_call_is_who_asks_and_who_has_said_it(
    provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(
        client(provider),
        memories,
        namespace="home",
        asker=lambda call: call.get("metadata", {}).get("user_id"),
    )
    for who in ("ana", "ben"):
        wrapped.messages.create(**call(f"It leaks, {who}."), metadata={"user_id": who})
    assert [item.speaker for item in memories.of("home").evidence()][::2] == ["ana", "ben"]
