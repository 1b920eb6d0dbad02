"""The memories of an adapter: one for each namespace, found again, bounded, and told what went
wrong by kind alone.
"""

from __future__ import annotations

import asyncio
import copy
import pickle
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, holds, texts
from generated_conversations import FailingStore

from demem_adapters.common import (
    DECLARED,
    Memories,
    Situation,
    Spoken,
    checked,
    named,
    put_before,
)
from demem_adapters.common.recent import Recent
from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import MemoryGone, NotFound, StoreError
from demem_agent.memories import delete_memory
from demem_agent.stores import MemoryStore
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
    assert (memories.recall(None, ASKED), memories.prepare(None, ASKED), memories.known(None)) == (
        None,
        None,
        None,
    )
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
    assert [
        named(namespace, {"user": ""})
        for namespace in (lambda call: call["user"], lambda _: None, "ana")
    ] == [
        None,
        None,
        "ana",
    ]


@pytest.mark.parametrize(
    "options", [{"limit": 0}, {"limit": "2000"}, {"most_open": 0}, {"memory_id": "x"}]
)
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
        assert memories._pool.warm == ("cal", "ana")
        assert [texts(memories, name) for name in ("ana", "ben", "cal")] == [
            ["ana has a valve."] * 2,
            ["ben has a valve."],
            ["cal has a valve."],
        ]


def test_threads_that_write_to_more_memories_than_are_open_lose_nothing() -> None:
    memories = Memories(most_open=1, encoder=BagEncoder())
    names = ("ana", "ben", "cal", "ana", "ben", "cal")

    def write(name: str) -> None:
        for n in range(20):
            memories.remember(name, f"{name} says {n}")

    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # as often as can be
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(switching)
    assert [len(texts(memories, name)) for name in ("ana", "ben", "cal")] == [40, 40, 40]


def test_a_memory_that_is_in_use_is_the_same_object_though_others_were_opened_since() -> None:
    memories = Memories(most_open=1, encoder=BagEncoder())
    ana = memories.of("ana")
    memories.remember("ben", VALVE)
    assert memories.of("ana") is ana


def test_a_copy_of_memories_in_a_file_shares_it(tmp_path: Path) -> None:
    with stored(tmp_path, limit=77, tenant="acme") as memories:
        memories.remember("ana", VALVE)
        again = copy.deepcopy(memories)
        assert (texts(again), again.limit) == ([VALVE], 77)
    assert SlotMemory.open(
        f"sqlite:///{tmp_path}/bot.db", memory_id="ana", tenant="acme", encoder=BagEncoder()
    )


def test_a_limit_of_nothing_is_refused_and_not_the_default(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    with pytest.raises(InvalidInput, match="limit"):
        memories.recall("ana", ASKED, limit=0)


def test_an_export_has_what_is_stored_whether_it_is_open_or_not(tmp_path: Path) -> None:
    with stored(tmp_path) as memories:
        memories.remember("ana", VALVE)
    with stored(tmp_path) as memories:
        assert [*memories.export()] == ["ana"]


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deep", "pickle"]
)
def test_a_copy_knows_the_answers_of_calls(memories: Memories, copied: Any) -> None:
    memories.converse("ana", ASKED, "Brass.", key="1", call="c1")
    assert copied(memories).feedback("c1", namespace="ana", thumbs=True).reward == 1.0


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


def test_a_turn_carried_out_again_is_remembered_once_and_both_its_calls_are_known(
    memories: Memories,
) -> None:
    for call in ("c1", "c2"):
        memories.converse("ana", ASKED, "Brass.", key="1", call=call)
    assert texts(memories) == [ASKED, "Brass."]
    assert [
        memories.feedback(call, namespace="ana", thumbs=True).reward for call in ("c1", "c2")
    ] == [1.0, 1.0]


# Feedback


def test_an_answer_is_found_by_another_process(tmp_path: Path) -> None:
    with stored(tmp_path) as memories:
        memories.converse("ana", ASKED, "Brass.", key="1", call="c1")
        memories.converse("ana", VALVE, "Noted.", key="2", call="c2")
    with stored(tmp_path) as memories:
        assert memories.feedback("c1", namespace="ana", thumbs=True).answer_id == "a1"


def test_of_the_same_answer_to_two_questions_each_is_found_by_its_own_call(tmp_path: Path) -> None:
    with stored(tmp_path) as memories:
        for n, asked in enumerate(("Is it brass?", "Is it steel?"), 1):
            memories.converse("ana", asked, "Yes.", key=str(n), call=f"c{n}")
    with stored(tmp_path) as memories:
        found = [memories.feedback(f"c{n}", namespace="ana", thumbs=True).answer_id for n in (1, 2)]
    assert found == ["a1", "a2"]


def test_of_two_users_calls_with_one_id_each_has_its_own_answer(memories: Memories) -> None:
    for name in ("ana", "ben"):
        memories.converse(name, ASKED, f"Brass, {name}.", key="1", call="c1")
    memories.feedback("c1", namespace="ana", thumbs=False)
    assert [memories.of(name).contexts()[0].rewards for name in ("ana", "ben")] == [(0.0,), ()]


def test_feedback_wants_to_know_whose_answer_it_is(memories: Memories) -> None:
    memories.converse("ana", ASKED, "Brass.", key="1", call="c1")
    untyped: Any = memories
    with pytest.raises(TypeError, match="namespace"):
        untyped.feedback("c1", thumbs=True)
    with pytest.raises(InvalidInput, match="namespace"):
        untyped.feedback("c1", namespace=None, thumbs=True)
    assert memories.of("ana").contexts()[0].rewards == ()


def test_feedback_does_not_block_the_event_loop(memories: Memories) -> None:
    memories.converse("ana", ASKED, "Brass.", key="1", call="c1")
    report = asyncio.run(memories.afeedback("c1", namespace="ana", thumbs=True))
    assert report.reward == 1.0


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


def test_answers_go_with_what_they_tell_of_however_much_was_forgotten_before(
    memories: Memories,
) -> None:
    things = ("boiler", "violin", "ferry", "plover", "harbour", "lamp")
    for number, thing in enumerate(things):
        memories.remember("ana", f"The PIN of the {thing} is {4000 + number}.")
    for number, thing in enumerate(things):
        asked = f"What is the PIN of the {thing}?"
        reading = memories.recall("ana", asked)
        assert len(reading.evidence) > 1  # so that forgetting one blanks what tells of others
        memories.converse("ana", asked, f"It is {4000 + number}.", key=thing, reading=reading)
    for number in range(len(things)):
        memories.forget("ana", f"e{number + 1}")
        assert str(4000 + number) not in str(texts(memories))


def test_an_answer_of_the_same_words_to_another_question_stays(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    reading = memories.recall("ana", ASKED)
    memories.converse("ana", ASKED, "It is brass.", key="1", reading=reading)
    memories.converse("ana", "What is the lock made of?", "It is brass.", key="2")
    assert memories.forget("ana", "e1") == ("e1", "e3")
    assert texts(memories)[-1] == "It is brass."


def test_what_was_answered_from_an_answer_goes_with_it(memories: Memories) -> None:
    memories.converse("ana", "My PIN is 4711.", "Noted: 4711.", key="1")
    echo = memories.recall("ana", "What did you note?", shown=["My PIN is 4711."])
    memories.converse("ana", "What did you note?", "It was 4711.", key="2", reading=echo)
    assert memories.forget("ana", "e1") == ("e1", "e2", "e4")
    assert "4711" not in str(memories.export())


def test_a_question_with_a_block_pasted_into_it_is_known_by_its_own_words(
    memories: Memories,
) -> None:
    memories.remember("ana", "The gate squeaks.")
    block = f"{DECLARED}\n{memories.of('ana').read('gate').text}\n"
    memories.converse("ana", block + VALVE, "Brass, I see.", key="1")
    assert memories.forget("ana", "e2") == ("e2", "e3")


def test_forgetting_that_failed_half_way_can_be_made_again(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories.converse("ana", VALVE, "So it is brass.", key="1")
    with monkeypatch.context() as patch:
        patch.setattr(
            SlotMemory, "forget", lambda *_, **__: (_ for _ in ()).throw(StoreError("busy"))
        )
        with pytest.raises(StoreError):
            memories.forget("ana", "e1")
    assert memories.forget("ana", "e1") == ("e1", "e2")


def test_what_a_user_said_of_it_otherwise_stays(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    reading = memories.recall("ana", ASKED)
    memories.converse("ana", ASKED, "It is brass.", key="1", reading=reading, call="c1")
    memories.feedback("c1", namespace="ana", correction="Steel since May.")
    memories.forget("ana", "e1")
    assert any("Steel since May." in text for text in texts(memories))


def test_forgetting_what_is_not_there_is_an_error(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    for name, id in (("ana", "e9"), ("ben", "e1")):
        with pytest.raises(NotFound):
            memories.forget(name, id)


def test_all_that_a_filter_leaves_is_forgotten_with_the_answers_that_tell_of_it(
    memories: Memories,
) -> None:
    memories.converse("ana", VALVE, "So it is a valve of brass.", key="1", session="monday")
    memories.converse("ana", "My gate squeaks.", "So it squeaks.", key="2", session="monday")
    reading = memories.recall("ana", ASKED)
    memories.converse("ana", ASKED, "It is brass.", key="3", session="today", reading=reading)
    assert memories.forget("ana", where={"session": "monday"}) == ("e1", "e2", "e3", "e4", "e6")
    assert texts(memories) == [ASKED]
    assert memories.forget("ana", where={"session": "monday"}) == ()


def test_forgetting_within_a_filter_never_makes_a_namespace(memories: Memories) -> None:
    assert memories.forget("ben", where={"speaker": "user"}) == ()
    assert memories.known("ben") is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "evidence_id"),
        ({"evidence_id": "e1", "where": {"session": "s"}}, "evidence_id"),
        ({"where": {}}, "where"),
        ({"where": {"sesion": "s"}}, "where.sesion"),
    ],
)
def test_what_is_to_be_forgotten_is_said_in_one_way(
    memories: Memories, given: Any, field: str
) -> None:
    memories.remember("ana", VALVE)
    with pytest.raises(InvalidInput) as wrong:
        memories.forget("ana", **given)
    assert wrong.value.field == field
    assert texts(memories) == [VALVE]


# Deleting


def in_memory(_: Path) -> Memories:
    return Memories(encoder=BagEncoder())


@pytest.mark.parametrize("made", [in_memory, stored], ids=["in RAM", "in a file"])
def test_a_namespace_that_is_deleted_is_gone_and_begins_anew(
    made: Callable[[Path], Memories], tmp_path: Path
) -> None:
    memories = made(tmp_path)
    memories.converse("ana", VALVE, "Noted.", key="1", call="c1")
    memories.remember("ben", "Ben has a boat.")
    held = memories.of("ana")
    receipt = memories.delete("ana")
    assert (receipt.memories, receipt.items, receipt.answers) == (("ana",), 2, 1)
    assert (memories.recall("ana", ASKED), memories.known("ana")) == (None, None)
    assert [*memories.export()] == ["ben"]
    with pytest.raises(MemoryGone):
        held.read(ASKED)
    with pytest.raises(InvalidInput, match="call"):
        memories.feedback("c1", namespace="ana", thumbs=True)
    memories.converse("ana", "My gate squeaks.", "Noted.", key="1")
    assert texts(memories) == ["My gate squeaks.", "Noted."]


def test_deleting_what_was_never_written_to_is_an_error(memories: Memories) -> None:
    with pytest.raises(NotFound):
        memories.delete("nobody")
    with pytest.raises(InvalidInput, match="namespace"):
        memories.delete("")


def test_a_namespace_that_another_process_has_deleted_begins_anew(tmp_path: Path) -> None:
    with stored(tmp_path) as memories:
        memories.remember("ana", VALVE)
        memories.remember("ben", VALVE)
        delete_memory(f"sqlite:///{tmp_path}/bot.db", "ana")
        assert memories.recall("ana", ASKED) is None
        memories.remember("ana", "My gate squeaks.")
        delete_memory(f"sqlite:///{tmp_path}/bot.db", None, tenant="default")
        memories.remember("ben", "It rains.")
        assert (texts(memories), texts(memories, "ben")) == ([], ["It rains."])


def test_deleting_and_forgetting_do_not_block_an_event_loop(memories: Memories) -> None:
    for name in ("ana", "ben"):
        memories.remember(name, VALVE, session="monday")

    async def run() -> object:
        gone = await memories.aforget("ben", where={"session": "monday"})
        return (await memories.adelete("ana")).memories, gone

    assert asyncio.run(run()) == (("ana",), ("e1",))


# What may be read


def test_what_is_kept_beside_a_text_filters_what_is_recalled(memories: Memories) -> None:
    memories.remember("ana", VALVE, metadata={"room": "kitchen"})
    memories.remember("ana", "The boiler upstairs has a valve of steel.", metadata={"room": "bath"})
    for find in (memories.recall, memories.prepare):
        reading = find("ana", ASKED, where={"metadata": {"room": "bath"}})
        assert reading is not None
        assert [item.metadata for item in reading.evidence] == [{"room": "bath"}]
    assert memories.recall("ana", ASKED, where={"speaker": "nobody"}) is None


def test_a_filter_may_be_a_function_of_a_call() -> None:
    situation = Situation(where=lambda call: {"session": call["thread"]} if call else None)
    assert situation.asking({"thread": "t1"})["where"] == {"session": "t1"}
    assert "where" not in situation.asking({})


def test_a_mistake_in_a_filter_is_told_when_an_adapter_is_made() -> None:
    with pytest.raises(InvalidInput) as wrong:
        Situation(where={"since": "yesterday"})
    assert wrong.value.field == "where.since"


# What is held for a while


def test_of_the_latest_no_more_are_held_than_so_many() -> None:
    held: Recent[int, str] = Recent(2)
    for n in (1, 2, 1, 3):
        held[n] = str(n)
    assert held == {2: "2", 3: "3"}
    assert pickle.loads(pickle.dumps(held)) == held
    many: Recent[int, None] = Recent(1500)
    for n in range(1500):
        many[n] = None
    assert len(pickle.loads(pickle.dumps(many))) == 1500


def test_a_memory_with_a_custom_store_lives_in_it() -> None:
    from demem_agent.stores import MemoryStore

    store = MemoryStore()
    Memories(store, encoder=BagEncoder()).remember("ana", VALVE)
    assert len(SlotMemory.open(store, memory_id="ana", encoder=BagEncoder())) == 1


# Who asks


def test_unless_it_is_said_the_user_asks_and_nothing_holds() -> None:
    assert Situation().asking({"user": "ana"}) == {"asker": "user", "conditions": ()}


def test_who_asks_and_what_holds_may_be_functions_of_a_call() -> None:
    situation = Situation(lambda call: call["user"], lambda call: (fact for fact in call["facts"]))
    known = situation.asking({"user": "ana", "facts": ["rain"]})
    assert known == {"asker": "ana", "conditions": ("rain",)}
    assert situation.asking({"user": None, "facts": ()}) == {"asker": "user", "conditions": ()}


@pytest.mark.parametrize("name", ["asker", "self", "namespace"])
def test_a_function_may_get_inputs_of_any_name(name: str) -> None:
    situation = Situation(lambda **about: about[name])
    assert situation.asking(**{name: "ana"})["asker"] == "ana"
    assert named(lambda **about: about[name], **{name: "ana"}) == "ana"


@pytest.mark.parametrize(
    ("field", "given"),
    [("asker", ("",)), ("asker", (5,)), ("conditions", ("ana", "rain"))],
    ids=["blank", "no text", "one text"],
)
def test_a_mistake_in_who_asks_is_told_when_an_adapter_is_made(
    field: str, given: tuple[Any, ...]
) -> None:
    with pytest.raises(InvalidInput, match=field):
        Situation(*given)


def test_what_a_function_gives_wrongly_costs_no_answer(
    memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    memories.remember("ana", VALVE)
    asking = Situation("ana", lambda: "rain").asking()
    assert memories.prepare("ana", ASKED, **asking) is None
    assert caplog.messages == ["nothing was recalled: InvalidInput (conditions)"]


def test_what_the_user_says_is_remembered_under_the_name_of_who_asks(memories: Memories) -> None:
    memories.converse("home", VALVE, "Noted.", key="1", asker="ana", conditions=["rain"])
    memories.converse("home", VALVE, "Noted.", key="2")
    assert [item.speaker for item in memories.of("home").evidence()] == [
        "ana",
        "assistant",
        "user",
        "assistant",
    ]
    decided = memories.of("home").contexts()
    assert [(one.asker, one.conditions) for one in decided] == [("ana", ("rain",)), (None, ())]


def test_an_answer_to_somebody_by_name_is_found_by_its_call_in_another_process(
    tmp_path: Path,
) -> None:
    with stored(tmp_path) as first:
        first.converse("home", ASKED, "A brass one.", key="1", call="r1", asker="ana")
        first.converse("home", ASKED, "A steel one.", key="2", call="r2", asker="ben")
    with stored(tmp_path) as again:
        assert again.feedback("r2", namespace="home", thumbs=True).answer_id == "a2"
        assert again.feedback("r1", namespace="home", thumbs=True).answer_id == "a1"


def test_what_is_forgotten_takes_the_answers_along_that_somebody_got_by_name(
    memories: Memories,
) -> None:
    memories.converse("home", VALVE, "A brass valve, noted.", key="1", asker="ana")
    assert memories.forget("home", "e1") == ("e1", "e2")


class _Busy(MemoryStore):
    """Fails as often as it is told to."""

    fails = 0

    def commit(self, address: Any, delta: Any) -> None:
        if self.fails:
            self.fails -= 1
            raise StoreError("busy")
        super().commit(address, delta)


def test_what_is_handed_over_while_the_store_is_busy_waits_in_its_order() -> None:
    store = _Busy()
    memories = Memories(store, encoder=BagEncoder())
    memories.of("home")
    store.fails = 2
    memories.keep("home", lambda: [{"text": text, "key": text} for text in (VALVE, ASKED)])
    memories.keep("home", lambda: [{"text": "It leaks.", "key": "3"}])
    while memories.waiting:
        memories.names()
    assert [item.text for item in memories.of("home").evidence()] == [VALVE, ASKED, "It leaks."]


def test_what_is_taken_back_while_the_store_is_busy_is_forgotten_when_it_can_be() -> None:
    store = _Busy()
    memories = Memories(store, encoder=BagEncoder())
    memories.remember("home", VALVE)
    store.fails = 1
    memories.take_back("home", lambda: "e1")
    while memories.waiting:
        memories.names()
    assert memories.of("home").evidence() == ()


# Questions that are asked with words of what was said before them


def followed(memories: Memories, answer: str, call: str) -> None:
    """Answer a question that names nothing of what it is about."""
    talk = ["I love my violin.", "It sounds well."]
    before = [Spoken(n % 2 == 0, text) for n, text in enumerate(talk)]
    heard = memories.heard("ana", ["Who was that from?"], before=before)
    memories.converse("ana", "Who was that from?", answer, key=heard, call=call, context=talk)


def test_another_process_finds_the_answer_to_a_question_that_names_nothing() -> None:
    store = MemoryStore()
    followed(Memories(store, encoder=BagEncoder()), "An uncle.", "c1")
    later = Memories(store, encoder=BagEncoder())
    assert later.feedback("c1", namespace="ana", thumbs=True).reward == 1.0


def test_an_answer_to_it_that_is_made_anew_takes_the_place_of_the_first(
    memories: Memories,
) -> None:
    for n, answer in enumerate(["An uncle.", "A cousin."]):
        followed(memories, answer, f"c{n}")
    assert holds(memories) == ["Who was that from?", "A cousin."]


class _Held(MemoryStore):
    """Another process holds it: to commit takes until that lets go."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.free = threading.Event(), threading.Event()

    def commit(self, address: Any, delta: Any) -> None:
        self.reached.set()
        self.free.wait()
        super().commit(address, delta)


def test_who_comes_after_a_write_that_takes_long_does_not_wait_for_it() -> None:
    store = _Held()
    memories = Memories(store, encoder=BagEncoder(), patience=0.01)
    first = threading.Thread(target=memories.heard, args=("ana", [VALVE]))
    first.start()
    store.reached.wait()
    memories.heard("ana", ["It leaks."])  # it would wait for ever
    assert memories.waiting == 1
    store.free.set()
    first.join()
    memories.names()
    assert texts(memories) == [VALVE, "It leaks."]


@pytest.mark.parametrize("patience", [-1, float("nan"), 1e9])
def test_patience_is_a_number_of_seconds(patience: float) -> None:
    with pytest.raises(InvalidInput, match="patience"):
        Memories(patience=patience)


def test_what_waits_to_be_written_is_not_written_after_its_memory_was_deleted() -> None:
    store = FailingStore(random.Random(0), 0.0)
    memories = Memories(store, encoder=BagEncoder(), patience=0)
    memories.heard("ana", [VALVE])
    store.share = 1.0
    memories.heard("ana", ["It leaks."])
    assert memories.waiting == 1
    store.share = 0.0
    memories.delete("ana")
    assert (memories.waiting, memories.names()) == (0, [])


def test_a_namespace_may_be_a_number() -> None:
    assert (named(lambda: 7), named(lambda: 0), named(lambda: None)) == ("7", "0", None)


def test_what_is_recalled_is_put_before_mappings_only() -> None:
    with pytest.raises(InvalidInput, match="mappings with role and content"):
        put_before([SimpleNamespace(role="user", content="Hello.")], None)
