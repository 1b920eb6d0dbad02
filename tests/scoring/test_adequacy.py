"""The probability that a memory holds what is asked: range, direction, data, what a user sees."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import Evidence, Route, SlotMemory
from demem_agent.cli.tables.route import route_words
from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.scoring import (
    SIGNALS,
    Adequacy,
    PassageIndex,
    Query,
    Signals,
    default_adequacy,
    default_weights,
    rank,
)
from demem_agent.scoring.adequacy import NOTHING, RUNNER_UP
from demem_agent.slots import routing
from demem_agent.testing import BagEncoder, ReadingAnswerer
from demem_agent.types import Mode

ENCODER = BagEncoder(8)
SHARES = st.floats(0.0, 1.0)
AMOUNTS = st.floats(0.0, 60.0)
ANY_SIGNALS = st.builds(
    Signals,
    answered=SHARES,
    lead=AMOUNTS,
    coverage=SHARES,
    missing=AMOUNTS,
    dated=st.sampled_from([0.0, 1.0]),
    told=st.floats(-60.0, 60.0),
    held=st.floats(-1.0, 1.0),
    timed=st.floats(-1.0, 1.0),
)
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


def shipped() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        files("demem_agent.scoring").joinpath("adequacy.json").read_text(encoding="utf-8")
    )
    return content


def indexed(texts: list[str], speakers: Sequence[str | None] = ()) -> PassageIndex:
    index = PassageIndex(ENCODER.dimensions)
    for n, text in enumerate(texts, 1):
        speaker = speakers[n - 1] if speakers else None
        index.add(
            Evidence(f"e{n}", text, session=f"s{n}", speaker=speaker),
            [(0, len(text))],
            as_matrix(ENCODER.encode([text]), 1),
            0,
        )
    return index


def signals(index: PassageIndex, text: str, asker: str | None = None) -> Signals:
    vector = as_matrix(ENCODER.encode([text]), 1)[0]
    return rank(index, Query(text, vector, asker=asker), default_weights()).signals


def remembering(*texts: str) -> SlotMemory:
    memory = SlotMemory(answerer=ReadingAnswerer())
    for text in texts:
        memory.ingest(text, speaker="user", session="s")
    return memory


# The model


@given(ANY_SIGNALS, st.floats(-1e6, 1e6))
def test_a_probability_is_in_the_unit_interval(found: Signals, intercept: float) -> None:
    assert 0.0 <= replace(default_adequacy(), intercept=intercept).probability(found) <= 1.0


@given(ANY_SIGNALS, st.sampled_from(SIGNALS), AMOUNTS)
def test_the_probability_moves_one_way_with_each_signal(
    found: Signals, name: str, more: float
) -> None:
    raised = replace(found, **{name: getattr(found, name) + more})
    before, after = default_adequacy().probability(found), default_adequacy().probability(raised)
    assert after <= before if name == "missing" else after >= before


def test_every_signal_of_the_shipped_model_counts_and_in_its_direction() -> None:
    weights = asdict(default_adequacy().weights)
    assert [name for name, weight in weights.items() if weight < 0.0] == ["missing"]
    assert all(weights.values())


def test_a_probability_worked_by_hand() -> None:
    model = Adequacy(-1.0, Signals(answered=2.0, lead=0.1, coverage=1.0, missing=-0.5), 0.5)
    found = Signals(answered=0.5, lead=10.0, coverage=0.0, missing=2.0)
    assert model.probability(found) == 0.5  # -1 + 1 + 1 + 0 - 1 = 0
    assert model.probability(replace(found, missing=0.0)) == round(1 / (1 + math.exp(-1)), 4)


# The signals


@settings(max_examples=often(50), deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=30), WORDS, st.sampled_from(["", " Ana", " Ben"]))
@example(["ant bee", "ant ?", "ant bee"], "ant bee", " Ana")  # summed in single precision: over 1
def test_signals_are_in_their_ranges(texts: list[str], asked: str, named: str) -> None:
    speakers = [("Ana", "Ben")[n % 2] for n in range(len(texts))]
    found = signals(indexed(texts, speakers), asked + named)
    assert 0.0 <= found.answered <= 1.0
    assert 0.0 <= found.coverage <= 1.0
    assert found.lead >= 0.0
    assert found.missing >= 0.0
    assert found.dated in (0.0, 1.0)
    assert -1.0 <= found.held <= 1.0
    assert -1.0 <= found.timed <= 1.0


@settings(max_examples=often(30), deadline=None)
@given(st.lists(WORDS, min_size=2, max_size=8), WORDS, st.data())
def test_signals_after_a_removal_are_as_if_the_item_had_never_been_added(
    texts: list[str], asked: str, data: st.DataObject
) -> None:
    gone = data.draw(st.integers(0, len(texts) - 1))
    index = indexed(texts)
    index.remove({f"e{gone + 1}"})
    assert signals(index, asked) == signals(indexed(texts[:gone] + texts[gone + 1 :]), asked)


def test_a_word_that_no_passage_holds_counts_its_idf() -> None:
    # Two passages, none with "yak": idf = ln(1 + 2.5 / 0.5) = ln 6; it is one of two words.
    assert signals(indexed(["cat", "dog"]), "cat yak").missing == pytest.approx(math.log(6) / 2)
    assert signals(indexed(["cat", "dog"]), "cat dog").missing == 0.0


def test_a_word_that_was_never_said_tells_more_in_a_larger_memory() -> None:
    small, large = (signals(indexed(["cat"] * size), "yak") for size in (2, 200))
    assert large.missing > small.missing


def test_a_query_without_a_word_misses_none() -> None:
    assert signals(indexed(["cat"]), "?").missing == 0.0


def test_the_lead_is_over_the_twentieth_passage_or_the_last() -> None:
    assert signals(indexed(["cat"]), "cat").lead == 0.0
    others = ["cat"] * (RUNNER_UP - 2)
    assert signals(indexed(["cat", *others]), "cat").lead == 0.0
    assert signals(indexed(["cat", *others, "dog"]), "cat").lead > 0.0
    assert signals(indexed(["cat", *others, "cat", "dog"]), "cat").lead == 0.0


def test_an_empty_index_gives_no_signal() -> None:
    assert signals(indexed([]), "cat") == NOTHING


PAINTED = ["I painted a lake at sunrise", "What did you paint?", "I bought new running shoes"]


def test_what_the_other_one_told_speaks_against_a_question() -> None:
    told = indexed(PAINTED, ["Ben", "Ana", "Ana"])
    right, wrong = (signals(told, f"What did {name} paint?") for name in ("Ben", "Ana"))
    assert right.told > 0.0 > wrong.told
    assert right.held > 0.0 > wrong.held


def test_who_only_asks_about_something_tells_nothing_of_it() -> None:
    asking = signals(indexed(["cat?", "dog"], ["Ana", "Ben"]), "Ana cat")
    assert asking.held == 0.0


@pytest.mark.parametrize(
    ("speakers", "asked", "asker"),
    [
        (["Ben", "Ana", "Ana"], "What was painted?", None),  # nobody is named
        (["Ben", "Ana", "Ana"], "What did Ana and Ben paint?", None),  # both are
        (["Ben", "Ana", "Ana"], "What did I paint?", None),  # nobody knows who asks
        (["Ben", "Ben", "Ben"], "What did Ben paint?", None),  # there is no other one
        (["Ben", "correction", "Ben"], "What did Ben paint?", None),
        (["user", "assistant", "user"], "What did the user paint?", None),  # a chat with a model
    ],
)
def test_where_it_is_open_whom_a_question_is_about_nobody_is_ahead(
    speakers: list[str], asked: str, asker: str | None
) -> None:
    found = signals(indexed(PAINTED, speakers), asked, asker)
    assert (found.told, found.held) == (0.0, 0.0)


def test_who_asks_about_oneself_is_whom_the_question_is_about() -> None:
    told = indexed(PAINTED, ["Ben", "Ana", "Ana"])
    of_oneself = signals(told, "What did I paint?", asker="ben")
    assert (of_oneself.told > 0.0, of_oneself.held > 0.0) == (True, True)
    assert signals(told, "What did I paint?", asker="Eve").held == 0.0


def test_the_best_passage_of_the_time_that_is_asked_for_is_dated() -> None:
    memory = remembering()
    memory.ingest("We painted the boat.", speaker="Ana", at="2024-05-03")
    memory.ingest("We sold the boat.", speaker="Ana", at="2024-08-03")
    state = memory._held.state
    vector = as_matrix(default_encoder().encode(["boat"]), 1)[0]
    for asked, dated in (("What of the boat in May 2024?", 1.0), ("What of the boat?", 0.0)):
        found = rank(state.passage_index(), Query(asked, vector), default_weights())
        assert found.signals.dated == dated


@pytest.mark.parametrize(
    ("said", "at"),
    [("The ferry leaves at nine", datetime(2024, 5, 3)), ("The ferry leaves on Fridays", None)],
)
def test_it_is_open_whether_a_number_or_what_has_no_date_tells_a_time(
    said: str, at: datetime | None
) -> None:
    index = PassageIndex(ENCODER.dimensions)
    vectors = as_matrix(ENCODER.encode([said]), 1)
    index.add(Evidence("e1", said, at=at), [(0, len(said))], vectors, 0)
    assert signals(index, "When does the ferry leave?").timed == 0.0


@pytest.mark.parametrize(
    ("asked", "timed"),
    [
        ("When was the boat painted?", None),  # "yesterday"
        ("When was the fence painted?", -1.0),
        ("Why was the fence painted?", 0.0),
    ],
)
def test_a_best_passage_may_lack_the_time_that_is_asked_for(
    asked: str, timed: float | None
) -> None:
    """Where it has it (None), that counts as far as its words stand for the question's."""
    index = PassageIndex(ENCODER.dimensions)
    said = ("The boat was painted by Ines yesterday", "The fence was painted, too")
    for n, text in enumerate(said, 1):
        vectors = as_matrix(ENCODER.encode([text]), 1)
        item = Evidence(f"e{n}", text, session=f"s{n}", at=datetime(2024, 5, 3))
        index.add(item, [(0, len(text))], vectors, 0)
    found = signals(index, asked)
    assert found.timed == (found.answered if timed is None else timed)


# The route


@pytest.mark.parametrize("mode", ["evidence", "strict"])
def test_a_reading_tells_the_probability_of_its_route(mode: Mode) -> None:
    memory = remembering()
    memory.ingest_many([{"text": "I live in Lisbon."}, {"text": "My dog is called Rex."}])
    for asked in ("Where do I live?", "Who won the race?"):
        assert memory.read(asked, mode=mode).probability == memory.route(asked).probability > 0.0
    assert (
        memory.read("Where do I live?", limit=1).probability
        == memory.route("Where do I live?").probability
    )


def test_an_empty_memory_holds_nothing_that_is_asked() -> None:
    memory = remembering()
    assert (
        memory.route("Where do I live?").probability,
        memory.route("Where do I live?").adequate,
    ) == (0.0, False)
    memory.forget(memory.ingest("I live in Lisbon").evidence_id)
    route = memory.route("Where do I live?")
    assert (route.slot, route.probability, route.adequate) == (0, 0.0, False)


@pytest.mark.parametrize(
    "asked", ["Where did I move in March?", "What is my dog called?", "What am I allergic to?"]
)
def test_what_was_said_is_adequate_and_likelier_than_not(asked: str) -> None:
    route = remembering(*SAID).route(asked)
    assert route.adequate
    assert route.probability > 0.5


@pytest.mark.parametrize(
    "asked",
    [
        "Who won the football final?",
        "How do I configure a Kubernetes ingress?",
        "Which violin did Marta sell?",
    ],
)
def test_what_was_never_spoken_of_is_not_adequate(asked: str) -> None:
    route = remembering(*SAID).route(asked)
    assert not route.adequate
    assert route.probability < 0.25


def test_forgetting_the_answer_lowers_the_probability() -> None:
    memory = remembering(*SAID)
    before = memory.route("What is my dog called?").probability
    memory.forget("e3")
    assert memory.route("What is my dog called?").probability < before


def test_the_same_memory_gives_the_same_probability() -> None:
    first, second = (remembering(*SAID).route("Does Rex like the river?") for _ in range(2))
    assert first == second


def test_a_query_at_the_threshold_is_adequate(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = remembering(*SAID)
    model, at = default_adequacy(), memory.route("Does Rex like the river?").probability
    for threshold, adequate in ((at, True), (at + 0.0001, False)):
        shifted = replace(model, threshold=threshold)
        monkeypatch.setattr(routing, "default_adequacy", lambda shifted=shifted: shifted)
        assert memory.route("Does Rex like the river?").adequate is adequate


def test_an_answer_carries_the_probability_of_its_route() -> None:
    memory = remembering(*SAID)
    assert memory.answer("What is my dog called?").route == memory.route("What is my dog called?")


def test_a_route_shows_its_probability_in_words_and_as_json() -> None:
    route = Route(0, {0: 1.0}, 0.0, adequate=True, probability=0.7312)
    assert "probability 0.73" in route_words(route).plain
    assert asdict(route)["probability"] == 0.7312


# The data


def test_the_file_names_every_parameter_and_no_other() -> None:
    content = shipped()
    assert tuple(content["weights"]) == SIGNALS
    assert default_adequacy() == Adequacy(
        content["intercept"], Signals(**content["weights"]), content["threshold"]
    )
    assert 0.0 < content["threshold"] < 0.5


def test_the_file_says_where_it_comes_from_and_how_well_it_tells() -> None:
    content = shipped()
    assert content["made_by"] == "benchmarks/fit_adequacy.py"
    assert content["date"]
    for data_set in content["fitted_on"]:
        assert {"removed", "next", "small removed"} <= set(content["held_out"]["auc"][data_set])
        assert 0.0 <= content["held_out"]["refused"][data_set]["own"] <= 0.1
        assert 0.0 <= content["held_out"]["calibration_error"][data_set] <= 0.2
    for of in content["held_out"]["auc"].values():
        assert all(low <= mean <= high for mean, low, high in of.values())


def test_the_model_was_fitted_with_the_weights_that_ship() -> None:
    weights = hashlib.sha256(json.dumps(default_weights().values).encode()).hexdigest()[:16]
    assert shipped()["score_weights"] == weights, (
        "run benchmarks/fit_adequacy.py after benchmarks/fit_weights.py"
    )
