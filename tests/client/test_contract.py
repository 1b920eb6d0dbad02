"""What comes of an operation over HTTP is what comes of it in process, and so is what goes
wrong.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator
from datetime import date, datetime
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often
from served import Ask, served

from demem_agent import AsyncSlotMemory, SlotMemory, Turn
from demem_agent.client import AsyncRemoteMemory, RemoteMemory, asks
from demem_agent.errors import DeMemError, RemoteError
from demem_agent.testing import BagEncoder
from demem_agent.where import Where

NAMES = count()
#: What a client has not, since it needs the memory in this process.
MISSING = {"backup", "reembed", "decision_log"}

Memory = SlotMemory | RemoteMemory
Operation = Callable[[Any], Any]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    with served() as made:
        yield made


def pair(ask: Ask, **settings: Any) -> tuple[RemoteMemory, SlotMemory]:
    """Return the same new memory behind a server and in this process."""
    remote = RemoteMemory.open(ask.server, memory_id=f"m/{next(NAMES)}", **settings)
    return remote, SlotMemory(clock=None, encoder=BagEncoder(), **settings)


def outcome(memory: Memory, operation: Operation) -> Any:
    """Return what comes of an operation, or what kind of error, in which words."""
    try:
        return operation(memory)
    except DeMemError as error:
        return type(error), str(error), getattr(error, "field", None)


WORDS = st.sampled_from(
    ["the cat is called Minka", "Ana moved to Lisbon", "Ben has a red boat", "no", "Tschüß 猫", " "]
)
IDS = st.integers(1, 6)
TIMES = st.sampled_from(["2024-03-02", date(2023, 5, 8), datetime(2024, 1, 1, 12, 30), None])
FILTERS = st.sampled_from(
    [{"speaker": "Ana"}, {"until": "2023"}, Where(speaker=("Ana", "Ben")), {"colour": 1}, None]
)


def operations() -> st.SearchStrategy[Operation]:
    """Return operations of a memory, sound ones and mistakes."""
    return st.one_of(
        st.builds(ingest, WORDS, st.sampled_from(["Ana", "Ben", None]), TIMES, st.none() | IDS),
        st.builds(read, WORDS, st.sampled_from([None, 0, 60, 500]), FILTERS, TIMES),
        st.builds(weigh, WORDS, st.sampled_from([None, 0, 60, 500]), FILTERS),
        st.builds(answer, WORDS, st.sampled_from(["Ana", None]), FILTERS),
        st.builds(told, IDS, st.sampled_from(["reward", "reference", "thumbs", "correction"])),
        st.builds(decide, WORDS, st.booleans()),
        st.builds(update, IDS, WORDS, TIMES),
        st.builds(forget, IDS, FILTERS),
        st.builds(settle, IDS, st.sampled_from(["keep", "hide", "undo", "history", "item"])),
        st.builds(arrange, st.integers(0, 3), st.sampled_from(["pin", "rename", "merge"])),
        st.builds(supersede, IDS, IDS),
        st.builds(sync, st.lists(WORDS, max_size=3)),
        st.builds(messages, WORDS),
    )


def ingest(text: str, speaker: str | None, at: Any, number: int | None) -> Operation:
    key = None if number is None else f"k{number}"
    more = {"metadata": {"n": [number, {"deep": 1.5}]}, "trust": 0.5, "source_id": key}
    return lambda memory: memory.ingest(text, speaker=speaker, at=at, key=key, **more)


def read(text: str, limit: int | None, where: Any, at: Any) -> Operation:
    def does(memory: Any) -> Any:
        return (
            memory.read(text, limit=limit, where=where, at=at, without=["e1"]),
            memory.route(text, where=where, context=["the cat"]),
        )

    return does


def weigh(text: str, limit: int | None, where: Any) -> Operation:
    return lambda memory: memory.weigh(text, limit=limit, where=where)


def answer(text: str, asker: str | None, where: Any) -> Operation:
    def does(memory: Any) -> Any:
        given = memory.answer(text, asker=asker, where=where, conditions=("rain",))
        return given, memory.answered(text, "yes", reading=given.reading)

    return does


def told(number: int, channel: str) -> Operation:
    values: dict[str, Any] = {"reward": 0.25, "thumbs": True}
    what = {channel: values.get(channel, "it is Minka")}
    return lambda memory: memory.feedback(f"a{number}", key=f"f{number}", **what)


def decide(text: str, chosen: bool) -> Operation:
    def does(memory: Any) -> Any:
        if chosen:
            return memory.decided(text, "wait", actions=["wait", "go"])
        made = memory.decide(text, iter(["wait", "go"]), never={"go"})
        report = memory.feedback(made, reward=1.0)
        return made, report, memory.advice(text), memory.tried(text), memory.explain(made.id)

    return does


def update(number: int, text: str, at: Any) -> Operation:
    return lambda memory: memory.update(f"e{number}", text, at=at)


def forget(number: int, where: Any) -> Operation:
    if where is None:
        return lambda memory: memory.forget(f"e{number}", versions=True)
    return lambda memory: memory.forget(where=where)


def settle(number: int, method: str) -> Operation:
    letter = "s" if method == "undo" else "e"
    return lambda memory: getattr(memory, method)(f"{letter}{number}")


def arrange(slot: int, method: str) -> Operation:
    more: dict[str, dict[str, Any]] = {"pin": {}, "rename": {"name": "home"}, "merge": {"into": 0}}
    return lambda memory: getattr(memory, method)(slot, **more[method])


def supersede(old: int, new: int) -> Operation:
    return lambda memory: memory.supersede(f"e{old}", f"e{new}", key=f"s{old}")


def sync(texts: list[str]) -> Operation:
    turns = [{"text": text, "source_id": f"n{n}"} for n, text in enumerate(texts)]
    return lambda memory: memory.sync(turns, source="notes", gone="forget")


def messages(text: str) -> Operation:
    said = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": text}]
    return lambda memory: memory.ingest_messages(said, session="s", at="2024-02-02")


#: All that a memory shows.
SHOWN: dict[str, Operation] = {
    "slots": lambda memory: memory.slots,
    "version": lambda memory: memory.version,
    "settings": lambda memory: memory.settings,
    "length": len,
    "evidence": lambda memory: memory.evidence(),
    "some": lambda memory: memory.evidence(where={"speaker": "Ana", "holds": True}),
    "contexts": lambda memory: memory.contexts(),
    "certificates": lambda memory: memory.certificates(),
    "successions": lambda memory: memory.successions(),
    "decisions": lambda memory: memory.decisions(),
    "situations": lambda memory: memory.situations(),
    "marks": lambda memory: memory.marks(),
    "storage": lambda memory: memory.storage(),
    "receipts": lambda memory: memory.receipts(),
    "sharings": lambda memory: memory.sharings(),
    "fingerprint": lambda memory: memory.fingerprint(),
    "export": lambda memory: json.loads(json.dumps(memory.export())),
    "part": lambda memory: json.loads(json.dumps(memory.export(where={"speaker": "Ana"}))),
    "check": lambda memory: memory.check(),
}


@settings(max_examples=often(25))
@given(st.lists(operations(), max_size=8))
def test_the_same_operations_come_to_the_same(ask: Ask, done: list[Operation]) -> None:
    remote, local = pair(ask, slots=4, slot_limit=200)
    for operation in done:
        assert outcome(remote, operation) == outcome(local, operation)
    for what, shown in SHOWN.items():
        assert outcome(remote, shown) == outcome(local, shown), what


MISTAKES: dict[str, Operation] = {
    "text": lambda memory: memory.ingest(5),
    "trust": lambda memory: memory.ingest("x", trust=float("nan")),
    "metadata": lambda memory: memory.ingest("x", metadata={"a": object()}),
    "turns": lambda memory: memory.ingest_many([{"text": "x"}, {"text": ""}]),
    "no turns": lambda memory: memory.ingest_many("x"),
    "limit": lambda memory: memory.read("x", limit=0),
    "query": lambda memory: memory.read(5),
    "at": lambda memory: memory.read("x", at="soon"),
    "where": lambda memory: memory.read("x", where={"since": "soon"}),
    "strict": lambda memory: memory.read("x", where={"speaker": "Ana"}, mode="strict"),
    "reading": lambda memory: memory.answered("x", "y", reading="z"),
    "told": lambda memory: memory.feedback("a1"),
    "judge": lambda memory: memory.feedback("a1", judge=True),
    "unknown": lambda memory: memory.feedback("a9", thumbs=True),
    "unknown decision": lambda memory: memory.feedback("d9", reward=1.0),
    "forget": lambda memory: memory.forget(),
    "forget nothing": lambda memory: memory.forget(where={}),
    "forget twice": lambda memory: memory.forget("e1", source_id="m1"),
    "item": lambda memory: memory.item(5),
    "slot": lambda memory: memory.rename(7, "x"),
    "into": lambda memory: memory.merge(0, into=0),
    "answers": lambda memory: memory.share(1),
    "compressor": lambda memory: memory.summarise(),
    "note taker": lambda memory: memory.take_notes(),
    "judge of changes": lambda memory: memory.judge_changes(),
    "by": lambda memory: memory.sync([], source="x", by="name"),
    "messages": lambda memory: memory.ingest_messages([{"content": "x"}]),
    "actions": lambda memory: memory.decide("x", []),
    "explain": lambda memory: memory.explain("d9"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_the_same_words(ask: Ask, name: str) -> None:
    remote, local = pair(ask)
    for memory in (remote, local):
        memory.ingest("The cat is called Minka.", speaker="Ana")
    told = outcome(remote, MISTAKES[name])
    assert told == outcome(local, MISTAKES[name])
    assert issubclass(told[0], DeMemError)


def test_an_argument_that_there_is_not_is_a_type_error_as_in_process(ask: Ask) -> None:
    for memory in pair(ask):
        for method in ("read", "route", "answer", "ingest", "forget"):
            with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
                getattr(memory, method)("x", colour="red")


def test_a_memory_behind_a_url_has_every_method_but_those_that_are_named() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(SlotMemory) - public(RemoteMemory) == MISSING
    assert public(AsyncSlotMemory) - public(AsyncRemoteMemory) == MISSING
    assert "RemoteMemory" in (SlotMemory.open.__doc__ or "")
    for name in MISSING:
        assert name in (RemoteMemory.__doc__ or "")


@pytest.mark.parametrize(
    ("one", "other"), [(SlotMemory, RemoteMemory), (AsyncSlotMemory, AsyncRemoteMemory)]
)
def test_methods_take_the_same_arguments(one: type, other: type) -> None:
    for name, method in inspect.getmembers(other, inspect.isfunction):
        if name.startswith("_") or isinstance(inspect.getattr_static(one, name, None), property):
            continue
        if name not in ("open", "restore", "count"):
            ours = inspect.signature(method).parameters
            assert list(ours) == list(inspect.signature(getattr(one, name)).parameters), name


def test_the_async_client_does_what_the_other_does(ask: Ask) -> None:
    remote, _ = pair(ask)
    remote.ingest("The cat is called Minka.", speaker="Ana")

    async def asked() -> None:
        name = remote._caller.memory_id
        async with await AsyncRemoteMemory.open(ask.server, memory_id=name) as memory:
            assert await memory.read("cat?") == remote.read("cat?")
            done = await memory.ingest_many([Turn("One."), {"text": "Two."}])
            assert [one.evidence_id for one in done] == ["e2", "e3"]
            assert await memory.evidence() == remote.evidence()
            assert await memory.slots() == remote.slots
            assert await memory.count() == len(remote) == 3
            assert await memory.version() == remote.version
            both = await asyncio.gather(memory.fingerprint(), memory.advice("x"))
            assert both == [remote.fingerprint(), ""]

    asyncio.run(asked())


def test_progress_is_told_in_batches(ask: Ask) -> None:
    remote, _ = pair(ask)
    told: list[tuple[int, int]] = []
    remote.ingest_many(
        [{"text": f"thing {n}"} for n in range(600)], progress=lambda *now: told.append(now)
    )
    assert told == [(512, 600), (600, 600)]
    assert len(remote.evidence()) == 600


def test_long_turns_go_in_several_requests() -> None:
    turns = [Turn("x" * size) for size in (1_000_000, 400_000, 400_000, 2_000_000, 1)]
    sizes = [[len(turn.text) for turn in batch] for batch in asks.batches(turns)]
    assert sizes == [[1_000_000, 400_000], [400_000], [2_000_000], [1]]
    assert [len(batch) for batch in asks.batches([Turn("x")] * 1025)] == [512, 512, 1]


def test_an_export_makes_the_memory_again(ask: Ask) -> None:
    remote, local = pair(ask, slots=3)
    for memory in (remote, local):
        memory.ingest("The cat is called Minka.", speaker="Ana", at="2024-03-02")
    name = f"again/{next(NAMES)}"
    again = RemoteMemory.restore(local.export(), ask.server, memory_id=name)
    assert again.fingerprint() == remote.fingerprint()
    with pytest.raises(RemoteError) as caught:
        RemoteMemory.restore(local.export(), ask.server, memory_id=name)
    assert caught.value.problem == "exists"
    with pytest.raises(DeMemError, match="line 1"):
        RemoteMemory.restore([{"kind": "nothing"}], ask.server, memory_id="broken")


def test_a_memory_with_half_a_character_is_shown_with_a_sign_for_it(ask: Ask) -> None:
    remote, _ = pair(ask)
    ask.app.house.memory(remote._caller.memory_id).ingest("a cat \ud800")
    assert remote.evidence()[0].text == "a cat \ufffd"
    again = RemoteMemory.restore(remote.export(), ask.server, memory_id=f"again/{next(NAMES)}")
    assert again.fingerprint() == remote.fingerprint()


def test_a_message_is_gated_behind_a_url_as_in_process(ask: Ask) -> None:
    remote, local = pair(ask)
    for memory in (remote, local):
        memory.ingest("The locker code is 4471.", speaker="user")
        assert memory.read("Thanks!").gated is None
    reading = remote.read("Thanks!", gate=True)
    assert reading == local.read("Thanks!", gate=True)
    assert reading.text == ""
    assert reading.gated is not None


def test_a_vector_may_be_an_array(ask: Ask) -> None:
    remote, local = pair(ask)
    vector = np.asarray(BagEncoder().encode(["cat"])[0])
    for memory in (remote, local):
        memory.ingest("a cat", speaker="Ana")
    assert remote.read("cat", vector=vector) == local.read("cat", vector=vector)


def test_a_deleted_memory_is_gone(ask: Ask) -> None:
    remote, _ = pair(ask)
    assert remote.delete().items == 0
    with pytest.raises(DeMemError, match="memory"):
        remote.read("x")
