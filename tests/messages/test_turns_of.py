"""Messages as turns: what each shape comes to, what is left out, and which turns are the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.errors import InvalidInput
from demem_agent.messages import Omitted, turns_of

USER = {"role": "user", "content": "I moved to Lisbon."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'},
        }
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "21 degrees"}


def said(messages: list[Any], **how: Any) -> list[tuple[str | None, str]]:
    return [(turn.speaker, turn.text) for turn in turns_of(messages, **how).turns]


# Shapes


def test_chat_completions_come_to_what_users_and_assistants_said() -> None:
    chat = [
        {"role": "developer", "content": "Be brief."},
        USER,
        CALL,
        RESULT,
        {"role": "assistant", "content": "It is 21 degrees."},
    ]
    heard = turns_of(chat)
    assert [(turn.speaker, turn.text) for turn in heard.turns] == [
        ("user", "I moved to Lisbon."),
        ("assistant", "It is 21 degrees."),
    ]
    assert heard.left_out == (
        Omitted("messages[0]", "system"),
        Omitted("messages[2].tool_calls[0]", "tool call"),
        Omitted("messages[3]", "tool result"),
    )


def test_tools_are_turns_of_their_name_where_that_is_wanted() -> None:
    assert said([USER, CALL, RESULT], tools=True) == [
        ("user", "I moved to Lisbon."),
        ("tool weather", 'called with {"city": "Lisbon"}'),
        ("tool weather", "21 degrees"),
    ]


def test_the_older_calls_of_functions_are_tools() -> None:
    older = [
        {"role": "assistant", "function_call": {"name": "weather", "arguments": "{}"}},
        {"role": "function", "name": "weather", "content": "21 degrees"},
    ]
    assert said(older, tools=True) == [
        ("tool weather", "called with {}"),
        ("tool weather", "21 degrees"),
    ]


def test_images_and_other_media_are_left_out_and_the_text_beside_them_is_not() -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:..."}},
        {"type": "input_audio", "input_audio": {}},
        {"type": "file", "file": {}},
    ]
    heard = turns_of([{"role": "user", "content": parts}])
    assert [turn.text for turn in heard.turns] == ["What is this?"]
    assert heard.reasons == {"image": 1, "audio": 1, "document": 1}


def test_items_of_a_response_are_messages_calls_and_results() -> None:
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "How warm is it?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "21 degrees"},
        {"type": "web_search_call", "id": "ws_1", "action": {"query": "Lisbon"}},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "21 degrees.", "annotations": []}],
        },
    ]
    assert said(items) == [("user", "How warm is it?"), ("assistant", "21 degrees.")]
    assert said(items, tools=True)[1:4] == [
        ("tool weather", "called with {}"),
        ("tool weather", "21 degrees"),
        ("tool web_search", 'called with {"action": {"query": "Lisbon"}}'),
    ]
    assert turns_of(items).turns[-1].source_id == "msg_1"


ANTHROPIC = [
    {"role": "user", "content": "How warm is it?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "The tool knows.", "signature": "s"},
            {"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Lisbon"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [{"type": "text", "text": "21 degrees"}, {"type": "image"}],
            },
            {"type": "text", "text": "And tomorrow?"},
        ],
    },
]


def test_blocks_of_anthropic_come_to_what_was_said() -> None:
    heard = turns_of(ANTHROPIC)
    assert [(turn.speaker, turn.text) for turn in heard.turns] == [
        ("user", "How warm is it?"),
        ("assistant", "I look it up."),
        ("user", "And tomorrow?"),
    ]
    assert heard.reasons == {"thinking": 1, "tool call": 1, "image": 1, "tool result": 1}


def test_tools_of_anthropic_stand_where_they_were_used() -> None:
    assert said(ANTHROPIC, tools=True) == [
        ("user", "How warm is it?"),
        ("assistant", "I look it up."),
        ("tool weather", 'called with {"city": "Lisbon"}'),
        ("tool weather", "21 degrees"),
        ("user", "And tomorrow?"),
    ]


def test_a_sentence_in_cited_blocks_stays_one() -> None:
    blocks = [
        {"type": "text", "text": "The bridge was opened in"},
        {"type": "text", "text": " 1966", "citations": [{}]},
        {"type": "text", "text": ", the almanac says."},
    ]
    chat = [{"role": "assistant", "content": blocks}]
    assert said(chat) == [("assistant", "The bridge was opened in 1966, the almanac says.")]


def test_parts_without_a_break_between_them_are_lines() -> None:
    chat = [{"role": "user", "content": [{"type": "text", "text": "One."}, "Two."]}]
    assert said(chat) == [("user", "One.\nTwo.")]


@dataclass
class Spoken:
    """As LangChain's messages look from outside."""

    type: str
    content: Any
    id: str | None = None
    name: str | None = None
    tool_calls: list[Any] = field(default_factory=list)
    tool_call_id: str | None = None
    additional_kwargs: dict[str, Any] = field(default_factory=dict)


LANGCHAIN = [
    Spoken("system", "Be brief."),
    Spoken("human", "How warm is it?", id="h1"),
    Spoken(
        "ai",
        [
            {"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {}},
        ],
        id="a1",
        tool_calls=[{"name": "weather", "args": {}, "id": "t1", "type": "tool_call"}],
    ),
    Spoken("tool", "21 degrees", tool_call_id="t1"),
    Spoken("human", "Before: much.", additional_kwargs={"lc_source": "summarization"}),
]


def test_objects_of_langchain_come_to_what_was_said_with_their_ids() -> None:
    heard = turns_of(LANGCHAIN)
    assert [(turn.speaker, turn.text, turn.source_id) for turn in heard.turns] == [
        ("user", "How warm is it?", "h1"),
        ("assistant", "I look it up.", "a1"),
    ]
    assert heard.reasons == {"system": 1, "tool call": 1, "tool result": 1, "summary": 1}


def test_a_call_that_stands_in_the_content_and_beside_it_is_one() -> None:
    assert said(LANGCHAIN, tools=True)[1:] == [
        ("assistant", "I look it up."),
        ("tool weather", "called with {}"),
        ("tool weather", "21 degrees"),
    ]


@pytest.mark.parametrize(
    "written",
    [
        {"type": "human", "data": {"content": "Hello.", "type": "human", "id": "h1"}},
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "HumanMessage"],
            "kwargs": {"content": "Hello.", "id": "h1"},
        },
        {"type": "HumanMessageChunk", "content": "Hello.", "id": "h1"},
    ],
    ids=["messages_to_dict", "dumpd", "chunk"],
)
def test_what_langchain_writes_down_is_the_same_message(written: dict[str, Any]) -> None:
    assert turns_of([written]).turns == turns_of([Spoken("human", "Hello.", id="h1")]).turns


class Dumped:
    """As a client's own objects are: a model that gives out its fields."""

    def model_dump(self) -> dict[str, Any]:
        return {"role": "assistant", "content": "Hello.", "refusal": None, "tool_calls": None}


def test_objects_of_a_client_are_messages() -> None:
    assert said([Dumped()]) == [("assistant", "Hello.")]


# Who and when


def test_a_speaker_is_named_by_the_caller_by_the_message_or_by_the_role() -> None:
    chat = [
        USER,
        {"role": "user", "name": "ben_k", "content": "Me too."},
        {"role": "user", "name": "Eve", "content": "Not me."},
        {"role": "assistant", "content": "I see."},
    ]
    found = [who for who, _ in said(chat, speakers={"user": "Ana", "ben_k": "Ben"})]
    assert found == ["Ana", "Ben", "Eve", "assistant"]


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ({"created_at": "2024-05-02T10:00:00Z"}, datetime(2024, 5, 2, 10, tzinfo=UTC)),
        ({"timestamp": 1714644000}, datetime(2024, 5, 2, 10, tzinfo=UTC)),
        ({"create_time": 1714644000.0}, datetime(2024, 5, 2, 10, tzinfo=UTC)),
        ({"timestamp": 1714644000000}, datetime(2024, 5, 2, 10, tzinfo=UTC)),
        ({"date": "2024-05-02"}, datetime(2024, 5, 2)),
        ({"date": "20240502"}, datetime(2024, 5, 2)),
        ({}, None),
    ],
)
def test_a_message_says_when_it_was_said(written: dict[str, Any], at: datetime | None) -> None:
    assert turns_of([{**USER, **written}]).turns[0].at == at


# The same again

WORDS = st.sampled_from(["Yes.", "No.", "I moved to Lisbon."])
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": WORDS})
)


@given(MESSAGES, MESSAGES)
def test_a_list_that_has_grown_comes_to_the_same_turns_and_new_ones(
    before: list[Any], after: list[Any]
) -> None:
    short, long = turns_of(before, session="s").turns, turns_of(before + after, session="s").turns
    assert long[: len(short)] == short
    assert len({turn.key for turn in long}) == len(long)


@given(MESSAGES, st.integers(0, 5))
def test_a_list_whose_beginning_was_cut_off_comes_to_turns_that_are_known(
    chat: list[Any], start: int
) -> None:
    whole = {turn.key for turn in turns_of(chat, session="s").turns}
    assert {turn.key for turn in turns_of(chat[start:], session="s").turns} <= whole


def test_another_session_and_another_id_are_other_turns() -> None:
    chats = ([USER], [{**USER, "id": "m1"}], [{**USER, "id": "m2"}])
    keys = {turns_of(chat, session=name).turns[0].key for chat in chats for name in ("a", "b")}
    assert len(keys) == 6


def test_with_tools_or_without_what_was_said_is_the_same_turn() -> None:
    message = {**ANTHROPIC[1], "id": "m1"}
    message["content"] = [*message["content"], {"type": "text", "text": "Done."}]
    without = turns_of([message]).turns
    assert {*without} < {*turns_of([message], tools=True).turns}
    assert [turn.source_id for turn in without] == ["m1", "m1#3"]


# What is wrong is named

BAD: list[tuple[Any, str]] = [
    ("hello", "messages must be a list of messages"),
    ({"messages": []}, "messages must be a list of messages"),
    ([5], "messages[0] must be a message"),
    (["hi"], "messages[0] must be a message"),
    ([USER, {"content": "x"}], "messages[1].role must be one of user, assistant"),
    ([{"role": "narrator", "content": "x"}], "messages[0].role must be one of user, assistant"),
    ([{"role": "user"}], "messages[0].content must be a text or a list of parts"),
    ([{"role": "user", "content": 5}], "messages[0].content must be a text or a list of parts"),
    ([{"role": "user", "content": [5]}], "messages[0].content[0] must be a text or a part"),
    ([{"role": "user", "content": [{"type": "hologram"}]}], "messages[0].content[0].type must"),
    ([{"role": "user", "content": [{"type": []}]}], "messages[0].content[0].type must"),
    ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text must be a"),
    ([{"role": "assistant", "tool_calls": 5}], "messages[0].tool_calls must be a list of calls"),
    ([{"role": "assistant", "tool_calls": [5]}], "messages[0].tool_calls[0] must be a call"),
    ([{"type": "seance"}], "messages[0].type must be message"),
    ([{**USER, "id": 5}], "messages[0].id must be a text or None"),
    ([{**USER, "created_at": "noon"}], "messages[0].created_at must be a date or a time"),
    (
        [{"type": "human", "data": {"content": [{"type": "hologram"}]}}],
        "messages[0].data.content[0].type must",
    ),
]


@pytest.mark.parametrize(("messages", "words"), BAD, ids=[words for _, words in BAD])
def test_what_is_wrong_with_a_message_is_named_in_one_line(messages: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        turns_of(messages)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "how", [{"session": ""}, {"tools": 1}, {"speakers": ["Ana"]}, {"speakers": {"user": ""}}]
)
def test_a_setting_outside_its_range_is_named(how: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(how))):
        turns_of([USER], **how)


def test_a_message_that_says_nothing_is_left_out() -> None:
    chat = [{"role": "user", "content": " \n"}, {"role": "assistant", "content": []}]
    assert turns_of(chat).left_out == (
        Omitted("messages[0]", "empty"),
        Omitted("messages[1]", "empty"),
    )
