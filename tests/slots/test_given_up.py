"""What is over ends what said that it was had, done or planned, and nothing that is only liked."""

from __future__ import annotations

import pytest

from tests.support.successions import FILLING, sure


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I'm flying to Oslo in March with Ben.", "The Oslo trip is cancelled."),
        ("We're going to Crete on 4 May.", "Our flight to Crete was cancelled."),
        (
            "I'm running with the club at the Ghent marathon in May.",
            "I'm pulling out of the Ghent marathon.",
        ),
        (
            "I'm playing in the chess tournament in Ulm on Sunday.",
            "Backed out of the chess tournament.",
        ),
        (
            "We're going to Kyoto with my aunt in April.",
            "i'm withdrawing from the Kyoto trip :( no money",
        ),
        ("Wir fliegen im Mai nach Athen.", "Die Reise nach Athen ist abgesagt."),
        ("Am Sonntag spiele ich beim Turnier in Ulm.", "Ich ziehe mich vom Turnier in Ulm zurück."),
        ("En junio vamos a Roma con el coro.", "El viaje a Roma se canceló."),
        ("El domingo tengo el torneo de ajedrez.", "Me retiro del torneo de ajedrez."),
        ("Je vais à Prague avec la chorale en juin.", "Le voyage à Prague est annulé."),
        ("Le 4 mai j'ai le tournoi d'échecs.", "Je me retire du tournoi d'échecs."),
        ("Em junho vou a Londres com o coro.", "A viagem a Londres foi cancelada."),
        ("No domingo tenho o torneio de xadrez.", "Desisti do torneio de xadrez."),
        ("Tenho uma mota.", "Vendi a mota."),
        ("Tengo un gato, Michi.", "Michi ha muerto."),
    ],
)
def test_what_is_given_up_is_over(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == [("e1", "e6")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Gosto do meu barco.", "O barco foi cancelado."),
        ("Gosto muito de jazz.", "O concerto de jazz foi cancelado."),
        ("Me gusta el teatro de mi barrio.", "El teatro se canceló."),
        ("J'adore le festival de jazz.", "Le festival est annulé."),
        ("Ich mag den Chor sehr.", "Der Chor ist abgesagt."),
        ("Ich liebe meinen alten Golf.", "Anna hat den Golf verkauft."),
        ("I love the jazz festival.", "The jazz festival is cancelled."),
        ("O barco é azul.", "A viagem de barco foi cancelada."),
        ("Lisboa é linda em maio.", "A viagem a Lisboa foi cancelada."),
        ("Ich wohne in Athen.", "Die Reise nach Athen ist abgesagt."),
        ("Wir fliegen im Mai nach Athen.", "Die Reise nach Oslo ist abgesagt."),
        ("I'm going to a talk about Oslo on Friday.", "The Oslo trip is cancelled."),
        ("I live in Oslo.", "The Oslo trip is cancelled."),
        ("I'm flying to Oslo in March.", "The Bergen trip is cancelled."),
        ("I'm flying to Oslo in March.", "The Oslo concert is cancelled."),
        ("My sister is flying to Oslo in March.", "I'm withdrawing from the Oslo trip."),
        ("I have an account at Lloyds.", "I withdrew 40 pounds from Lloyds."),
        ("I have a red car.", "I was pulling out of the car park."),
        ("J'habite à Prague.", "Le voyage à Prague est annulé."),
        ("El sábado vamos a Roma.", "El viaje a Lisboa se canceló."),
    ],
)
def test_what_is_liked_or_of_another_place_is_not_over(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []
