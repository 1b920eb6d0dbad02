"""Amounts: which questions ask for one, and which texts tell one."""

from __future__ import annotations

import pytest

from demem_agent.text.language.quantities import (
    asks_for_amount,
    counted,
    tells_amount,
    tells_count,
)

COST = "how much did the boat cost?"


@pytest.mark.parametrize(
    "question",
    [
        "How much does Jo earn at the mill?",
        "What did Ana pay for the kiln?",
        "What is the rent of the attic?",
        "Wie viel kostet die Fähre?",
        "Combien coûte la carte ?",
        "Quanto custa o barco?",
        "¿Cuánto cuesta la entrada?",
    ],
)
def test_a_question_for_an_amount_is_known(question: str) -> None:
    assert asks_for_amount(question)


@pytest.mark.parametrize(
    "question",
    ["How many boats are there?", "What did Ana paint?", "Combien de clés ?", "When is it?"],
)
def test_a_count_is_no_amount(question: str) -> None:
    assert not asks_for_amount(question)


@pytest.mark.parametrize(
    "text",
    [
        "740 with the case",
        "it was ninety a night",
        "10.50 because jars cost more",
        "on 12 May it was 2,450 net",
        "13.40 an hour",
        "4 200 euros hors taxes",
    ],
)
def test_an_amount_is_told(text: str) -> None:
    assert tells_amount(text, COST)


@pytest.mark.parametrize(
    "text",
    [
        "day one at the mill",
        "no one knows my name",
        "one of the best days",
        "it leaves on 12 May at 14:30",
        "the 3rd boat",
        "gate 4 is shut",
        "my boss is Gerda, 41, and kind",
        "he's 19.",
        "it is 12 m long",
        "we sailed for three hours",
        "the blue boat",
    ],
)
def test_a_date_an_hour_an_age_and_one_of_several_are_no_amount_of_money(text: str) -> None:
    assert not tells_amount(text, COST)


def test_a_measure_is_an_amount_of_what_is_no_money() -> None:
    assert tells_amount("16.8 kg", "how much does the dog weigh?")


def test_the_question_s_own_number_is_no_answer() -> None:
    assert not tells_amount("boat 777 is blue", "how much did boat number 777 cost?")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many km did I run?", "ran 7km along the canal"),
        ("how many kilometres to the lake", "cycled 23 km to the lake"),
        ("How many hens do we have?", "we have twelve brown hens"),
        ("Wie viele Punkte hatte ich?", "61 Punkte in Latein"),
        ("Combien de poules avons-nous ?", "on a 12 poules"),
        ("¿Cuántas gallinas tenemos?", "hay 12 gallinas"),
    ],
)
def test_a_count_is_a_number_before_what_is_counted(question: str, text: str) -> None:
    assert tells_count(text, counted(question))


def test_another_number_is_no_count() -> None:
    assert not tells_count("at 7 I saw km signs", counted("How many km did I run?"))
    assert counted("How old are the hens?") == ""
