"""A memory that is opened from packed items is what its rows make, whatever happened to it."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmark_files import benchmark
from hypothesis import given, settings
from hypothesis import strategies as st
from sealed_files import begin_anew, legible

import demem_agent
from demem_agent import SlotMemory, held
from demem_agent.errors import DeMemError, EncoderMismatch, StoreError
from demem_agent.safekeeping import repair
from demem_agent.scoring.columns import Column
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.texts import plain, squeezed
from demem_agent.slots.state import State
from demem_agent.stores import Store, connections, numbering, open_store, snapshots, sqlite, tables
from demem_agent.stores.examining import examined, repaired
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.testing import BagEncoder

life = benchmark("life", "reliability")

LENGTH = 40
VALVES = [{"text": f"the boiler has valve {n}"} for n in range(10)]
QUESTIONS = (
    "Which valve has the boiler?",
    "Which bow has the violin?",
    "Which bell has the ferry?",
)
BOUNDS: tuple[dict[str, Any], ...] = ({}, {"most_items": 9}, {"storage": 400})
#: A byte that is changed, by its place; all that is after one; all.
HARMS = ("none", "flip", "cut", "gone", "swap")


@cache
def steps(seed: int) -> list[Any]:
    found: list[Any] = life.course(seed, LENGTH).steps
    return found


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pack few items in a block, and at once."""
    monkeypatch.setattr(numbering, "ITEMS", 4)
    monkeypatch.setattr(numbering, "PART", 2)
    monkeypatch.setattr(snapshots, "FEWEST", 1)


@contextmanager
def by_rows() -> Iterator[None]:
    """Have memories opened as if nothing were packed, and nothing packed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(SqliteStore, "load_packed")
        patch.delattr(SqliteStore, "pack")
        yield


def indexed(index: PassageIndex | None) -> dict[str, Any]:
    """Return all that an index holds, by names."""
    if index is None:
        return {}
    found: dict[str, Any] = {
        name: column.view().tolist()
        for name, column in vars(index).items()
        if isinstance(column, Column)
    }
    found |= {name: column.view().tolist() for name, column in index.kept.items()}
    found["passages"] = [one.stretch for one in index.passages]
    found["turns"] = [index.turns.starts.tolist(), index.turns.of.tolist()]
    found["vectors"] = index.vectors.of(slice(None)).tobytes()
    found["terms"] = {
        term: [index.lexical.rows(term).tolist(), index.lexical._counts_of(term).tolist()]
        for term in index.lexical._rows
    }
    found["lengths"] = index.lexical._lengths.view().tolist()
    found["words"] = index.related.forms(0)
    found["stems"] = index.related._of_stem
    found["names"] = [index.sessions.codes, index.speakers.codes, index.languages.codes]
    found["ids"] = index.evidence_ids()
    found["near"] = index.related.matches(["valv"], ["valve"], np.arange(len(index))).tolist()
    return found


def told(memory: SlotMemory) -> list[object]:
    """Return all that a memory tells of itself."""
    state: State = memory._held.state
    before = [memory.read(question).text for question in QUESTIONS]
    memory.check()
    derived = state.derived
    return [
        before,
        memory.fingerprint(),
        memory.export(),
        [memory.route(question) for question in QUESTIONS],
        indexed(derived.index),
        list(state.slot_of.items()),
        derived.used,
        {slot: list(items) for slot, items in sorted(state.members.items())},
        list(derived.sessions.items()),
        derived.notes,
        list(derived.cards),
        list(state.contexts),
        [slot.summary for _, slot in sorted(state.slots.items())],
    ]


def harmed(file: Path, harm: str, at: int) -> None:
    """Damage the snapshot of a file as one who has no key."""
    with closing(sqlite3.connect(file)) as db:
        ids = [id for (id,) in db.execute("SELECT id FROM snapshot ORDER BY id")]
        if not ids or harm == "none":
            return
        id = ids[at % len(ids)]
        (sealed,) = db.execute("SELECT sealed FROM snapshot WHERE id = ?", (id,)).fetchone()
        if harm == "gone":
            db.execute("DELETE FROM snapshot WHERE id = ?", (id,))
        elif harm == "swap":
            db.execute("UPDATE snapshot SET sealed = ? WHERE id = ?", (sealed, ids[0]))
        elif harm == "cut":
            cut = sealed[: at % len(sealed)]
            db.execute("UPDATE snapshot SET sealed = ? WHERE id = ?", (cut, id))
        else:
            changed = bytearray(sealed)
            changed[at % len(sealed)] ^= 1 << at % 8
            db.execute("UPDATE snapshot SET sealed = ? WHERE id = ?", (bytes(changed), id))
        db.commit()


def opened(folder: str, given: dict[str, Any]) -> SlotMemory:
    return SlotMemory.open(f"sqlite:///{folder}/a.db", **given)


def count(memory: SlotMemory) -> int:
    store = memory._held.team.store
    assert isinstance(store, SqliteStore)
    with store.alone("count") as db:
        return int(db.execute("SELECT COUNT(*) FROM snapshot").fetchone()[0])


@settings(max_examples=8)
@given(
    seed=st.integers(0, 3),
    bound=st.sampled_from(BOUNDS),
    closes=st.lists(st.booleans(), min_size=LENGTH, max_size=LENGTH),
    harm=st.sampled_from(HARMS),
    at=st.integers(0, 20_000),
)
def test_what_is_packed_opens_to_what_the_rows_make(
    seed: int, bound: dict[str, Any], closes: list[bool], harm: str, at: int
) -> None:
    given = {**life.life_options(), **bound}
    with tempfile.TemporaryDirectory() as folder:
        memory = opened(folder, given)
        for step, close in zip(steps(seed), closes, strict=True):
            with suppress(DeMemError):  # what a bounded memory has forgotten already
                step.take(memory)
            if close:
                memory.close()
                harmed(Path(folder) / "a.db", harm, at)
                memory = opened(folder, given)
        known = told(memory)
        memory.close()
        harmed(Path(folder) / "a.db", harm, at)
        with by_rows(), opened(folder, given) as anew:
            rows = told(anew)
        with opened(folder, given) as memory:
            assert told(memory) == rows
        assert known[:4] == rows[:4]


@pytest.fixture
def store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        found = open_store(f"sqlite:///{folder}/a.db")
        yield found
        found.close()


def test_it_is_opened_without_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = life.life_options()
    with opened(str(tmp_path), given) as memory:
        memory.ingest_many(VALVES)
        text = memory.read(QUESTIONS[0]).text
    read: list[str] = []
    opening = tables.SealedRow.opened
    monkeypatch.setattr(
        tables.SealedRow, "opened", lambda row: read.append(row._table) or opening(row)
    )
    with opened(str(tmp_path), given) as memory:
        assert memory.read(QUESTIONS[0]).text == text
        assert count(memory) == 3
    assert read
    assert "evidence" not in read


def test_an_item_more_leaves_the_blocks_as_they_are(tmp_path: Path) -> None:
    given = life.life_options()
    with opened(str(tmp_path), given) as memory:
        memory.ingest_many(VALVES)
    with opened(str(tmp_path), given) as memory:
        memory.ingest("the violin has a bow")
        assert count(memory) == 3
        with opened(str(tmp_path), given) as other:
            assert told(other) == told(memory)


def test_what_has_come_is_packed_once_it_is_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "LOOSE", 8)
    memory = opened(str(tmp_path), life.life_options())
    for n, valve in enumerate(VALVES):
        memory.ingest(**valve)
        assert count(memory) == (0 if n < 7 else 2)
    memory.ingest_many(VALVES)
    assert count(memory) == 5
    with opened(str(tmp_path), life.life_options()) as other:  # as if that one were killed
        assert told(other) == told(memory)


def test_who_is_behind_packs_nothing(store: Store) -> None:
    given = life.life_options()
    one, other = (SlotMemory.open(store, **given) for _ in range(2))
    one.ingest_many(VALVES)
    other.read(QUESTIONS[0])
    one.forget("e2")
    other._held.pack()
    assert count(one) == 0
    one._held.pack()
    assert count(one) == 3


def test_what_cannot_be_packed_just_now_is_left(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = SlotMemory.open(store, **life.life_options())
    memory.ingest_many(VALVES)

    def locked(*_: object, surely: bool) -> bool:
        if surely:
            raise connections.sqlite3.OperationalError("database is locked")
        return False

    with monkeypatch.context() as busy:
        busy.setattr(sqlite, "begun", locked)
        memory._held.pack()
    assert count(memory) == 0


@pytest.mark.parametrize("route", ["forget", "delete", "room", "reembed"])
def test_what_is_forgotten_is_in_no_block(tmp_path: Path, route: str) -> None:
    begin_anew()
    given = life.life_options()
    secret = b"zqsecretx"
    with opened(str(tmp_path), given) as memory:
        memory.ingest_many(VALVES[:6])
        memory.ingest(f"the password is {secret.decode()}", speaker="Ana")
        memory._held.pack()
        assert secret in legible(tmp_path)
        if route == "delete":
            memory.delete()
        else:
            memory.forget("e7")
        assert secret not in legible(tmp_path)
        if route == "room":
            memory._held.pack()
            assert secret not in legible(tmp_path)
        if route == "reembed":
            memory.reembed(given["encoder"])
            memory._held.pack()
            assert secret not in legible(tmp_path)


def test_a_block_that_is_damaged_is_made_anew(tmp_path: Path) -> None:
    given = life.life_options()
    with opened(str(tmp_path), given) as memory:
        memory.ingest_many(VALVES)
    for harm in HARMS[1:]:
        harmed(tmp_path / "a.db", harm, 1)
        opened(str(tmp_path), given).close()
        with opened(str(tmp_path), given) as memory:
            rows = memory._held.team.store.load_packed(memory._held.team.address)
            assert (len(rows.packed), count(memory)) == (3, 3)


def test_a_doctor_looks_at_what_is_packed_too(tmp_path: Path) -> None:
    given = life.life_options()
    with opened(str(tmp_path), given) as memory:
        memory.ingest_many(VALVES)
    assert examined(tmp_path / "a.db").is_sound
    harmed(tmp_path / "a.db", "flip", 1)
    (found,) = examined(tmp_path / "a.db").memories
    assert found.damaged == ("snapshot of evidence 1",)
    repaired(tmp_path / "a.db", tmp_path / "mended.db")
    with SlotMemory.open(f"sqlite:///{tmp_path}/mended.db", **given) as mended:
        assert len(mended) == len(VALVES)


def packed_file(folder: Path, **given: Any) -> Path:
    """Return a file in which all vectors are in the parts of their blocks."""
    with opened(str(folder), given) as memory:
        memory.ingest_many(VALVES)
    return folder / "a.db"


def hurt(file: Path, table: str, number: int) -> None:
    """Flip a bit of what is sealed of a row."""
    with closing(sqlite3.connect(file)) as db:
        ids = [id for (id,) in db.execute(f"SELECT id FROM {table} ORDER BY id")]
        (sealed,) = db.execute(f"SELECT sealed FROM {table} WHERE id = ?", (ids[number],))
        changed = bytes([sealed[0][0] ^ 1]) + sealed[0][1:]
        db.execute(f"UPDATE {table} SET sealed = ? WHERE id = ?", (changed, ids[number]))
        db.commit()


def vectors(memory: SlotMemory) -> list[bytes]:
    state = memory._held.state
    return [state.item_vector(item.id).tobytes() for item in memory.evidence()]


def test_vectors_stand_once(tmp_path: Path) -> None:
    given = life.life_options()
    file = packed_file(tmp_path, **given)

    def counted() -> list[int]:
        with closing(sqlite3.connect(file)) as db:
            query = "SELECT (SELECT COUNT(*) FROM vector), (SELECT SUM(count) FROM vector_part)"
            return list(db.execute(query).fetchone())

    assert counted() == [0, 10]
    with opened(str(tmp_path), given) as memory:
        memory.ingest("the violin has a bow")
        assert counted() == [1, 10]
        memory.forget("e2")
        assert counted() == [1, 9]
    assert counted() == [0, 10]


@pytest.mark.parametrize("table", ["vector", "vector_part"])
def test_vectors_that_are_lost_are_made_anew_by_their_encoder(
    tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = life.life_options()
    if table == "vector":
        monkeypatch.setattr(snapshots, "FEWEST", 99)
    file = packed_file(tmp_path, **given)
    with opened(str(tmp_path), given) as memory:
        known = [memory.fingerprint(), vectors(memory)]
        assert table == "vector_part" or count(memory) == 2
    hurt(file, table, 0)
    (one,) = examined(file).memories
    assert one.missing == 0
    assert one.damaged[0].startswith("vectors of evidence ")
    with opened(str(tmp_path), given) as memory:
        memory.check()
        assert [memory.fingerprint(), vectors(memory)] == known
    assert table == "vector" or examined(file).is_sound


def test_another_encoder_makes_no_vectors_anew(tmp_path: Path) -> None:
    given = life.life_options()
    file = packed_file(tmp_path, **given)
    hurt(file, "vector_part", 0)
    other = {**given, "encoder": BagEncoder(64)}
    with pytest.raises(StoreError, match="damaged rows: vectors of evidence 1 to 2"):
        opened(str(tmp_path), other)
    done = repaired(file, tmp_path / "mended.db")
    assert (done.items, done.lost) == (len(VALVES), 0)
    url = f"sqlite:///{tmp_path}/mended.db"
    with pytest.raises(EncoderMismatch, match="vectors lost"):
        SlotMemory.open(url, **given)
    with SlotMemory.open(url, reembed=True, **given) as mended:
        mended.check()
        assert [item.text for item in mended.evidence()] == [one["text"] for one in VALVES]


def test_a_repair_makes_vectors_anew_with_the_encoder_given(tmp_path: Path) -> None:
    given = life.life_options()
    file = packed_file(tmp_path, **given)
    with opened(str(tmp_path), given) as memory:
        known = memory.fingerprint()
    hurt(file, "vector_part", 1)
    done = repair(file, tmp_path / "mended.db", encoder=given["encoder"])
    assert done.rows[0] == "default: vectors of evidence 3 to 4"
    with SlotMemory.open(f"sqlite:///{tmp_path}/mended.db", **given) as mended:
        assert mended.fingerprint() == known


@pytest.mark.parametrize("harm", ["flip", "gone"])
def test_an_item_whose_row_is_lost_is_read_from_its_block(tmp_path: Path, harm: str) -> None:
    given = life.life_options()
    file = packed_file(tmp_path, **given)
    with opened(str(tmp_path), given) as memory:
        known = [item.text for item in memory.evidence()]
    if harm == "flip":
        hurt(file, "evidence", 1)
    else:
        with closing(sqlite3.connect(file)) as db:
            db.execute("DELETE FROM evidence WHERE id = (SELECT MIN(id) FROM evidence)")
            db.commit()
    (one,) = examined(file).memories
    assert "(the item is in its block)" in " ".join(one.damaged)
    done = repaired(file, tmp_path / "mended.db")
    assert (done.items, done.lost) == (len(VALVES), 0)
    with SlotMemory.open(f"sqlite:///{tmp_path}/mended.db", **given) as mended:
        assert [item.text for item in mended.evidence()] == known


def test_what_is_damaged_beside_a_forgotten_item_goes(tmp_path: Path) -> None:
    given = life.life_options()
    with opened(str(tmp_path), given) as memory:
        memory.ingest_many(VALVES)
        memory._held.pack()
        hurt(tmp_path / "a.db", "vector_part", 0)
        memory.forget("e2")
        known = memory.fingerprint()
    with opened(str(tmp_path), given) as memory:
        memory.check()
        assert memory.fingerprint() == known
    assert examined(tmp_path / "a.db").is_sound


def test_a_doctor_tells_what_is_packed_and_is_not_so(tmp_path: Path) -> None:
    given = life.life_options()
    with opened(str(tmp_path), given) as memory:
        memory.ingest_many(VALVES)
        store = memory._held.team.store
        state = memory._held.state
        packed = state.packed(["e1", "e2", "e3", "e4"])
        text = squeezed([plain(packed.text).replace(b"0", b"7")])
        body = snapshots.packed_to(replace(packed, text=text))
        part = snapshots.part_of(packed)
        assert isinstance(store, SqliteStore)
        assert body is not None
        with store._writing("alter") as found:
            found.put_block(1, "evidence", tables.Block(0, 4, 4, body, part))
    (one,) = examined(tmp_path / "a.db").memories
    assert one.broken == "what is packed is not what the rows say"


def test_what_another_version_has_packed_is_packed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = life.life_options()
    with opened(str(tmp_path), given) as memory:
        memory.ingest_many(VALVES)
        store, address = memory._held.team.store, memory._held.team.address
        assert isinstance(store, SqliteStore)
        memory._held.pack()
        monkeypatch.setattr(demem_agent, "__version__", "another")
        rows = store.load_packed(address)
        assert rows is not None
        assert (len(rows.packed), len(rows.evidence)) == (0, len(VALVES))
        memory._held.pack()
        rows = store.load_packed(address)
        assert rows is not None
        assert (len(rows.packed), len(rows.evidence)) == (3, 0)


def test_calls_with_keys_are_known_without_their_rows(tmp_path: Path) -> None:
    given = life.life_options()
    turns = [{"text": f"the boiler has valve {n}", "key": f"k{n}"} for n in range(10)]
    with opened(str(tmp_path), given) as memory:
        done = memory.ingest_many(turns)
        memory.answer(QUESTIONS[0])
    with opened(str(tmp_path), given) as memory:
        assert count(memory) == 3 + 3 + 1
        assert memory.ingest_many(turns) == done
        memory.forget("e2")
        assert count(memory) < 7
    with opened(str(tmp_path), given) as memory, by_rows(), opened(str(tmp_path), given) as rows:
        assert told(memory) == told(rows)
        assert memory.ingest_many(turns) == rows.ingest_many(turns)


#: Texts that tell apart most of what a column may hold.
TEXTS = (
    "I moved to Lisbon on 3 May, and I will be 31 next week!",
    "Do you know where the taller is?",
    "ok",
    "Me gusta el café de la mañana. Voy al taller con mi hermana los lunes.",
    "Ich gehe morgen zum Zahnarzt, weil mein Zahn weh tut.",
    "我昨天去了北京。",
    "Ana: the valve was brass, not steel. Ben told me so at 9:30.",
    "The the THE running runs ran, e-mail a@b.c, 1,000 items; tell me when we meet.",
    "yesterday I bought 2 kg of apples and they cost $3.50",
    "\0 \ud800 x\u0301 strange",
)
#: Of the columns and lists of these texts, as ``FORMAT`` stands for them.
DIGESTS = {3: "2f6183c4715fb36f"}


def test_a_format_stands_for_what_columns_hold() -> None:
    """Columns that hold anything else than before are of another format: count it on, then."""
    memory = SlotMemory(**life.life_options())
    memory.ingest_many([{"text": text, "speaker": "Ana"} for text in TEXTS])
    state = memory._held.state
    packed = state.packed(list(state.evidence))
    digest = sha256(plain(packed.text))
    for name, column in sorted(packed.columns.items()):
        if name not in ("codes", "scale", "exact"):
            digest.update(f"{name} {column.tolist()}".encode())
    for name, values in sorted(packed.lists.items()):
        digest.update(f"{name} {values!r}".encode())
    assert digest.hexdigest()[:16] == DIGESTS[snapshots.FORMAT]
