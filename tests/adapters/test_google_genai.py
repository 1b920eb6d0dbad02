"""The google_genai adapter keeps the contract of all adapters; the real client talks to a provider
on this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending, blocks_among
from adapter_contract import texts as texts_of
from openai_clients import MODELS
from scripted_provider import Scripted

pytest.importorskip(
    "google.genai", reason="the google_genai adapter: pip install 'demem-agent[google-genai]'"
)

from google import genai
from google.genai import errors, types

from demem_adapters.common import DECLARED, Memories
from demem_adapters.google_genai import wrap
from demem_agent.testing import BagEncoder, Provider

#: The client does so itself.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")
BROKEN = [
    "500",
    "overloaded",
    "429",
    "error-event",
    "no-finish",
    "no-choices",
    "null-content",
    "length",
    "filtered",
    "reset",
    "cut-body",
    "html",
]
ROLES = ("user", "model")


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    return f"Noted: {messages[-1]['content'].splitlines()[-1]}"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(reply) as serving:
        yield serving


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


@contextlib.contextmanager
def client(provider: Provider) -> Iterator[genai.Client]:
    with genai.Client(
        api_key="unused", http_options=types.HttpOptions(base_url=provider.root)
    ) as plain:
        yield plain


@pytest.fixture
def plain(provider: Provider) -> Iterator[genai.Client]:
    with client(provider) as made:
        yield made


def said(*texts: str) -> list[Any]:
    """Return a conversation in which these were said in turn, by the user first."""
    return [
        types.Content(role=ROLES[n % 2], parts=[types.Part(text=text)])
        for n, text in enumerate(texts)
    ]


def texts(memories: Memories) -> list[str]:
    return texts_of(memories, "default")


def contents(provider: Provider) -> list[Any]:
    """Return the parts of each content that reached the model."""
    return [content["parts"] for content in provider.requests[-1].body["contents"]]


def words(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    return [part["text"] for part in parts if "text" in part]


class Clients(Driver):
    """Contents of a wrapped client, from an event loop."""

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
        instruction = event or f"Turn {self._turns}."
        return self._seen(said(text), MODELS[ending], instruction, who, reply)

    def go_on(self, before: Sequence[str], asked: str) -> None:
        self._seen(said(*before, asked))

    def say_all(self, said: Sequence[str]) -> None:
        self._turns += 1
        parts = [types.Content(role="user", parts=[types.Part(text=text)]) for text in said]
        self._seen(parts)

    def _seen(
        self,
        contents: list[Any],
        model: str = "good",
        instruction: str = "Be brief.",
        who: str = "ana",
        reply: str = "Noted.",
    ) -> list[str]:
        """Call the model, and return the texts that reached it."""

        async def run(plain: genai.Client) -> None:
            wrapped = wrap(plain, self.memories, namespace=who, **self.asking)
            config = types.GenerateContentConfig(system_instruction=instruction)
            with contextlib.suppress(errors.APIError):
                await wrapped.aio.models.generate_content(
                    model=model, contents=contents, config=config
                )
            await plain.aio.aclose()

        with Provider(lambda _: reply) as provider, client(provider) as plain:
            asyncio.run(run(plain))
            body = provider.requests[-1].body
        shown = words(body["systemInstruction"]["parts"])
        for content in body["contents"]:
            shown += words(content["parts"])
        return shown


# The client warns of a reason that it does not know.
@pytest.mark.filterwarnings("ignore:.*is not a valid FinishReason")
class TestContract(AdapterContract):
    name = "google_genai"
    driver = Clients


# Where it goes

PART = types.Part(text=ASKED)
FORMS: dict[str, Any] = {
    "text": ASKED,
    "texts": [ASKED],
    "part": PART,
    "part as mapping": {"text": ASKED},
    "parts": [PART, "Please."],
    "content": types.Content(role="user", parts=[PART]),
    "content of the user's": types.UserContent(ASKED),
    "content as mapping": {"role": "user", "parts": [{"text": ASKED}]},
    "content without a role": [types.Content(parts=[PART])],
    "contents": said("Hello.", "Good day.", ASKED),
    "contents as mappings": [{"role": "user", "parts": [{"text": ASKED}]}],
    "list of lists": [[PART]],
    "content and text": [*said("Hello.", "Good day."), ASKED],
}


@pytest.mark.parametrize("form", FORMS)
def test_it_is_the_beginning_of_the_last_content_of_the_users(
    provider: Provider, plain: genai.Client, memories: Memories, form: str
) -> None:
    memories.remember("default", VALVE)
    given = FORMS[form]
    before = copy.deepcopy(given)
    plain.models.generate_content(model="good", contents=given)
    wrap(plain, memories).models.generate_content(model="good", contents=given)
    assert given == before
    without, with_memory = (seen.body["contents"] for seen in provider.requests)
    *same, last = with_memory
    block, *rest = last["parts"]
    assert block["text"].startswith(DECLARED)
    assert "brass valve" in block["text"]
    assert [*same, {**last, "parts": rest}] == without


def test_with_nothing_to_recall_a_call_is_sent_as_it_is(
    provider: Provider, plain: genai.Client, memories: Memories
) -> None:
    for one in (plain, wrap(plain, memories)):
        one.models.generate_content(model="good", contents=ASKED)
    first, second = provider.requests
    assert first.body == second.body


def test_the_instruction_is_not_touched(
    provider: Provider, plain: genai.Client, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    config: Any = {"system_instruction": "Be brief.", "temperature": 0.5}
    wrap(plain, memories).models.generate_content(model="good", contents=ASKED, config=config)
    assert provider.requests[-1].body["systemInstruction"]["parts"] == [{"text": "Be brief."}]


def test_it_stands_behind_results_of_functions(
    provider: Provider, plain: genai.Client, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    call = types.Part.from_function_call(name="weigh", args={})
    result = types.Part.from_function_response(name="weigh", response={"result": "A kilo."})
    wrap(plain, memories).models.generate_content(
        model="good",
        contents=[
            *said("Weigh it."),
            types.Content(role="model", parts=[call]),
            types.Content(role="user", parts=[result, PART]),
        ],
    )
    first, block, last = contents(provider)[-1]
    assert "functionResponse" in first
    assert block["text"].startswith(DECLARED)
    assert last == {"text": ASKED}
    assert texts(memories)[1:3] == ["Weigh it.", ASKED]


# Chats


def test_a_chat_has_memory_and_keeps_its_own_history(
    provider: Provider, plain: genai.Client, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    chat = wrap(plain, memories).chats.create(model="good")
    chat.send_message(ASKED)
    assert blocks_among(words(contents(provider)[0]))
    assert "".join(piece.text or "" for piece in chat.send_message_stream("It leaks.")) == (
        "Noted: It leaks."
    )
    chat.send_message("It hums.")
    assert DECLARED not in str(chat.get_history())
    assert DECLARED not in str(contents(provider)[:-1])
    asked = [ASKED, "It leaks.", "It hums."]
    assert texts(memories)[1:] == [text for one in asked for text in (one, f"Noted: {one}")]


def test_what_was_said_in_pieces_is_shown_as_a_whole(
    plain: genai.Client, memories: Memories
) -> None:
    heard: list[Any] = []

    class Watching(Memories):
        def recall(self, namespace: str | None, query: str, **about: Any) -> Any:
            heard.append((about["context"], {*about["shown"]}))
            return super().recall(namespace, query, **about)

    chat = wrap(plain, Watching(encoder=BagEncoder())).chats.create(model="good")
    list(chat.send_message_stream("It leaks."))
    chat.send_message("It hums.")
    both = ["It leaks.", "Noted: It leaks."]
    assert heard[-1] == (both, {*both, "It hums."})


def test_an_async_chat_has_memory(provider: Provider, plain: genai.Client) -> None:
    memories = Memories(encoder=BagEncoder())

    async def run() -> list[str]:
        wrapped = wrap(plain, memories).aio
        chat = wrapped.chats.create(model="good")
        await chat.send_message(VALVE)
        pieces = [piece.text or "" async for piece in await chat.send_message_stream(ASKED)]
        stream = await wrapped.models.generate_content_stream(model="good", contents="It hums.")
        pieces += [piece.text or "" async for piece in stream]
        await plain.aio.aclose()
        return pieces

    assert "".join(asyncio.run(run())) == f"Noted: {ASKED}Noted: It hums."
    asked = [VALVE, ASKED, "It hums."]
    assert texts(memories) == [text for one in asked for text in (one, f"Noted: {one}")]


# Functions

CALL = {"functionCall": {"name": "weigh", "args": {"thing": "valve"}}}
NAMED = {"functionCall": {**CALL["functionCall"], "id": "f1"}}
ANSWER = "It weighs a kilo."


def weigh(thing: str) -> str:
    """Weigh a thing."""
    return f"A kilo of {thing}."


@pytest.mark.parametrize("kind", ["call", "stream", "chat", "chat stream"])
def test_functions_that_the_client_calls_itself_are_of_one_turn(
    memories: Memories, kind: str
) -> None:
    memories.remember("default", VALVE)
    config = types.GenerateContentConfig(tools=[weigh])
    with Scripted(([CALL], "tool_calls"), ANSWER) as provider, client(provider) as plain:
        wrapped = wrap(plain, memories)
        chat = wrapped.chats.create(model="good", config=config)
        history: Any = []
        if kind == "call":
            last = wrapped.models.generate_content(model="good", contents=ASKED, config=config)
            history = last.automatic_function_calling_history
            assert history
        elif kind == "stream":
            *_, last = wrapped.models.generate_content_stream(
                model="good", contents=ASKED, config=config
            )
            history = last.automatic_function_calling_history
            assert history
        elif kind == "chat":
            last = chat.send_message(ASKED)
        else:
            *_, last = chat.send_message_stream(ASKED)
        first, second = [seen.body["contents"] for seen in provider.requests]
        assert second[: len(first)] == first
        assert blocks_among(words(first[0]["parts"]))
        assert DECLARED not in str([history, chat.get_history()])
    assert texts(memories)[1:] == [ASKED, ANSWER]
    told = memories.feedback(str(last.response_id), namespace="default", thumbs=True)
    assert told.reward == 1.0


def test_functions_that_the_client_calls_itself_in_an_event_loop_are_of_one_turn(
    memories: Memories,
) -> None:
    memories.remember("default", VALVE)
    config = types.GenerateContentConfig(tools=[weigh])

    async def run(plain: genai.Client) -> None:
        await wrap(plain, memories).aio.models.generate_content(
            model="good", contents=ASKED, config=config
        )
        await plain.aio.aclose()

    with Scripted(([CALL], "tool_calls"), ANSWER) as provider, client(provider) as plain:
        asyncio.run(run(plain))
    assert texts(memories)[1:] == [ASKED, ANSWER]


@pytest.mark.parametrize("called", [CALL, NAMED], ids=["", "with an id"])
@pytest.mark.parametrize("stream", [False, True])
def test_functions_that_the_application_calls_are_of_one_turn(
    memories: Memories, called: dict[str, Any], stream: bool
) -> None:
    memories.remember("default", VALVE)
    with Scripted(([called], "tool_calls"), ANSWER) as provider, client(provider) as plain:
        models = wrap(plain, memories).models
        if stream:
            list(models.generate_content_stream(model="good", contents=ASKED))
        else:
            models.generate_content(model="good", contents=ASKED)
        memories.remember("default", "The valve has my boiler since May.")
        function = types.FunctionCall(**called["functionCall"])
        result = types.FunctionResponse(id=function.id, name="weigh", response={"result": "A kilo"})
        models.generate_content(
            model="good",
            contents=[
                *said(ASKED),
                types.Content(role="model", parts=[types.Part(function_call=function)]),
                types.Content(role="user", parts=[types.Part(function_response=result)]),
            ],
        )
        first, second = [seen.body["contents"] for seen in provider.requests]
        assert second[: len(first)] == first
    assert texts(memories)[1:] == [ASKED, "The valve has my boiler since May.", ANSWER]


def test_what_a_model_thinks_is_no_answer(memories: Memories) -> None:
    parts = [{"text": "I shall weigh it.", "thought": True}, {"text": ANSWER}]
    with Scripted((parts, "stop")) as provider, client(provider) as plain:
        wrap(plain, memories).models.generate_content(model="good", contents=ASKED)
    assert texts(memories) == [ASKED, ANSWER]


# How a reply ends


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("kind", ["call", "stream", "chat", "chat stream"])
def test_a_failed_or_cut_off_call_leaves_nothing_false(
    plain: genai.Client, memories: Memories, fault: str, kind: str
) -> None:
    wrapped = wrap(plain, memories)
    model = f"fault-{fault}"
    chat = wrapped.chats.create(model=model)
    with contextlib.suppress(Exception):  # whatever this version of the client makes of it
        if kind == "call":
            wrapped.models.generate_content(model=model, contents=VALVE)
        elif kind == "stream":
            list(wrapped.models.generate_content_stream(model=model, contents=VALVE))
        elif kind == "chat":
            chat.send_message(VALVE)
        else:
            list(chat.send_message_stream(VALVE))
    assert texts(memories) == [VALVE]


@pytest.mark.parametrize(
    ("reason", "is_remembered"),
    [
        ("STOP", True),
        ("MAX_TOKENS", False),
        ("SAFETY", False),
        ("RECITATION", False),
        ("PROHIBITED_CONTENT", False),
        ("MALFORMED_FUNCTION_CALL", False),
        ("OTHER", False),
        ("FINISH_REASON_UNSPECIFIED", False),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_is_remembered_where_its_reason_says_that_it_is_whole(
    memories: Memories, reason: str, is_remembered: bool, stream: bool
) -> None:
    with Scripted(([{"text": "Of brass."}], reason)) as provider, client(provider) as plain:
        models = wrap(plain, memories).models
        if stream:
            list(models.generate_content_stream(model="good", contents=ASKED))
        else:
            models.generate_content(model="good", contents=ASKED)
    assert texts(memories) == [ASKED, "Of brass."][: 1 + is_remembered]


@pytest.mark.parametrize("automatic", [True, False])
def test_an_answer_that_is_continued_is_remembered_as_a_whole(
    memories: Memories, automatic: bool
) -> None:
    memories.remember("default", VALVE)
    first = ([{"text": "It is of "}], "CONTINUATION")
    with Scripted(first, "brass.") as provider, client(provider) as plain:
        provider.more = {"continuationToken": "eA=="}
        models = wrap(plain, memories).models
        config = types.GenerateContentConfig(automatic_continuation=automatic)
        models.generate_content(model="good", contents=ASKED, config=config)
        if not automatic:
            config = types.GenerateContentConfig(
                automatic_continuation=False, continuation_token=b"x"
            )
            models.generate_content(model="good", contents=ASKED, config=config)
        one, other = [seen.body["contents"] for seen in provider.requests]
        assert one == other
    assert texts(memories)[1:] == [ASKED, "It is of brass."]


def test_errors_pass_through_as_they_are(plain: genai.Client, memories: Memories) -> None:
    models = wrap(plain, memories).models
    with pytest.raises(errors.ClientError) as caught:
        models.generate_content(model="fault-429", contents=VALVE)
    assert caught.value.code == 429
    with pytest.raises(errors.ServerError):
        list(models.generate_content_stream(model="fault-500", contents=VALVE))


def test_a_stream_that_was_left_is_not_remembered(plain: genai.Client, memories: Memories) -> None:
    for _ in wrap(plain, memories).models.generate_content_stream(model="good", contents=VALVE):
        break
    assert texts(memories) == [VALVE]


def test_a_stream_that_breaks_off_is_told(
    plain: genai.Client, memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    models = wrap(plain, memories).models
    list(models.generate_content_stream(model="fault-no-finish", contents=VALVE))
    assert "a stream was not remembered: it may have broken off" in caplog.messages


# The client


def test_the_client_that_was_given_is_not_changed(plain: genai.Client, memories: Memories) -> None:
    wrap(plain, memories)
    plain.models.generate_content(model="good", contents=VALVE)
    assert texts(memories) == []


def test_it_is_a_client_still_and_leaves_the_connections_of_the_other_open(
    plain: genai.Client, memories: Memories
) -> None:
    wrapped = wrap(plain, memories)
    assert isinstance(wrapped, genai.Client)
    assert wrapped.vertexai == plain.vertexai
    del wrapped
    assert plain.models.generate_content(model="good", contents=VALVE).text == f"Noted: {VALVE}"


def test_wrapped_again_it_remembers_once_and_in_the_new_memory(
    provider: Provider, plain: genai.Client, memories: Memories
) -> None:
    others = Memories(encoder=BagEncoder())
    memories.remember("default", VALVE)
    twice = wrap(wrap(plain, others), memories)
    twice.models.generate_content(model="good", contents=ASKED)
    assert len(blocks_among(words(contents(provider)[0]))) == 1
    assert (len(texts(memories)), texts(others)) == (3, [])


def test_a_function_of_the_call_may_say_whose_it_is(
    plain: genai.Client, memories: Memories
) -> None:
    wrapped = wrap(
        plain,
        memories,
        namespace=lambda call: call["model"].removeprefix("of-"),
        asker=lambda call: call["contents"].split()[0],
    )
    wrapped.models.generate_content(model="of-home", contents="Ana has a boiler.")
    (item, _) = memories.of("home").evidence()
    assert item.speaker == "Ana"


def test_a_call_whose_namespace_is_none_has_no_memory(
    plain: genai.Client, memories: Memories
) -> None:
    models = wrap(plain, memories, namespace=lambda call: None).models
    assert models.generate_content(model="good", contents=ASKED).text == f"Noted: {ASKED}"
    assert memories.export() == {}


def test_files_and_pictures_are_not_what_the_user_said(
    plain: genai.Client, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    picture = types.Part.from_bytes(data=b"x", mime_type="image/png")
    wrap(plain, memories).models.generate_content(model="good", contents=[picture, ASKED])
    assert texts(memories)[1] == ASKED


def test_counting_tokens_is_the_clients_own(
    provider: Provider, plain: genai.Client, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    with contextlib.suppress(errors.APIError):  # the provider has no such path
        wrap(plain, memories).models.count_tokens(model="good", contents=ASKED)
    assert contents(provider) == [[{"text": ASKED}]]
    assert texts(memories) == [VALVE]
