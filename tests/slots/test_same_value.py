"""A line that names the new value is not ended by the change to it."""

from __future__ import annotations

import pytest

from tests.support.successions import FILLING, sure


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The flat is at 7 Mill Lane in Bath, second floor.", "MOVED. we live at 7 Mill Lane now"),
        ("Our new house in Bergen has a garden.", "We live in Bergen now."),
        ("The office of Bosch is in Ulm.", "I work in Ulm now."),
        (
            "Le logement est au 7 rue des Lilas, 35000 Rennes.",
            "On habite maintenant 7 rue des Lilas",
        ),
        ("Die Wohnung liegt in der Parkallee 7.", "Wir wohnen jetzt in der Parkallee."),
        ("El piso está en la calle Goya 7.", "Ahora vivimos en la calle Goya."),
        ("A casa fica no cais da Yser 3.", "Agora moramos no cais da Yser."),
        ("The match is on Sunday.", "The match has been moved to Sunday."),
        ("La réunion est le 21 mai.", "La réunion est reportée au 21 mai."),
        ("A consulta é no dia 21 de maio.", "A consulta foi adiada para 21 de maio."),
    ],
)
def test_what_names_the_new_value_is_not_over(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live at 14 Alder Row.", "We live at 7 Mill Lane now"),
        ("I live in Porto.", "We live in Bergen now."),
        ("Wir wohnen in der Lindenstraße.", "Wir wohnen jetzt in der Parkallee."),
        ("Vivimos en la calle Mayor.", "Ahora vivimos en la calle Goya."),
        ("Moramos na rua da Sardinha.", "Agora moramos no cais da Yser."),
        ("J'habite rue de Brest.", "J'habite maintenant rue des Lilas."),
        ("The match is on Saturday.", "The match has been moved to Sunday."),
        ("A consulta é no dia 12 de maio.", "A consulta foi adiada para 21 de maio."),
    ],
)
def test_what_names_another_value_is(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == [("e1", "e6")]
