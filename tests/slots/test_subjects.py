"""Of what sentences say something: of two people or things neither ends what the other says."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.slots.successions.subjects import apart, subject_of
from demem_agent.testing import BagEncoder


def are_apart(one: str, other: str) -> bool:
    first, second = subject_of(one), subject_of(other)
    return first is not None and second is not None and apart(first, second)


OF_TWO = [
    ("I take 5 mg of prednisolone", "My dog takes 10 mg of prednisolone now"),
    ("Ana takes 5 mg of aspirin", "Ben takes 10 mg of aspirin now"),
    ("My phone number is 0611223344", "Clement's phone number is 0711220000 now"),
    ("I earn 1,980 a month", "Will earns 900 a month now"),
    ("The code of the front door is 7391", "The code of the back door is 2260 now"),
    ("Room 3 costs 50", "Room 4 costs 60 now"),
    ("Biscuit weighs 18.4 kg", "Rex weighs 17.1 kg now"),
    ("My dog is called Biscuit", "Her dog is called Rex now"),
    ("I live in Porto.", "My son lives in Leeds now."),
    ("My mother's birthday is 3 May", "My father's birthday is 4 May now"),
    ("J'habite à Brest", "Ma sœur habite maintenant à Lyon"),
    ("Moro em Lisboa", "A minha irmã mora agora no Porto"),
    ("Vivo en Madrid", "Mi hermana vive ahora en Sevilla"),
    ("Dad has a pension of 900", "My pension is 700 now"),
    ("My sister's locker number is 14", "My locker number is 27 now"),
    ("Tom lives in Leeds", "Tom's wife lives in York now"),
    ("Nora's husband is 60", "Nora is 31 now"),
    ("Mama hat einen Termin am 3. Mai", "Mein Termin ist jetzt am 9. Mai"),
    ("Ich wohne in Köln", "Meine Mutter wohnt jetzt in Bonn"),
]
MAYBE_OF_ONE = [
    ("My PIN is 4417.", "My PIN is 4471."),
    ("Rent is 640.", "Rent is 685 now."),
    ("I live in Porto", "We live in Lisbon now"),
    ("The meeting is at 9", "The team meeting is at 10 now"),
    ("My dog weighs 18 kg", "Biscuit weighs 17 kg now"),
    ("The phone number is 11", "My phone number is 22 now"),
    ("I work at Kerbrat", "My new job is at Le Borgne"),
    ("The gate code is 1", "The gate code of the quai building is 2 now"),
    ("My cat weighs 4 kg", "My cat's weight is 5 kg now"),
    ("My brother's bike is red", "His bike is blue now"),
    ("John's car is red", "His car is blue now"),
    ("My current salary is 10", "My new salary is 12"),
    ("User lives in Porto", "I live in Lisbon now"),
    ("The volume is at 40", "It is at 50 now"),
    ("My friend Rachel lives in Rome", "My friend Rachel actually just moved back home"),
]


@pytest.mark.parametrize(("one", "other"), OF_TWO)
def test_sentences_of_two_people_or_things_are_apart(one: str, other: str) -> None:
    assert are_apart(one, other)
    assert are_apart(other, one)


@pytest.mark.parametrize(("one", "other"), MAYBE_OF_ONE)
def test_what_may_be_of_one_is_not_apart(one: str, other: str) -> None:
    assert not are_apart(one, other)
    assert not are_apart(other, one)


@pytest.mark.parametrize(("one", "other"), OF_TWO)
def test_what_holds_of_another_ends_nothing(one: str, other: str) -> None:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    memory.ingest(one, speaker="Odile", session="1")
    memory.ingest(other, speaker="Odile", session="2")
    assert memory.successions() == ()


def test_an_earlier_sentence_that_names_who_the_later_one_is_of_is_compared() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I visited my friend Rachel who moved to Chicago.", speaker="user", session="1")
    memory.ingest("My friend Rachel moved back to Boston now.", speaker="user", session="2")
    assert [one.old[0] for one in memory.successions()] == ["e1"]
