"""A date or an amount that is said to be changed takes the place of the one that was told."""

from __future__ import annotations

import pytest
from spoken import spoken

from tests.support.successions import FILLING, sure


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My flight lands on 3 June.", "They changed the flight: it lands on 5 June."),
        ("My checkup is on Monday.", "The clinic moved my checkup: Thursday instead."),
        ("My knee operation is on 12 May.", "New date for the knee operation: 19 May."),
        ("We're painting the kitchen on Saturday.", "Change of plans: the kitchen is on Sunday."),
        ("The doctor says the 3rd of May.", "The doctor changed the date: it's 9 May now."),
        ("Der Zug nach Ulm fährt am 3. Mai.", "Sie haben den Zug geändert: er fährt am 5. Mai."),
        ("Meine Prüfung ist am 12. Juni.", "Die Prüfung wurde verlegt: 19. Juni."),
        ("El vuelo a Bogotá sale el 3 de mayo.", "Cambiaron el vuelo: sale el 5 de mayo."),
        ("La visita del piso es el lunes.", "Cambio de planes: la visita del piso es el jueves."),
        ("Mon train pour Lille part le 3 mai.", "Ils ont changé le train : il part le 5 mai."),
        ("La visite de la maison est lundi.", "Nouvelle date pour la visite : jeudi."),
        ("O exame é no dia 3 de maio.", "Mudaram a data do exame: é no dia 5."),
        ("A consulta da avó é na segunda.", "Remarcaram a consulta da avó: quinta."),
        ("We move on the 15th.", "the move got pushed to the 20th"),
        ("Dentist on Tuesday at 9.", "dentist moved me to Thursday"),
        ("The viewing is on May 3.", "they put the viewing off till May 9"),
        ("Der Umzug ist am 15.", "der Umzug wurde auf den 20. verschoben"),
        ("Die Prüfung ist am 3. Juni.", "Prüfung ist jetzt erst am 10. Juni"),
        ("La cita con Ana es el 10.", "la cita se aplaza al 12"),
        ("La mudanza es el 15.", "han aplazado la mudanza al 20"),
        ("Le déménagement est le 15.", "le déménagement est repoussé au 20"),
        ("Le dîner est mardi.", "on a décalé le dîner à jeudi"),
        ("Il trasloco è il 15.", "il trasloco è spostato al 20"),
        ("Il dentista è martedì.", "hanno spostato il dentista a giovedì"),
        ("I take 20 mg of sertraline.", "My sertraline goes up to 30 mg."),
        ("Swimming lessons are 80 euros.", "Swimming lessons go up to 95 euros in May."),
        ("Ich nehme 5 mg Cortison.", "Das Cortison wird auf 10 mg erhöht."),
        ("Der Kurs kostet 80 Euro.", "Der Kurs steigt auf 95 Euro."),
        ("Tomo 5 mg de cortisona.", "La cortisona sube a 10 mg."),
        ("El curso cuesta 80 euros.", "El curso pasa a 95 euros."),
        ("Je prends 20 gouttes de valériane.", "La valériane passe à 30 gouttes."),
        ("Le cours coûte 80 euros.", "Le cours monte à 95 euros."),
        ("Tomo 20 gotas de valeriana.", "A valeriana passa para 30 gotas."),
        ("O curso custa 80 euros.", "O curso sobe para 95 euros."),
    ],
)
def test_a_changed_value_takes_the_place_of_the_one_before(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == [("e1", "e6")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My flight lands on 3 June.", "They changed the train: it leaves on 5 June."),
        ("My flight lands on 3 June.", "They changed the flight: it's from gate 5 now."),
        ("My flight lands on 3 June.", "They changed the flight: it lands on 3 June at noon."),
        ("My flight lands on 3 June.", "They changed Ana's flight: it lands on 5 June."),
        ("My checkup is on Monday.", "I asked if they moved my checkup: Thursday would be nice."),
        ("I was born on 3 May.", "The doctor changed the date: 9 May."),
        ("Meine Prüfung ist am 12. Juni.", "Der Termin beim Zahnarzt wurde verlegt: 19. Juni."),
        ("Meine Prüfung ist am 12. Juni.", "Vielleicht wird die Prüfung verlegt: 19. Juni."),
        ("El vuelo sale el 3 de mayo.", "Cambiaron la cita: es el 5 de mayo."),
        ("Llegué el 3 de mayo en el vuelo de Iberia.", "Cambiaron el vuelo: sale el 5 de mayo."),
        ("Mon train part le 3 mai.", "Changement de plan : on mange des crêpes le 5 mai."),
        ("Je suis née le 3 mai.", "Le médecin a changé la date : le 9 mai."),
        ("O exame é no dia 3 de maio.", "Mudaram a data do concerto: é no dia 5."),
        ("Nasci no dia 3 de maio.", "A médica mudou a data: é no dia 5."),
        ("We move on the 15th.", "the exam got pushed to the 20th"),
        ("We move on the 15th.", "if only the move got pushed to the 20th"),
        ("Mi cita es el 10.", "la cita de mi madre se aplaza al 12"),
        ("La cita de mi madre es el 10.", "la cita se aplaza al 12"),
        ("Il trasloco è il 15.", "l'esame è spostato al 20"),
        ("I take 20 mg of sertraline.", "Ben's sertraline goes up to 30 mg."),
        ("I take 20 mg of sertraline.", "My ibuprofen goes up to 400 mg."),
        ("Piano lessons cost 30 euros.", "Singing lessons go up to 35 euros."),
        ("I take 20 mg of sertraline.", "The price of sertraline goes up to 30 euros."),
        ("I take 20 mg of sertraline.", "She might raise my sertraline, it goes up to 30 mg."),
        ("I paid 80 euros for the course.", "The course goes up to 95 euros in May."),
        ("Ich nehme 5 mg Cortison.", "Das Cortison von meinem Hund wird auf 10 mg erhöht."),
        ("Der Kurs kostet 80 Euro.", "Die Miete steigt auf 95 Euro."),
        ("Tomo 5 mg de cortisona.", "La cortisona de mi perro sube a 10 mg."),
        ("El curso cuesta 80 euros.", "El alquiler pasa a 95 euros."),
        ("Je prends 5 mg de cortisone.", "La cortisone de mon chien passe à 10 mg."),
        ("Le cours coûte 80 euros.", "Le loyer monte à 95 euros."),
        ("Tomo 5 mg de cortisona.", "A cortisona do meu cão passa para 10 mg."),
        ("O curso custa 80 euros.", "A renda sobe para 95 euros."),
    ],
)
def test_what_only_looks_like_such_a_change_is_none(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []


def test_each_change_takes_the_place_of_the_one_before_it() -> None:
    said = ["Je prends 5 mg de cortisone.", "La cortisone passe à 10 mg."]
    assert sure(*said, *FILLING, "La cortisone passe à 15 mg.") == [("e1", "e2"), ("e2", "e7")]


def test_of_two_lines_that_may_be_meant_it_is_the_later_one() -> None:
    said = ["The doctor sees me on 3 May.", "The doctor sees me about the knee on 7 May."]
    assert sure(*said, *FILLING, "The doctor changed the date: it's 9 May.") == [("e2", "e7")]


@pytest.mark.parametrize(
    ("old", "new", "question", "holds"),
    [
        ("My flight lands on 3 June.", "They changed the flight: 5 June.", "When do I land?", "5"),
        ("Je prends 5 mg de zinc.", "Le zinc passe à 10 mg.", "Combien de zinc je prends ?", "10"),
        ("O exame é no dia 3.", "Mudaram a data do exame: dia 5.", "Quando é o exame?", "5"),
    ],
)
def test_what_holds_is_answered_first(old: str, new: str, question: str, holds: str) -> None:
    memory = spoken(old, *FILLING, new, by="Mia")
    assert holds in memory.answer(question, asker="Mia").text.splitlines()[0]
