"""Of a sentence that is too long for one passage an answer quotes the parts that bear on it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.answering.rambling import MOST, beside, parts
from demem_agent.text.pieces import pieces

NOTE = (
    "[voice] hey so I am on the bus and it is loud, well anyway, the window man came at last, he"
    " wants 340 for the skylight, which is a lot, and the other thing, the beekeeper, Ottilie, she"
    " moved the hives behind the barn, all nine of them, because of the wasps, oh and before I"
    " forget, the choir trip goes to Ghent in the spring, not to Bruges, Bruges was full, and my"
    " knee, the left one, is fine again, the swelling is gone, I walked up to the chapel and back"
    " without the stick, so there, and now the driver shouts at a cyclist, bye"
)
BESIDE = ("The train was late.", "It rained all day.", "The hall smells of paint.")


def answered(question: str) -> str:
    memory = SlotMemory()
    for n, text in enumerate((*BESIDE, NOTE)):
        memory.ingest(text, speaker="Ines", at=f"2026-10-{10 + n}")
    return memory.answer(question, at="2026-11-03").text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Where are the hives?", "moved the hives behind the barn"),
        ("Where does the choir trip go?", "the choir trip goes to Ghent in the spring"),
        ("How is my left knee?", "my knee, the left one, is fine again"),
    ],
)
def test_the_part_that_answers_is_quoted_with_signs_where_it_is_cut(
    question: str, told: str
) -> None:
    given = answered(question)
    assert told in given
    assert given.startswith("Ines: […] ")
    assert given.endswith(" […]")
    assert len(given) < MOST + 40


def test_parts_that_follow_each_other_are_quoted_as_one() -> None:
    given = answered("How much does the window man want for the skylight?")
    assert given == f"Ines: {NOTE[: NOTE.index('340 for the skylight')]}340 for the skylight […]"


def test_a_quotation_is_cut_at_the_borders_of_clauses() -> None:
    words = answered("Where are the hives?").removeprefix("Ines: […] ").removesuffix(" […]")
    start = NOTE.index(words)
    assert NOTE[start - 2 : start] == ", "
    assert NOTE[start + len(words)] == ","


def test_a_sentence_that_fits_is_whole() -> None:
    text = "We went to Ghent, had waffles, saw the altar, and came home late."
    assert parts(text, 0, len(text)) is None


@given(st.lists(st.text("abc ", min_size=1, max_size=60), min_size=12, max_size=40))
def test_parts_are_in_order_and_have_all_words_of_the_stretch(said: list[str]) -> None:
    text = ", ".join(said).strip(" ,")
    for start, end in pieces(text):
        found = parts(text, start, end)
        if found is None:
            continue
        assert found == sorted(found)
        kept = " ".join(text[first:last] for first, last in found)
        assert set(text[start:end].replace(",", " ").split()) - set(
            kept.replace(",", " ").split()
        ) <= {text[start:end].split()[0], text[start:end].split()[-1]}
        for first, last in found:
            begun, ended = beside(text, first, last)
            assert begun <= first
            assert last <= ended
