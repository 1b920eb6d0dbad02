"""Current values told casually: what they take the place of, and what they leave alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoken import spoken

from demem_agent.slots.successions.anew.parsing import values_told
from demem_agent.slots.successions.anew.told import Told, replaces
from demem_agent.slots.successions.anew.words import number
from demem_agent.slots.successions.claims import claim
from demem_agent.slots.successions.turns import tell_of_two
from tests.support.successions import FILLING, sure

TOLD_ANEW = [
    ("I live at Marktgasse 12.", "Lendkai 33 is home now"),
    ("Ich wohne in der Marktgasse 12.", "Lendkai 33 ist jetzt mein Zuhause"),
    ("Vivo en la calle Mayor 12.", "ahora mi casa es calle Luna 33"),
    ("J'habite 12 rue du Marché.", "chez moi c'est 33 quai de la Loire maintenant"),
    ("doc put me on Euthyrox 50", "doc puts me up to Euthyrox 75"),
    ("I take 10 mg of Ramipril", "they raised my Ramipril to 20"),
    ("Je prends du Levothyrox 50.", "le médecin m'a passé à Levothyrox 75"),
    ("Prendo Eutirox 50.", "il medico mi ha portato a Eutirox 75"),
    ("I drive line 4 mostly.", "they put me on line 7 now"),
    ("The gym costs 24,90 a month.", "gym is 29,90 these days"),
    ("The gym costs 25", "the gym membership costs 30 now"),
    ("Pago 12 euros por Netflix.", "Netflix ha subido a 14"),
    ("My team lead is Oskar.", "Oskar is leaving, Mira takes over as team lead"),
    ("Die Miete ist 640 Euro.", "ab März kostet die Miete 690"),
    ("L'affitto è di 640 euro.", "da marzo l'affitto sale a 690"),
    ("Daycare is 300 a month", "daycare goes up to 340 in September"),
    ("My phone plan is with Magenta.", "I've switched to A1 now"),
    ("I bank with Raiffeisen.", "moved my account over to Erste"),
    ("Mi móvil es de Movistar.", "me he cambiado a Orange"),
    ("My electricity comes from Octopus.", "I'm with EDF for electricity now"),
    ("My daughter is 6", "my daughter turned 7 last week"),
    ("Emma ist 9.", "Emma ist gestern 10 geworden"),
    ("I owe my brother 300", "paid back 100 to my brother, 200 left"),
    ("Le debo 1500 a Marcos.", "le devolví 500 a Marcos, quedan 1000"),
    ("My boss is called Stefan.", "new boss is Karin, seems alright"),
    ("Ma cheffe est Julie", "ma nouvelle cheffe s'appelle Nadia"),
    ("My GP is Dr. Huber.", "Dr. Huber has retired, Dr. Novak took over the practice"),
    ("Mi profesora de piano es Lola.", "Lola se fue, ahora me da clase Inés"),
    (
        "For the knee the doctor said to take ibuprofen.",
        "doctor says stop ibuprofen, take paracetamol instead",
    ),
]
#: The same in words that name a first day, an offer, who asks for it, or what has come.
ANNOUNCED = [
    ("Paulo works at Bosch", "Paulo's first day at Continental today"),
    ("I work for Altice", "Critical Software offered me 300 more and I said yes"),
    ("I'm a nurse at the São João hospital", "i'm leaving São João! from july CUF"),
    ("ich bin bei Siemens angestellt", "ich fange im Mai bei Continental an"),
    ("je suis caissière chez Leclerc", "j'ai été embauchée à la bibliothèque, adieu Leclerc"),
    ("lavoro in Fiat", "mi hanno proposto un posto in Ferrari e ho accettato"),
    ("the rent is 1100 euros", "landlord wants 1180 from May"),
    ("el gimnasio son 35 al mes", "el gimnasio me cobra 39 desde marzo"),
    ("I have seven hives on the slope", "caught two swarms, so nine now"),
    ("tenho quatro colmeias", "apanhei um enxame, ficam cinco"),
    ("my sister Joana is 33", "Joana had her 34th birthday yesterday"),
    ("Meine Tochter Klara ist zwölf", "Klara ist jetzt dreizehn"),
    ("Marta ha 11 anni", "oggi Marta ne fa 12"),
    ("mein Strom kommt von Grünwelt", "Strom läuft ab jetzt über Tibber"),
    ("la luce ce l'ho con Enel", "disdetta Enel, da marzo la luce è con Iren"),
    ("my GP is Dr Okoye", "Dr Okoye's left the surgery and I've been put down for Dr Lindqvist"),
    ("Unser Flug geht um 11:30", "Eurowings hat den Flug auf 13:10 verschoben"),
]
NOT_ANNOUNCED = [
    ("I work at Bosch", "Paulo's first day at Continental today"),  # somebody else's
    ("I work at Altice", "Critical Software offered me a job and I said no"),
    ("I work at Altice", "if the offer from Hadley comes I'll say yes"),
    ("sou enfermeira no São João", "não vou sair do São João, a CUF paga pouco"),
    ("the rent is 1100 euros", "landlord wants the keys back from May 18"),
    ("pagamos 900 de renda", "o senhorio da Rita quer 980 a partir de maio"),
    ("I have seven hives", "Rui has nine hives now"),
    ("wir haben acht Schafe", "mit zehn Schafen wäre der Stall zu klein"),
    ("Joana is 33", "Joana's brother had his 34th birthday"),
    ("Wir wohnen in der Lindengasse 5", "Omas neue Adresse: Hafenweg 22"),
    ("my car insurance is with Pelayo", "moved the home insurance to Verti"),
]
LEFT_ALONE = [
    ("The internet costs 34,90.", "The gym costs 29,90 now"),  # another thing
    ("Coffee costs 3.50 at Milano", "coffee costs 2.80 at the station now"),
    ("Room 3 costs 50", "Room 4 costs 60 now"),
    ("Our rent is 640.", "rent for the garage goes up to 90"),
    ("rent goes up to 690 from March", "rent for the garage goes up to 90"),
    ("My GP is Dr. Huber.", "new dentist is Dr. Novak"),
    ("My daughter Emma is 9.", "Lukas turned 10 on Sunday"),  # somebody else's
    ("Emma is 9", "Emma turned 40 today"),
    ("Zoe is 7.", "Zoe's brother turned 9"),
    ("I take Ramipril 5.", "the neighbour's on Ramipril 10 now"),
    ("Ich zahle 640 Miete.", "Anna zahlt jetzt 690 Miete"),
    ("My contract is with Magenta.", "my brother has switched to A1 now"),
    ("My boss is called Stefan.", "Peter's new boss is Karin"),
    ("I live at Marktgasse 12.", "Lendkai 33 is home for mum now"),
    ("doc put me on Euthyrox 50", "doc puts mum up to Euthyrox 75"),
    ("I owe Tom 300", "Tom paid me 100 back, 200 left"),
    ("I owe Tom 300", "paid Anna 100 back, 200 left"),
    ("Ma sœur habite 12 rue du Marché", "chez moi c'est 33 quai de la Loire maintenant"),
    ("Rent is 640 warm.", "if rent goes up to 690 I'm out of here"),  # supposed, or past
    ("I bank with Raiffeisen.", "thought about switching to Erste but stayed"),
    ("Rent is 640 warm.", "back in 2019 rent was 500"),
    ("I drive line 4", "took line 7 home, it is faster now"),
    ("My phone plan is with Magenta", "I switched to Linux now"),  # of no such kind
    ("I'm with Allianz", "went to Generali yesterday to complain"),
    ("My phone is a Samsung.", "I got a second phone, a Pixel"),
    ("We move on the 15th.", "the exam got pushed to the 20th"),
    ("Mama hat einen Termin am 3. Mai", "Mein Termin ist jetzt am 9. Mai"),
]


@pytest.mark.parametrize(("before", "anew"), TOLD_ANEW)
def test_a_value_told_anew_takes_the_place_of_the_one_before(before: str, anew: str) -> None:
    assert sure(before, *FILLING, anew) == [("e1", "e6")]


@pytest.mark.parametrize(("before", "anew"), ANNOUNCED)
def test_what_is_announced_takes_the_place_of_what_was(before: str, anew: str) -> None:
    assert ("e1", "e6") in [(old, new[:2]) for old, new in sure(before, *FILLING, anew)]


@pytest.mark.parametrize(("before", "later"), NOT_ANNOUNCED)
def test_what_only_looks_announced_takes_the_place_of_none(before: str, later: str) -> None:
    assert sure(before, *FILLING, later) == []


@pytest.mark.parametrize(("before", "later"), LEFT_ALONE)
def test_a_value_of_another_subject_takes_the_place_of_none(before: str, later: str) -> None:
    assert sure(before, *FILLING, later) == []


def test_the_line_that_holds_is_read_ahead_of_a_value_that_shares_no_word_with_it() -> None:
    memory = spoken("I bank with Raiffeisen.", *FILLING, "moved my account over to Erste", by="Mia")
    lines = memory.read("Which bank am I with?").lines
    scores = {line.evidence.id: line.score for line in lines}
    assert scores["e6"] > scores["e1"]


def test_a_value_that_is_asked_for_by_its_noun_is_not_asked_for_by_its_name() -> None:
    """In German each noun has a capital, as the name of the old bank has."""
    memory = spoken("Meine Bank ist die Sparkasse.", *FILLING, "hab zur ING gewechselt", by="Mia")
    best = max(memory.read("Bei welcher Bank bin ich?").lines, key=lambda line: line.score)
    assert best.evidence.id == "e6"


def test_what_is_left_of_a_debt_of_nobody_fits_what_was_owed_and_paid() -> None:
    assert sure("I owe Tom 300", *FILLING, "paid 100 back, 200 left") == [("e1", "e6")]
    assert sure("I owe Tom 450", *FILLING, "paid 100 back, 200 left") == []


def test_nobody_becomes_younger() -> None:
    old = Told("age", frozenset({"leo"}), "8")
    assert not replaces(Told("age", frozenset({"leo"}), "5", anew=True), old)


def test_a_debt_does_not_grow_by_what_is_left_of_it() -> None:
    old = Told("debt", frozenset({"tom"}), "300")
    assert not replaces(Told("debt", frozenset({"tom"}), "400", anew=True), old)


def test_a_value_that_is_not_told_anew_takes_the_place_of_none() -> None:
    old = Told("cost", frozenset({"gym"}), "25")
    assert not replaces(Told("cost", frozenset({"gym"}), "30"), old)


def test_a_value_that_may_be_of_the_kind_needs_one_that_surely_is() -> None:
    unsure = Told("cost", frozenset({"gym"}), "25", sure=False)
    again = Told("cost", frozenset({"gym"}), "30", anew=True, sure=False)
    assert not replaces(again, unsure)
    assert replaces(again, Told("cost", frozenset({"gym"}), "25"))


@pytest.mark.parametrize(
    ("written", "read"), [("1.500", "1500"), ("29,90", "29.9"), ("1,500", "1500"), ("690", "690")]
)
def test_a_number_is_the_same_however_it_is_written(written: str, read: str) -> None:
    assert number(written) == read


@given(st.text(max_size=160), st.text(alphabet="aieo ,.'-0123456789€IM", max_size=160))
def test_any_text_can_be_looked_through(any_text: str, like: str) -> None:
    for text in (any_text, like):
        assert all(told.value for told in values_told(text))


def test_a_word_for_a_number_tells_an_age_and_no_label() -> None:
    assert [told.kind for told in values_told("Emma is nine")] == ["age"]
    assert values_told("I like the last one") == ()


def test_two_things_with_values_of_one_kind_are_told_of_two() -> None:
    said = [claim(text) for text in ("The internet costs 34", "The gym costs 29 now")]
    internet, gym = (one for one in said if one is not None)
    assert tell_of_two(internet, gym)
    assert not tell_of_two(gym, gym)
