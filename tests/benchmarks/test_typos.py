"""The misspelled questions that are measured: one word, as told, and the same for the same seed."""

from __future__ import annotations

import random

import pytest
from benchmark_files import benchmark

from demem_agent import Turn
from demem_agent.evaluate import Dialogue, Probe
from demem_agent.text.language.spelling import distance

typos = benchmark("typos")

QUESTIONS = (
    "What is Caroline allergic to?",
    "When did the workshop on pottery take place in Norway?",
    "Which films does Joanna like best?",
)
TURNS = (Turn("I am allergic to nuts", source_id="t1"), Turn("We saw films", source_id="t2"))
PROBES = tuple(Probe(question, "nuts", ("t1",)) for question in QUESTIONS)
DATA = {"LoCoMo": [Dialogue("one", TURNS, PROBES)]}


def test_one_word_is_misspelled_by_one_letter() -> None:
    for seed in range(40):
        for one in typos.drawn(DATA, 3, seed):
            assert distance(one.word, one.typo, 2) == 1
            assert one.text == one.probe.question.replace(one.word, one.typo, 1)


def test_a_name_keeps_its_first_letter() -> None:
    chance = random.Random(1)
    for kind in typos.KINDS * 50:
        assert typos._typo("Joanna", kind, 1, chance)[0] == "J"


def test_the_same_seed_draws_the_same() -> None:
    assert typos.drawn(DATA, 3, 5) == typos.drawn(DATA, 3, 5)
    assert typos.drawn(DATA, 3, 5) != typos.drawn(DATA, 3, 6)


def test_no_more_are_drawn_than_wanted() -> None:
    assert len(typos.drawn(DATA, 2, 5)) == 2


@pytest.mark.parametrize("word", ["rate", "aaaa"])
def test_every_kind_makes_another_word(word: str) -> None:
    chance = random.Random(3)
    for kind in typos.KINDS:
        assert typos._typo(word, kind, 0, chance) != word


def test_what_is_lost_is_told_for_all_and_by_kind() -> None:
    rows = typos.table(list(typos.read(typos.drawn(DATA, 3, 5))))
    assert rows[0]["of"] == "all"
    assert rows[0]["questions"] == 3
    assert "right 2000" in typos.markdown(rows)
