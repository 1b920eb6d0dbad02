"""The memories of an adapter: one for each namespace, found again, bounded, and told what went wrong by kind alone."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, texts

from demem_adapters.recent import Recent
from demem_adapters.shared import DECLARED, Memories, checked, named
from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import NotFound
from demem_agent.testing import BagEncoder


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def stored(folder: Path, **options: Any) -> Memories:
    return Memories(f"sqlite:///{folder}/bot.db", encoder=BagEncoder(), **options)


# Whose memory


def test_a_namespace_of_none_has_no_memory(memories: Memories) -> None:
    memories.remember(None, VALVE)
    assert memories.converse(None, VALVE, "Noted.", key="1") is None
    assert (memories.recall(None, ASKED), memories.prepare(None, ASKED), memories.known(None)) == (None, None, None)
    assert memories.export() == {}


@pytest.mark.parametrize("wrong", [5, "", " ", b"ana"])
def test_a_namespace_that_is_no_name_is_named_as_the_field(
    memories: Memories, wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(InvalidInput, match="namespace"):
        memories.recall(wrong, ASKED)
    assert memories.prepare(wrong, ASKED) is None
    assert memories.converse(wrong, VALVE, "Noted.", key="1") is None
    assert caplog.messages == [
        "nothing was recalled: InvalidInput (namespace)",
        "a turn was not remembered: InvalidInput (namespace)",
    ]


def test_a_function_that_gives_nothing_means_no_memory() -> None:
    assert [named(namespace, {"user": ""}) for namespace in (lambda call: call["user"], lambda _: None, "ana")] == [
        None,
        None,
        "ana",
    ]


@pytest.mark.parametrize("options", [{"limit": 0}, {"limit": "2000"}, {"most_open": 0}, {"memory_id": "x"}])
def test_a_wrong_option_is_refused_when_the_memories_are_made(options: Any) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        Memories(**options)


def test_a_place_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="inject"):
        checked("bogus")


def test_no_more_memories_are_open_than_allowed_and_none_is_lost(tmp_path: Path) -> None:
    with stored(tmp_path, most_open=2) as memories:
        for name in ("ana", "ben", "cal", "ana"):
            memories.remember(name, f"{name} has a valve.")
        assert [*memories._open] == ["cal", "ana"]
        assert [texts(memories, name) for name in ("ana", "ben", "cal")] == [
            ["ana has a valve."] * 2,
            ["ben has a valve."],
            ["cal has a valve."],
        ]


def test_threads_that_write_to_more_memories_than_are_open_lose_nothing() -> None:
    memories = Memories(most_open=1, encoder=BagEncoder())

    def write(name: str) -> None:
        for n in range(20):
            memories.remember(name, f"{name} says {n}")

    threads = [threading.Thread(target=write, args=(name,)) for name in ("ana", "ben", "ana")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(texts(memories, name)) for name in ("ana", "ben")] == [40, 20]


def test_an_export_has_what_is_stored_whether_it_is_open_or_not(tmp_path: Path) -> None:
    with stored(tmp_path) as memories:
        memories.remember("ana", VALVE)
    with stored(tmp_path) as memories:
        assert [*memories.export()] == ["ana"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deep", "pickle"])
def test_a_copy_knows_the_answers_of_calls(memories: Memories, copied: Any) -> None:
    memories.converse("ana", ASKED, "Brass.", key="1", call="c1")
    assert copied(memories).feedback("c1", thumbs=True).reward == 1.0


# What is remembered of a turn


def test_a_block_that_is_pasted_back_is_not_remembered(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    reading = memories.recall("ana", ASKED)
    assert reading is not None
    memories.remember("ana", f"{DECLARED}\n{reading.text}\nMy gate squeaks.")
    assert texts(memories) == [VALVE, "My gate squeaks."]


def test_an_answer_given_from_nothing_rests_on_nothing(memories: Memories) -> None:
    memories.converse("ana", VALVE, "Your boiler has a valve of brass.", key="1")
    (context,) = memories.of("ana").contexts()
    assert (context.read, context.supports) == ((), ())


def test_a_turn_carried_out_again_is_remembered_once_and_both_its_calls_are_known(memories: Memories) -> None:
    for call in ("c1", "c2"):
        memories.converse("ana", ASKED, "Brass.", key="1", call=call)
    assert texts(memories) == [ASKED, "Brass."]
    assert [memories.feedback(call, thumbs=True).reward for call in ("c1", "c2")] == [1.0, 1.0]


# Feedback


def test_an_answer_is_found_by_another_process(tmp_path: Path) -> None:
    with stored(tmp_path) as memories:
        memories.converse("ana", ASKED, "Brass.", key="1", call="c1")
        memories.converse("ana", VALVE, "Noted.", key="2", call="c2")
    with stored(tmp_path) as memories:
        assert memories.feedback("c1", namespace="ana", thumbs=True).answer_id == "a1"
        with pytest.raises(InvalidInput, match="call"):
            memories.feedback("c1", thumbs=True)


def test_an_id_that_two_users_calls_have_wants_a_namespace(memories: Memories) -> None:
    for name in ("ana", "ben"):
        memories.converse(name, ASKED, f"Brass, {name}.", key="1", call="c1")
    with pytest.raises(InvalidInput, match="namespace"):
        memories.feedback("c1", thumbs=True)
    memories.feedback("c1", namespace="ana", thumbs=False)
    assert [memories.of(name).contexts()[0].rewards for name in ("ana", "ben")] == [(0.0,), ()]


@pytest.mark.parametrize("whose", ["ben", "nobody"])
def test_the_answer_of_another_is_not_known(memories: Memories, whose: str) -> None:
    memories.converse("ana", ASKED, "Brass.", key="1", call="c1")
    memories.remember("ben", VALVE)
    with pytest.raises(InvalidInput, match="call"):
        memories.feedback("c1", namespace=whose, thumbs=True)
    assert memories.known("nobody") is None


# Forgetting


def test_what_is_forgotten_is_in_no_answer_that_tells_of_it(memories: Memories) -> None:
    memories.converse("ana", VALVE, "So your boiler has a valve of brass.", key="1")
    reading = memories.recall("ana", ASKED)
    memories.converse("ana", ASKED, "It is brass.", key="2", reading=reading)
    memories.converse("ana", "My gate squeaks.", "Noted.", key="3", reading=reading)
    assert memories.forget("ana", "e1") == ("e1", "e2", "e4")
    assert texts(memories) == [ASKED, "My gate squeaks.", "Noted."]
    assert "brass" not in str(memories.export())


def test_what_a_user_said_of_it_otherwise_stays(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    reading = memories.recall("ana", ASKED)
    memories.converse("ana", ASKED, "It is brass.", key="1", reading=reading, call="c1")
    memories.feedback("c1", correction="Steel since May.")
    memories.forget("ana", "e1")
    assert any("Steel since May." in text for text in texts(memories))


def test_forgetting_what_is_not_there_is_an_error(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    for name, id in (("ana", "e9"), ("ben", "e1")):
        with pytest.raises(NotFound):
            memories.forget(name, id)


# What is held for a while


def test_of_the_latest_no_more_are_held_than_so_many() -> None:
    held: Recent[int, str] = Recent(2)
    for n in (1, 2, 1, 3):
        held[n] = str(n)
    assert held == {2: "2", 3: "3"}
    assert pickle.loads(pickle.dumps(held)) == held


def test_a_memory_with_a_custom_store_lives_in_it() -> None:
    from demem_agent.stores import MemoryStore

    store = MemoryStore()
    Memories(store, encoder=BagEncoder()).remember("ana", VALVE)
    assert len(SlotMemory.open(store, memory_id="ana", encoder=BagEncoder())) == 1
