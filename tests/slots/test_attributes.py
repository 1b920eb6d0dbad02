"""Something that there is one of has changed where another value is told; two things stand."""

from __future__ import annotations

import pytest

from tests.support.successions import FILLING, sure


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My PIN is 8830.", "My PIN is 8803."),
        ("Rent is 900 a month.", "Rent is 940 a month."),
        ("my room number is 12", "my room number is 31"),
        ("The gate code of the barn is 5512.", "The gate code of the barn is 5521."),
        ("My address is 14 Alder Row.", "My address is 7 Mill Lane."),
        ("I weigh 83 kg.", "I weigh 80 kg now."),
        ("Our wifi password is heron77", "Our wifi password is otter78"),
        ("Biscuit's weight is 18.4 kg.", "Biscuit's weight is 17.1 kg."),
        ("My due date is 3 May.", "My due date is 9 May."),
        ("My salary is 2,100 euros.", "My salary is 2,400 euros."),
        ("Meine Miete ist 640 Euro.", "Meine Miete beträgt jetzt 685 Euro."),
        ("Meine Zimmernummer ist 12.", "Meine Zimmernummer ist 31."),
        ("Mi alquiler es 640 euros.", "Mi alquiler es 685 euros."),
        ("Mi contraseña es garza77", "Mi contraseña es nutria78"),
        ("Mon loyer est 640 euros.", "Mon loyer est 685 euros."),
        ("Mon mot de passe est heron77", "Mon mot de passe est loutre78"),
        ("A minha renda é 640 euros.", "A minha renda é 685 euros."),
        ("A minha senha é garça77", "A minha senha é lontra78"),
    ],
)
def test_another_value_of_one_thing_takes_the_place_of_the_first(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == [("e1", "e6")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The meeting is at 9 am.", "The meeting is at 10 am."),
        ("My booking is for 12 May.", "My booking is for 19 May."),
        ("My dog Rex is 4 years old.", "My dog Tim is 9 years old."),
        ("The password is heron77", "The password is otter78"),
        ("The address is 14 Alder Row.", "The address is 7 Mill Lane."),
        ("The code is 4417.", "The code is 4471."),
        ("My PIN is 8830.", "My sister's PIN is 8803."),
        ("Her PIN is 8830.", "Her PIN is 8803."),
        ("My rent is 640 euros.", "The rent of the studio is 685 euros."),
        ("My rent is 640 euros.", "My rent is 3 weeks late."),
        ("My rent is 640 euros.", "My rent is 2 days overdue."),
        ("My address is 14 Alder Row.", "My address is 5 minutes from here."),
        ("My weight is 83 kg.", "My weight is 183 lbs."),
        ("I weigh 83 kg.", "My dog weighs 18 kg."),
        ("The gate code of the barn is 5512.", "The gate code of the yard is 5521."),
        ("My wifi password is heron77", "My bank password is otter78"),
        ("My PIN is 8830.", "my pin is 8830!"),
        ("My rent is 640 euros.", "My rent is 160 euros a week and 20 for water."),
        ("Die Sitzung ist um 9 Uhr.", "Die Sitzung ist um 10 Uhr."),
        ("Meine Miete ist 640 Euro.", "Die Miete von Anna ist 685 Euro."),
        ("La reunión es a las 9.", "La reunión es a las 10."),
        ("Mi alquiler es 640 euros.", "El alquiler de mi hermana es 685 euros."),
        ("Le code est 4417.", "Le code est 4471."),
        ("Mon loyer est 640 euros.", "Le loyer de Paul est 685 euros."),
        ("A reunião é às 9.", "A reunião é às 10."),
        ("A minha renda é 640 euros.", "A renda do Rui é 685 euros."),
    ],
)
def test_two_things_of_one_kind_stand_beside_each_other(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []
