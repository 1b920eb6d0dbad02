"""What a user says is remembered in order and once, whatever becomes of the call."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from adapter_contract import holds
from generated_conversations import FailingStore, problems_of, problems_of_two
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often
from several_processes import several

from demem_adapters.common import Memories, Spoken, said_last
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder

ROME, OSLO = "I live in Rome.", "I live in Oslo."
NUTS = "I am allergic to walnuts."


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def texts(memories: Memories, namespace: str = "ana") -> list[str]:
    memory = memories.known(namespace)
    return [item.text for item in memory.evidence()] if memory else []


def turn(memories: Memories, *said: str, answer: str = "", shown: tuple[str, ...] = ()) -> None:
    """Have the user say something in a conversation, of which user and model said this in turn."""
    before = [Spoken(n % 2 == 0, text) for n, text in enumerate(shown)]
    heard = memories.heard("ana", said, before=before)
    if answer:
        memories.converse("ana", said[-1], answer, key=heard)


def test_what_was_said_before_an_error_is_not_lost_and_not_doubled(memories: Memories) -> None:
    turn(memories, NUTS)
    turn(memories, NUTS, ROME, answer="Noted.")
    turn(memories, OSLO, answer="Well.", shown=(NUTS, "Noted."))
    assert texts(memories) == [NUTS, ROME, "Noted.", OSLO, "Well."]


def test_what_is_said_once_more_after_something_else_is_an_event_of_its_own(
    memories: Memories,
) -> None:
    for city in (ROME, ROME, OSLO, ROME):
        turn(memories, city)
    for city in (OSLO, OSLO, ROME):
        turn(memories, city, answer="Noted.")
    said = [text for text in texts(memories) if text != "Noted."]
    assert said == [ROME, OSLO, ROME, OSLO, ROME]


def test_the_same_words_after_an_answer_are_said_again_where_the_answer_is_shown(
    memories: Memories,
) -> None:
    turn(memories, "Yes.", answer="Noted.")
    for _ in range(2):  # the second time it is the same call
        turn(memories, "Yes.", shown=("Yes.", "Noted."))
    assert texts(memories) == ["Yes.", "Noted.", "Yes."]


def test_an_answer_made_anew_takes_the_place_of_the_first(memories: Memories) -> None:
    turn(memories, NUTS, answer="Noted.")
    for answer in ("In Rome?", "Since when?"):
        turn(memories, ROME, answer=answer, shown=(NUTS, "Noted."))
    assert holds(memories) == [NUTS, "Noted.", ROME, "Since when?"]


def test_an_edited_message_is_remembered_beside_the_first(memories: Memories) -> None:
    turn(memories, NUTS, ROME, answer="Noted.")
    turn(memories, NUTS, OSLO, answer="Well.")
    assert texts(memories) == [NUTS, ROME, "Noted.", OSLO, "Well."]


@pytest.mark.parametrize("shown", [[ROME, OSLO], [OSLO]], ids=["whole", "the last of it"])
def test_a_turn_that_was_answered_and_is_shown_with_another_ending_is_known_after_a_restart(
    shown: list[str],
) -> None:
    store = MemoryStore()
    memories = Memories(store, encoder=BagEncoder())
    turn(memories, ROME, OSLO, "Go on.", answer="Noted.")
    turn(memories, ROME, OSLO, NUTS)
    # An application that shows the last messages alone may show no answer at all.
    turn(Memories(store, encoder=BagEncoder()), *shown, NUTS, "Yes.")
    assert texts(memories) == [ROME, OSLO, "Go on.", "Noted.", NUTS, "Yes."]


def test_what_is_shown_is_found_by_what_follows_it_where_it_was_said_twice() -> None:
    store = MemoryStore()
    said = ["Go on.", NUTS, OSLO]
    before = [Spoken(True, "It rains."), Spoken(True, OSLO), Spoken(False, "I was just about")]
    turn(Memories(store, encoder=BagEncoder()), "It rains.", OSLO)
    memories = Memories(store, encoder=BagEncoder())
    memories.heard("ana", said, before=before)
    memories = Memories(store, encoder=BagEncoder())
    memories.heard("ana", [*said, ROME], before=before[1:])  # the window has moved on
    assert texts(memories) == ["It rains.", OSLO, *said, ROME]


def test_what_failed_and_is_shown_no_more_may_be_said_once_more(memories: Memories) -> None:
    for said in ("Yes.", "It rains.", "Yes."):
        turn(memories, NUTS, said)
    assert texts(memories) == [NUTS, "Yes.", "It rains.", "Yes."]


def test_that_turn_is_known_also_where_an_answer_that_was_given_twice_is_shown_before_it() -> None:
    store = MemoryStore()
    memories = Memories(store, encoder=BagEncoder())
    turn(memories, NUTS, answer="Noted.")
    turn(memories, ROME, OSLO, answer="Noted.", shown=(NUTS, "Noted."))
    turn(memories, ROME, "It rains.", shown=(NUTS, "Noted."))
    memories = Memories(store, encoder=BagEncoder())
    said = [ROME, "It rains.", "Yes."]
    memories.heard("ana", said, before=[Spoken(False, "Noted.")])
    assert texts(memories) == [NUTS, "Noted.", ROME, OSLO, "Noted.", "It rains.", "Yes."]


def test_many_messages_without_an_answer_of_which_the_last_are_shown_may_be_edited() -> None:
    store = MemoryStore()
    memories = Memories(store, encoder=BagEncoder())
    said = [f"This is fact {n}." for n in range(9)]
    turn(memories, *said)
    turn(Memories(store, encoder=BagEncoder()), *said[3:-1], NUTS)
    turn(Memories(store, encoder=BagEncoder()), *said[4:-1], NUTS, OSLO)
    assert texts(memories) == [*said, NUTS, OSLO]


def test_a_message_with_an_id_is_known_by_it(memories: Memories) -> None:
    for _ in range(2):
        memories.heard("ana", [ROME, ROME], ids=["m1", "m2"])
    assert texts(memories) == [ROME, ROME]


def test_two_people_may_say_the_same(memories: Memories) -> None:
    for name in ("ana", "ben", "ben"):
        memories.heard("home", [NUTS], asker=name)
    assert [item.speaker for item in memories.of("home").evidence()] == ["ana", "ben"]


def test_the_question_is_not_in_what_is_recalled_for_it(memories: Memories) -> None:
    memories.remember("ana", "The walnuts are in the cellar.")
    turn(memories, "Where are the walnuts?")
    reading = memories.prepare("ana", "Where are the walnuts?")
    assert reading is not None
    assert [item.text for item in reading.evidence] == ["The walnuts are in the cellar."]


def test_what_was_deleted_may_be_said_again(memories: Memories) -> None:
    turn(memories, NUTS)
    memories.delete("ana")
    turn(memories, NUTS)
    assert texts(memories) == [NUTS]


def test_the_last_messages_of_the_user_are_all_that_follow_the_last_answer() -> None:
    talk = [Spoken(True, ROME), Spoken(False, "Noted."), Spoken(True, NUTS), Spoken(True, OSLO)]
    assert said_last([*talk, Spoken(False, "I was just")]) == (talk[:2], [NUTS, OSLO])
    assert said_last([]) == ([], [])


PIZZA, FLIGHT = ("Order pizza.", "Shall I order it?"), ("Cancel my flight.", "Shall I cancel it?")


def begun(memories: Memories) -> None:
    """Have ana begin two conversations."""
    for asked, answer in (PIZZA, FLIGHT):
        turn(memories, asked, answer=answer)


def test_the_same_words_in_another_conversation_are_an_event_of_their_own(
    memories: Memories,
) -> None:
    begun(memories)
    turn(memories, "Yes.", answer="Ordered.", shown=PIZZA)
    turn(memories, "Yes.", answer="Cancelled.", shown=FLIGHT)
    assert holds(memories)[4:] == ["Yes.", "Ordered.", "Yes.", "Cancelled."]


def test_a_conversation_whose_first_call_failed_goes_on_after_another_began(
    memories: Memories,
) -> None:
    turn(memories, NUTS)
    turn(memories, "Cancel my flight.", answer="Cancelled.")
    turn(memories, NUTS, ROME)
    assert texts(memories) == [NUTS, "Cancel my flight.", "Cancelled.", ROME]


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("first", ["", "Olives."], ids=["failed", "answered"])
def test_a_call_is_the_same_also_after_another_conversation_went_on(
    first: str, restarts: bool
) -> None:
    store = MemoryStore()
    memories = Memories(store, encoder=BagEncoder())
    begun(memories)
    turn(memories, "Add olives.", answer=first, shown=PIZZA)
    turn(memories, "And the hotel.", answer="That too.", shown=FLIGHT)
    if restarts:
        memories = Memories(store, encoder=BagEncoder())
    turn(memories, "Add olives.", answer="Olives, again.", shown=PIZZA)
    said = ["Add olives.", "And the hotel.", "That too.", "Olives, again."]
    assert holds(memories)[4:] == said


def test_another_answer_to_a_first_message_at_once_takes_the_place_of_the_first(
    memories: Memories,
) -> None:
    for answer in ("In Rome?", "Since when?"):
        turn(memories, NUTS, answer=answer)
    assert holds(memories) == [NUTS, "Since when?"]


def test_where_nothing_is_shown_and_the_instructions_are_others_both_answers_hold(
    memories: Memories,
) -> None:
    for under in ("Translate.", "Summarise."):
        heard = memories.heard("ana", [NUTS], under=under)
        memories.converse("ana", NUTS, f"{under} Done.", key=heard)
    assert holds(memories) == [NUTS, "Translate. Done.", "Summarise. Done."]


def test_instructions_tell_no_message_from_another_where_the_conversation_is_shown(
    memories: Memories,
) -> None:
    for clock in ("It is 12:00.", "It is 12:01."):
        before = [Spoken(True, NUTS), Spoken(False, "Noted.")]
        heard = memories.heard("ana", [ROME], before=before, under=clock)
        memories.converse("ana", ROME, clock, key=heard)
    assert holds(memories) == [ROME, "It is 12:01."]


def test_an_application_may_go_back_to_an_answer_that_another_was_given_instead_of(
    memories: Memories,
) -> None:
    turn(memories, NUTS, answer="In Rome?")
    for _ in range(2):
        turn(memories, ROME, answer="Well.", shown=(NUTS, "In Rome?"))
        turn(memories, NUTS, answer="Since when?")
    assert texts(memories).count(ROME) == 1


@pytest.mark.parametrize(("grows", "times"), [(True, 3), (False, 1)])
def test_what_a_provider_keeps_tells_calls_from_each_other(
    memories: Memories, grows: bool, times: int
) -> None:
    for number in range(3):
        heard = memories.heard("ana", ["Next."], kept="c1", grows=grows)
        memories.converse("ana", "Next.", f"Item {number}.", key=heard)
    assert texts(memories).count("Next.") == times
    memories.heard("ana", ["Next."], kept="c2", grows=grows)
    assert texts(memories).count("Next.") == times + 1


def test_what_a_provider_keeps_does_not_grow_by_a_call_that_failed(memories: Memories) -> None:
    for _ in range(2):
        memories.heard("ana", ["Next."], kept="c1", grows=True)
    assert texts(memories) == ["Next."]


def test_each_message_is_remembered_under_the_name_of_who_said_it(memories: Memories) -> None:
    said, names = [NUTS, ROME, OSLO], ["Ben", "Cat", None]
    for _ in range(2):
        memories.heard("home", said, names=names, asker="ana")
    items = memories.of("home").evidence()
    assert [(item.speaker, item.text) for item in items] == [
        ("Ben", NUTS),
        ("Cat", ROME),
        ("ana", OSLO),
    ]


def test_what_was_said_to_another_memory_in_a_conversation_that_both_share_is_not_taken(
    memories: Memories,
) -> None:
    memories.heard("ana", [NUTS], session="t", ids=["m1"])
    memories.heard("ben", [NUTS, ROME], session="t", ids=["m1", "m2"])
    assert (texts(memories), texts(memories, "ben")) == ([NUTS], [ROME])


PIN = "My pin is 4711."


@pytest.mark.parametrize("erase", ["forget", "delete"])
def test_what_is_erased_while_an_answer_is_under_way_does_not_come_back_with_it(
    memories: Memories, erase: str
) -> None:
    memories.remember("ana", PIN, speaker="user")
    asked = "What is my pin?"
    reading = memories.prepare("ana", asked)
    heard = memories.heard("ana", [asked])
    if erase == "forget":
        memories.forget("ana", memories.of("ana").evidence()[0].id)
    else:
        memories.delete("ana")
    memories.converse("ana", asked, "It is 4711.", key=heard, reading=reading)
    assert texts(memories) == ([asked] if erase == "forget" else [])
    assert memories.names() == (["ana"] if erase == "forget" else [])


def test_an_answer_that_tells_nothing_of_what_was_erased_is_remembered(
    memories: Memories,
) -> None:
    memories.remember("ana", PIN, speaker="user")
    reading = memories.prepare("ana", "What is my pin?")
    heard = memories.heard("ana", ["What is my pin?"])
    memories.forget("ana", memories.of("ana").evidence()[0].id)
    memories.converse("ana", "What is my pin?", "I may not say.", key=heard, reading=reading)
    assert texts(memories) == ["What is my pin?", "I may not say."]


def test_of_an_answer_whose_reading_cannot_be_told_it_is_logged_that_it_is_remembered(
    memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    heard = memories.heard("ana", [ROME])
    wrong: dict[str, Any] = {"where": {"speker": "Ana"}}
    memories.converse("ana", ROME, "Noted.", key=heard, **wrong)
    assert texts(memories) == [ROME, "Noted."]
    told = "an answer was remembered, but not what it was given from: InvalidInput (where.speker)"
    assert told in caplog.text


def test_what_is_said_again_after_it_was_forgotten_is_remembered(memories: Memories) -> None:
    turn(memories, PIN, answer="Noted.")
    memories.forget("ana", where={"speaker": "user"})
    turn(memories, PIN, answer="Noted.")
    assert texts(memories)[-2:] == [PIN, "Noted."]


def test_what_is_shown_again_after_it_was_forgotten_stays_forgotten(memories: Memories) -> None:
    turn(memories, PIN)
    memories.forget("ana", where={"speaker": "user"})
    turn(memories, PIN, ROME)
    assert texts(memories) == [ROME]


def test_an_answer_that_is_asked_for_anew_is_not_put_before_the_model(memories: Memories) -> None:
    asked = "Name a pasta for my dinner."
    turn(memories, asked, answer="Pasta pesto for dinner.")
    assert memories.prepare("ana", asked) is None
    turn(memories, "Fine.", shown=(asked, "Pasta pesto for dinner."))
    reading = memories.prepare("ana", asked)
    assert reading is not None
    assert "pesto" in reading.text


def in_ram(rng: random.Random) -> Callable[[], Memories]:
    store = MemoryStore()
    return lambda: Memories(store, encoder=BagEncoder())


def failing(rng: random.Random) -> Callable[[], Memories]:
    store = FailingStore(rng, 0.1)
    background = rng.random() < 0.5
    return lambda: Memories(store, encoder=BagEncoder(), background=background)


# The same ones each time: a few remain that are missed (docs/adapters.md).
@settings(deadline=None, max_examples=often(60), derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_of_any_conversation_no_word_is_lost_doubled_or_foreign(seed: int) -> None:
    assert problems_of(seed, in_ram) == []


@settings(deadline=None, max_examples=often(30), derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_nor_is_one_of_two_conversations_that_a_user_has_at_once(seed: int) -> None:
    assert problems_of_two(seed, in_ram) == []


@settings(deadline=None, max_examples=often(10), derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_nor_is_one_where_the_store_fails_now_and_then(seed: int) -> None:
    assert problems_of(seed, failing, turns=6) == []


@pytest.mark.slow
def test_four_processes_with_users_of_their_own_and_one_namespace_of_all_lose_nothing() -> None:
    with several(4, None) as processes:
        assert [*processes.problems_of(0), *processes.problems_of(1)] == []
