"""An answer passes over what tells nothing of what is asked, whatever words it shares."""

from __future__ import annotations

import pytest

from demem_agent import Answer, SlotMemory

ASKED = "2025-08-31T12:00"
SCRIPT = "my script\n```python\nfor hive in load():\n    name = hive\n    limit = 6\n```"


def asked(question: str, *said: tuple[str, str], asker: str = "Ines") -> Answer:
    memory = SlotMemory()
    for n, (who, text) in enumerate(said):
        memory.ingest(text, speaker=who, at=f"2025-03-{n + 1:02}", session=str(n))
    return memory.answer(question, asker=asker, at=ASKED)


@pytest.mark.parametrize(
    ("question", "wish", "told"),
    [
        ("How many boats do I have?", "tell me how many boats I have", "12 boats in Hull"),
        ("How much was the fee?", "I wonder how much the fee was", "the fee was 300 euros"),
        ("Wo ist der Schlüssel?", "sag mir wo der Schlüssel ist", "der Schlüssel ist im Schuppen"),
    ],
)
def test_a_request_is_not_quoted(question: str, wish: str, told: str) -> None:
    assert told in asked(question, ("Ines", told), ("Ines", wish)).text


@pytest.mark.parametrize("wish", ["I wonder how much the fee was", "How much was the fee?"])
def test_a_question_alone_answers_nothing(wish: str) -> None:
    given = asked("How much was the fee?", ("Ines", "nice weather"), ("Ines", wish))
    assert not given.text
    assert not given.known


def test_a_question_is_quoted_with_its_reply() -> None:
    memory = SlotMemory()
    memory.ingest("where is the drill?", speaker="Ines", session="1")
    memory.ingest("in the shed, behind the bikes", speaker="Bruno", session="1")
    assert "in the shed" in memory.answer("Where is the drill?", asker="Ines").text


@pytest.mark.parametrize(
    "offer",
    [
        "If you like I can keep a list of addresses, codes and appointments for you.",
        "Wenn du möchtest, kann ich die Adresse für dich speichern.",
        "Se quiseres, posso guardar a morada e o address book.",
    ],
)
def test_an_offer_of_an_assistant_is_no_answer(offer: str) -> None:
    given = asked("What is my address?", ("Ines", "good morning"), ("assistant", offer))
    assert offer not in given.text


@pytest.mark.parametrize(
    "question", ["What is the name of my boat?", "What is my credit card limit?"]
)
def test_code_of_something_else_is_no_answer(question: str) -> None:
    assert not asked(question, ("Ines", SCRIPT)).known


def test_code_answers_a_question_of_it() -> None:
    assert "limit = 6" in asked("What is the limit in the hive script?", ("Ines", SCRIPT)).text


def test_a_greeting_tells_nothing_of_who_is_greeted() -> None:
    given = asked("What is Paulo's blood type?", ("Bruno", "olá Paulo!"), ("Paulo", "hi"))
    assert not given.text


@pytest.mark.parametrize(
    ("question", "said", "right"),
    [
        (
            "What is Kasia allergic to?",
            [("Ines", "Maja is allergic to walnuts"), ("Kasia", "i'm allergic to penicillin")],
            "penicillin",
        ),
        (
            "Where do I live?",
            [("Ines", "my bees live in Hull, 12 hives"), ("Ines", "I live at Elm Road 14")],
            "Elm Road",
        ),
        (
            "Wo wohne ich?",
            [("Ines", "meine Schwester wohnt in Kiel"), ("Ines", "ich wohne in Bonn")],
            "Bonn",
        ),
        (
            "Onde moro?",
            [("Ines", "o meu irmão mora no Porto"), ("Ines", "moro em Braga")],
            "Braga",
        ),
    ],
)
def test_what_is_said_of_another_is_not_quoted(
    question: str, said: list[tuple[str, str]], right: str
) -> None:
    given = asked(question, *said)
    assert right in given.text
    assert "\n" not in given.text


@pytest.mark.parametrize(
    ("question", "said", "right"),
    [
        (
            "What is the deposit for vans?",
            "The deposit for a car is 300 euros. For vans it is 900 euros. Bring a licence.",
            "900",
        ),
        (
            "When does the pool open on Sundays?",
            "The pool opens at 9. On Sundays it opens at 11. Bring a towel.",
            "at 11",
        ),
        (
            "Where did I get the queens from?",
            "cancelled the old queens. got them at Serra Farm now",
            "Serra Farm",
        ),
    ],
)
def test_the_sentence_that_goes_on_is_quoted(question: str, said: str, right: str) -> None:
    assert right in asked(question, ("Ines", said)).text


@pytest.mark.parametrize(
    ("question", "told", "listed"),
    [
        (
            "Where is the spare key?",
            "the spare key is under the pot",
            "bring:\n- spare key\n- torch",
        ),
        ("Onde está o passaporte?", "o passaporte está na gaveta", "levar:\n- passaporte\n- pão"),
    ],
)
def test_where_is_answered_by_a_place(question: str, told: str, listed: str) -> None:
    assert asked(question, ("Ines", told), ("Ines", listed)).text == f"Ines: {told}"


@pytest.mark.parametrize(
    "said", ["the boat was 1800 euros", "boat: €1900", "paid 1850 for the boat", "boat 2050 zł"]
)
def test_an_amount_that_looks_like_a_year_is_known(said: str) -> None:
    assert asked("How much was the boat?", ("Ines", said)).known
