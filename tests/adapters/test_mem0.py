"""mem0's calls over this library: the examples of its documents run, and what it keeps besides."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from adapter_contract import PageContract
from hypothesis import given
from hypothesis import strategies as st

from demem_adapters.common import Memories
from demem_adapters.mem0 import AsyncMemory, Memory
from demem_agent import InvalidInput, imports
from demem_agent.testing import BagEncoder

MOVIES = [
    {"role": "user", "content": "I'm planning to watch a movie tonight. Any recommendations?"},
    {"role": "assistant", "content": "How about thriller movies? They can be quite engaging."},
    {"role": "user", "content": "I'm not a big fan of thriller movies but I love sci-fi movies."},
    {"role": "assistant", "content": "Got it! I'll suggest sci-fi movies in the future."},
]
CATEGORY = {"category": "movie_recommendations"}


@pytest.fixture
def m() -> Memory:
    return Memory(Memories(encoder=BagEncoder()))


def said(found: dict[str, Any]) -> list[str]:
    return [row["memory"] for row in found["results"]]


def added(m: Memory, text: str, **about: Any) -> str:
    (row,) = m.add(text, **{"user_id": "alice", **about})["results"]
    return row["id"]


class TestPage(PageContract):
    name = "mem0"
    shows = (
        *PageContract.shows,
        "UPDATE: The boiler in the kitchen has a steel valve now.",
    )


# -- the examples of mem0's documents, with the shapes they show


def test_quickstart_add_gives_ids_texts_and_events(m: Memory) -> None:
    result = m.add(MOVIES, user_id="alice", metadata=CATEGORY)
    assert [*result] == ["results"]
    for row, message in zip(result["results"], MOVIES, strict=True):
        assert row == {"id": row["id"], "memory": message["content"], "event": "ADD"}
        assert str(uuid.UUID(row["id"])) == row["id"]


def test_raw_messages_are_added_with_who_said_them(m: Memory) -> None:
    result = m.add(MOVIES[:2], user_id="alice", metadata=CATEGORY, infer=False)
    assert [(row["role"], row["actor_id"]) for row in result["results"]] == [
        ("user", None),
        ("assistant", None),
    ]


def test_quickstart_get_all_and_get_give_the_fields_of_a_memory(m: Memory) -> None:
    first = m.add(MOVIES, user_id="alice", metadata=CATEGORY)["results"][0]
    listed = m.get_all(user_id="alice")["results"]  # 1.x; in 2.x filters={"user_id": "alice"}
    assert listed == m.get_all(filters={"user_id": "alice"})["results"]
    assert said({"results": listed}) == [message["content"] for message in MOVIES]
    specific = m.get(first["id"])
    assert specific is not None
    assert specific.pop("score") is None
    assert specific == listed[0]
    assert specific["metadata"] == CATEGORY
    assert specific["user_id"] == "alice"
    assert len(specific["hash"]) == 32
    assert specific["created_at"] == specific["updated_at"]
    assert datetime.fromisoformat(specific["created_at"]).tzinfo is not None


def test_quickstart_search_gives_memories_with_scores_best_first(m: Memory) -> None:
    m.add(MOVIES, user_id="alice", metadata=CATEGORY)
    related = m.search(query="What do you know about me?", user_id="alice")["results"]
    assert {row["memory"] for row in related} == {message["content"] for message in MOVIES}
    scores = [row["score"] for row in related]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert related[0]["metadata"] == CATEGORY
    again = m.search("What do you know about me?", filters={"user_id": "alice"})["results"]
    assert again == related


def test_quickstart_update_and_history_tell_the_old_text_and_the_new(m: Memory) -> None:
    text = "I'm planning to watch a movie tonight."
    id = added(m, text)
    new = "I love India, it is my favorite country."
    assert m.update(memory_id=id, data=new) == {"message": "Memory updated successfully!"}
    rows = [(row["event"], row["old_memory"], row["new_memory"]) for row in m.history(id)]
    assert rows == [("ADD", None, text), ("UPDATE", text, new)]
    fields = "id memory_id old_memory new_memory event created_at updated_at is_deleted"
    assert {*m.history(id)[0]} == {*fields.split(), "actor_id", "role"}
    assert said(m.get_all(user_id="alice")) == [new]
    assert said(m.search("movie tonight", user_id="alice")) == [new]


def test_quickstart_delete_takes_one_and_delete_all_the_user_and_reset_everybody(
    m: Memory,
) -> None:
    first, second = added(m, "I swim."), added(m, "I sing.")
    added(m, "I run.", user_id="bob")
    assert m.delete(memory_id=first) == {"message": "Memory deleted successfully!"}
    assert m.get(first) is None
    assert said(m.get_all(user_id="alice")) == ["I sing."]
    assert m.delete_all(user_id="alice") == {"message": "Memories deleted successfully!"}
    assert m.get(second) is None
    assert said(m.get_all(user_id="bob")) == ["I run."]
    m.reset()
    assert m.get_all(user_id="bob") == {"results": []}


def test_the_readme_s_chat_finds_what_was_said_and_adds_no_system_prompt(m: Memory) -> None:
    def chat_with_memories(message: str, user_id: str = "default_user") -> str:
        relevant = m.search(query=message, filters={"user_id": user_id}, top_k=3)
        lines = "\n".join(f"- {entry['memory']}" for entry in relevant["results"])
        messages = [{"role": "system", "content": f"User Memories:\n{lines}"}]
        messages.append({"role": "user", "content": message})
        messages.append({"role": "assistant", "content": f"I was told: {lines}"})
        m.add(messages, user_id=user_id)
        return lines

    chat_with_memories("My boiler has a brass valve.")
    assert "- My boiler has a brass valve." in chat_with_memories("Which valve has my boiler?")
    assert not any("User Memories" in text for text in said(m.get_all(user_id="default_user")))


def test_session_layers_are_found_by_run_and_by_user(m: Memory) -> None:
    m.add(["I'm Alex and I prefer boutique hotels."], user_id="alex", run_id="trip-2025")
    m.add("I collect stamps.", user_id="alex")
    within = m.search("Any hotel preferences?", user_id="alex", run_id="trip-2025")
    assert said(within) == ["I'm Alex and I prefer boutique hotels."]
    assert within["results"][0]["run_id"] == "trip-2025"
    assert len(m.search("Any hotel preferences?", user_id="alex")["results"]) == 2


def test_an_agent_s_session_is_found_by_all_three_ids(m: Memory) -> None:
    whose = {"user_id": "alice", "agent_id": "chatbot", "run_id": "session-123"}
    m.add(MOVIES, **whose)
    m.add("Alice is on the phone.", user_id="alice", agent_id="operator")
    assert len(m.search("movies", filters=whose)["results"]) == 4
    row = m.search("movies", filters=whose)["results"][0]
    assert {name: row[name] for name in whose} == whose
    with pytest.raises(ValueError, match="user_id"):
        m.search("movies", filters={"category": "x"})


def test_by_an_agent_alone_what_it_heard_of_every_user_is_found(m: Memory) -> None:
    m.add("The printer is broken.", user_id="alice", agent_id="support_bot")
    m.add("The scanner is broken.", user_id="bob", agent_id="support_bot")
    m.add("Be polite.", agent_id="support_bot")
    m.add("I like tea.", user_id="bob")
    found = m.search("What is broken?", agent_id="support_bot")
    assert len(found["results"]) == 3
    m.delete_all(agent_id="support_bot")
    assert m.get_all(agent_id="support_bot") == {"results": []}
    assert said(m.get_all(user_id="bob")) == ["I like tea."]


TASKS = {
    "Ship the report.": {"category": "work", "priority": 8, "status": "active", "tags": ["urgent"]},
    "Buy milk.": {"category": "personal", "priority": 5, "status": "active", "title": "a meeting"},
    "File the taxes.": {"category": "work", "priority": 9, "status": "archived"},
    "Paint the shed.": {"category": "personal", "priority": 2, "description": "Not IMPORTANT"},
    "Sleep late.": {},
}


@pytest.fixture
def tasks(m: Memory) -> Memory:
    for text, metadata in TASKS.items():
        m.add(text, user_id="alice", metadata=metadata)
    return m


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"category": "work"}, "Ship File"),
        ({"priority": {"gte": 5}, "status": {"ne": "archived"}}, "Ship Buy"),
        ({"priority": {"gt": 5, "lt": 9}}, "Ship"),
        ({"priority": {"lte": 5}}, "Buy Paint"),
        ({"status": {"eq": "active"}}, "Ship Buy"),
        ({"category": {"in": ["food", "work"]}, "status": {"nin": ["archived"]}}, "Ship"),
        ({"title": {"contains": "meeting"}}, "Buy"),
        ({"description": {"icontains": "important"}}, "Paint"),
        ({"description": {"contains": "important"}}, ""),
        ({"tags": {"contains": "urgent"}}, "Ship"),
        ({"metadata.tags": "urgent"}, "Ship"),
        ({"category": "*"}, "Ship Buy File Paint"),
        ({"category": None}, "Sleep"),
        ({"AND": [{"category": "work"}, {"priority": {"gte": 9}}]}, "File"),
        ({"OR": [{"category": "urgent"}, {"priority": {"gte": 9}}]}, "File"),
        ({"NOT": [{"category": "work"}, {"status": "active"}]}, "Paint Sleep"),
        (
            {
                "AND": [
                    {"OR": [{"category": "work"}, {"category": "personal"}]},
                    {"priority": {"gte": 5}},
                    {"NOT": [{"status": "archived"}]},
                ]
            },
            "Ship Buy",
        ),
        ({"$and": [{"priority": {"$gte": 5}}, {"$not": {"category": "work"}}]}, "Buy"),
        ({"created_at": {"gte": "2024-07-01"}, "category": "work"}, "Ship File"),
        ({"created_at": {"lt": "2024-07-01"}}, ""),
    ],
)
def test_filters_leave_what_the_documents_say(
    tasks: Memory, filters: dict[str, Any], expected: str
) -> None:
    listed = tasks.get_all(user_id="alice", filters=filters)
    assert " ".join(text.split()[0] for text in said(listed)) == expected
    found = tasks.search("What tasks need attention?", user_id="alice", filters=filters)
    assert {*said(found)} == {*said(listed)}


def test_a_filter_by_both_whose_and_what_may_stand_in_one_tree(tasks: Memory) -> None:
    parts = [{"user_id": "alice"}, {"category": "work"}, {"priority": {"gte": 9}}]
    found = tasks.search("important work tasks", filters={"AND": parts}, rerank=True, top_k=20)
    assert said(found) == ["File the taxes."]


def test_nested_metadata_is_found_by_dots(m: Memory) -> None:
    places = {"location": {"city": "Paris"}, "stays": [{"rating": 4.5}, {"rating": 3.0}]}
    added(m, "I visited Paris.", metadata={"details": places})
    for filters in (
        {"metadata.details.location.city": "Paris"},
        {"metadata.details.stays.rating": {"$gte": 4.0}},
    ):
        assert said(m.get_all(user_id="alice", filters=filters)) == ["I visited Paris."]


def test_an_operator_that_there_is_not_is_an_error_of_the_value(m: Memory) -> None:
    added(m, "I swim.")
    with pytest.raises(ValueError, match="unknown"):
        m.search("test", user_id="alice", filters={"invalid_operator": {"unknown": "value"}})


def test_times_of_memories_can_be_reckoned_with(m: Memory) -> None:
    added(m, "I live in Seattle.")
    (row,) = m.get_all(user_id="alice")["results"]
    age = datetime.now(UTC) - datetime.fromisoformat(row["created_at"])
    assert age < timedelta(minutes=5)
    json.dumps(m.get_all(user_id="alice"))  # exported as it is


def test_procedural_memory_is_kept_as_it_was_said(m: Memory) -> None:
    steps = [
        {"role": "user", "content": "How do I make cold brew coffee?"},
        {"role": "assistant", "content": "1. Grind beans\n2. Steep for 12 hours\n3. Strain"},
    ]
    whose = {"user_id": "coffee-lover", "agent_id": "coffee-expert"}
    assert len(m.add(steps, **whose, memory_type="procedural_memory")["results"]) == 2
    (row,) = m.search("How long does it steep?", filters=whose, top_k=1)["results"]
    assert row["metadata"] == {"memory_type": "procedural_memory"}
    with pytest.raises(ValueError, match="memory_type"):
        m.add(steps, **whose, memory_type="episodic")


def test_images_are_left_out_and_the_words_beside_them_kept(m: Memory) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/menu.jpg"}}
    messages = [
        {"role": "user", "content": "Hi, my name is Alice."},
        {"role": "user", "content": image},
        {"role": "user", "content": [{"type": "text", "text": "What's in this?"}, image]},
    ]
    m.add(messages, user_id="alice")
    assert said(m.get_all(user_id="alice")) == ["Hi, my name is Alice.", "What's in this?"]


def test_a_configuration_of_mem0_is_taken_and_what_is_not_needed_is_told(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    config = {
        "vector_store": {"provider": "qdrant", "config": {"host": "localhost", "port": 6333}},
        "llm": {"provider": "openai", "config": {"model": "gpt-5-mini"}},
        "graph_store": {"provider": "neo4j", "config": {"url": "neo4j+s://---"}},
        "version": "v1.1",
        "demem": {"url": f"sqlite:///{tmp_path}/bot.db", "read_limit": 1000},
    }
    with caplog.at_level(logging.WARNING, "demem_adapters"), Memory.from_config(config) as m:
        id = added(m, "I swim.")
    (told,) = caplog.messages
    assert told.endswith("passed over: graph_store, llm, vector_store, version")
    with Memory(f"sqlite:///{tmp_path}/bot.db") as again:
        assert said({"results": [again.get(id)]}) == ["I swim."]
    with pytest.raises(InvalidInput, match=r"config\.vectors"):
        Memory({"vectors": {}})


def test_a_configuration_may_be_an_object_as_mem0_has_them() -> None:
    class MemoryConfig:
        """Like mem0's own, which is a model of pydantic."""

        def model_dump(self) -> dict[str, Any]:
            return {"llm": {"provider": "openai", "config": {}}, "reranker": None}

    memory = Memory(config=MemoryConfig())
    assert said(memory.add("I swim.", user_id="alice")) == ["I swim."]
    with pytest.raises(ValueError, match="config"):
        Memory(config=7)


def test_the_scores_of_a_search_are_explained_where_that_is_asked(m: Memory) -> None:
    m.add(MOVIES, user_id="alice")
    row = m.search("food preferences", filters={"user_id": "alice"}, explain=True)["results"][0]
    assert {*row["score_details"]} == {"score", "raw_score", "probability", "threshold"}
    assert row["score_details"]["score"] == row["score"]
    assert "score_details" not in m.search("food", user_id="alice")["results"][0]


def test_a_search_takes_rerank_as_it_is_given(m: Memory) -> None:
    m.add(MOVIES, user_id="alice")
    asked = {"query": "What movies do I like?", "filters": {"user_id": "alice"}}
    assert m.search(**asked, rerank=True) == m.search(**asked, rerank=False)


def test_without_a_place_it_is_told_that_all_ends_with_the_process(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Memory()
    assert "ends with this process" in caplog.text


def test_the_asynchronous_memory_has_the_same_calls() -> None:
    async def run() -> None:
        memory = AsyncMemory(Memories(encoder=BagEncoder()))
        messages = [
            {"role": "user", "content": "I'm travelling to SF"},
            {"role": "assistant", "content": "That's great to hear!"},
        ]
        result = await memory.add(messages=messages, user_id="alice")
        id = result["results"][0]["id"]
        found = await memory.search(query="Where am I travelling?", user_id="alice")
        assert {*said(found)} == {message["content"] for message in messages}
        await memory.update(memory_id=id, data="I'm travelling to Seattle")
        one = await memory.get(memory_id=id)
        assert one is not None
        assert one["memory"] == "I'm travelling to Seattle"
        assert [row["event"] for row in await memory.history(memory_id=id)] == ["ADD", "UPDATE"]
        await memory.delete(memory_id=id)
        assert len((await memory.get_all(user_id="alice"))["results"]) == 1
        await memory.delete_all(user_id="alice")
        assert await memory.get_all(user_id="alice") == {"results": []}
        await memory.reset()

    asyncio.run(run())


def test_the_asynchronous_memory_works_in_a_thread_with_a_loop_of_its_own() -> None:
    async def add_and_retrieve(content: str) -> dict[str, Any]:
        memory = AsyncMemory.from_config({"embedder": {"provider": "openai"}})
        await memory.add(messages=content, user_id="alice")
        return await memory.get_all(user_id="alice")

    with ThreadPoolExecutor() as pool:
        found = pool.submit(lambda: asyncio.run(add_and_retrieve("A paragraph."))).result()
    assert said(found) == ["A paragraph."]


def test_the_event_loop_is_not_blocked() -> None:
    class Watching(BagEncoder):
        threads: ClassVar[set[int]] = set()

        def encode(self, sentences: list[str], /) -> Any:
            self.threads.add(threading.get_ident())
            return super().encode(sentences)

    memory = AsyncMemory(Memories(encoder=Watching()))
    asyncio.run(memory.add("I swim.", user_id="alice"))
    asyncio.run(memory.search("swim", user_id="alice"))
    assert threading.get_ident() not in Watching.threads


# -- what is kept beyond the examples


@given(st.lists(st.sampled_from(["Rome", "Oslo", "yes"]), max_size=12), st.data())
def test_a_conversation_given_again_and_again_as_it_grows_is_remembered_once(
    texts: list[str], data: st.DataObject
) -> None:
    m = Memory(Memories(encoder=BagEncoder()))
    messages = [{"role": "user", "content": text} for text in texts]
    given_so_far = 0
    while given_so_far < len(messages):
        given_so_far += data.draw(st.integers(1, len(messages) - given_so_far))
        m.add(messages[:given_so_far], user_id="alice")
    assert said(m.get_all(user_id="alice", top_k=99)) == texts


def test_what_is_said_again_after_something_else_is_new(m: Memory) -> None:
    for text in ("Rome", "Rome", "Oslo", "Rome"):
        m.add(text, user_id="alice")
    assert said(m.get_all(user_id="alice")) == ["Rome", "Oslo", "Rome"]
    m.add("Rome", user_id="alice", infer=False)
    assert len(m.get_all(user_id="alice")["results"]) == 4


def test_threads_that_add_the_same_conversation_add_it_once(m: Memory) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = [*pool.map(lambda _: m.add(MOVIES, user_id="alice")["results"], range(8))]
    assert sorted(map(len, done)) == [0] * 7 + [len(MOVIES)]
    assert len(m.get_all(user_id="alice")["results"]) == len(MOVIES)


def test_one_user_never_sees_another_s(m: Memory) -> None:
    id = added(m, "My code is 4711.", user_id="ana")
    added(m, "I swim.", user_id="ben")
    assert said(m.search("What is my code?", user_id="ben")) == ["I swim."]
    for filters in ({"user_id": {"ne": "ana"}}, {"OR": [{"user_id": "ben"}, {"agent_id": "x"}]}):
        assert said(m.search("What is my code?", filters=filters)) == ["I swim."]
    assert m.get(id) is not None
    assert m.search("What is my code?", user_id="agent")["results"] == []
    assert m.memories.known("agent") is None


def test_metadata_cannot_say_whose_a_memory_is(m: Memory, caplog: pytest.LogCaptureFixture) -> None:
    id = added(m, "I swim.", metadata={"user_id": "bob", "agent_id": "x", "kind": "sport"})
    m.update(id, metadata={"run_id": "r", "level": 3})
    row = m.get(id)
    assert row is not None
    assert row["metadata"] == {"kind": "sport", "level": 3}
    assert (row["user_id"], "agent_id" in row, "run_id" in row) == ("alice", False, False)
    assert "agent_id, user_id" in caplog.text
    assert m.get_all(user_id="bob") == {"results": []}


def test_what_has_expired_is_found_only_where_it_is_asked_for(m: Memory) -> None:
    yesterday = datetime.now(UTC).date() - timedelta(days=2)
    id = added(m, "Meet at noon.", expiration_date=yesterday)
    assert m.get_all(user_id="alice") == m.search("When?", user_id="alice") == {"results": []}
    shown = m.search("When?", user_id="alice", show_expired=True)["results"]
    assert shown[0]["expiration_date"] == yesterday.isoformat()
    m.update(id, expiration_date=None)
    assert said(m.get_all(user_id="alice")) == ["Meet at noon."]
    with pytest.raises(ValueError, match="expiration_date"):
        added(m, "x", expiration_date="tomorrow")


def test_a_threshold_leaves_what_scores_as_much(m: Memory) -> None:
    m.add(MOVIES, user_id="alice")
    every = m.search("Which movies do I love?", user_id="alice")["results"]
    middle = every[1]["score"]
    least = m.search("Which movies do I love?", user_id="alice", threshold=middle)["results"]
    assert least == every[:2]
    for wrong in (-0.1, 1.5):
        with pytest.raises(ValueError, match="threshold"):
            m.search("x", user_id="alice", threshold=wrong)


def test_as_many_are_given_as_were_asked_for(m: Memory) -> None:
    for n in range(30):
        added(m, f"Box {n} holds apples. " + "It is a plain box. " * 60)
    for most, expected in ((0, 0), (3, 3), (25, 25), (100, 30), (None, 20)):
        assert len(m.search("apples", user_id="alice", top_k=most)["results"]) == expected
        assert len(m.get_all(user_id="alice", limit=most)["results"]) == expected


def test_what_others_remembered_in_the_namespace_is_there_as_well(m: Memory) -> None:
    m.memories.remember("alice", "My boiler has a brass valve.", speaker="user", session="s1")
    (row,) = m.search("Which valve?", user_id="alice")["results"]
    assert (row["memory"], row["run_id"]) == ("My boiler has a brass valve.", "s1")
    m.update(row["id"], "It has a steel valve.")
    assert said({"results": [m.get(row["id"])]}) == ["It has a steel valve."]
    m.delete(row["id"])
    assert m.memories.of("alice").evidence() == ()


def test_what_came_from_mem0_keeps_its_ids(m: Memory) -> None:
    theirs = {"id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e", "memory": "Is allergic to nuts"}
    m.memories.of("alex").ingest_many(imports.read({"results": [{**theirs, "user_id": "alex"}]}))
    row = m.get(theirs["id"])
    assert row is not None
    assert (row["memory"], row["user_id"]) == (theirs["memory"], "alex")


def test_what_is_deleted_is_in_no_item_and_no_history(m: Memory) -> None:
    id = added(m, "My code is 4711.")
    m.update(id, "My code is 4712.")
    m.delete(id)
    assert m.history(id) == []
    assert m.memories.of("alice").evidence() == ()
    for call in (lambda: m.delete(id), lambda: m.update(id, "x")):
        with pytest.raises(ValueError, match="memory_id"):
            call()


def test_an_id_of_a_user_who_was_deleted_names_nothing_of_who_came_after(m: Memory) -> None:
    before = added(m, "I swim.")
    m.delete_all(user_id="alice")
    added(m, "I sing.")
    assert m.get(before) is None


def test_an_update_that_was_taken_back_is_shown_no_more(m: Memory) -> None:
    id = added(m, "I live in Lisbon.")
    m.update(id, "I live in Porto.")
    memory = m.memories.of("alice")
    memory.undo(memory.successions()[-1].id)
    assert said(m.get_all(user_id="alice")) == ["I live in Lisbon."]


@pytest.mark.parametrize("wrong", ["", "  ", "two words", "*"])
def test_ids_are_names_without_spaces(m: Memory, wrong: str) -> None:
    for call in (m.delete_all, lambda user_id: m.add("x", user_id=user_id)):
        with pytest.raises(ValueError, match="user_id"):
            call(user_id=wrong)
    m.add("x", user_id=7)  # type: ignore[arg-type]
    assert said(m.get_all(filters={"user_id": 7})) == said(m.get_all(user_id="7")) == ["x"]


@pytest.mark.parametrize("given_as", [7, None, object()])
def test_messages_that_are_none_are_refused(m: Memory, given_as: object) -> None:
    with pytest.raises(ValueError, match="messages"):
        m.add(given_as, user_id="alice")
    assert m.memories.known("alice") is None


def test_a_time_that_was_given_dates_what_is_added(m: Memory) -> None:
    added(m, "I moved.", timestamp=1_700_000_000)
    (row,) = m.get_all(user_id="alice")["results"]
    assert row["created_at"] == "2023-11-14T22:13:20+00:00"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_has_a_memory_of_its_own(m: Memory, copied: Callable[[Memory], Memory]) -> None:
    added(m, "I swim.")
    again = copied(m)
    added(again, "I sing.")
    assert said(m.get_all(user_id="alice")) == ["I swim."]
    assert said(again.get_all(user_id="alice")) == ["I swim.", "I sing."]
