"""The filter ``where``: what it takes, and that it leaves exactly the items of which all holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory, Turn
from demem_agent.errors import InvalidInput, NotFound
from demem_agent.testing import BagEncoder
from demem_agent.types import Evidence
from demem_agent.where import Where, as_where, where_field

OPTIONS: dict[str, Any] = {"clock": None, "encoder": BagEncoder()}
FIRST = datetime(2024, 5, 1)
WEST = FIRST.replace(tzinfo=timezone(timedelta(hours=-5)))

texts = st.none() | st.sampled_from(["Ana", "Ben", ""]) | st.lists(st.sampled_from(["Ana", "Cy"]))
times = st.none() | st.sampled_from(
    ["2024", "2024-05", "2024-05-03", "2024-05-03T10:00", "2024-05-03 10:00+02:00"]
) | st.just(date(2024, 5, 2)) | st.just(datetime(2024, 5, 2, 9, tzinfo=UTC))  # fmt: skip
conditions = st.sampled_from(
    ["apollo", 1, 1.0, True, None, ["a"], {"in": ["apollo", 1]}, {"in": []}, {"exists": True},
     {"exists": False}]
)  # fmt: skip
filters = st.builds(
    Where,
    speaker=texts,
    session=texts,
    source=texts,
    source_ids=st.none() | st.lists(st.sampled_from(["x1", "x2"])),
    since=times,
    until=times,
    slot=st.none() | st.integers(0, 3),
    metadata=st.none() | st.dictionaries(st.sampled_from(["project", "n"]), conditions, max_size=2),
    trust=st.none() | st.sampled_from([0, 0.5, 1.0]),
    holds=st.none() | st.booleans(),
)
turns = st.builds(
    Turn,
    text=st.sampled_from(["the boiler has a valve", "the violin has a bow", "a lease of Porto"]),
    speaker=st.sampled_from([None, "Ana", "Ben", ""]),
    session=st.sampled_from([None, "Ana"]),
    source=st.sampled_from([None, "Cy"]),
    source_id=st.sampled_from([None, "x1", "x2"]),
    at=st.none()
    | st.integers(0, 900).map(lambda hours: FIRST + timedelta(hours=hours))
    | st.integers(0, 900).map(lambda hours: WEST + timedelta(hours=hours)),
    trust=st.sampled_from([0.0, 0.5, 1.0]),
    metadata=st.dictionaries(
        st.sampled_from(["project", "n"]), st.sampled_from(["apollo", 1, True, None, ["a"]])
    ),
)


@given(filters)
def test_a_checked_filter_can_be_hashed_and_is_checked_again_as_it_is(where: Where) -> None:
    checked = as_where(where)
    assert as_where(checked) == checked
    assert hash(as_where(where)) == hash(checked)


@given(filters)
def test_a_mapping_with_its_keys_does_as_well(where: Where) -> None:
    given_fields = {name: getattr(where, name) for name in Where.__annotations__}
    assert as_where(given_fields) == as_where(where)
    as_json = {
        name: value for name, value in given_fields.items() if name not in ("since", "until")
    }
    assert as_where(json.loads(json.dumps(as_json))) == as_where(Where(**as_json))


def test_one_that_asks_for_nothing_is_none() -> None:
    assert where_field(None) is where_field({}) is where_field({"metadata": {}}) is None


EQUALS = "where.metadata.n must be a JSON value that it equals"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Ana", "where must be a Where or a mapping with some of: speaker, session"),
        ({"speker": "Ana"}, "where.speker must be left out: filters have speaker, session"),
        ({"speaker": 3}, "where.speaker must be a text, or a list of texts"),
        ({"session": ["a", 3]}, "where.session must be a text, or a list of texts .*, got 3"),
        ({"source": {"a": "b"}}, "where.source must be a text"),
        ({"source_ids": [None]}, "where.source_ids must be a text"),
        ({"since": "2024-13"}, "where.since must be a datetime, a date"),
        ({"since": "20240503"}, "where.since must be a datetime, a date"),
        ({"since": "2024-W05"}, "where.since must be a datetime, a date"),
        ({"until": "2023-02-29"}, "where.until must be .* such as '2024', '2024-05' or"),
        ({"until": 2024}, "where.until must be a datetime, a date"),
        ({"until": "Tuesday"}, "where.until must be a datetime, a date"),
        ({"slot": -1}, "where.slot must be a whole number of at least 0"),
        ({"slot": True}, "where.slot must be a whole number"),
        ({"trust": 1.5}, "where.trust must be a number from 0 to 1"),
        ({"holds": 1}, "where.holds must be True or False, got 1"),
        ({"metadata": "apollo"}, "where.metadata must be a mapping"),
        ({"metadata": {"n": {"gt": 3}}}, EQUALS + r", \{"),
        ({"metadata": {"n": {"in": "abc"}}}, EQUALS),
        ({"metadata": {"n": {"exists": 1}}}, EQUALS),
        ({"metadata": {"n": {"in": [object]}}}, r"where.metadata.n.in\[0\] must be a JSON value"),
        ({"metadata": {"n": {}}}, EQUALS),
    ],
)  # fmt: skip
def test_a_bad_one_is_named_with_its_range_wherever_it_is_taken(given: Any, message: str) -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a valve")
    for use in (
        lambda: memory.read("boiler", where=given),
        lambda: memory.route("boiler", where=given),
        lambda: memory.answer("boiler", where=given),
        lambda: memory.answered("boiler", "a valve", where=given),
        lambda: memory.evidence(where=given),
        lambda: memory.export(where=given),
        lambda: memory.forget(where=given),
    ):
        with pytest.raises(InvalidInput, match=message):
            use()
    assert len(memory) == 1


@pytest.mark.parametrize(
    ("until", "last", "first_after"),
    [
        ("2024", datetime(2024, 12, 31, 23, 59, 59), datetime(2025, 1, 1)),
        ("2024-02", datetime(2024, 2, 29, 23, 59, 59), datetime(2024, 3, 1)),
        ("2024-12", datetime(2024, 12, 31, 23, 59, 59), datetime(2025, 1, 1)),
        ("2024-02-29", datetime(2024, 2, 29, 23, 59, 59), datetime(2024, 3, 1)),
        (date(2024, 2, 29), datetime(2024, 2, 29, 23, 59, 59), datetime(2024, 3, 1)),
        (datetime(2024, 3, 1), datetime(2024, 2, 29, 23, 59, 59), datetime(2024, 3, 1)),
        ("2024-03-01T00:00", datetime(2024, 2, 29, 23, 59, 59), datetime(2024, 3, 1)),
        ("2024-03-01T02:00+02:00", datetime(2024, 2, 29, 23, 59, 59), datetime(2024, 3, 1)),
    ],
)
def test_until_takes_in_a_day_month_or_year_as_a_whole_and_no_moment_itself(
    until: Any, last: datetime, first_after: datetime
) -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a valve", at=last)
    memory.ingest("the violin has a bow", at=first_after)
    memory.ingest("nobody knows when")
    assert [item.id for item in memory.evidence(where={"until": until})] == ["e1"]
    assert [item.id for item in memory.evidence(where={"since": first_after})] == ["e2"]


@pytest.mark.parametrize("zone", ["-05:00", "", "+00:00", "+14:00"])
@pytest.mark.parametrize("hour", ["00:30", "12:00", "23:30"])
def test_a_day_is_the_one_that_a_reading_heads(zone: str, hour: str) -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a valve", at=f"2024-05-31T{hour}{zone}")
    assert "# 31 May 2024" in memory.read("boiler", where={"until": "2024-05-31"}).text
    for day in ("2024-05-31", "2024-05", date(2024, 5, 31)):
        assert len(memory.evidence(where={"since": day, "until": day})) == 1
    assert memory.evidence(where={"since": "2024-06"}) == ()
    assert memory.evidence(where={"until": "2024-05-30"}) == ()


@pytest.mark.parametrize("end", ["9999", "9999-12", "9999-12-31", date(9999, 12, 31)])
def test_the_end_of_the_calendar_is_an_end_like_any_other(end: Any) -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a valve", at="2024-05-02")
    assert len(memory.evidence(where={"until": end})) == 1
    assert memory.evidence(where={"since": end}) == ()


# Against a rule written here a second time


def holds(item: Evidence, where: Where, slot: int) -> bool:
    """Whether all holds that a filter asks of an item, said plainly."""
    for own, asked in (
        (item.speaker, where.speaker),
        (item.session, where.session),
        (item.source, where.source),
        (item.source_id, where.source_ids),
    ):
        if asked is not None and own not in ([asked] if isinstance(asked, str) else list(asked)):
            return False
    if where.slot is not None and slot != where.slot:
        return False
    if where.trust is not None and item.trust < where.trust:
        return False
    return _said_then(item, where) and _has(item, where)


def _said_then(item: Evidence, where: Where) -> bool:
    if where.since is None and where.until is None:
        return True
    if item.at is None:
        return False
    said = item.at.replace(tzinfo=item.at.tzinfo or UTC)
    there = item.at.replace(tzinfo=UTC)  # as the clock stood where it was said
    since, until = str(where.since), str(where.until)
    begun = BEGINS[since] <= (said if ":" in since else there)
    return begun and (said if ":" in until else there) < ENDS[until]


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


BEGINS = {
    "None": utc(1, 1, 1),
    "2024": utc(2024, 1, 1),
    "2024-05": utc(2024, 5, 1),
    "2024-05-03": utc(2024, 5, 3),
    "2024-05-03T10:00": utc(2024, 5, 3, 10),
    "2024-05-03 10:00+02:00": utc(2024, 5, 3, 8),
    "2024-05-02": utc(2024, 5, 2),
    "2024-05-02 09:00:00+00:00": utc(2024, 5, 2, 9),
}
ENDS = BEGINS | {
    "None": utc(9999, 1, 1),
    "2024": utc(2025, 1, 1),
    "2024-05": utc(2024, 6, 1),
    "2024-05-03": utc(2024, 5, 4),
    "2024-05-02": utc(2024, 5, 3),
}


def _has(item: Evidence, where: Where) -> bool:
    for name, asked in (where.metadata or {}).items():
        if isinstance(asked, dict) and "exists" in asked:
            if (name in item.metadata) != asked["exists"]:
                return False
            continue
        wanted = asked["in"] if isinstance(asked, dict) else [asked]
        if name not in item.metadata or told(item.metadata[name]) not in map(told, wanted):
            return False
    return True


def told(value: Any) -> str:
    """Return a JSON value as text, whole numbers as what they are."""
    plain = int(value) if isinstance(value, float) else value
    return json.dumps(plain)


@settings(max_examples=often(60), deadline=None)
@given(
    st.lists(turns, min_size=1, max_size=12), st.lists(filters, min_size=1, max_size=4), st.data()
)
def test_it_leaves_exactly_the_items_of_which_all_holds(
    said: list[Turn], asked: list[Where], data: st.DataObject
) -> None:
    memory = SlotMemory(**OPTIONS)
    half = len(said) // 2
    for some in (said[:half], said[half:]):  # the marks of the first are kept for the second
        memory.ingest_many(some)
        for where in asked:
            check_left(memory, where)
    gone = data.draw(st.sampled_from([item.id for item in memory.evidence()]))
    memory.forget(gone)
    slots = [slot.number for slot in memory.slots]
    if len(slots) > 1:
        memory.merge(slots[-1], into=slots[0])
    for where in asked:
        check_left(memory, where)


def check_left(memory: SlotMemory, where: Where) -> None:
    slot_of = {id: slot.number for slot in memory.slots for id in slot.evidence}
    expected = [item for item in memory.evidence() if holds(item, where, slot_of[item.id])]
    if where.holds is not None:
        expected = [item for item in expected if still(memory, item.id) is where.holds]
    assert list(memory.evidence(where=where)) == expected


def still(memory: SlotMemory, item: str) -> bool:
    """Whether an item holds still, as its history has it."""
    versions = memory.history(item)
    return next(one.holds for one in versions if one.evidence.id == item)


@settings(max_examples=often(40), deadline=None)
@given(st.lists(turns, min_size=2, max_size=8), filters, st.data())
def test_what_holds_is_looked_up_when_it_is_asked(
    said: list[Turn], where: Where, data: st.DataObject
) -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest_many(said)
    ids = [item.id for item in memory.evidence()]
    both = st.lists(st.sampled_from(ids), min_size=2, max_size=2, unique=True)
    made = []
    for _ in range(data.draw(st.integers(1, 3))):
        if len(ids) > 1:
            old, new = sorted(data.draw(both), key=ids.index)
            made.append(memory.supersede(old, new).id)
        for holds_still in (True, False):
            check_left(memory, replace(where, holds=holds_still))
    for id in dict.fromkeys(made):
        memory.undo(id)
        check_left(memory, replace(where, holds=True))


def test_a_reading_of_what_holds_has_no_line_that_does_not() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the lease of Porto ends in May", at="2024-01-01")
    memory.read("lease", where={"holds": True})  # what was marked then is not what is marked later
    memory.update("e1", "the lease of Porto ends in June", at="2024-02-01")
    assert [line.evidence.id for line in memory.read("lease", where={"holds": True}).lines] == [
        "e2"
    ]
    assert memory.forget(where={"holds": False}).evidence == ("e1",)


# Forgetting and exporting


def told_of_all() -> SlotMemory:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve", speaker="Ana", key="k1", metadata={"a": 1})
    memory.ingest("the violin has a broken bow", speaker="Ben", key="k2")
    memory.ingest("the lease of Porto ends in May", speaker="Ana", key="k3")
    memory.feedback(memory.answer("Which bow has the violin?"), reference="a broken bow")
    memory.rename(0, "of the violin")
    memory.decide("what to do with the bow of the violin", ["mend", "sell"])
    return memory


def test_what_a_filter_leaves_is_forgotten_and_nothing_else() -> None:
    memory = told_of_all()
    receipt = memory.forget(where={"speaker": "Ben"})
    assert receipt.evidence == ("e2",)
    assert "broken" not in json.dumps(memory.export())
    assert [item.id for item in memory.evidence()] == ["e1", "e3"]
    memory.check()


def test_where_nothing_is_left_nothing_is_forgotten() -> None:
    memory = told_of_all()
    before = memory.fingerprint()
    assert memory.forget(where={"speaker": []}).evidence == ()
    assert memory.fingerprint() == before


@pytest.mark.parametrize("empty", [{}, Where(), {"metadata": {}}])
def test_a_filter_that_asks_for_nothing_forgets_nothing(empty: Any) -> None:
    memory = told_of_all()
    with pytest.raises(InvalidInput, match="where must be a filter that asks for something"):
        memory.forget(where=empty)
    assert len(memory) == 3


@pytest.mark.parametrize(
    "forget",
    [
        lambda memory: memory.forget("e1", where={"speaker": "Ana"}),
        lambda memory: memory.forget(source_id="x", where={"speaker": "Ana"}),
        lambda memory: memory.forget(before="2024-01-01", where={"speaker": "Ana"}),
    ],
)
def test_forget_takes_one_selector(forget: Callable[[SlotMemory], object]) -> None:
    with pytest.raises(InvalidInput, match="left out, as"):
        forget(told_of_all())


def test_a_filtered_export_is_a_memory_of_what_is_left_alone() -> None:
    memory = told_of_all()
    lines = json.loads(json.dumps(memory.export(where={"speaker": "Ana"})))
    part = SlotMemory.restore(lines, **OPTIONS)
    part.check()
    assert part.evidence() == memory.evidence(where={"speaker": "Ana"})
    assert part.contexts() == part.decisions() == part.situations() == ()
    for other in ("violin", "broken", "k2", "mend", "Ben"):
        assert other not in json.dumps(lines)
    assert part.ingest("the boiler has a brass valve", speaker="Ana", key="k1",
                       metadata={"a": 1}).evidence_id == "e1"  # fmt: skip
    assert part.ingest("the violin has a broken bow", speaker="Ben", key="k2").evidence_id == "e4"
    part.check()
    part.forget("e1")
    with pytest.raises(NotFound):
        part.forget("e2")


def test_a_filtered_export_keeps_the_successions_between_what_is_left() -> None:
    memory = SlotMemory(**OPTIONS)
    for speaker, city in (("Ana", "Porto"), ("Ana", "Lisbon"), ("Ben", "Rome")):
        memory.ingest(f"I live in {city}", speaker=speaker)
    memory.supersede("e1", "e2")
    memory.supersede("e2", "e3")
    part = SlotMemory.restore(memory.export(where={"speaker": "Ana"}), **OPTIONS)
    assert [(one.old[0], one.new[0]) for one in part.successions()] == [("e1", "e2")]
    part.check()


def test_an_export_of_nothing_is_an_empty_memory() -> None:
    part = SlotMemory.restore(told_of_all().export(where={"speaker": "Cy"}), **OPTIONS)
    assert part.evidence() == part.slots == ()
    assert part.ingest("the boiler has a brass valve").evidence_id == "e4"
    part.check()


@settings(max_examples=often(40), deadline=None)
@given(st.lists(turns, min_size=1, max_size=10), filters)
def test_any_filtered_export_is_restored(said: list[Turn], where: Where) -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest_many(said)
    part = SlotMemory.restore(memory.export(where=where), **OPTIONS)
    part.check()
    assert part.evidence() == memory.evidence(where=where)
    again = SlotMemory.restore(part.export(), **OPTIONS)
    assert again.fingerprint() == part.fingerprint()
