"""The table of features: each is named once, has a weight, and keeps what it looks at."""

from __future__ import annotations

import pytest

from demem_agent.scoring import FEATURES, PassageIndex, default_weights
from demem_agent.scoring.features import BY_HAND, KEPT, TABLE
from demem_agent.scoring.weights import weights_from


def test_every_feature_has_a_name_of_its_own() -> None:
    assert len(set(FEATURES)) == len(FEATURES) == len(TABLE)


def test_every_column_that_is_kept_has_a_name_of_its_own() -> None:
    names = [kept.name for kept in KEPT]
    assert len(set(names)) == len(names)
    assert list(PassageIndex(4).kept) == names


def test_features_set_by_hand_are_those_that_say_so() -> None:
    assert {"trust", "own", "user"} == BY_HAND


def test_a_feature_without_a_weight_is_named() -> None:
    found = dict.fromkeys(FEATURES, 1.0)
    del found["cosine"], found["names"]
    with pytest.raises(LookupError, match=r"no weight for the features cosine, names$"):
        weights_from(found, found)


def test_weights_stand_in_the_order_of_the_features_in_whichever_order_they_are_given() -> None:
    shipped = default_weights()
    people = dict(zip(FEATURES, shipped.of(chat=False), strict=True))
    chat = dict(zip(FEATURES, shipped.of(chat=True), strict=True))
    reversed_and_more = {"none of them": 9.0} | dict(reversed(people.items()))
    assert weights_from(reversed_and_more, chat) == shipped
