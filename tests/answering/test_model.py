"""Which sentences are quoted, and how probably they answer."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from demem_agent.answering.model import MOST, AnswerModel, Odds, default_answer_model
from demem_agent.answering.signals import ANSWER, SENTENCE, Seen
from demem_agent.shipped import shipped

VALUES = st.floats(-9, 9, width=16)
TABLES = st.integers(1, 6).flatmap(
    lambda n: arrays(np.float64, (n, len(SENTENCE)), elements=VALUES)
)


def seen(table: np.ndarray) -> Seen:
    return Seen(table, met=np.full((len(table), 1), 0.5), counts=np.ones(1), held=0.0)


@given(TABLES, st.data())
def test_a_few_of_those_that_may_be_are_quoted(table: np.ndarray, data: st.DataObject) -> None:
    among = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1, unique=True))
    places = default_answer_model().choose(seen(table), among).places
    assert 1 <= len(places) <= MOST
    assert len(set(places)) == len(places)
    assert set(places) <= set(among)


@given(TABLES)
def test_an_answer_is_right_at_most_as_probably_as_there_is_one(table: np.ndarray) -> None:
    chosen = default_answer_model().choose(seen(table), range(len(table)))
    assert 0.0 <= chosen.probability <= chosen.answerable <= 1.0


def test_a_further_sentence_is_quoted_where_it_is_nearly_as_probable() -> None:
    weights = np.zeros(len(SENTENCE))
    weights[0] = 1.0
    even = Odds(0.0, np.zeros(len(ANSWER)))
    model = AnswerModel(weights, share=0.5, answerable=even, right=even, least=0.0, known=0.0)
    table = np.zeros((3, len(SENTENCE)))
    table[:, 0] = [1.0, 2.0, 0.0]
    assert model.choose(seen(table), range(3)).places == (1,)
    table[0, 0] = 1.5
    assert model.choose(seen(table), range(3)).places == (1, 0)


def test_what_ships_has_a_weight_for_each_signal_and_no_other() -> None:
    found = json.loads(shipped("answering/answers.json"))
    assert list(found["sentence"]) == list(SENTENCE)
    assert list(found["answerable"]) == list(found["right"]) == ["intercept", *ANSWER]
