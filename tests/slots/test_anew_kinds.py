"""Roles told by a title and a name, and debts that are paid off."""

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


@pytest.mark.parametrize(("before", "anew"), ROLES)
def test_who_holds_a_role_anew_takes_the_place_of_who_did(before: str, anew: str) -> None:
    assert sure(before, *FILLING, anew) == [("e1", "e6")]


@pytest.mark.parametrize(("before", "anew"), SETTLED)
def test_what_is_paid_in_full_is_owed_no_more(before: str, anew: str) -> None:
    assert sure(before, *FILLING, anew) == [("e1", "e6")]


@pytest.mark.parametrize(("before", "later"), [*OTHER_ROLES, *NOT_SETTLED])
def test_another_role_or_debt_is_left_alone(before: str, later: str) -> None:
    assert sure(before, *FILLING, later) == []
