"""Where one of some things that were counted is gone, the count no longer holds."""

from __future__ import annotations

import pytest

from tests.support.successions import FILLING, sure


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I have five hives.", "I lost a hive, four left."),
        ("We have three goats.", "One of the goats died."),
        ("Tenemos cuatro conejos.", "Uno de los conejos se escapó."),
        ("I own six guitars.", "I sold a guitar, five left."),
        ("We keep 12 hens.", "A fox came, lost a hen. 11 left"),
        ("Two cats, both grey, that's us: we have two cats.", "One of our cats ran away."),
        ("Wir haben drei Ziegen.", "Eine unserer Ziegen ist gestorben."),
        ("Ich habe fünf Kakteen.", "Ich habe einen der Kakteen verloren."),
        ("Tenemos tres cabras.", "Una de las cabras murió."),
        ("Tengo cinco cactus.", "Perdí un cactus, quedan cuatro."),
        ("Nous avons trois chèvres.", "Une de nos chèvres est morte."),
        ("J'ai cinq cactus.", "J'ai perdu un cactus, il en reste quatre."),
        ("Temos três cabras.", "Uma das cabras morreu."),
        ("Tenho cinco catos.", "Perdi um cato, restam quatro."),
    ],
)
def test_a_count_is_over_where_fewer_are_left(old: str, new: str) -> None:
    assert ("e1", "e6") in sure(old, *FILLING, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I have five hives.", "I lost a bet, four left."),
        ("I have five hives.", "I left four jars at the bakery."),
        ("I have five hives.", "One of the goats died."),
        ("I have hives.", "One of the hives died."),
        ("I have five hives.", "One of the hives is green."),
        ("I saw five goats.", "One of the goats died."),
        ("She has five goats.", "One of the goats died."),
        ("I have five goats.", "One of my neighbour's goats died."),
        ("Mon frère a quatre lapins.", "Un de nos lapins est mort."),
        ("O meu vizinho tem quatro coelhos.", "Um dos coelhos fugiu."),
        ("Gosto de quatro coelhos em especial.", "Um dos coelhos fugiu."),
        ("I have five goats.", "I almost lost a goat, four left the barn."),
        ("I have five tickets.", "I sold the piano, four days left."),
        ("I have four hives.", "I lost a hive, four left."),
        ("Wir haben drei Ziegen.", "Eine der Ziegen ist braun."),
        ("Wir haben drei Ziegen.", "Ich habe den Schlüssel verloren, noch zwei Tage."),
        ("Tenemos tres cabras.", "Una de las cabras es negra."),
        ("Tenemos tres cabras.", "Perdí las llaves, quedan dos días."),
        ("Nous avons trois chèvres.", "Une de nos chèvres est noire."),
        ("Nous avons trois chèvres.", "J'ai perdu mes clés, il reste deux jours."),
        ("Temos três cabras.", "Uma das cabras é preta."),
        ("Temos três cabras.", "Perdi as chaves, restam dois dias."),
    ],
)
def test_what_is_lost_of_something_else_ends_no_count(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []
