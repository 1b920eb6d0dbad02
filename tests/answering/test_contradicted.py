"""An answer that is of another than the one asked about is not known."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

CHATTER = ("The kettle whistles in the morning.", "It rained on the allotment again.")


def known(query: str, *said: str, **options: str) -> bool:
    memory = SlotMemory(clock=None, known_from=0.0)
    for text in (*CHATTER, *said):
        speaker, _, words = text.partition(": ") if ": " in text else ("Ana", "", text)
        memory.ingest(words, speaker=speaker, at="2024-05-03")
    answer = memory.answer(query)
    assert answer.text
    return answer.known


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("When is Piet's wedding?", ("Nora's wedding is on 4 June.", "Piet: I hate ties.")),
        ("What is Ravi allergic to?", ("remember, Nora is allergic to wasps", "Ravi: hello there")),
        ("What is Ravi allergic to?", ("Nora's allergic to wasps", "Ravi: hello there")),
        ("Where does Ravi's sister live?", ("Nora's sister lives in Ghent", "Ravi: hello there")),
        (
            "What is the alarm code of the boathouse?",
            ("the alarm code of the mill is 4471", "the boathouse needs paint"),
        ),
        (
            "Quel est le code du garage ?",
            (
                "le code de la cave est 4471",
                "un hérisson dort derrière le garage avec ses trois petits",
            ),
        ),
        (
            "Quando é o aniversário da Rita?",
            ("o aniversário da Joana é hoje", "Rita: bom dia"),
        ),
        ("How much did the kayak cost?", ("we broke one paddle of the kayak",)),
        ("What did Ana pay for the rug?", ("the rug came on 4 May at 14:30",)),
    ],
)
def test_what_is_said_of_another_is_not_known(query: str, said: tuple[str, ...]) -> None:
    assert not known(query, *said)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("When is Piet's wedding?", ("Piet's wedding is on 4 June.",)),
        ("When is Piet's wedding?", ("Piet: the wedding is on 4 June.",)),
        ("When is Jonathan's wedding?", ("Jon's wedding is on 4 June.",)),
        ("When is Piet's wedding?", ("the wedding is on 4 June", "Nora's wedding dress is white")),
        ("What is Ravi allergic to?", ("Ravi and Nora are allergic to wasps",)),
        ("What is Ravi allergic to?", ("Nora is allergic to wasps, and so is Ravi",)),
        ("What is the alarm code?", ("the alarm code of the mill is 4471",)),
        ("What is the alarm code of the house?", ("the alarm code of the mill is 4471",)),
        ("On which day of the week is yoga?", ("yoga is on the Monday of the club",)),
        ("Quel est le code du garage ?", ("le code du garage est 4471",)),
        ("What is the alarm code? Mention ONLY the digits.", ("the mill's alarm code is 4471",)),
        ("What’s the alarm code I’ve got?", ("the mill's alarm code is 4471",)),
        (
            "Can you list in which order I brought up the different parts of the boathouse code?",
            ("the parts of the mill code are long", "the boathouse needs paint"),
        ),
        ("Wann ist das Konzert der Schule?", ("das Konzert vom Chor der Schule ist am Montag",)),
        ("How much did the kayak cost?", ("bought the kayak", "Ben: 420 is a lot")),
        ("How much did the kayak cost?", ("bought the kayak!", "420 with the paddle")),
    ],
)
def test_what_may_be_of_the_one_asked_about_is_known(query: str, said: tuple[str, ...]) -> None:
    assert known(query, *said)


def test_what_took_the_place_of_a_line_is_of_what_that_was_of() -> None:
    old = "the alarm code of the mill is 4471"
    new = "the alarm code was changed, now it's 2260"
    assert not known("What is the alarm code of the boathouse?", old, new, "the boathouse leaks")
    assert known("What is the alarm code of the mill?", old, new, "the boathouse leaks")


def test_what_is_not_known_so_is_withheld() -> None:
    memory = SlotMemory(clock=None, known_from=0.0, unknown="withhold")
    memory.ingest("Nora's wedding is on 4 June.", speaker="Ana")
    memory.ingest("I hate ties.", speaker="Piet")
    answer = memory.answer("When is Piet's wedding?")
    assert (answer.text, answer.known, answer.evidence) == ("", False, ())
    assert "4 June" in memory.answer("When is Nora's wedding?").text


def test_what_was_told_to_be_right_is_known_whoever_it_names() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("Nora's wedding is on 4 June.", speaker="Ana")
    memory.ingest("I hate ties.", speaker="Piet")
    first = memory.answer("When is Piet's wedding?")
    assert not first.known
    memory.feedback(first, reference="Nora's wedding is on 4 June.")
    assert memory.answer("When is Piet's wedding?").known
