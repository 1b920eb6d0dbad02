"""Two texts are the same where nothing that tells something differs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.encoders import is_word
from demem_agent.text.sameness import differs_by_typo, wording

WORDS = "the dentist moved my appointment to the old town near Porto".split()
DIGIT = re.compile(r"\d")
TOLD_WITH_NUMBERS = (
    "please ",
    "a ",
    "I can't ",
    "it's 5's ",
    "3.5 ",
    "``` 7 ```",
    "`b 2` ",
    " 9n't",
)
NUMBERS = st.from_regex(r"[1-9][0-9]{0,3}(\.[1-9])?", fullmatch=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hey, please water the plants!", "water the plants"),
        ("Close the valve at night!", "close the  valve at night"),
        ("I'm allergic to nuts.", "im allergic to nuts"),
        ("I was wondering if the shop is open", "I am wondering if the shop is open"),
        ("Sooo I looove it here", "so I love it here"),
        ("Thanks, see you at the lake", "see you at the lake, thx"),
        ("I don’t eat meat", "I do not eat meat"),
        ("Could you send me the file?", "can you send me the file?"),
    ],
)
def test_what_tells_nothing_makes_no_difference(one: str, other: str) -> None:
    assert wording(one) == wording(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I take 5 mg.", "I take 50 mg."),
        ("It is -5 degrees.", "It is 5 degrees."),
        ("It costs $5 a week.", "It costs €5 a week."),
        ("3.5 are left.", "35 are left."),
        ("We meet at 10:30.", "We meet at 10.30.31."),
        ("I like it.", "I do not like it."),
        ("I like it.", "I don't like it."),
        ("We meet on Monday.", "We meet on Tuesday."),
        ("Maria lives here now.", "Mario lives here now."),
        ("Hi Ana, the key is here.", "Hi Ben, the key is here."),
        ("A few friends came.", "Few friends came."),
        ("You come at five.", "You come at five?"),
        ("Milk and eggs ✅", "Milk and eggs ❌"),
        ("I write C++ now.", "I write C now."),
        ("I lived in Porto.", "I live in Porto."),
        ("My brother lives here.", "My brothers lives here."),
        ("x = a + b", "x = a - b"),
        ("print(a, x, y)", "print(x, y)"),
        ('{"name": "ok"}', '{"Name": "ok"}'),
        ("Fill my county form.", "Fill my country form."),
        ("Send the contract today.", "Send the contact today."),
        ("Met Leena by the lake.", "Met Lena by the lake."),
    ],
)
def test_whatever_tells_something_makes_a_difference(one: str, other: str) -> None:
    assert wording(one) != wording(other)
    assert not differs_by_typo(one, other, is_word)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I am alergic to nuts.", "I am allergic to nuts!"),
        ("Did you recieve it?", "did you receive it?"),
        ("We definately go.", "We definitely go."),
        ("See you tommorow at noon.", "See you tomorrow at noon."),
    ],
)
def test_a_mistyped_word_is_known(one: str, other: str) -> None:
    assert differs_by_typo(one, other, is_word)
    assert differs_by_typo(other, one, is_word)


@given(NUMBERS, NUMBERS, st.integers(0, len(WORDS)))
def test_numbers_are_never_taken_for_each_other(one: str, other: str, place: int) -> None:
    first, second = (" ".join([*WORDS[:place], n, *WORDS[place:]]) for n in (one, other))
    assert (wording(first) == wording(second)) == (one == other)
    assert not differs_by_typo(first, second, is_word)


@given(st.lists(st.one_of(st.text(max_size=4), st.sampled_from(TOLD_WITH_NUMBERS))))
def test_a_wording_has_the_digits_of_its_text(parts: list[str]) -> None:
    text = "".join(parts)
    assert DIGIT.findall(" ".join(wording(text))) == DIGIT.findall(text)


@given(st.text(max_size=80))
def test_a_text_says_the_same_as_itself(text: str) -> None:
    assert wording(text) == wording(text) != ()
    assert not differs_by_typo(text, text, is_word)
