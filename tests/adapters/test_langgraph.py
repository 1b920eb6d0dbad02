"""The langgraph adapter's store does what its inner store does, and searches it with a memory."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable
from itertools import chain
from typing import Any

import pytest
from adapter_contract import PageContract
from adapter_contract import texts as texts_of

pytest.importorskip(
    "langgraph", reason="the langgraph adapter: pip install 'demem-agent[langgraph]'"
)

from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchOp,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore
from langgraph.store.memory import InMemoryStore

from demem_adapters.common import Memories
from demem_adapters.langgraph import SOURCE, SlotStore, text_of, wrap
from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder

ANA, BEN = ("facts", "ana"), ("facts", "ben")
FACTS = {
    "f1": "The bike is in the cellar.",
    "f2": "Soup is on Mondays.",
    "f3": "The boiler has a brass valve.",
}


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def filled(memories: Memories, inner: BaseStore | None = None, **options: Any) -> SlotStore:
    store = wrap(inner or InMemoryStore(), memories, **options)
    for key, text in FACTS.items():
        store.put(ANA, key, {"text": text, "length": len(text)})
    return store


def texts(memories: Memories, namespace: str = "facts.ana") -> list[str]:
    return texts_of(memories, namespace)


class TestPage(PageContract):
    name = "langgraph"
    shows = (
        *PageContract.shows,
        "later: You told me: The boiler in the kitchen has a steel valve now.",
        "by key: {'text': 'The boiler in the kitchen has a steel valve now.'}",
    )


def keys(found: Iterable[Any]) -> list[str]:
    return [item.key for item in found]


# -- the same as the inner store
# ---------------------------------------------------------------------------------

label = st.sampled_from("abc")
paths = st.lists(label, min_size=1, max_size=3).map(tuple)
values = st.fixed_dictionaries(
    {"text": st.sampled_from(["red", "blue bike", ""]), "n": st.integers(0, 3)}
)
filters = st.none() | st.fixed_dictionaries({"n": st.integers(0, 3) | st.just({"$gte": 2})})
few = st.integers(0, 3)
conditions = st.none() | st.tuples(
    st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), paths)
)
operations = st.one_of(
    st.tuples(paths, label).map(lambda given: GetOp(*given)),
    st.tuples(paths, label, st.none() | values).map(lambda given: PutOp(*given)),
    st.tuples(st.just(()) | paths, filters, few, few).map(lambda given: SearchOp(*given)),
    st.tuples(conditions, st.none() | st.integers(1, 2), few, few).map(
        lambda given: ListNamespacesOp(*given)
    ),
)


def told(results: Iterable[Any]) -> list[Any]:
    """Return results without their times, which differ from store to store."""

    def plain(result: Any) -> Any:
        if isinstance(result, list):
            return [plain(one) for one in result]
        return (result.namespace, result.key, result.value) if hasattr(result, "key") else result

    return [plain(result) for result in results]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(operations, max_size=5), max_size=8))
def test_without_a_query_every_batch_gives_what_the_inner_store_gives(
    batches: list[list[Op]],
) -> None:
    plain, wrapped = InMemoryStore(), wrap(InMemoryStore(), Memories(encoder=BagEncoder()))
    for batch in batches:
        assert told(wrapped.batch(batch)) == told(plain.batch(batch))


@settings(max_examples=40, deadline=None)
@given(st.lists(operations, max_size=25), filters, st.just(()) | paths)
def test_a_search_with_a_query_gives_the_same_items_in_another_order(
    before: list[Op], chosen: dict[str, Any] | None, prefix: tuple[str, ...]
) -> None:
    wrapped = wrap(InMemoryStore(), Memories(encoder=BagEncoder()))
    for op in before:
        wrapped.batch([op])
    every = wrapped.search(prefix, filter=chosen, limit=100)
    asked = wrapped.search(prefix, query="blue bike", filter=chosen, limit=100)
    pages = [
        wrapped.search(prefix, query="blue bike", filter=chosen, limit=2, offset=n)
        for n in range(0, 30, 2)
    ]
    assert sorted(told(every), key=repr) == sorted(told(asked), key=repr)
    assert told(asked) == told(chain.from_iterable(pages))


@settings(max_examples=30, deadline=None)
@given(st.lists(operations, max_size=20))
def test_memory_holds_the_text_of_each_item_once_as_it_is_now(ops: list[Op]) -> None:
    memories = Memories(encoder=BagEncoder())
    wrapped = wrap(InMemoryStore(), memories, owner=lambda _: "all")
    for op in ops:
        wrapped.batch([op])
    assert sorted(texts(memories, "all")) == sorted(
        text_of(item.value) for item in wrapped.search((), limit=100)
    )


def test_a_batch_reads_what_was_there_before_it(memories: Memories) -> None:
    store = filled(memories)
    found = store.batch(
        [PutOp(ANA, "f9", {"text": "A bike."}), SearchOp(ANA, query="bike"), GetOp(ANA, "f9")]
    )
    assert sorted(keys(found[1])) == sorted(FACTS)
    assert found[2] is None
    assert "f9" in keys(store.search(ANA, query="bike"))


def test_namespaces_are_checked_as_before(memories: Memories) -> None:
    with pytest.raises(InvalidNamespaceError):
        wrap(InMemoryStore(), memories).put(("a.b",), "k", {"text": "x"})
    assert memories.known("a.b") is None


def test_attributes_of_the_inner_store_can_be_reached(memories: Memories) -> None:
    inner = InMemoryStore()
    store = wrap(inner, memories)
    assert store.index_config is inner.index_config
    with pytest.raises(AttributeError, match="sweep"):
        _ = store.sweep


class Expiring(InMemoryStore):
    """Takes a time to live, keeps what it was given, and can be told that an item has expired."""

    supports_ttl = True

    def __init__(self) -> None:
        super().__init__()
        self.ttl_config = {"default_ttl": 7.0, "refresh_on_read": True}
        self.ops: list[Op] = []

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        given = list(ops)
        self.ops += given
        return super().batch(given)


def test_times_to_live_are_the_inner_stores(memories: Memories) -> None:
    inner = Expiring()
    store = filled(memories, inner)
    store.put(ANA, "f4", {"text": "It rains."}, ttl=1.0)
    assert [op.ttl for op in inner.ops if isinstance(op, PutOp)] == [7.0, 7.0, 7.0, 1.0]
    with pytest.raises(NotImplementedError):
        wrap(InMemoryStore(), memories).put(ANA, "f4", {"text": "It rains."}, ttl=1.0)


@pytest.mark.parametrize("refresh", [True, False])
def test_a_search_refreshes_what_it_gives_and_nothing_else(
    memories: Memories, refresh: bool
) -> None:
    inner = Expiring()
    store = filled(memories, inner)
    inner.ops.clear()
    store.search(ANA, query="Where is the bike?", limit=1, refresh_ttl=refresh)
    assert [op.key for op in inner.ops if isinstance(op, GetOp)] == (["f1"] if refresh else [])
    assert not any(op.refresh_ttl for op in inner.ops if isinstance(op, SearchOp))


def test_what_is_gone_from_the_inner_store_is_not_found(memories: Memories) -> None:
    inner = InMemoryStore()
    store = filled(memories, inner)
    inner.delete(ANA, "f1")
    assert "f1" not in keys(store.search(ANA, query="Where is the bike?"))


# -- searched with a memory
# --------------------------------------------------------------------------------------


def test_what_a_memory_takes_while_it_is_searched_is_not_found_yet(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = wrap(InMemoryStore(), memories)
    store.put(("facts", "ana"), "a", {"text": "The bike is blue."})
    listed = SlotMemory.evidence

    def taken_after_it_was_listed(memory: SlotMemory, **given: Any) -> Any:
        items = listed(memory, **given)
        late = json.dumps(["facts", "ana", "late"])
        memory.ingest("The bike is red.", source=SOURCE, source_id=late)
        return items

    monkeypatch.setattr(SlotMemory, "evidence", taken_after_it_was_listed)
    assert keys(store.search(("facts", "ana"), query="bike")) == ["a"]


def test_the_best_comes_first_with_its_value_as_it_was_put(memories: Memories) -> None:
    found = filled(memories).search(ANA, query="Where is the bike?")
    assert found[0].value == {"text": FACTS["f1"], "length": len(FACTS["f1"])}
    scores = [item.score for item in found if item.score is not None]
    assert scores == sorted(scores, reverse=True)


def test_a_score_is_the_probability_so_that_a_threshold_means_something() -> None:
    store = filled(Memories())
    (found, *_) = store.search(ANA, query="Where is the bike?")
    (foreign, *_) = store.search(ANA, query="Who won the chess cup in Reykjavik?")
    assert 0.0 <= foreign.score < 0.2 < 0.5 < found.score <= 1.0


def test_every_item_that_memory_holds_has_a_score_and_the_same_text_the_same() -> None:
    store = filled(Memories())
    store.put(ANA, "f4", {"text": FACTS["f1"], "length": len(FACTS["f1"])})
    found = {item.key: item.score for item in store.search(ANA, query="Where is the bike?")}
    assert found.keys() == {"f1", "f2", "f3", "f4"}
    assert None not in found.values()
    assert found["f1"] == found["f4"]


def test_the_surest_of_all_namespaces_comes_first() -> None:
    store = filled(Memories())
    store.put(BEN, "b1", {"text": "The piano is out of tune."})
    found = store.search(("facts",), query="What is wrong with the piano?")
    scores = [item.score for item in found if item.score is not None]
    assert (found[0].namespace, found[0].key) == (BEN, "b1")
    assert scores == sorted(scores, reverse=True)


def test_one_namespace_never_sees_anothers(memories: Memories) -> None:
    store = filled(memories)
    store.put(BEN, "f1", {"text": "The bike was sold."})
    assert keys(store.search(BEN, query="Where is the bike?")) == ["f1"]
    assert texts(memories, "facts.ben") == ["The bike was sold."]


def test_a_prefix_is_searched_across_its_memories_best_first(memories: Memories) -> None:
    store = filled(memories)
    store.put(BEN, "b1", {"text": "Ben sails a red boat."})
    assert store.search(("facts",), query="Who sails a boat?")[0].namespace == BEN


def test_a_new_value_takes_the_place_of_the_old_one(memories: Memories) -> None:
    store = filled(memories)
    store.put(ANA, "f1", {"text": "The bike is in the garden."})
    assert FACTS["f1"] not in texts(memories)
    assert "The bike is in the garden." in texts(memories)


def test_the_same_put_again_is_remembered_once(memories: Memories) -> None:
    store = filled(memories)
    before = memories.of("facts.ana").fingerprint()
    store.put(ANA, "f1", store.get(ANA, "f1").value)
    assert memories.of("facts.ana").fingerprint() == before


def test_what_is_deleted_is_forgotten(memories: Memories) -> None:
    store = filled(memories)
    store.delete(ANA, "f1")
    assert len(texts(memories)) == len(FACTS) - 1
    assert not any("bike" in text for text in texts(memories))


def test_searching_a_new_namespace_gives_nothing_and_does_not_make_it(memories: Memories) -> None:
    assert wrap(InMemoryStore(), memories).search(("nobody",), query="anything") == []
    assert memories.known("nobody") is None


@pytest.mark.parametrize(
    ("fields", "kept"),
    [(["text"], "seen"), (["$"], "seen\nsecret: unseen"), ([], "seen\nsecret: unseen")],
)
def test_the_index_of_the_store_says_so_for_all_values(
    memories: Memories, fields: list[str], kept: str
) -> None:
    inner = InMemoryStore(
        index={
            "dims": 2,
            "embed": lambda texts: [[1.0, 0.0] for _ in texts],
            "fields": fields or ["$"],
        }
    )
    store = wrap(inner if fields else InMemoryStore(), memories)
    store.put(ANA, "a", {"text": "seen", "secret": "unseen"})
    (item,) = memories.of("facts.ana").evidence()
    assert item.text == kept


def test_index_says_what_of_a_value_is_remembered(memories: Memories) -> None:
    store = wrap(InMemoryStore(), memories)
    store.put(ANA, "a", {"text": "seen", "secret": "unseen"}, index=["text"])
    store.put(ANA, "b", {"text": "hidden"}, index=False)
    assert texts(memories) == ["seen"]
    assert keys(store.search(ANA, query="hidden")) == ["a", "b"]


def test_what_an_owner_keeps_out_is_searched_by_the_inner_store(memories: Memories) -> None:
    store = filled(memories, owner=lambda namespace: None)
    assert keys(store.search(ANA, query="boiler")) == list(FACTS)
    assert texts(memories) == []


def test_what_was_put_before_is_remembered_by_catching_up(memories: Memories) -> None:
    inner = InMemoryStore()
    for key, text in FACTS.items():
        inner.put(ANA, key, {"text": text})
    store = wrap(inner, memories)
    assert (store.catch_up(), store.catch_up()) == (3, 3)
    assert sorted(texts(memories)) == sorted(FACTS.values())


class Counting(Memories):
    """Gives memories that count how often they are read."""

    def __init__(self) -> None:
        super().__init__(encoder=BagEncoder())
        self.reads: list[dict[str, Any]] = []

    def known(self, namespace: str | None) -> Any:
        memory = super().known(namespace)
        return memory and Counted(memory, self.reads)


class Counted:
    def __init__(self, memory: Any, reads: list[dict[str, Any]]) -> None:
        self.memory, self.reads = memory, reads

    def read(self, query: str, **how: Any) -> Any:
        self.reads.append(how)
        return self.memory.read(query, **how)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.memory, name)


def test_a_search_with_a_filter_ranks_as_one_without_and_reads_once() -> None:
    memories = Counting()
    store = wrap(InMemoryStore(), memories)
    for n in range(60):
        colour = ("red", "blue", "green")[n % 3]
        text = f"The {colour} bike number {n} is in the cellar. " * 9
        store.put(ANA, f"f{n}", {"text": text, "size": n % 20}, index=["text"])
    asked = "Which red bike is in the cellar?"
    every = [
        item.key for item in store.search(ANA, query=asked, limit=60) if item.value["size"] < 2
    ]
    memories.reads.clear()
    assert keys(store.search(ANA, query=asked, filter={"size": {"$lt": 2}}, limit=3)) == every[:3]
    (read,) = memories.reads
    assert len(read["where"]["source_ids"]) == 6


def test_what_else_a_memory_holds_takes_no_room_in_a_search(memories: Memories) -> None:
    store = filled(memories)
    for n in range(40):
        memories.remember("facts.ana", f"Ana said of the bike, for the {n}th time: the bike! " * 9)
    found = store.search(ANA, query="Where is the bike?", limit=2)
    assert found[0].key == "f1"
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)


def test_what_has_expired_or_was_deleted_elsewhere_is_forgotten_by_catching_up(
    memories: Memories,
) -> None:
    inner = InMemoryStore()
    store = filled(memories, inner)
    store.put(BEN, "b1", {"text": "Ben sails."})
    memories.remember("facts.ana", "The bike was a present.")  # said, and in no store
    inner.delete(ANA, "f1")
    inner.delete(BEN, "b1")
    assert store.catch_up(ANA) == 2
    assert len(texts(memories)) == len(FACTS)
    assert FACTS["f1"] not in "".join(texts(memories))
    assert texts(memories, "facts.ben") == ["Ben sails."]
    assert asyncio.run(store.acatch_up()) == 2
    assert texts(memories, "facts.ben") == []
    assert "The bike was a present." in texts(memories)


def test_catching_up_looks_where_an_owner_keeps_things(memories: Memories) -> None:
    inner = InMemoryStore()
    store = filled(memories, inner, owner=lambda path: path[-1])
    inner.delete(ANA, "f1")
    store.catch_up(("facts",))
    assert len(texts(memories, "ana")) == len(FACTS) - 1


def test_catching_up_below_one_namespace_opens_no_memory_of_another(memories: Memories) -> None:
    store = filled(memories)
    store.put(("facts", "anabel"), "f1", {"text": "It rains."})
    names = ["facts", "facts.ana", "facts.anabel", "facts.ana.old", "other"]
    assert [name for name in names if store._may_hold(name, ANA)] == ["facts.ana", "facts.ana.old"]
    assert all(store._may_hold(name, ()) for name in names)


class Asynchronous(AsyncBatchedBaseStore):
    """Works from an event loop alone, as stores of async drivers do."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = InMemoryStore()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        raise asyncio.InvalidStateError("called from a running loop")

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self.inner.abatch(ops)


def test_catching_up_works_inside_an_event_loop(memories: Memories) -> None:
    async def run() -> int:
        inner = Asynchronous()
        for key, text in FACTS.items():
            await inner.aput(ANA, key, {"text": text})
        return await wrap(inner, memories).acatch_up(("facts",))

    assert asyncio.run(run()) == 3
    assert sorted(texts(memories)) == sorted(FACTS.values())


OLD, NEW = {"text": "The bike is in the cellar."}, {"text": "The bike is in the garden."}


class Late(InMemoryStore):
    """Takes a put of the old value, or gives it back, and does not return before the new one is
    remembered.
    """

    def __init__(self, kind: type[PutOp] | type[GetOp]) -> None:
        super().__init__()
        self.kind, self.taken, self.go_on = kind, threading.Event(), threading.Event()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        given = list(ops)
        results = super().batch(given)
        (op,) = given
        held = op.value if isinstance(op, PutOp) else getattr(results[0], "value", None)
        if isinstance(op, self.kind) and held == OLD:
            self.taken.set()
            assert self.go_on.wait(5)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, ops)


@pytest.mark.parametrize("kind", [PutOp, GetOp])
def test_of_two_puts_at_once_memory_holds_what_the_store_ended_with(
    memories: Memories, kind: Any
) -> None:
    inner = Late(kind)
    store = wrap(inner, memories)
    late = threading.Thread(target=store.put, args=(ANA, "f1", OLD))
    late.start()
    assert inner.taken.wait(5)
    store.put(ANA, "f1", NEW)
    inner.go_on.set()
    late.join(5)
    assert inner.get(ANA, "f1").value == NEW
    assert texts(memories) == [NEW["text"]]


@pytest.mark.parametrize("kind", [PutOp, GetOp])
def test_of_two_puts_at_once_in_an_event_loop_as_well(memories: Memories, kind: Any) -> None:
    inner = Late(kind)
    store = wrap(inner, memories)

    async def run() -> None:
        late = asyncio.create_task(store.aput(ANA, "f1", OLD))
        assert await asyncio.to_thread(inner.taken.wait, 5)
        await store.aput(ANA, "f1", NEW)
        inner.go_on.set()
        await late

    asyncio.run(run())
    assert texts(memories) == [NEW["text"]]


def test_an_item_that_is_deleted_while_it_is_put_is_not_remembered(memories: Memories) -> None:
    inner = Late(PutOp)
    store = wrap(inner, memories)
    late = threading.Thread(target=store.put, args=(ANA, "f1", OLD))
    late.start()
    assert inner.taken.wait(5)
    store.delete(ANA, "f1")
    inner.go_on.set()
    late.join(5)
    assert texts(memories) == []


class Failing(InMemoryStore):
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        raise ConnectionError("gone")


def test_what_the_inner_store_did_not_take_is_not_remembered(memories: Memories) -> None:
    with pytest.raises(ConnectionError):
        wrap(Failing(), memories).put(ANA, "f1", {"text": FACTS["f1"]})
    assert memories.known("facts.ana") is None


class Full(MemoryStore):
    """Takes nothing while it is full."""

    full = True

    def commit(self, address: Any, delta: Any) -> None:
        if self.full:
            raise StoreError("full")
        super().commit(address, delta)


def test_what_memory_cannot_take_yet_waits_and_the_store_goes_on() -> None:
    full = Full()
    memories = Memories(full, encoder=BagEncoder())
    store = wrap(InMemoryStore(), memories)
    for text in (FACTS["f1"], FACTS["f2"]):
        store.put(ANA, "f1", {"text": text})
    assert keys(store.search(ANA, query="Where is the bike?")) == ["f1"]
    full.full = False
    while memories.waiting:
        memories.names()
    assert texts(memories) == [FACTS["f2"]]


def test_of_puts_in_a_row_the_last_stays_where_writes_are_left_to_a_thread() -> None:
    memories = Memories(encoder=BagEncoder(), background=True)
    store = wrap(InMemoryStore(), memories)
    for _ in range(3):
        for text in FACTS.values():
            store.put(ANA, "f1", {"text": text})
    while memories.waiting:
        memories.names()
    assert texts(memories) == [[*FACTS.values()][-1]]


def test_what_memory_never_took_is_remembered_by_catching_up() -> None:
    full = Full()
    inner = InMemoryStore()
    memories = Memories(full, encoder=BagEncoder())
    wrap(inner, memories).put(ANA, "f1", {"text": FACTS["f1"]})
    memories._writes.drain(0.0)  # as at the end of a process
    full.full = False
    memories = Memories(full, encoder=BagEncoder())
    wrap(inner, memories).catch_up()
    assert texts(memories) == [FACTS["f1"]]


def test_catching_up_refreshes_nothing(memories: Memories) -> None:
    inner = Expiring()
    store = filled(memories, inner)
    inner.ops.clear()
    store.catch_up()
    assert [op.refresh_ttl for op in inner.ops if isinstance(op, SearchOp)] == [False]


def test_catching_up_remembers_nothing_that_was_put_without_an_index(memories: Memories) -> None:
    store = wrap(InMemoryStore(), memories)
    store.put(ANA, "f1", {"text": FACTS["f1"], "title": "Bike"}, index=["title"])
    store.put(ANA, "f2", {"text": FACTS["f2"]}, index=False)
    store.catch_up()
    assert texts(memories) == ["Bike"]


def test_a_memory_may_hold_more_than_the_store_and_a_search_gives_only_items(
    memories: Memories,
) -> None:
    store = filled(memories)
    memories.remember("facts.ana", "Where is the bike?", speaker="user", source_id="turn 1")
    assert sorted(keys(store.search(ANA, query="Where is the bike?"))) == sorted(FACTS)


def test_async_does_the_same_without_blocking_the_loop(memories: Memories) -> None:
    store, threads = wrap(InMemoryStore(), memories), []
    known = memories.known

    def watched(name: str) -> Any:
        threads.append(threading.get_ident())
        return known(name)

    memories.known = watched  # type: ignore[method-assign]

    async def run() -> tuple[list[str], int]:
        await asyncio.gather(*(store.aput(ANA, key, {"text": text}) for key, text in FACTS.items()))
        return keys(
            await store.asearch(ANA, query="Where is the bike?", limit=1)
        ), threading.get_ident()

    found, loop = asyncio.run(run())
    assert found == ["f1"]
    assert threads
    assert loop not in threads


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"text": "I like tea."}, "I like tea."),
        ({"food": "pizza", "n": 2}, "food: pizza\nn: 2"),
        ({"kind": "Memory", "content": {"content": "I like tea."}}, "kind: Memory\nI like tea."),
        ({"tags": ["a", "b"], "none": None, "blank": " "}, "tags: a\ntags: b"),
        ({}, ""),
    ],
)
def test_values_as_text(value: dict[str, Any], text: str) -> None:
    assert text_of(value) == text


def test_what_was_right_for_one_is_not_found_first_by_another() -> None:
    memories = Memories(decisions=True, encoder=BagEncoder())
    asked = "Which valve has the boiler?"

    def found_by(who: str, *facts: str) -> list[str]:
        store = wrap(inner, memories, owner=lambda _: "home", asker=who, conditions=facts)
        return keys(store.search(ANA, query=asked))

    inner = InMemoryStore()
    filled(memories, inner, owner=lambda _: "home")
    memory = memories.of("home")
    assert found_by("ana", "rain")[0] == "f3"
    answer = memory.answered(asked, "On Mondays.", asker="ana", conditions=["rain"])
    memory.feedback(answer, reference="Soup is on Mondays.")
    assert found_by("ana", "rain")[0] == "f2"
    assert found_by("ana")[0] == "f3"
    assert found_by("ben", "rain")[0] == "f3"


def test_who_searches_may_depend_on_the_prefix(memories: Memories) -> None:
    asked: list[tuple[str, ...]] = []
    store = filled(memories, asker=lambda path: asked.append(path) or path[1])
    store.search(ANA, query="Where is the bike?")
    assert asked == [ANA]
