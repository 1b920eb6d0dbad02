"""A question that names nothing of what it is about is asked with words of the turns before it."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import InvalidInput, SlotMemory
from demem_agent.text.language.words import words
from demem_agent.text.unsaid import in_context, parted

OFFER = "Do you mean the trip to Faro, the ferry to Madeira or the hike in Gerês?"


@pytest.mark.parametrize(
    ("query", "turns", "carried"),
    [
        ("Who was there?", ["The party was at Rui's place."], "party rui place"),
        ("When was that?", ["I have sold the violin.", "Oh!", "OK, thanks"], "sold violin"),
        ("And how much did it cost?", ["When did I buy the loom?"], "buy loom"),
        ("What is his name?", ["My brother adopted a parrot."], "brother adopted parrot"),
        ("why?", ["The heater was replaced because of the mice."], "heater replaced mice"),
        ("What about Ben?", ["Which car does Ana drive?", "A Fiat."], "fiat car ana drive"),
        ("yes, the second one", ["Which trip?", OFFER], "the ferry to Madeira"),
        ("What does the second one offer?", ["Which trip?", OFFER], "the ferry to Madeira"),
        ("The last, please", ["- tea\n- coffee\n- maté"], "maté"),
        ("The first one please", ["1. Casa Lua\n2. O Forno"], "Casa Lua"),
        ("Which of the two is cheaper?", ["A bus costs 12, a train 19."], "bus costs 12 train 19"),
    ],
)
def test_what_is_left_unsaid_is_carried_over(query: str, turns: list[str], carried: str) -> None:
    assert in_context(query, turns) == f"{query} [about: {carried}]"


@pytest.mark.parametrize(
    "between",
    [
        ["lol ok", "haha"],
        ["I'm so hungry right now.", "Me too, let's get some food."],
        ["How are you today?", "Fine, thanks!", "It's getting late.", "True."],
    ],
)
def test_small_talk_in_between_is_passed_over(between: list[str]) -> None:
    asked = in_context("When was that?", ["I have sold the violin.", *between])
    assert asked == "When was that? [about: sold violin]"


@pytest.mark.parametrize(
    "turn",
    ["My shoulder hurts.", "Dinner is with Ana on the 4th.", "The boiler works again.", "A loom!"],
)
def test_what_tells_something_is_no_small_talk(turn: str) -> None:
    assert in_context("Why?", ["I have sold the violin.", turn]) != in_context(
        "Why?", ["I have sold the violin."]
    )


def test_where_nothing_but_small_talk_was_said_it_is_of_that() -> None:
    assert "coffee" in in_context("Why that?", ["That coffee smells good!"])


def test_asked_again_at_once_a_question_means_what_it_meant() -> None:
    talk = ["I have sold the violin."]
    asked = in_context("When was that?", talk)
    assert in_context("When was that?", [*talk, "When was that?", "On 4 May."]) == asked
    assert in_context("When was that?", [*talk, "when was that? "]) == asked
    later = [*talk, "When was that?", "On 4 May.", "I bought a loom, too.", "Well done."]
    assert "loom" in in_context("When was that?", later)
    assert "4 may" in in_context("And when?", [*talk, "And when?", "On 4 May."])


@pytest.mark.parametrize(
    "query",
    [
        "Where does Ana live?",
        "What did Ana say about her dog?",
        "Did I say that I like tea?",
        "What is the wifi password?",
        "Is it expensive to insure a boat in Norway?",
        "Which valve does the boiler have?",
        "How many cats do we own?",
    ],
)
def test_a_question_that_names_what_it_is_about_stays(query: str) -> None:
    assert in_context(query, ["We spoke of Porto and of violins."]) == query


@given(st.text(), st.lists(st.text(), max_size=5))
def test_a_query_only_ever_gains_words_that_were_said(query: str, turns: list[str]) -> None:
    asked = in_context(query, turns)
    assert asked.startswith(query)
    said = set(chain.from_iterable(map(words, turns)))
    gained = asked[len(query) :].removeprefix(" [about: ").removesuffix("]").split()
    assert said.issuperset(gained)


def test_a_question_finds_what_the_turn_before_it_was_about() -> None:
    memory = SlotMemory()
    memory.ingest("The loom came on 4 May and cost 300 euros.", speaker="Ana", at="2024-05-05")
    for n in range(30):
        memory.ingest("How much did it cost?", speaker=f"Guest {n}", at="2024-05-06")
    talk = ["I bought that old loom.", "What a find!"]
    alone = memory.read("And how much did it cost?", limit=200)
    told = memory.read("And how much did it cost?", limit=200, context=talk)
    assert "300 euros" not in alone.text
    assert "300 euros" in told.text


def test_an_answer_is_recorded_with_what_was_meant() -> None:
    memory = SlotMemory()
    memory.ingest("The loom came on 4 May.", speaker="Ana")
    answer = memory.answer("When was that?", context=["I bought a loom."])
    assert memory.contexts()[-1].query == "When was that? [about: bought loom]"
    assert "4 May" in answer.text


@pytest.mark.parametrize("wrong", ["a turn", [1], ["x"] * 101, {"role": "user"}])
def test_what_is_no_list_of_texts_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="context must be a list of at most 100 texts"):
        SlotMemory().read("When was that?", context=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My PIN is 4711 for the old safe.", False),
        ("It is 4711, I believe.", False),
        ("The old safe is green.", True),
    ],
)
def test_a_question_goes_with_the_turn_that_it_has_its_words_from(said: str, kept: bool) -> None:
    memory = SlotMemory()
    memory.ingest("The garden is full of roses.")
    item = memory.ingest(said).evidence_id
    memory.answer("When was that?", context=["The PIN is 4711 for the door of my safe."])
    memory.forget(item)
    assert ("4711" in repr(memory.export())) == kept


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        (
            "and how much does the choir pay? [about: crown molar]",
            "and how much does the choir pay?",
        ),
        ("and her dog? [about: summer]", "and her dog?"),
        ("when was that? [about: loom]", "when was that? [about: loom]"),
        ("the second one [about: by train]", "the second one [about: by train]"),
        ("How warm is it?", "How warm is it?"),
    ],
)
def test_what_a_question_asks_is_parted_from_what_it_was_asked_after(query: str, asks: str) -> None:
    own, before = parted(query)
    assert own == asks
    assert f"{own} [about: {before}]" == query or (own, before) == (query, "")
