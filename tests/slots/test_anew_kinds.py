"""Roles told by a title, debts paid off, jobs that are got and prices that a seller raises."""

from __future__ import annotations

import pytest

from tests.support.successions import FILLING, sure

ROLES = [
    (
        "the key is with the caretaker, Mr Yilmaz",
        "Mr Yilmaz retired, new caretaker: Ms Dragovic, 55 01 88",
    ),
    ("our caretaker is Mr Yilmaz", "new caretaker: Ms Dragovic"),
    ("the caretaker, Mr Yilmaz, has the key", "the caretaker is now Ms Dragovic"),
    ("Der Hausmeister, Herr Yilmaz, hat den Schlüssel", "neue Hausmeisterin: Frau Dragovic"),
    ("El portero es el señor Ruiz", "nuevo portero: señor Gil"),
    ("our choir leader is Ms Roth", "new choir leader: Mr Brandt"),
    ("de huismeester, meneer Bakker, heeft de sleutel", "de nieuwe huismeester is mevrouw Visser"),
    ("le gardien, monsieur Petit, a la clé", "le nouveau gardien est madame Roux"),
    ("il custode, signor Rossi, ha la chiave", "il nuovo custode è la signora Bianchi"),
    ("our tax adviser is Mr Kern", "Ms Lang is the new tax adviser"),
]
OTHER_ROLES = [
    ("our caretaker is Mr Yilmaz", "new caretaker at the school: Ms Dragovic"),
    ("our caretaker is Mr Yilmaz", "Anna's new caretaker: Ms Dragovic"),
    ("our caretaker is Mr Yilmaz", "new caretaker: Ms Dragovic in my mum's house"),
    ("our caretaker is Mr Yilmaz", "new choir leader: Ms Dragovic"),
    ("our caretaker is Mr Yilmaz", "if the new caretaker is Ms Dragovic I'm moving out"),
    ("our caretaker is Mr Yilmaz", "the new caretaker of the office is Ms Dragovic"),
    ("our colleague is Mr Yilmaz", "new colleague: Ms Dragovic"),
    ("our neighbour is Mr Yilmaz", "new neighbour: Ms Dragovic"),
]
SETTLED = [
    (
        "tax office: pay back childcare allowance 2024, 1,346 euro",
        "paid the allowance back in one go, 1009.53 was left",
    ),
    ("I owe Tom 300", "paid Tom back in full"),
    ("I owe my brother 300", "finally paid my brother everything"),
    ("Ich schulde Markus 1500", "hab Markus alles zurückgezahlt"),
    ("ik moet 1346 euro toeslag terugbetalen", "de toeslag in één keer terugbetaald"),
    ("Le debo 1500 a Marcos.", "he devuelto todo a Marcos"),
    ("Je dois 300 euros à Paul", "j'ai tout remboursé à Paul"),
    ("Devo 300 euro a Marco", "ho restituito tutto a Marco"),
]
NOT_SETTLED = [
    ("I owe Tom 300", "Anna paid Tom back in full"),
    ("I owe Tom 300", "paid Anna back in full"),
    ("I owe Tom 300", "paid Tom back half of it, all at once"),
    ("I owe Tom 300", "if I had paid Tom back in full"),
    ("I owe Tom 300", "paid for Tom's dinner in full"),
    ("Ich schulde Markus 1500", "Anna hat Markus alles zurückgezahlt"),
    ("I owe Tom 300", "Tom paid Anna everything"),
]

HIRED = [
    (
        "Joost works at Vossen Logistics",
        "JOOST GOT THE JOB!! Medtronic, starts 1 August, no more early shifts",
    ),
    ("Joost works at Vossen Logistics", "Joost got the job: Medtronic, from August"),
    ("I work at Vossen Logistics", "I got the job! Medtronic, starting Monday"),
    ("Lena works for Bosch", "Lena landed the job! Siemens, starts on 3 May"),
    ("Joost arbeitet bei Vossen", "Joost hat die Stelle! Medtronic, ab August"),
    ("Joost works at Vossen Logistics", "Joost heeft de baan! Medtronic, vanaf 1 augustus"),
    ("Marta trabaja en Zara", "Marta ha conseguido el puesto: Mango, desde mayo"),
    ("Paul travaille chez Renault", "Paul a décroché le poste ! Peugeot, dès septembre"),
    ("Marco lavora in Fiat", "Marco ha avuto il posto! Ferrari, inizia a settembre"),
]
NOT_HIRED = [
    ("I work at Vossen Logistics", "Joost got the job! Medtronic, starts 1 August"),
    ("Joost works at Vossen Logistics", "if Joost got the job: Medtronic, from August"),
    ("Joost works at Vossen Logistics", "Joost's brother got the job! Medtronic, starts 1 August"),
    (
        "Joost works at Vossen Logistics",
        "Joost never got the job! Medtronic, from August they hire",
    ),
    (
        "Joost works at Vossen Logistics",
        "Joost didn't get the job at Medtronic, starts again in August",
    ),
]
RAISED = [
    (
        "hair costs 86 euro per 100 gram at Kerling",
        "Kerling raises prices: 94 per 100 gram from 1 June",
    ),
    (
        "hair costs 86 euro per 100 gram at Kerling",
        "Kerling has put its prices up, now 94 euro per 100 grams",
    ),
    ("beeswax is 12 euro a kilo at Kerling", "new price at Kerling: 14 a kilo"),
    (
        "Haar kostet 86 Euro pro 100 Gramm bei Kerling",
        "Kerling erhöht die Preise: ab Juni 94 Euro pro 100 Gramm",
    ),
    ("haar kost 86 euro per 100 gram bij Kerling", "Kerling verhoogt de prijzen: 94 per 100 gram"),
    ("La cera cuesta 12 euros por kilo en Apis", "Apis sube los precios: 14 euros por kilo"),
    ("La cire coûte 12 euros le kilo chez Apis", "Apis augmente ses prix : 14 euros le kilo"),
    ("La cera costa 12 euro al chilo da Apis", "Apis aumenta i prezzi: 14 euro al chilo"),
]
NOT_RAISED = [
    (
        "hair costs 86 euro per 100 gram at Kerling",
        "Banck raises prices: 94 per 100 gram from 1 June",
    ),
    (
        "hair costs 86 euro per 100 gram at Kerling",
        "Kerling raises prices: 94 per 100 gram of silk",
    ),
    (
        "hair costs 86 euro per 100 gram at Kerling",
        "Kerling raises prices for tulle: 94 per 100 gram",
    ),
    ("hair costs 86 euro per 100 gram at Kerling", "Kerling raises prices: 12 per metre"),
    ("tulle costs 20 euro per 100 gram at Kerling", "Kerling raises prices: 94 per 100 gram"),
    (
        "hair costs 86 euro per 100 gram at Kerling",
        "will ask whether Kerling raises prices: 94 per 100 gram",
    ),
    ("hair costs 86 euro per 100 gram at Kerling", "Kerling raises prices: 94 per 100 gram?"),
    (
        "hair costs 86 euro per 100 gram at Kerling",
        "if Kerling raises prices: 94 per 100 gram, we stop",
    ),
]


@pytest.mark.parametrize(("before", "anew"), ROLES)
def test_who_holds_a_role_anew_takes_the_place_of_who_did(before: str, anew: str) -> None:
    assert sure(before, *FILLING, anew) == [("e1", "e6")]


@pytest.mark.parametrize(("before", "anew"), SETTLED)
def test_what_is_paid_in_full_is_owed_no_more(before: str, anew: str) -> None:
    assert sure(before, *FILLING, anew) == [("e1", "e6")]


@pytest.mark.parametrize(("before", "anew"), HIRED)
def test_who_has_got_a_job_works_at_the_place_named_beside_it(before: str, anew: str) -> None:
    assert ("e1", "e6") in [(old, new[:2]) for old, new in sure(before, *FILLING, anew)]


@pytest.mark.parametrize(("before", "anew"), RAISED)
def test_what_a_seller_asks_for_a_measure_anew_is_what_it_costs(before: str, anew: str) -> None:
    assert sure(before, *FILLING, anew) == [("e1", "e6")]


@pytest.mark.parametrize(("before", "later"), [*OTHER_ROLES, *NOT_SETTLED, *NOT_HIRED, *NOT_RAISED])
def test_another_role_debt_job_or_price_is_left_alone(before: str, later: str) -> None:
    assert sure(before, *FILLING, later) == []
