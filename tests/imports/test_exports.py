"""Exports of other programs: what each comes to, nothing lost, and nothing added twice.

The files in ``fixtures`` were written by hand after what is known of the formats.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from demem_agent import SlotMemory, Turn, imports
from demem_agent.errors import InvalidInput

FIXTURES = Path(__file__).parent / "fixtures"

#: Per file: its format, who says what in which session, and what is left out.
Said = list[tuple[str | None, str, str | None]]
EXPECTED: dict[str, tuple[str, Said, dict[str, int]]] = {
    "chatgpt.json": (
        "chatgpt",
        [
            ("user", "My starter Doris smells of acetone. What is wrong?", "conv-1"),
            ("assistant", "Doris is hungry: feed her twice a day.", "conv-1"),
            ("user", "The plumber comes on Friday.", "conv-2"),
            ("assistant", "I will remind you.", "conv-2"),
        ],
        {"system": 2, "image": 1, "thinking": 1, "tool call": 1, "tool result": 1}
        | {"other branch": 1, "audio": 1},
    ),
    "claude.json": (
        "claude",
        [
            ("user", "I signed the lease for Alder Row 14.", "c-1"),
            ("assistant", "Congratulations!", "c-1"),
            ("user", "My bike is a green Brompton.", "c-2"),
        ],
        {"document": 2, "thinking": 1, "tool call": 1, "knowledge": 1, "tool result": 1}
        | {"token_budget": 1},
    ),
    "mem0.json": (
        "mem0",
        [
            ("alex", "Is allergic to nuts", None),
            ("alex", "Lives in Porto since May", "trip-1"),
            ("helper", "Answers in short sentences", None),
        ],
        {"relation": 1},
    ),
    "zep_thread.json": (
        "zep",
        [
            ("Kendra", "My Adidas shoes fell apart.", "zep_thread"),
            ("Shop bot", "I am sorry to hear that.", "zep_thread"),
            ("user", "She bought Puma shoes instead.", "zep_thread"),
        ],
        {"system": 1, "tool result": 1},
    ),
    "zep_edges.json": (
        "zep",
        [
            (None, "Kendra loves Adidas shoes. (until 2024-08-20)", None),
            (None, "Kendra likes Puma shoes.", None),
        ],
        {},
    ),
    "zep_memory.json": (
        "zep",
        [
            ("Kendra", "I run every morning.", "zep_memory"),
            ("coach", "How far?", "zep_memory"),
            (None, "Kendra runs every morning.", None),
            (None, "Kendra's knee hurts.", None),
        ],
        {},
    ),
    "letta.af": (
        "letta",
        [
            ("user", "My sister Ida turns forty in June.", "memo"),
            ("assistant", "Happy birthday to Ida, then!", "memo"),
            ("block human", "Name: Tove. Plays the oboe.", None),
        ],
        {"system": 2, "thinking": 2, "tool call": 1, "tool result": 1, "approval": 1},
    ),
    "letta_old.af": (
        "letta",
        [("user", "I play the oboe.", "memo"), ("block human", "Name: Tove.", None)],
        {},
    ),
    "letta_passages.json": (
        "letta",
        [
            (None, "Tove's oboe is from 1988.", None),
            (None, "Concert in Bergen on 3 July.", None),
        ],
        {},
    ),
    "letta_messages.json": (
        "letta",
        [
            ("user", "The reed split.", "letta_messages"),
            ("assistant", "Bring two to Bergen.", "letta_messages"),
        ],
        {"thinking": 1, "tool call": 1},
    ),
    "langmem.json": (
        "langmem",
        [
            (None, "User has a dog named Fido", "memories/u1"),
            (None, "Alice manages the ML team", "memories/u1"),
            (None, "subject: Bob\npredicate: leads\nobject: NLP_project", "chat/u1/triples"),
            (None, "food_preference: I like pizza", "u1/memories"),
        ],
        {},
    ),
    "messages.jsonl": (
        "jsonl",
        [
            ("user", "My flight to Oslo is on Monday.", "messages"),
            ("assistant", "Which airline?", "messages"),
        ],
        {"system": 1},
    ),
    "conversations.jsonl": (
        "jsonl",
        [
            ("user", "I keep bees.", "conversations"),
            ("assistant", "How many hives?", "conversations"),
            ("user", "I keep hens.", "conversations #2"),
            ("assistant", "How many hens?", "conversations #2"),
        ],
        {"system": 1},
    ),
    "turns.json": (
        "json",
        [("Ana", "The valve is brass.", None), ("Ben", "The bow is broken.", None)],
        {},
    ),
    "notes.md": (
        "markdown",
        [
            (None, "The spare key is behind the blue pot.", "House"),
            (None, "The boiler has a brass valve.\nIt was replaced in May.", "2024-05-02 Boiler"),
            (None, "### Parts\n- valve, brass\n- seal, rubber", "2024-05-02 Boiler"),
            (None, "```sh\nturn --left\n\nturn --off\n```", "2024-05-02 Boiler"),
            (None, "The plumber comes on Fridays.", "Garden"),
        ],
        {"front matter": 1},
    ),
    "table.csv": (
        "csv",
        [("user", "The lid is blue;\nor green.", None), ("assistant", "Noted.", None)],
        {"system": 1, "empty": 1},
    ),
    "notes.txt": (
        "text",
        [(None, "The key is under the mat.", None), (None, "The alarm code is 7431.", None)],
        {},
    ),
}


def test_every_fixture_is_expected_to_come_to_something() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_is_recognised_and_comes_to_what_was_said_in_it(name: str) -> None:
    format, said, left_out = EXPECTED[name]
    source = imports.read(FIXTURES / name)
    assert [(turn.speaker, turn.text, turn.session) for turn in source] == said
    assert (source.format, source.reasons) == (format, left_out)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_loses_nothing_and_adds_nothing_the_second_time(name: str) -> None:
    with SlotMemory() as memory:
        first = memory.ingest_many(imports.turns(FIXTURES / name))
        assert len(memory) == len(EXPECTED[name][1])
        assert memory.ingest_many(imports.turns(FIXTURES / name)) == first
        assert len(memory) == len(EXPECTED[name][1])


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_that_is_said_to_be_in_its_format_comes_to_the_same(name: str) -> None:
    told = imports.turns(FIXTURES / name, EXPECTED[name][0])
    assert [*told] == [*imports.turns(FIXTURES / name)]


VALUES = [
    name
    for name, (format, *_) in EXPECTED.items()
    if format not in ("json", "jsonl", "text", "markdown", "csv")
]


@pytest.mark.parametrize("name", VALUES)
def test_what_a_client_gives_needs_no_file(name: str) -> None:
    given = json.loads((FIXTURES / name).read_text(encoding="utf-8"))
    texts = [turn.text for turn in imports.turns(given, name=Path(name).stem)]
    assert texts == [text for _, text, _ in EXPECTED[name][1]]


class Item:
    """As an object of a client is: it gives out its fields."""

    def dict(self) -> dict[str, Any]:
        return {
            "namespace": ["memories"],
            "key": "k1",
            "value": {"content": "Has a dog."},
            "created_at": datetime(2025, 2, 6, tzinfo=UTC),
            "updated_at": datetime(2025, 2, 7, tzinfo=UTC),
        }


def test_objects_of_a_client_are_read_as_their_fields() -> None:
    (turn,) = imports.turns([Item()])
    assert (turn.text, turn.at) == ("Has a dog.", datetime(2025, 2, 7, tzinfo=UTC))


def test_an_export_is_read_as_it_is_downloaded(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    conversations = json.loads((FIXTURES / "chatgpt.json").read_text(encoding="utf-8"))
    with ZipFile(path, "w") as archive:
        archive.writestr("chat.html", "<html></html>")
        for n, conversation in enumerate(conversations):
            archive.writestr(f"data/conversations-00{n}.json", json.dumps([conversation]))
    assert [*imports.turns(path)] == only("chatgpt.json")


def test_a_zip_file_without_conversations_is_named(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    for content in (b"", b"no zip file"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="a zip file with conversations"):
            imports.read(path)
    with ZipFile(path, "w") as archive:
        archive.writestr("chat.html", "<html></html>")
    with pytest.raises(InvalidInput, match="a zip file with conversations"):
        imports.read(path)


@pytest.mark.parametrize("page", ["results", "items", "conversations"])
def test_an_empty_page_has_no_turns(page: str) -> None:
    assert [*imports.turns({page: []})] == []


# Times, ids and tools


def only(name: str, format: str | None = None, **how: Any) -> list[Turn]:
    return [*imports.turns(FIXTURES / name, format, **how)]


def test_what_chatgpt_dates_is_dated_and_the_rest_as_what_came_before() -> None:
    times = [turn.at for turn in only("chatgpt.json")]
    assert times[0] == datetime(2024, 5, 2, 10, tzinfo=UTC)
    assert times[3] == times[2] == datetime(2024, 5, 3, 10, 0, 1, tzinfo=UTC)


def test_a_memory_is_dated_by_when_it_was_written_last() -> None:
    times = [turn.at for turn in only("mem0.json")]
    assert [str(at)[:10] for at in times] == ["2024-07-26", "2024-05-20", "2024-06-01"]


def test_a_fact_is_dated_by_when_it_became_true() -> None:
    assert [str(turn.at)[:10] for turn in only("zep_edges.json")] == ["2024-07-01", "2024-08-21"]


def test_the_ids_of_the_other_program_are_kept() -> None:
    assert [turn.source_id for turn in only("chatgpt.json")] == ["m3", "m7", "a", "b"]
    assert [turn.source_id for turn in only("mem0.json")] == ["892db2ae", "3f9a0c11", "b1d2e3f4"]
    assert {turn.source for turn in only("langmem.json")} == {"langmem"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "chatgpt.json",
            [
                ("tool web", 'called with search("starter acetone")'),
                ("tool web", "Acetone means hunger."),
            ],
        ),
        ("claude.json", [("tool web_search", 'called with {"query": "movers"}')]),
        ("zep_thread.json", [("tool orders", "Order 4417, shipped")]),
        (
            "letta.af",
            [
                ("tool archival_memory_insert", 'called with {"content": "Ida: forty in June"}'),
                ("tool archival_memory_insert", '{"status": "OK", "message": "None"}'),
            ],
        ),
    ],
)
def test_tools_are_turns_where_that_is_wanted(name: str, expected: list[tuple[str, str]]) -> None:
    found = [(turn.speaker, turn.text) for turn in only(name, tools=True)]
    assert [(who, text) for who, text in found if str(who).startswith("tool")] == expected


def test_speakers_are_named_by_the_caller() -> None:
    who = {turn.speaker for turn in only("chatgpt.json", speakers={"user": "Ana"})}
    assert who == {"Ana", "assistant"}
    assert only("table.csv", speakers={"user": "Ana"})[0].speaker == "Ana"


# Trees


def test_a_conversation_without_a_current_node_ends_where_its_newest_leaf_is() -> None:
    conversation = json.loads((FIXTURES / "chatgpt.json").read_text(encoding="utf-8"))[0]
    del conversation["current_node"]
    texts = [turn.text for turn in imports.turns([conversation])]
    assert texts[-1] == "Throw her away."


def test_a_circle_in_a_tree_ends() -> None:
    conversation = json.loads((FIXTURES / "chatgpt.json").read_text(encoding="utf-8"))[1]
    conversation["mapping"]["a"]["parent"] = "b"
    assert len([*imports.turns([conversation])]) == 2


def test_of_a_conversation_of_claude_that_branches_one_branch_is_remembered() -> None:
    messages = [
        {"uuid": "1", "sender": "human", "text": "Hello."},
        {"uuid": "2", "sender": "assistant", "text": "No.", "parent_message_uuid": "1"},
        {"uuid": "3", "sender": "assistant", "text": "Yes.", "parent_message_uuid": "1"},
    ]
    given = {"uuid": "c", "chat_messages": messages, "current_leaf_message_uuid": "3"}
    source = imports.read(given)
    assert [turn.text for turn in source] == ["Hello.", "Yes."]
    assert source.reasons == {"other branch": 1}


# What is wrong is named


BAD: list[tuple[str, Any, str]] = [
    ("chatgpt", {"mapping": []}, "items[0].mapping must be a tree of messages"),
    ("chatgpt", {"mapping": {"a": 5}}, "items[0].mapping.a must be a node"),
    (
        "chatgpt",
        {"mapping": {"a": {"message": {"author": {"role": "user"}}}}},
        "items[0].mapping.a.message.content must be a content with its type",
    ),
    ("claude", {"chat_messages": 5}, "items[0].chat_messages must be a list of messages"),
    (
        "claude",
        {"chat_messages": [{"sender": "dog", "text": "Wuff."}]},
        "items[0].chat_messages[0].sender must be human or assistant, got 'dog'",
    ),
    ("mem0", {"id": "1"}, "items[0].memory must be a text"),
    ("mem0", {"results": [5]}, "items[0].results[0] must be memories"),
    ("mem0", {"memory": "x", "created_at": "noon"}, "items[0].created_at must be a date or a time"),
    ("zep", {"content": "x", "role": "dog"}, "items[0].role must be one of user"),
    ("zep", {"fact": ""}, "items[0].fact must be a text that is not blank"),
    ("zep", {"what": 1}, "items[0] must be a message with a content, a fact or a node"),
    ("letta", {"id": "p"}, "items[0].text must be a text"),
    (
        "letta",
        {"agents": [{"messages": [{"role": "dog"}]}]},
        "items[0].agents[0].messages[0].role must be one of user",
    ),
    ("langmem", {"key": "k", "namespace": []}, "items[0].value must be an object"),
    ("langmem", {"value": {"content": "x"}, "namespace": []}, "items[0].key must be a text"),
    ("langmem", {"value": {"content": "x"}, "key": "k"}, "items[0].namespace must be a list"),
]


@pytest.mark.parametrize(("format", "value", "words"), BAD, ids=[words for *_, words in BAD])
def test_what_is_wrong_with_an_export_is_named_in_one_line(
    format: str, value: Any, words: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        [*imports.turns([value], format)]
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


# Metadata


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mem0.json", [{"category": "health"}, {"categories": ["home"]}]),
        ("letta_passages.json", [{"tags": ["music"]}]),
    ],
)
def test_what_other_memories_keep_beside_a_text_is_metadata(
    name: str, told: list[dict[str, Any]]
) -> None:
    memory = SlotMemory()
    memory.ingest_many(imports.read(FIXTURES / name))
    assert [item.metadata for item in memory.evidence() if item.metadata][: len(told)] == told


def test_metadata_that_is_too_long_is_left_out_and_said_so() -> None:
    memory = {"id": "m1", "memory": "Has a dog.", "metadata": {"log": "x" * 5000}}
    source = imports.read([memory], "mem0")
    (turn,) = source
    assert (turn.text, turn.metadata) == ("Has a dog.", None)
    assert source.reasons == {"metadata over 4 KB": 1}


def test_fields_and_columns_without_a_place_can_be_metadata(tmp_path: Path) -> None:
    lines, table = tmp_path / "a.jsonl", tmp_path / "a.csv"
    lines.write_text('{"text": "It rained.", "mood": 3, "metadata": {"room": 4}}\n')
    table.write_text("text,mood\nIt rained.,glad\n")
    told = [next(imports.turns(path, extra="metadata")).metadata for path in (lines, table)]
    assert told == [{"mood": 3, "room": 4}, {"mood": "glad"}]
