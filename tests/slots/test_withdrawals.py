"""What a speaker takes back at once, and of which line."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.testing import BagEncoder

APART = "yes: max 700 € rent, dog allowed"


def followed(*said: str) -> list[tuple[str, str]]:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    for text in said:
        memory.ingest(text, speaker="Odile", session="monday")
    return [(one.old[0], one.new[0]) for one in memory.successions()]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist appointment is on 12 May at 14:30.", "no wait, it's the 14th"),
        ("The train leaves on 12 May at 11:25.", "I meant 14 May"),
        ("The dentist appointment is on 12 May.", "sorry, the 14th not the 12th"),
        ("The dentist appointment is on 12 May.", "*14th"),
        ("The dentist appointment is on 12 May.", "nope, 14"),
        ("Le dentiste, c'est le 12 mai.", "non attends, c'est le 14"),
        ("A consulta é no dia 12 de maio.", "não, espera, é dia 14"),
        ("Der Termin ist am 12. Mai.", "nein warte, am 14."),
        ("My keys are in the blue bowl.", "no wait, they are in the red bowl"),
    ],
)
def test_a_value_said_anew_takes_the_place_of_the_last_of_its_kind(old: str, new: str) -> None:
    assert followed(APART, old, new) == [("e2", "e3")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My keys are in the blue bowl.", "no, I like the red bowl"),
        ("The meeting is at 9", "no, it's fine"),
        ("I saw 12 birds", "no way, it's 14 degrees outside"),
        ("We are 5 for dinner", "Sorry, I have 3 exams this week"),
        ("I like tea", "*sigh*"),
    ],
)
def test_what_only_begins_like_it_takes_nothing_back(old: str, new: str) -> None:
    assert followed(APART, old, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Mia reacts to penicillin", "no sorry, not penicillin: amoxicillin"),
        ("Mia reacts to penicillin", "no wait, amoxicillin, not penicillin"),
        ("the hut sleeps 12 in bunks", "actually 9, one room is closed"),
        ("24 chairs for the hall", "actually 26 chairs, my fault"),
        ("The boat leaves on Tuesday", "actually Thursday, they moved it"),
        ("Nina speelt cello", "nee sorry, geen cello: altviool"),
        ("Nina fietst naar Roermond", "ik bedoel Venlo"),
        ("de huur is 640 per maand", "wacht, 660, niet 640"),
        ("Luca studia fagotto", "no scusa, non fagotto ma oboe"),
        ("la visita è mercoledì alle 9", "scusa, volevo dire giovedì"),
        ("Anja spielt Trompete", "nein sorry, ich meinte Posaune"),
        ("Anja spielt Trompete", "nein, nicht Trompete, sondern Posaune"),
        ("el perro come pollo", "perdón, no pollo: cordero"),
        ("el vuelo sale el 12 de mayo", "quise decir el 14 de mayo"),
        ("le chat mange du thon", "non pardon, pas du thon: du saumon"),
        ("on se voit à Namur", "je voulais dire Dinant"),
        ("o gato come atum", "desculpa, não atum: sardinha"),
        ("o jantar é no sábado", "quis dizer domingo"),
        ("Mia è allergica alle fragole", "no scusa, not strawberries: LAMPONI"),
        ("The boat is moored in Hull", "*Whitby"),
        ("the cot is blue", "*green"),
        ("we ordered two abricots", "*apricots"),
        ("we ordered two abricots", "apricots*"),
    ],
)
def test_a_value_of_any_kind_is_put_right_at_once(old: str, new: str) -> None:
    assert followed(APART, old, new) == [("e2", "e3")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like tea", "*very* good"),
        ("I like tea", "* buy milk"),
        ("I like tea", "*hugs"),
        ("We are 5 for dinner", "no, not hungry, tired"),
        ("Ik drink thee", "nee, dank je"),
        ("I drink tea", "actually, never mind"),
        ("We live in Hull", "sorry, I have to go"),
        ("We met Tom in Hull", "sorry, Anna!"),
        ("I paid 20 euro", "actually 3 people came, fun"),
        ("Ik woon in Venlo", "ik bedoel dat het mooi is"),
        ("vivo a Parma", "no, grazie"),
        ("My cat is old", "oh no, not again, sorry"),
        ("Mia is late", "no, not yet"),
    ],
)
def test_what_names_no_other_value_puts_nothing_right(old: str, new: str) -> None:
    assert followed(APART, old, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ferry booked, there 4 May, home 19 May. 88 euro", "correction: home 17 May"),
        ("trein geboekt, heen 3 maart, terug 9 maart. 120 euro", "correctie: terug 8 maart"),
    ],
)
def test_a_day_put_right_ends_the_sentence_with_the_day(old: str, new: str) -> None:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    for text in (APART, old, new):
        memory.ingest(text, speaker="Odile", session="monday")
    (found,) = memory.successions()
    assert old[slice(*found.old[1:])] == old.partition(". ")[0] + "."


def test_a_slip_is_one_of_the_message_right_before() -> None:
    assert followed("we ordered two abricots", "we had soup", "*apricots") == []


def test_what_a_line_was_corrected_to_is_over_with_the_line() -> None:
    memory = SlotMemory()
    said = (
        ("The dentist appointment is on 12 May.", "2026-03-11", "one"),
        ("no wait, it's the 14th", "2026-03-11", "one"),
        ("My bike has a flat tyre.", "2026-04-02", "two"),
        ("The dentist appointment was moved to 21 May.", "2026-05-08", "three"),
    )
    for text, at, session in said:
        memory.ingest(text, speaker="Mia", at=at, session=session)
    sure = {(one.old[0], one.new[0]) for one in memory.successions() if one.confidence >= 0.5}
    assert {("e1", "e2"), ("e2", "e4")} <= sure
    answer = memory.answer("When is the dentist appointment?", at="2026-05-09")
    assert "21 May" in answer.text.splitlines()[0]
    assert "[until 8 May 2026] Mia: no wait, it's the 14th" in memory.read("the dentist").text
