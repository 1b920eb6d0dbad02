"""The small network that Score_theta may be: its numbers, its parts, and how it is chosen."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from often import often

from demem_agent import InvalidInput, SlotMemory, Turn
from demem_agent.scoring import FEATURES, Weights, default_mlp, default_weights
from demem_agent.scoring.mlp import Hidden, Mlp, mlp_from

SHAPE = (5, len(FEATURES))
TABLES = arrays(np.float32, SHAPE, elements=st.floats(-1e6, 1e6, width=32))
TURNS = tuple(
    Turn(text, speaker=speaker, at=f"2024-05-{day:02}")
    for day, (speaker, text) in enumerate(
        (
            ("Ana", "The boat is in the harbour of Kiel"),
            ("Ben", "Where is the boat?"),
            ("Ana", "The boat of my aunt is green"),
            ("Ben", "We had soup for dinner"),
        ),
        1,
    )
)
ASKED = "Where is the boat of Ana?"


def memory_of(**options: Any) -> SlotMemory:
    memory = SlotMemory(clock=None, **options)
    memory.ingest_many(TURNS)
    return memory


@settings(max_examples=often(100))
@given(TABLES, st.booleans())
def test_every_score_is_a_number(table: NDArray[np.float32], chat: bool) -> None:
    assert np.isfinite(default_mlp().scores(table, chat)).all()


@settings(max_examples=often(100))
@given(TABLES, st.booleans())
def test_passages_score_together_as_they_do_one_by_one(
    table: NDArray[np.float32], chat: bool
) -> None:
    net = default_mlp()
    alone = [net.scores(row[None], chat)[0] for row in table]
    assert net.scores(table, chat) == pytest.approx(alone, rel=1e-9, abs=1e-6)


@settings(max_examples=often(100))
@given(TABLES, st.booleans())
def test_the_parts_of_a_score_add_up_to_it(table: NDArray[np.float32], chat: bool) -> None:
    net = default_mlp()
    for row, score in zip(table, net.scores(table, chat), strict=True):
        assert sum(net.parts(row, chat).values()) == pytest.approx(score, rel=1e-9, abs=1e-6)


@settings(max_examples=often(100))
@given(TABLES, st.booleans())
def test_a_feature_left_out_of_either_form_counts_as_zero(
    table: NDArray[np.float32], chat: bool
) -> None:
    columns = [FEATURES.index("named"), FEATURES.index("own")]
    blank = table.copy()
    blank[:, columns] = 0.0
    for form in (default_mlp(), default_weights()):
        left = form.without(table, chat, form.scores(table, chat), columns)
        assert left == pytest.approx(form.scores(blank, chat), rel=1e-9, abs=1e-6)


@settings(max_examples=often(100))
@given(TABLES, st.booleans())
def test_a_layer_adds_no_more_than_its_units_can(table: NDArray[np.float32], chat: bool) -> None:
    layer = default_mlp().layer(chat)
    assert np.abs(layer.adds(table)).max() <= np.abs(layer.outer).sum() + 1e-9


def test_what_is_set_by_hand_moves_no_unit() -> None:
    for chat in (False, True):
        for name in ("trust", "own", "user"):
            assert not default_mlp().layer(chat).inner[FEATURES.index(name)].any()


def test_people_and_a_user_with_a_model_have_layers_of_their_own() -> None:
    table = np.ones(SHAPE, np.float32)
    net = default_mlp()
    assert net.scores(table, chat=True)[0] != net.scores(table, chat=False)[0]


def file_of(**changed: Any) -> dict[str, Any]:
    of_features = dict.fromkeys(FEATURES, 0.5)
    inner = {name: [0.1, 0.2] for name in FEATURES}
    made = {"weights": of_features, "inner": inner, "offset": [0.0, 1.0], "outer": [2.0, -1.0]}
    return made | changed


def test_a_network_of_two_units_is_what_hand_calculation_gives() -> None:
    net = mlp_from(file_of(), file_of())
    table = np.zeros((1, len(FEATURES)), np.float32)
    table[0, 0] = 2.0
    expected = 0.5 * 2.0 + 2.0 * np.tanh(0.2) - np.tanh(1.4)
    assert net.scores(table, chat=False)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "wrong",
    [
        {"offset": [0.0]},
        {"outer": [1.0, 2.0, 3.0]},
        {"inner": {name: [0.1] for name in FEATURES}},
        {"outer": [float("nan"), 1.0]},
    ],
)
def test_a_layer_of_other_shapes_or_without_numbers_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a hidden layer has"):
        mlp_from(file_of(**wrong), file_of())


@pytest.mark.parametrize("part", ["weights", "inner"])
def test_a_file_without_a_feature_names_it(part: str) -> None:
    lacking = {name: value for name, value in file_of()[part].items() if name != "bm25"}
    with pytest.raises(LookupError, match="bm25"):
        mlp_from(file_of(), file_of(**{part: lacking}))


def test_without_what_its_layer_adds_it_is_the_linear_score() -> None:
    nothing = Hidden(np.zeros((len(FEATURES), 1)), np.zeros(1), np.zeros(1))
    net = Mlp(default_weights(), nothing, nothing)
    table = np.linspace(-2, 2, 5 * len(FEATURES), dtype=np.float32).reshape(SHAPE)
    assert net.scores(table, chat=False).tolist() == [*default_weights().scores(table, chat=False)]


# Chosen for a memory


@pytest.mark.parametrize("given", ["cosine", "MLP", None, 3, ["mlp"]])
def test_a_form_that_there_is_not_is_refused_and_those_that_are_named(given: Any) -> None:
    with pytest.raises(InvalidInput, match=r"score_theta.*'linear' or 'mlp'"):
        SlotMemory(score_theta=given)


def test_linear_is_the_default() -> None:
    assert memory_of().read(ASKED) == memory_of(score_theta="linear").read(ASKED)


@pytest.mark.parametrize("name", ["linear", "mlp"])
def test_readings_routes_and_reasons_are_by_the_form_that_was_given(name: Any) -> None:
    memory = memory_of(score_theta=name)
    weighed = memory.weigh(ASKED)
    assert weighed.reading == memory.read(ASKED)
    assert weighed.route == memory.route(ASKED) == memory.answer(ASKED).route
    for line, parts in zip(weighed.reading.lines, weighed.parts, strict=True):
        assert sum(parts.values()) == pytest.approx(line.score, abs=1e-3)
        assert ("hidden layer" in parts) is (name == "mlp")


def test_the_same_is_read_every_time() -> None:
    assert memory_of(score_theta="mlp").read(ASKED) == memory_of(score_theta="mlp").read(ASKED)


def test_it_is_not_kept_with_the_memory() -> None:
    memory = memory_of(score_theta="mlp")
    assert list(memory.export()) == list(memory_of().export())
    again = SlotMemory.restore(memory.export(), clock=None)
    assert again.read(ASKED) == memory_of().read(ASKED)


def test_a_copy_has_it_too() -> None:
    memory = memory_of(score_theta="mlp")
    assert copy.deepcopy(memory).read(ASKED) == memory.read(ASKED)


def test_weights_are_a_form_as_well() -> None:
    ones = Weights(tuple(1.0 for _ in FEATURES))
    table = np.ones(SHAPE, np.float32)
    assert ones.scores(table, chat=False).tolist() == [float(len(FEATURES))] * 5
