"""A sentence that ends a state takes the place of the one that told of it, whatever its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.slots.successions.claims import claim
from demem_agent.slots.successions.lineage import HOLDS
from demem_agent.slots.successions.turns import turns
from demem_agent.slots.successions.withdrawals import withdrawal

FILLING = [
    "The soup was too salty.",
    "We painted the fence green.",
    "My aunt grows tomatoes on her balcony.",
    "It was raining all day.",
]


def sure(*said: str, session: str | None = None) -> list[tuple[str, str]]:
    """Return which line has surely taken the place of which, where one speaker says all."""
    memory = SlotMemory(clock=None)
    for text in said:
        memory.ingest(text, speaker="Mia", session=session)
    memory.check()
    held = [found for found in memory.successions() if found.confidence >= HOLDS]
    return [(found.old[0], found.new[0]) for found in held]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Porto.", "I moved to Lisbon."),
        ("i live in porto atm", "moved to lisbon last week!!"),
        ("My sister lives in Leeds with two cats.", "My sister just moved to York."),
        ("We're renting a place in Graz.", "We packed up and moved to a cottage in Linz."),
        ("I work at a bakery near the river.", "I started a new job at the library."),
        ("My brother works as a chef.", "My brother was laid off on Monday."),
        ("I drive a blue Golf, it's a great car.", "I sold the car on Saturday."),
        ("I have a piano in the living room.", "I gave the piano away."),
        ("I drink two cups of coffee every morning.", "I stopped drinking coffee."),
        ("I go to the gym three times a week.", "I don't go to the gym anymore."),
        ("We are going on a trip to Rome in May.", "We cancelled the trip to Rome."),
        ("We have a wedding planned for June 5.", "The wedding is called off."),
        ("I use Notion for my notes.", "I switched from Notion to Obsidian."),
        ("My sister works at Google in the maps team.", "She left Google for Shopify."),
        ("I'm dating Tom.", "Tom and I broke up."),
        ("I have a dog, Bruno.", "Bruno died in May."),
        ("I'm reading War and Peace.", "I finished War and Peace."),
        ("I work at the Brunswick.", "I left the Brunswick."),
        ("i work at google", "i left google"),
        ("i work for google in the maps team", "left google last month"),
        ("I go to the gym three times a week.", "cancelled the gym"),
        ("joined the gym", "cancelled the gym"),
        ("We have dinner planned for Friday.", "Dinner's cancelled."),
        ("dinner at ours on friday at 7", "dinner's cancelled"),
        ("the match is on saturday", "the match has been moved to sunday"),
        ("Our picnic is on Saturday at noon.", "The picnic has been postponed until Sunday."),
    ],
)
def test_what_ends_a_state_takes_the_place_of_what_told_of_it(old: str, new: str) -> None:
    assert ("e1", "e6") in sure(old, *FILLING, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Porto.", "My cousin moved to Lisbon."),
        ("I live in Porto.", "I moved to Lisbon when I was a kid."),
        ("I live in Porto.", "We moved the sofa to the window."),
        ("I live in Porto.", "If I quit, I would move to Lisbon."),
        ("I live in Porto.", "I moved to Porto."),
        ("I work at a bakery near the river.", "I stopped at the bakery on the way home."),
        ("I work as a nurse.", "I quit early yesterday because of the heat."),
        ("I love baking cookies.", "I sold cookies at the school fair."),
        ("I have a red bike.", "I almost sold my bike."),
        ("My brother has a guitar.", "I sold my guitar."),
        ("We are going on a trip to Rome in May.", "They cancelled the trip to Oslo."),
        ("We use Slack at the office.", "I deleted the Slack message."),
        ("I play the violin.", "I gave up my seat to an old man."),
        ("I work for Siemens.", "I left the Siemens badge at home."),
        ("I work at the Brunswick.", "I left the Brunswick at six."),
        ("I work at the Brunswick.", "I left the Brunswick last night, it was late."),
        ("I work in the garden every day.", "i left the garden"),
        ("i work from home", "i left home"),
        ("i work at a school", "i left school"),
        ("We have dinner planned for Friday.", "Lunch's cancelled."),
        ("The dinner in Rome was great.", "Dinner's cancelled."),
        ("Dinner is on Friday.", "The sofa has been moved to the window."),
        ("joined the gym", "cancelled the magazine"),
    ],
)
def test_the_same_verbs_of_something_else_end_nothing(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist appointment is on Tuesday.", "Scratch that, it's on Thursday."),
        ("My flight leaves at 7 pm.", "Actually it's 9 pm now."),
        ("The code for the gate is 4471.", "Correction: 4417."),
        ("Dinner is at Luigi's on Friday.", "Sorry, I meant Saturday."),
        ("Let's meet on Wednesday at the pier.", "Actually, make it Friday."),
        ("The invoice is 340 euros.", "No wait, 430 euros."),
        ("My favourite is the green one.", "Scratch that."),
        ("We're doing the drive in concrete.", "changed, it's gravel now"),
    ],
)
def test_what_was_just_said_can_be_taken_back(old: str, new: str) -> None:
    assert sure(*FILLING, old, new) == [("e5", "e6")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist appointment is on Tuesday.", "Actually it's a nice day."),
        ("I like the blue one.", "I meant it when I said you are a great friend."),
        ("My train leaves at 7 pm.", "I meant to call you."),
        ("The concert starts at 8.", "It's raining now."),
        ("The text has 900 words.", "Make it 50% shorter."),
        ("The drive is of concrete.", "Changed the tyres, it's nice now."),
    ],
)
def test_what_only_sounds_so_takes_nothing_back(old: str, new: str) -> None:
    assert sure(*FILLING, old, new) == []


def test_what_was_said_in_another_session_is_not_taken_back() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The exam is on Tuesday.", speaker="Mia", session="one")
    memory.ingest("Scratch that, Thursday.", speaker="Mia", session="two")
    assert memory.successions() == ()


def test_what_another_speaker_said_is_not_taken_back() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The exam is on Tuesday.", speaker="Ben")
    memory.ingest("Scratch that, Thursday.", speaker="Mia")
    assert memory.successions() == ()


def test_what_is_taken_back_in_one_breath_leaves_earlier_lines_as_they_are() -> None:
    assert sure("The exam is on Monday.", "Lunch is on Tuesday. Scratch that, Thursday.") == []


def test_a_state_begun_is_what_a_question_of_it_is_answered_by() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I live in Porto.", speaker="Mia", at="2024-03-01")
    for text in FILLING:
        memory.ingest(text, speaker="Mia", at="2024-03-02")
    memory.ingest("I moved to Lisbon.", speaker="Mia", at="2024-07-06")
    assert memory.answer("Where does Mia live?").text == "Mia: I moved to Lisbon."
    assert "[until 6 July 2024] Mia: I live in Porto." in memory.read("Where does Mia live?").text
    assert "Porto" in memory.answer("Where did Mia live before?").text


@pytest.mark.parametrize(
    "said",
    [
        "Scratch that itch, said the doctor.",
        "scratch that itch lol",
        "scratch that off the list",
        "strike that from the record please",
    ],
)
def test_scratching_something_takes_nothing_back(said: str) -> None:
    assert withdrawal(said) is None
    assert sure("The plumber comes on Thursday.", said) == []


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("scratch that", ""),
        ("Oh, scratch that: Friday", "Friday"),
        ("Scratch that - it's on Friday", "it's on Friday"),
        ("scratch that it's on Friday", "it's on Friday"),
        ("scratch that 4pm", "4pm"),
        ("scratch that on Friday", "on Friday"),
    ],
)
def test_what_follows_a_take_back_stands_in_its_place(said: str, value: str) -> None:
    found = withdrawal(said)
    assert found is not None
    assert found.value == value


WORDS = (
    "I we my she moved to sold the car quit stopped left Porto for Lisbon not if , . ! scratch that"
)
TEXTS = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=14).map(" ".join)


@given(TEXTS, TEXTS)
def test_any_words_can_be_judged_and_no_sentence_ends_itself(old: str, new: str) -> None:
    earlier, later = claim(old), claim(new)
    withdrawal(new)
    if earlier is not None and later is not None:
        assert turns(earlier, later) in (True, False)
        assert not turns(later, later)
