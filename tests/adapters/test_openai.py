"""The openai adapter keeps the contract of all adapters; the real client talks to a provider on
this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import runpy
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from adapter_contract import ROOT, AdapterContract
from adapter_contract import texts as texts_of
from openai_clients import Clients

from demem_adapters.common import DECLARED, Memories
from demem_adapters.common.protocols.openai.turns import BROKE_OFF, Turns
from demem_adapters.openai import wrap
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder, Provider

Messages = Sequence[Mapping[str, Any]]


def reply(messages: Messages) -> str:
    return f"Noted: {messages[-1]['content']}"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(reply, drip=0.001) as serving:
        yield serving


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def client(provider: Provider) -> openai.OpenAI:
    return openai.OpenAI(base_url=provider.url, api_key="unused", max_retries=0)


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def ask(wrapped: Any, text: str, **more: Any) -> Any:
    return wrapped.chat.completions.create(
        model=more.pop("model", "good"), messages=said(text), **more
    )


def texts(memories: Memories) -> list[str]:
    return texts_of(memories, "default")


def last_messages(provider: Provider) -> list[dict[str, Any]]:
    return list(provider.requests[-1].body["messages"])


class TestContract(AdapterContract):
    name = "openai"
    driver = Clients


@pytest.mark.parametrize("inject", ["user", "system"])
def test_it_goes_where_it_is_to_go(provider: Provider, memories: Memories, inject: Any) -> None:
    memories.remember("default", "My boiler has a brass valve.")
    ask(wrap(client(provider), memories, inject=inject), "Which valve has the boiler?")
    (block,) = [m for m in last_messages(provider) if DECLARED in m["content"]]
    assert block["role"] == inject


def test_what_was_said_before_is_put_before_the_model_as_data(
    provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client(provider), memories)
    ask(wrapped, "My boiler has a brass valve.")
    ask(wrapped, "Which valve has my boiler?")
    block = last_messages(provider)[-2]
    assert block["role"] == "user"
    assert block["content"].startswith(DECLARED)
    assert "brass valve" in block["content"]
    assert last_messages(provider)[-1]["content"] == "Which valve has my boiler?"


def test_what_was_put_before_the_model_is_not_remembered_again(
    provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client(provider), memories)
    for _ in range(3):
        ask(wrapped, "Which valve has my boiler?")
    assert texts(memories) == ["Which valve has my boiler?", "Noted: Which valve has my boiler?"]


@pytest.mark.parametrize(
    "fault", ["500", "429", "null-content", "no-choices", "length", "filtered", "refusal", "reset"]
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_failed_or_cut_off_call_leaves_nothing_false(
    provider: Provider, memories: Memories, fault: str, stream: bool
) -> None:
    wrapped = wrap(client(provider), memories)
    try:
        response = ask(
            wrapped, "My boiler has a brass valve.", model=f"fault-{fault}", stream=stream
        )
        if stream:
            list(response)
    except (openai.OpenAIError, ValueError):
        pass
    assert [text for text in texts(memories) if text.startswith("Noted")] == []


@pytest.mark.parametrize("fault", ["no-finish", "cut-body"])
def test_of_a_stream_that_ends_early_the_answer_is_not_remembered(
    provider: Provider, memories: Memories, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    stream = ask(
        wrap(client(provider), memories), "My boiler?", model=f"fault-{fault}", stream=True
    )
    with contextlib.suppress(Exception):  # whatever this version of the client makes of it
        list(stream)
    assert texts(memories) == ["My boiler?"]
    assert caplog.messages.count(BROKE_OFF) == (fault == "no-finish")


def test_a_stream_passes_through_and_is_remembered_at_its_end(
    provider: Provider, memories: Memories
) -> None:
    with ask(
        wrap(client(provider), memories), "My boiler has a brass valve.", stream=True
    ) as stream:
        heard = "".join(piece.choices[0].delta.content or "" for piece in stream)
    assert heard == "Noted: My boiler has a brass valve."
    assert texts(memories) == ["My boiler has a brass valve.", heard]


def test_of_a_stream_that_was_left_the_answer_is_not_remembered(
    provider: Provider, memories: Memories
) -> None:
    stream = ask(wrap(client(provider), memories), "My boiler has a brass valve.", stream=True)
    next(stream)
    stream.close()
    assert texts(memories) == ["My boiler has a brass valve."]


def test_errors_pass_through_as_they_are(provider: Provider, memories: Memories) -> None:
    with pytest.raises(openai.RateLimitError):
        ask(wrap(client(provider), memories), "My boiler?", model="fault-429")


def test_the_client_that_was_given_is_not_changed(provider: Provider, memories: Memories) -> None:
    plain = client(provider)
    wrap(plain, memories)
    ask(plain, "My boiler has a brass valve.")
    assert texts(memories) == []


def test_feedback_by_the_id_of_the_response(provider: Provider, memories: Memories) -> None:
    response = ask(wrap(client(provider), memories), "My boiler has a brass valve.")
    assert memories.feedback(response.id, namespace="default", thumbs=False).reward == 0.0


def test_async_calls_do_the_same(provider: Provider, memories: Memories) -> None:
    async def run() -> str:
        async with openai.AsyncOpenAI(
            base_url=provider.url, api_key="unused", max_retries=0
        ) as plain:
            wrapped = wrap(plain, memories)
            await ask(wrapped, "My boiler has a brass valve.")
            stream = await ask(wrapped, "Which valve has my boiler?", stream=True)
            return "".join([piece.choices[0].delta.content or "" async for piece in stream])

    assert asyncio.run(run()) == "Noted: Which valve has my boiler?"
    assert len(texts(memories)) == 4
    assert DECLARED in last_messages(provider)[-2]["content"]


def test_a_message_may_be_an_object_of_the_client(provider: Provider, memories: Memories) -> None:
    wrapped = wrap(client(provider), memories)
    first = ask(wrapped, "My boiler has a brass valve.").choices[0].message
    messages = [
        *said("My boiler has a brass valve."),
        first,
        {"role": "user", "content": "Which valve?"},
    ]
    wrapped.chat.completions.create(model="good", messages=messages)
    assert texts(memories)[-2:] == ["Which valve?", "Noted: Which valve?"]


def test_a_client_with_other_options_has_memory_still(
    provider: Provider, memories: Memories
) -> None:
    ask(wrap(client(provider), memories).with_options(timeout=5.0), "My boiler has a brass valve.")
    assert len(texts(memories)) == 2


def test_breaking_off_at_the_finish_reason_loses_nothing(
    provider: Provider, memories: Memories
) -> None:
    for piece in ask(wrap(client(provider), memories), "My boiler has a brass valve.", stream=True):
        if piece.choices[0].finish_reason:
            break
    assert len(texts(memories)) == 2


def test_a_call_whose_namespace_is_none_has_no_memory(
    provider: Provider, memories: Memories
) -> None:
    response = ask(
        wrap(client(provider), memories, namespace=lambda call: call.get("user")), "My boiler?"
    )
    assert response.choices[0].message.content == "Noted: My boiler?"
    assert memories.export() == {}


def test_a_helper_that_streams_has_memory(provider: Provider, memories: Memories) -> None:
    wrapped = wrap(client(provider), memories)
    with wrapped.chat.completions.stream(
        model="good", messages=said("My boiler has a brass valve.")
    ) as stream:
        stream.until_done()
    assert len(texts(memories)) == 2


def test_tool_loops_at_the_same_time_keep_to_their_own_questions(memories: Memories) -> None:
    turns = Turns(memories, "default", "user")
    calls = [
        SimpleNamespace(index=0, message=SimpleNamespace(content=None), finish_reason="tool_calls")
    ]
    done = [
        SimpleNamespace(index=0, message=SimpleNamespace(content="Done."), finish_reason="stop")
    ]
    asked = [said(f"What does thing {n} weigh?") for n in range(3)]
    for choices, tools in (
        (calls, []),
        (done, [{"role": "assistant"}, {"role": "tool", "content": "A kilo."}]),
    ):
        for n, messages in enumerate(asked):
            turn, _ = turns.begin({"messages": [*messages, *tools]})
            turn.hear(SimpleNamespace(id=f"r{n}{len(tools)}", choices=choices))
            turn.end()
    assert [text for text in texts(memories) if text != "Done."] == [
        m[-1]["content"] for m in asked
    ]


def test_what_was_recalled_stays_the_same_while_tools_answer_the_model(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", "My boiler has a brass valve.")
    turns = Turns(memories, "default", "user")
    first, sent = turns.begin({"messages": said("Which valve has my boiler?")})
    calls = [
        SimpleNamespace(index=0, message=SimpleNamespace(content=None), finish_reason="tool_calls")
    ]
    first.hear(SimpleNamespace(id="r1", choices=calls))
    first.end()
    tool = [
        {"role": "assistant", "content": None},
        {"role": "tool", "content": "It weighs a kilo."},
    ]
    _, again = turns.begin({"messages": [*said("Which valve has my boiler?"), *tool]})
    assert again["messages"][: len(sent["messages"])] == sent["messages"]
    assert "- user: Which valve" not in str(again)


def test_what_the_model_is_shown_anyway_is_not_recalled(
    provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client(provider), memories)
    memories.remember("default", "The valve of the boiler was fitted in 2019.")
    first: Any = said("My boiler has a brass valve.")
    answer = (
        wrapped.chat.completions.create(model="good", messages=first).choices[0].message.content
    )
    messages = [
        *first,
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "Which valve?"},
    ]
    wrapped.chat.completions.create(model="good", messages=messages)
    (block,) = [m["content"] for m in last_messages(provider) if DECLARED in m["content"]]
    assert "2019" in block
    assert "brass" not in block


@pytest.mark.parametrize(
    "content", ["Which valve has my boiler?", [{"type": "text", "text": "Which valve?"}]]
)
def test_merged_it_is_the_beginning_of_the_question(
    provider: Provider, memories: Memories, content: Any
) -> None:
    memories.remember("default", "My boiler has a brass valve.")
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": content},
    ]
    wrap(client(provider), memories, inject="merged").chat.completions.create(
        model="good", messages=messages
    )
    _, sent = last_messages(provider)
    whole = (
        sent["content"]
        if isinstance(content, str)
        else "\n\n".join(part["text"] for part in sent["content"])
    )
    assert whole.startswith(f"{DECLARED}\n")
    assert whole.endswith(content if isinstance(content, str) else "Which valve?")
    assert "brass valve" not in texts(memories)[1]


def test_another_place_is_refused(provider: Provider, memories: Memories) -> None:
    with pytest.raises(InvalidInput, match="inject"):
        wrap(client(provider), memories, inject="bogus")  # type: ignore[arg-type]


def test_what_is_said_once_more_after_something_else_is_remembered_again(
    provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client(provider), memories)
    for city in ("Rome", "Rome", "Oslo", "Rome"):
        ask(wrapped, f"I live in {city}.")
    assert [text for text in texts(memories) if not text.startswith("Noted")] == [
        "I live in Rome.",
        "I live in Oslo.",
        "I live in Rome.",
    ]


def test_a_part_without_text_is_no_word(provider: Provider, memories: Memories) -> None:
    parts = [
        {"type": "text", "text": "My boiler"},
        {"type": "image_url", "image_url": {"url": "data:,"}},
    ]
    message = {"role": "user", "content": parts}
    wrap(client(provider), memories).chat.completions.create(model="good", messages=[message])
    assert texts(memories)[0] == "My boiler"


def test_what_is_said_is_dated(provider: Provider, memories: Memories) -> None:
    ask(wrap(client(provider), memories), "My boiler has a brass valve.")
    assert all(item.at is not None for item in memories.of("default").evidence())


def test_the_user_of_a_call_is_who_asks_and_who_has_said_it(
    provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(
        client(provider),
        memories,
        namespace="home",
        asker=lambda call: call.get("user"),
        conditions=lambda call: ["rain"] if "metadata" in call else [],
    )
    ask(wrapped, "It leaks.", user="ana", metadata={"weather": "rain"})
    ask(wrapped.with_options(timeout=9), "It leaks.", user="ben")
    ask(wrapped, "It leaks.")
    asked = [(context.asker, context.conditions) for context in memories.of("home").contexts()]
    assert asked == [("ana", ("rain",)), ("ben", ()), ("user", ())]
    said_by = [item.speaker for item in memories.of("home").evidence()]
    assert said_by[::2] == ["ana", "ben", "user"]


# A router


def test_its_example_chooses_as_who_knows_it_all_from_the_second_round_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(ROOT / "examples" / "openai_routing.py"), run_name="__main__")
    rows = {}
    for line in capsys.readouterr().out.splitlines()[1:]:
        rows[line[:30].strip()] = [float(word) for word in line[30:].split()]
    assert rows["memories.choose"][1:] == rows["one who knows it all"][1:]
    fixed = [worths for name, worths in rows.items() if name.startswith("always")]
    assert len(fixed) == 3
    assert sum(rows["memories.choose"]) > 1.2 * max(map(sum, fixed))


def test_a_question_that_names_nothing_is_asked_with_what_was_said_before_it(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", "The violin came on 4 May, from an uncle.")
    talk = [
        {"role": "system", "content": "You are the butler of a castle."},
        {"role": "user", "content": "I love my violin."},
        {"role": "assistant", "content": "It sounds well."},
        {"role": "user", "content": "Who was that from?"},
    ]
    wrapped = wrap(client(provider), memories)
    wrapped.chat.completions.create(model="good", messages=talk)  # type: ignore[arg-type]
    assert "from an uncle" in last_messages(provider)[-2]["content"]
    (asked,) = [context.query for context in memories.of("default").contexts()]
    assert asked == "Who was that from? [about: sounds well love violin]"


def test_each_message_is_remembered_under_its_name(provider: Provider, memories: Memories) -> None:
    messages: Any = [
        {"role": "user", "name": "Ben", "content": "I am allergic to nuts."},
        {"role": "user", "name": "Cat", "content": "I love nuts."},
        {"role": "user", "content": "Who is allergic?"},
    ]
    wrapped = wrap(client(provider), memories, asker="ana")
    wrapped.chat.completions.create(model="good", messages=messages)
    items = memories.of("default").evidence()
    assert [item.speaker for item in items] == ["Ben", "Cat", "ana", "assistant"]


def test_another_picture_is_another_question(memories: Memories) -> None:
    for picture in ("AA", "BB", "BB"):
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}
        content = [{"type": "text", "text": "What is this?"}, image]
        with Provider("A dog.") as answering:
            about: Any = {"model": "good", "messages": [{"role": "user", "content": content}]}
            wrap(client(answering), memories).chat.completions.create(**about)
    assert texts(memories).count("What is this?") == 2


def test_what_was_forgotten_is_not_put_before_the_model_when_tools_have_answered(
    memories: Memories,
) -> None:
    turns = Turns(memories, "ana", "user")
    memories.remember("ana", "My code is 9931.", speaker="user")
    asked = {"role": "user", "content": "Pay with my code."}
    turn, sent = turns.begin({"messages": [asked]})
    assert "9931" in str(sent)
    turn.hear(completion("", "tool_calls"))
    turn.end()
    memories.forget("ana", memories.of("ana").evidence()[0].id)
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "t1"}]}
    result = {"role": "tool", "tool_call_id": "t1", "content": "ok"}
    turn, sent = turns.begin({"messages": [asked, called, result]})
    assert "9931" not in str(sent)
    turn.hear(completion("I used 9931.", "stop"))
    turn.end()
    assert texts_of(memories, "ana") == ["Pay with my code."]


def completion(text: str, finish: str) -> Any:
    message = SimpleNamespace(content=text)
    return SimpleNamespace(
        id=finish, choices=[SimpleNamespace(index=0, message=message, finish_reason=finish)]
    )
