"""The order of the days in a reading."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import InvalidInput, SlotMemory
from demem_agent.reading.packing import CLOSE, OPEN, in_order, in_time_order, packed
from demem_agent.stores.manifest import ended
from demem_agent.testing import BagEncoder
from demem_agent.types import Evidence, Line

TIMES = st.one_of(st.none(), st.datetimes(datetime(2023, 1, 1), datetime(2023, 1, 9)))
LINES = st.lists(st.tuples(st.text("ab ", min_size=1, max_size=30), TIMES), max_size=12)


def lines_of(said: list[tuple[str, datetime | None]]) -> list[Line]:
    lines = []
    for number, (text, at) in enumerate(said, 1):
        lines.append(Line(Evidence(f"e{number}", text, at=at), 0, len(text)))
    return lines


def talk(**options: Any) -> SlotMemory:
    memory = SlotMemory(**{"encoder": BagEncoder(), "clock": None, **options})
    memory.ingest("Is the boiler valve brass?", speaker="Ben", at="2024-03-01T09:00", session="a")
    memory.ingest("No, the valve is steel.", speaker="Ana", at="2024-03-01T09:01", session="a")
    memory.ingest("A new valve is in.", speaker="Ana", at="2024-04-02", session="b")
    memory.ingest("A valve has a seat.", speaker="Ben", session="c")
    return memory


def test_the_newest_day_comes_first_and_within_it_what_was_said_first() -> None:
    assert talk().read("valve", order="latest").text.splitlines() == [
        OPEN,
        "# 2 April 2024",
        "- Ana: A new valve is in.",
        "# 1 March 2024",
        "- Ben: Is the boiler valve brass?",
        "- Ana: No, the valve is steel.",
        "# undated",
        "- Ben: A valve has a seat.",
        CLOSE,
    ]


def test_lines_and_items_are_told_in_the_order_of_the_text() -> None:
    reading = talk().read("valve", order="latest")
    assert [item.id for item in reading.evidence] == ["e3", "e1", "e2", "e4"]
    assert [line.evidence.id for line in reading.lines] == ["e3", "e1", "e2", "e4"]


def test_the_order_is_a_setting_that_a_call_may_override() -> None:
    memory = talk(order="latest")
    assert memory.read("valve").evidence[0].id == "e3"
    assert memory.read("valve", order="time").evidence[-1].id == "e3"
    assert memory.answer("valve").reading.evidence[0].id == "e3"


def test_the_order_may_differ_when_a_memory_is_opened_again(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, order="latest") as memory:
        memory.ingest("The valve is brass.", at="2024-03-01")
    with SlotMemory.open(url) as memory:
        assert memory.settings.order == "latest"
    with SlotMemory.open(url, order="time") as memory:
        assert memory.settings.order == "time"


def test_a_memory_of_before_reads_in_order_of_time() -> None:
    lines = talk().export()
    del lines[0]["settings"]["order"]
    assert SlotMemory.restore(ended(lines), encoder=BagEncoder()).settings.order == "time"


def test_a_strict_reading_is_given_as_it_is() -> None:
    memory = talk()
    strict = memory.read("valve", mode="strict")
    assert memory.read("valve", mode="strict", order="latest") == strict


@pytest.mark.parametrize("order", ["newest", "", 1])
def test_any_other_order_is_refused(order: Any) -> None:
    with pytest.raises(InvalidInput, match="order must be 'time' or 'latest'"):
        SlotMemory(order=order)
    with pytest.raises(InvalidInput, match="order must be 'time' or 'latest'"):
        talk().read("valve", order=order)


@given(LINES, st.integers(1, 300))
def test_the_limit_holds_in_both_orders(
    said: list[tuple[str, datetime | None]], limit: int
) -> None:
    lines = lines_of(said)
    for order in ("time", "latest"):
        made = packed(lines, limit, len, order=order)  # type: ignore[arg-type]
        taken, text = made.lines, made.text
        assert len(text) <= limit
        assert bool(text) == bool(taken)


@given(LINES)
def test_both_orders_hold_the_same_and_each_day_once(
    said: list[tuple[str, datetime | None]],
) -> None:
    lines = lines_of(said)
    made = packed(lines, 5_000, len)
    forward, forward_text = made.lines, made.text
    made = packed(lines, 5_000, len, order="latest")
    backward, backward_text = made.lines, made.text
    assert sorted(forward_text.splitlines()) == sorted(backward_text.splitlines())
    assert in_time_order(backward) == forward
    headers = [part for part in backward_text.splitlines() if part.startswith("# ")]
    assert len(headers) == len(set(headers))


@given(LINES)
def test_no_day_comes_before_a_later_one(said: list[tuple[str, datetime | None]]) -> None:
    ordered = in_order(lines_of(said), "latest")
    days = [line.evidence.at.toordinal() if line.evidence.at else 0 for line in ordered]
    assert days == sorted(days, reverse=True)
