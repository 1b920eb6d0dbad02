"""The table of features: each is named once, has a weight, and keeps what it looks at."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from demem_agent import Evidence
from demem_agent.scoring import FEATURES, PassageIndex, Query, default_weights
from demem_agent.scoring.features import BY_HAND, KEPT, TABLE
from demem_agent.scoring.score import feature_table
from demem_agent.scoring.weights import weights_from
from demem_agent.testing import BagEncoder
from demem_agent.text.sentences import passages

ENCODER = BagEncoder()


def test_every_feature_has_a_name_of_its_own() -> None:
    assert len(set(FEATURES)) == len(FEATURES) == len(TABLE)


def test_every_column_that_is_kept_has_a_name_of_its_own() -> None:
    names = [kept.name for kept in KEPT]
    assert len(set(names)) == len(names)
    assert list(PassageIndex(4).kept) == names


def test_features_set_by_hand_are_those_that_say_so() -> None:
    assert {"trust", "own"} == BY_HAND


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


def column_of(name: str, texts: Sequence[str], query: str = "Where is the key?") -> list[float]:
    """Return a feature of the first passage of each of some turns of one session."""
    index = PassageIndex(ENCODER.dimensions)
    for number, text in enumerate(texts, 1):
        item = Evidence(f"e{number}", text, session="s")
        cut = passages(text)
        vectors = ENCODER.encode([text[start:end] for start, end in cut])
        index.add(item, cut, vectors, 0)
    rows, table = feature_table(index, Query(query, ENCODER.encode([query])[0]))
    firsts = [index.rows(f"e{number}").start for number in range(1, len(texts) + 1)]
    values = table[:, FEATURES.index(name)]
    return [float(values[rows.tolist().index(row)]) for row in firsts]


def test_a_short_line_is_not_ahead_of_another_for_being_short() -> None:
    for name in ("length", "turn_length"):
        short, longer, long = column_of(name, ["lol", "x" * 90, "The key is here. " * 20])
        assert short == longer < long


def test_a_passage_of_a_document_counts_as_long_as_itself() -> None:
    document = "The key is in the shed. " * 500
    first = passages(document)[0]
    alone, of_document, of_turn = column_of(
        "turn_length", [document[first[0] : first[1]], document, document[:1300]]
    )
    assert alone == of_document < of_turn


def test_a_document_is_no_reply_to_what_stands_beside_it() -> None:
    document = "The key is in the shed. " * 500
    assert column_of("turn_after", ["lol", document])[0] == 0
    assert column_of("turn_after", ["lol", document[:1300]])[0] != 0
