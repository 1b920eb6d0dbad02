"""A first day at work takes the place of the work before, by no more than the name of it."""

from __future__ import annotations

import pytest

from tests.support.successions import FILLING, sure


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I work at Fowler's in Bath.", "First day at Harbour Press today!"),
        ("I work for the city library.", "day one at Siemens. nice people"),
        ("I work at a bakery near the river.", "I said yes to Bosch, I start there in May."),
        ("I repair clocks at Fowler's in Bath.", "My first day at Harbour Press."),
        ("I repair clocks at Fowler's in Bath.", "Last day at Fowler's today."),
        ("Ich arbeite bei Siemens.", "Erster Arbeitstag bei Bosch!"),
        ("Ich arbeite bei Siemens.", "Letzter Tag bei Siemens."),
        ("Ich arbeite bei Siemens.", "Ich habe bei Bosch zugesagt."),
        ("Je travaille chez Renault.", "Premier jour chez Airbus !"),
        ("Je travaille chez Renault.", "Dernier jour chez Renault."),
        ("Je travaille chez Renault.", "J'ai dit oui à Airbus, je commence en mai."),
        ("Trabajo en Iberdrola.", "¡Primer día de trabajo en Seat!"),
        ("Trabajo en Iberdrola.", "Último día de trabajo en Iberdrola."),
        ("Trabalho na Galp.", "Primeiro dia de trabalho na Sonae!"),
        ("Trabalho na Galp.", "Último dia de trabalho na Galp."),
    ],
)
def test_a_first_or_last_day_ends_the_work_before(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == [("e1", "e6")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I work as a nurse.", "First day at Glastonbury!"),
        ("I work at Fowler's.", "First day at the Edinburgh festival!"),
        ("I work at Fowler's.", "First day at Disneyland with the kids!"),
        ("I work at Fowler's.", "First day at the beach."),
        ("I work at Fowler's.", "First day at Wacken, so loud!"),
        ("I work at Fowler's.", "My son's first day at Eton."),
        ("My sister works at Fowler's.", "First day at Harbour Press today!"),
        ("I work at Fowler's.", "I said yes to Tom, we marry in May."),
        ("I work at Fowler's.", "I remember my first day at Harbour Press."),
        ("I repair clocks at home.", "Last day at Fowler's today."),
        ("I bake at Christmas.", "First day at Harbour Press today!"),
        ("Ich arbeite bei Siemens.", "Erster Tag in Rom!"),
        ("Ich arbeite bei Siemens.", "Letzter Tag bei Oma."),
        ("Je travaille chez Renault.", "Premier jour à Rome !"),
        ("Je travaille chez Renault.", "Dernier jour chez mamie."),
        ("Trabajo en Iberdrola.", "Primer día en Roma."),
        ("Trabajo en Iberdrola.", "Último día en Roma."),
        ("Trabalho na Galp.", "Primeiro dia na Madeira."),
        ("Trabalho na Galp.", "Último dia na Madeira."),
    ],
)
def test_a_first_day_elsewhere_ends_no_work(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []
