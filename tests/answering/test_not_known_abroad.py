"""What is known, and read, in English is in other languages too."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

SAID = {
    "german": (
        "Lotte arbeitet in der Apotheke.",
        "Emil ist unser neuer Vermieter.",
        "Die Katze schläft auf dem Ofen.",
        "Das Boot kostet 450 Euro im Jahr.",
        "Nora wohnt in Kiel mit ihrem Mann Falk.",
    ),
    "dutch": (
        "Lotte werkt in de apotheek.",
        "Emil is onze nieuwe huisbaas.",
        "De kat slaapt op de kachel.",
        "De boot kost 450 euro per jaar.",
        "Nora woont in Delft met haar man Falk.",
    ),
    "french": (
        "Lotte travaille à la pharmacie.",
        "Emil est notre nouveau propriétaire.",
        "Le chat dort sur le poêle.",
        "Le bateau coûte 450 euros par an.",
        "Nora habite à Lille avec son mari Falk.",
    ),
    "spanish": (
        "Lotte trabaja en la farmacia.",
        "Emil es nuestro nuevo casero.",
        "La gata duerme sobre la estufa.",
        "El barco cuesta 450 euros al año.",
        "Nora vive en Vigo con su marido Falk.",
    ),
    "portuguese": (
        "A Lotte trabalha na farmácia.",
        "O Emil é o nosso novo senhorio.",
        "A gata dorme em cima do fogão.",
        "O barco custa 450 euros por ano.",
        "A Nora mora em Faro com o marido Falk.",
    ),
    "italian": (
        "Lotte lavora in farmacia.",
        "Emil è il nostro nuovo padrone di casa.",
        "Il gatto dorme sulla stufa.",
        "La barca costa 450 euro all'anno.",
        "Nora abita a Bari con suo marito Falk.",
    ),
}


def known(language: str, question: str) -> bool:
    memory = SlotMemory(clock=None, known_from=0.0)
    for text in SAID[language]:
        memory.ingest(text, speaker="Uli", at="2026-05-03")
    answer = memory.answer(question)
    assert answer.text
    return answer.known


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("german", "Wie teuer ist das Boot?"),
        ("german", "Wie heißt der Mann von Nora?"),
        ("german", "Wer ist unser Vermieter?"),
        ("dutch", "Hoe duur is de boot?"),
        ("dutch", "Hoe heet de man van Nora?"),
        ("dutch", "Wie is onze huisbaas?"),
        ("french", "Combien coûte le bateau ?"),
        ("french", "Qui est notre propriétaire ?"),
        ("spanish", "¿Cuánto cuesta el barco?"),
        ("spanish", "¿Quién es nuestro casero?"),
        ("portuguese", "Quanto custa o barco?"),
        ("portuguese", "Quem é o nosso senhorio?"),
        ("italian", "Quanto costa la barca?"),
        ("italian", "Chi è il nostro padrone di casa?"),
    ],
)
def test_what_was_told_is_known(language: str, question: str) -> None:
    assert known(language, question)


def test_a_short_line_is_read_in_the_language_of_the_question() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("mijn abonnement is geldig tot eind maart", speaker="Uli", at="2026-05-03")
    memory.ingest("rijbewijs binnen! geldig tot 2031", speaker="Uli", at="2026-05-04")
    assert memory.answer("Tot wanneer is mijn rijbewijs geldig?").evidence[0] == "e2"
