"""How probably a line bears on a query: range, direction, order, data, what it tells apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, replace
from datetime import datetime
from importlib.resources import files
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.scoring import Bearing, default_adequacy, default_bearing, default_weights
from demem_agent.scoring.bearing import LOOKED, Standing, standing_of
from demem_agent.scoring.forms import FILLER, QUESTION
from demem_agent.testing import BagEncoder

SHARES = st.floats(0.0, 1.0)
SCORES = st.lists(st.floats(-30.0, 60.0).map(lambda x: round(x, 4)), min_size=1, max_size=30)
WORDS = st.lists(st.sampled_from("ant bee cat dog eel fox ?".split()), min_size=1, max_size=6).map(
    " ".join
)
SAID = (
    "I moved to Lisbon in March and rent a flat near the river",
    "My sister Ines studies marine biology",
    "We adopted a dog, he is called Rex and loves to swim",
    "The bakery below us closes at six",
    "I am allergic to peanuts",
    "Next week I start a pottery course",
)
FOREIGN = (
    "Which compiler flags does the build use?",
    "What was the quarterly revenue of the subsidiary?",
    "Who won the chess tournament?",
)


def standing(scores: Sequence[float], related: Sequence[float] | None = None) -> Standing:
    ordered = np.array(sorted(scores, reverse=True))
    met = np.full(len(ordered), 0.5) if related is None else np.array(related)
    return standing_of(ordered, met.astype(np.float32), np.zeros(len(ordered), np.int8))


def remembering(*texts: str) -> SlotMemory:
    memory = SlotMemory()
    for text in texts:
        memory.ingest(text, speaker="user", session="s")
    return memory


def best(memory: SlotMemory, question: str) -> float:
    return max((line.probability for line in memory.read(question).lines), default=0.0)


# The model


@given(SCORES, SHARES, st.floats(-100.0, 100.0))
def test_a_probability_is_in_the_unit_interval(scores: list[float], held: float, at: float) -> None:
    (found,) = default_bearing().by_score(held, standing(scores))(np.array([at]))
    assert 0.0 <= found <= 1.0


@given(SCORES, st.data())
def test_no_line_is_surer_than_one_that_ranks_before_it(
    scores: list[float], data: st.DataObject
) -> None:
    size = len(scores)
    related = data.draw(st.lists(SHARES, min_size=size, max_size=size))
    found = default_bearing().by_score(0.5, standing(scores, related))
    told = list(found(np.sort(scores)[::-1]))
    assert told == sorted(told, reverse=True)


@given(SCORES, SHARES, SHARES)
def test_what_a_memory_probably_holds_is_as_sure_or_surer(
    scores: list[float], one: float, other: float
) -> None:
    less, more = sorted([one, other])
    found = standing(scores)
    at = np.array(scores[:1])
    (before,) = default_bearing().by_score(less, found)(at)
    (after,) = default_bearing().by_score(more, found)(at)
    assert before <= after


_ASKED = (4.0, 2.0, 3.0, 5.0, -9.0)


def test_a_probability_worked_by_hand() -> None:
    model = Bearing(intercept=-1.0, held=1.0, met=2.0, behind=0.5, place=1.0)
    found = model.by_score(0.5, standing([4.0, 2.0], [0.5, 0.5]))
    told = dict(zip(_ASKED, found(np.array(_ASKED)), strict=True))
    assert told[4.0] == 0.5  # -1 + 0 + 1 - 0 - 0
    assert told[2.0] == 0.1554  # -1 + 0 + 1 - 1 - log 2, of which the logistic
    assert told[3.0] == 0.3002  # half way in log-odds
    assert told[5.0] == 0.7311  # a point ahead of all counts whole
    assert told[-9.0] == told[2.0]


def test_the_best_is_neither_a_filler_nor_a_question() -> None:
    kind = np.array([QUESTION, FILLER, 0, 0])
    found = standing_of(np.array([9.0, 8.0, 7.0, 5.0]), np.ones(4, np.float32), kind)
    assert found.behind.tolist() == [0.0, 0.0, 0.0, 2.0]


def test_lines_of_the_same_score_are_as_probable() -> None:
    found = standing([9.0, 9.0, 9.0, 2.0])
    assert found.place.tolist() == [0.0, 0.0, 0.0, np.log(4)]


def test_no_more_passages_are_looked_at_than_that() -> None:
    found = standing(range(LOOKED + 50))
    assert len(found.scores) == len(found.behind) == len(found.met) == LOOKED


# The data


def shipped() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        files("demem_agent.scoring").joinpath("bearing.json").read_text(encoding="utf-8")
    )
    return content


def test_every_signal_of_the_shipped_model_counts_and_in_its_direction() -> None:
    assert min(astuple(default_bearing())[1:]) > 0


def test_the_shipped_model_was_fitted_to_the_shipped_weights_and_adequacy() -> None:
    weights = hashlib.sha256(json.dumps(default_weights().values).encode()).hexdigest()[:16]
    assert shipped()["score_weights"] == weights
    told = [default_adequacy().intercept, *astuple(default_adequacy().weights)]
    adequacy = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
    assert shipped()["adequacy"] == adequacy


def test_the_shipped_model_is_calibrated_on_dialogues_left_out_of_every_fit() -> None:
    errors = shipped()["held_out"]["calibration_error"]
    assert errors["all"] <= 0.01
    assert max(errors.values()) <= 0.05


# What a user sees


def test_what_was_asked_for_is_surer_than_what_the_memory_never_spoke_of() -> None:
    memory = remembering(*SAID)
    told = [
        best(memory, asked)
        for asked in ("Where did I move?", "What is the dog called?", "What am I allergic to?")
    ]
    assert min(told) > max(best(memory, asked) for asked in FOREIGN)


def test_of_one_thing_remembered_a_foreign_question_finds_nothing_probable() -> None:
    memory = remembering("I am allergic to peanuts")
    assert best(memory, "Am I allergic to peanuts?") > 3 * best(memory, FOREIGN[1])


@settings(max_examples=often(40), deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=25), WORDS, st.sampled_from([0.0, 0.0015]))
def test_lines_are_as_probable_as_they_are_ordered(
    texts: list[str], asked: str, floor: float
) -> None:
    memory = SlotMemory(encoder=BagEncoder(8), clock=None)
    memory.ingest_many([{"text": text} for text in texts])
    lines = sorted(memory.read(asked, floor=floor).lines, key=lambda line: -line.score)
    told = [line.probability for line in lines]
    assert all(0.0 <= one <= 1.0 for one in told)
    assert told == sorted(told, reverse=True)


def test_what_proved_right_is_surer_than_it_was() -> None:
    memory = remembering(*SAID)
    before = best(memory, "Where did I move?")
    answer = memory.answered("Where did I move?", "Lisbon")
    memory.feedback(answer.id, thumbs=True)
    assert best(memory, "Where did I move?") > before


def test_what_was_said_on_the_day_that_alone_is_asked_for_bears_on_it() -> None:
    memory = SlotMemory()
    memory.ingest("We adopted a dog.", at=datetime(2025, 3, 3))
    memory.ingest("The bakery closes at six.", at=datetime(2025, 4, 9))
    (line,) = memory.read("What was said on 3 March 2025?").lines
    assert line.probability > 0.9


def test_a_summary_has_no_line_that_is_scored() -> None:
    lines = remembering(*SAID).read("Where did I move?", mode="strict").lines
    assert {line.probability for line in lines} == {0.0}


def test_a_probability_has_no_weight_when_lines_are_compared() -> None:
    line = remembering(*SAID).read("Where did I move?").lines[0]
    assert line == replace(line, probability=0.123)
