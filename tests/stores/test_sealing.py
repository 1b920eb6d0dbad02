"""Rows are sealed to their places, with keys that are kept twice and destroyed wholly."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sealed_files import altered, begin_anew, legible
from stored import OPTIONS, lived

from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.memories import delete_memory, list_memories, rename_memory
from demem_agent.safekeeping import examine, repair
from demem_agent.stores.sealing import Broken, drawn, packed, seal, unpacked, unseal
from demem_agent.stores.tables import COLUMNS, MOST_NUMBERS, id_of

FILE = bytes(32)
VALUES: st.SearchStrategy[object] = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec=None)),
    st.binary(),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with SlotMemory.open(url_of(tmp_path / "a.db"), **OPTIONS) as memory:
        lived(memory)
    return tmp_path / "a.db"


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def execute(file: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(file)) as db:
        assert db.execute(statement, values).rowcount > 0
        db.commit()


class TestARow:
    @given(st.lists(VALUES))
    def test_it_comes_back_as_it_was(self, values: list[object]) -> None:
        names = [str(place) for place in range(len(values))]
        assert list(unpacked(packed(values), names).values()) == values

    def test_columns_that_it_does_not_have_yet_are_none(self) -> None:
        assert unpacked(packed([1, b"2"]), ("a", "b", "c")) == {"a": 1, "b": b"2", "c": None}

    @given(st.binary(), st.integers(0))
    def test_it_opens_as_it_was_sealed_and_not_otherwise(self, body: bytes, at: int) -> None:
        secret = drawn()
        sealed = seal(body, secret, FILE, "evidence 1")
        assert unseal(sealed, secret, FILE, "evidence 1") == body
        hurt = bytearray(sealed)
        hurt[at % len(hurt)] ^= 1 << at % 8
        others: list[tuple[Any, ...]] = [
            (bytes(hurt), secret, FILE, "evidence 1"),
            (sealed[:-1], secret, FILE, "evidence 1"),
            (sealed, secret, FILE, "evidence 2"),
            (sealed, drawn(), FILE, "evidence 1"),
            (sealed, secret, bytes([1] * 32), "evidence 1"),
            ("sealed", secret, FILE, "evidence 1"),
            (None, secret, FILE, "evidence 1"),
        ]
        for other in others:
            with pytest.raises(Broken):
                unseal(*other)

    def test_a_number_that_no_row_has_is_refused(self) -> None:
        for number in (-1, MOST_NUMBERS):
            with pytest.raises(StoreError, match="cannot have the number"):
                id_of(1, number)


@pytest.mark.parametrize("table", [table for table in COLUMNS if table not in ("slot", "mark")])
def test_a_row_that_is_missing_is_noticed(tmp_path: Path, table: str) -> None:
    with SlotMemory.open(url_of(tmp_path / "a.db"), **OPTIONS, decisions=True) as memory:
        lived(memory)
        memory.ingest("the ferry leaves at nine")
        memory.ingest("the ferry does not leave at nine any more")
        memory.supersede("e1", "e2")
        memory.feedback(memory.decide("the ferry is late", ["wait", "walk"]), reward=1.0)
        operation = min(one.seq for one in memory._held.state.keyed.values())
    altered(tmp_path / "a.db", table, operation if table == "op" else 1, None)
    with pytest.raises(StoreError, match=f"{table}: 1 missing"):
        SlotMemory.open(url_of(tmp_path / "a.db"), **OPTIONS)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("DELETE FROM memory WHERE memory_id = 'default'", "of 2 memories, 1 are in the file"),
        ("UPDATE memory SET memory_id = 'x' WHERE memory_id = 'default'", "under another id"),
        ("UPDATE memory SET tenant = 'x' WHERE memory_id = 'default'", "under another id"),
        ("UPDATE memory SET seq = seq + 1", "the row memory 'default' is damaged"),
        ("UPDATE memory SET items = items + 1", "the row memory 'default' is damaged"),
        ("UPDATE erasure SET era = era + 1", "the row of the file is damaged"),
        ("DELETE FROM erasure", "the row of the file is damaged"),
    ],
)
def test_no_memory_is_made_anew_where_one_is_lost(file: Path, statement: str, says: str) -> None:
    SlotMemory.open(url_of(file), memory_id="other", **OPTIONS).close()
    execute(file, statement)
    memory_id = "third" if "erasure" in statement else "default"
    with pytest.raises(StoreError, match=says):
        SlotMemory.open(url_of(file), memory_id=memory_id, **OPTIONS)
    with suppress(StoreError):  # or nothing of it can be read
        assert not examine(file).is_sound


class TestKeys:
    @pytest.mark.parametrize("table", ["key", "spare_key"])
    def test_they_are_kept_twice(self, file: Path, table: str, tmp_path: Path) -> None:
        with SlotMemory.open(url_of(file), **OPTIONS) as memory:
            before = memory.export()
        execute(file, f"UPDATE {table} SET secrets = zeroblob(3840)")
        found = examine(file)
        assert not found.is_sound
        assert "one copy is damaged" in str(found.faults)
        assert found.memories[0].is_sound
        repair(file, tmp_path / "mended.db")
        for sound in (file, tmp_path / "mended.db"):
            with SlotMemory.open(url_of(sound), **OPTIONS) as memory:
                assert memory.export() == before
        assert examine(tmp_path / "mended.db").is_sound

    def test_where_both_copies_are_lost_the_rows_are_named(self, file: Path) -> None:
        for table in ("key", "spare_key"):
            execute(file, f"UPDATE {table} SET secrets = zeroblob(3840)")
        with pytest.raises(StoreError, match="the key of the file is lost"):
            SlotMemory.open(url_of(file), **OPTIONS)

    def test_those_that_were_destroyed_make_room_for_others(self, tmp_path: Path) -> None:
        with SlotMemory.open(url_of(tmp_path / "a.db"), **OPTIONS) as memory:
            for number in range(300):
                memory.ingest(f"the boiler has valve {number}")
                if number:
                    memory.forget(f"e{number}")
        with closing(sqlite3.connect(tmp_path / "a.db")) as db:
            assert db.execute("SELECT COUNT(*) FROM key").fetchone() == (1,)

    def test_many_rows_have_many_blocks(self, tmp_path: Path) -> None:
        turns = [{"text": f"the boiler has valve {number}"} for number in range(700)]
        with SlotMemory.open(url_of(tmp_path / "a.db"), **OPTIONS) as memory:
            memory.ingest_many(turns)
            memory.forget("e650")
            before = memory.fingerprint()
        with SlotMemory.open(url_of(tmp_path / "a.db"), **OPTIONS) as memory:
            assert memory.fingerprint() == before
        with closing(sqlite3.connect(tmp_path / "a.db")) as db:
            assert db.execute("SELECT MAX(id) FROM key").fetchone()[0] >= 2
        assert examine(tmp_path / "a.db").is_sound


@pytest.mark.parametrize(
    "forget",
    [
        lambda memory: memory.forget("e2"),
        lambda memory: memory.forget(source_id="msg"),
        lambda memory: memory.forget(before="2021-01-01"),
        lambda memory: memory.forget(where={"speaker": "Zacharias"}),
    ],
)
def test_whoever_kept_every_sealed_row_reads_nothing_of_what_was_forgotten(
    tmp_path: Path, forget: Callable[[SlotMemory], object]
) -> None:
    begin_anew()
    options = {**OPTIONS, "initial_slots": 3, "slot_limit": 300, "read_limit": 500}
    with SlotMemory.open(url_of(tmp_path / "a.db"), **options) as memory:
        for number in range(120):
            memory.ingest(f"the boiler has valve {number}", at=f"2022-01-01T00:00:{number % 60:02}")
            if number == 0:
                about: Any = {"speaker": "Zacharias", "source_id": "msg", "at": "2020-01-01"}
                memory.ingest("a plover nests behind the shed", metadata={"of": "plover"}, **about)
                memory.feedback(memory.answer("What nests behind the shed?"), reward=1.0)
        assert b"plover" in legible(tmp_path)
        forget(memory)
        assert b"plover" not in legible(tmp_path)
        assert b"Zacharias" not in legible(tmp_path)
        assert b"valve 119" in legible(tmp_path)


def test_lists_tell_the_size_and_dates_of_what_is_there(tmp_path: Path) -> None:
    url = url_of(tmp_path / "a.db")
    with SlotMemory.open(url, **OPTIONS) as memory:
        for day in (3, 1, 2, 5):
            memory.ingest(f"the boiler has valve {day}", at=f"2024-03-0{day}")
        memory.forget("e2")
        (one,) = list_memories(url)
        assert (one.items, one.size) == (3, 3 * len("the boiler has valve 1"))
        assert one.first is not None
        assert one.last is not None
        assert (one.first.day, one.last.day) == (2, 5)
    rename_memory(url, "default", to="ana")
    (again,) = list_memories(url)
    assert (again.memory_id, again.items, again.first) == ("ana", 3, one.first)
    assert delete_memory(url, "ana").size == one.size
    assert list_memories(url) == ()
