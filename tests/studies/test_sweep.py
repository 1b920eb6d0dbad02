"""The sweep: each limit binds what it says it does, and the table is over all configurations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.studies.sweep import GRID, Limits, Swept, read_within, sweep_sheets, swept
from demem_agent.turns import Turn
from demem_agent.types import Evidence, Line

#: Nine passages, three a session, by the order in which they rank.
LINES = [
    Line(Evidence(f"e{n}", f"passage number {n} of {s}", "Ana", None, s), 0, 21)
    for n, s in enumerate("abcabcabc")
]


def held(text: str) -> list[int]:
    return [n for n in range(9) if f"passage number {n} of" in text]


def test_the_sets_are_those_of_the_paper() -> None:
    assert math.prod(map(len, GRID.values())) == 144


def test_passages_are_as_many_as_said_from_as_many_sessions() -> None:
    assert held(read_within(Limits(4, 3000, 2, 6000), LINES, "")) == [0, 1, 3, 4]
    assert held(read_within(Limits(4, 3000, 3, 6000), LINES, "")) == [0, 1, 2, 3]
    assert held(read_within(Limits(9, 3000, 1, 6000), LINES, "")) == [0, 3, 6]


@given(st.integers(1, 9), st.integers(60, 400), st.integers(1, 3), st.integers(60, 500))
def test_no_limit_is_overrun(top_k: int, evidence: int, sessions: int, memory: int) -> None:
    text = read_within(Limits(top_k, evidence, sessions, memory), LINES, "summary " * 99)
    passages, _, _ = text.partition("\nsummary")
    assert len(text) <= memory
    assert len(passages) <= evidence
    assert len(held(text)) <= top_k
    assert len({"abcabcabc"[n] for n in held(text)}) <= sessions


def test_a_summary_has_what_passages_leave() -> None:
    text = read_within(Limits(1, 3000, 1, 120), LINES, "s" * 500)
    assert len(text) == 120
    assert text.endswith("sss")


def test_every_configuration_is_a_record_and_more_passages_never_find_less() -> None:
    texts = ("The boiler has a brass valve.", "The violin has a broken bow.", "Lunch was late.")
    turns = tuple(
        Turn(text, "Ana", session=f"s{n}", source_id=str(n)) for n, text in enumerate(texts)
    )
    probes = (Probe("Which valve has the boiler?", "brass", ("0",)),)
    records = list(swept(Dialogue("d1", turns, probes)))
    assert len({one.limits for one in records}) == len(records) == 144
    assert {(one.questions, one.recall) for one in records} == {(1, 1.0)}


def test_a_table_has_mean_and_stability_by_value() -> None:
    records = [
        Swept(dialogue, Limits(k, 3000, 2, memory), questions, recall)
        for k, memory, recalls in ((6, 6000, (0.5, 0.9)), (8, 6000, (1.0, 1.0)))
        for dialogue, questions, recall in zip(("d1", "d2"), (3, 1), recalls, strict=True)
    ]
    table, best = sweep_sheets(records)
    cells = dict(table.rows)
    count, mean, deviation, worst, highest = cells["all"]
    assert (count, worst, highest) == (2, 0.6, 1.0)  # (3 * .5 + .9) / 4
    assert (mean, deviation) == (pytest.approx(0.8), pytest.approx(0.2))
    assert cells["top-k 8"][2] == 0
    assert dict(best.rows)["best: top-k"] == (8,)
    assert dict(best.rows)["share within .01 of the best"] == (0.5,)
