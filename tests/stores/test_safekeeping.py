"""A backup is as of one moment and whole or not there; a damaged file is told of, mended in a copy
and never written to.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often
from sealed_files import edited
from stored import OPTIONS, driver, lived

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.errors import StoreError
from demem_agent.memories import list_memories
from demem_agent.safekeeping import backup, examine, repair
from demem_agent.stores import MemoryStore, backups, connections, open_store

ITEMS = 120


@pytest.fixture(params=["sqlite3", "pysqlite3"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = driver(request.param)
    monkeypatch.setattr(connections, "sqlite3", found)
    return found


@pytest.fixture
def url(module: ModuleType, tmp_path: Path) -> str:
    """The URL of a file with two memories."""
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, **OPTIONS) as memory:
        lived(memory)
    with SlotMemory.open(url, memory_id="other", **OPTIONS) as memory:
        memory.ingest("the ferry has a new bell")
    return url


def at(path: Path) -> str:
    return f"sqlite:///{path}"


class TestBackups:
    def test_a_backup_has_every_memory_as_it_was(self, url: str, tmp_path: Path) -> None:
        made = backup(url, tmp_path / "b.db")
        assert (made.memories, made.size) == (2, (tmp_path / "b.db").stat().st_size)
        for memory_id in ("default", "other"):
            with (
                SlotMemory.open(url, memory_id=memory_id, **OPTIONS) as memory,
                SlotMemory.open(at(tmp_path / "b.db"), memory_id=memory_id, **OPTIONS) as again,
            ):
                assert again.export() == memory.export()
                again.check()

    def test_nothing_is_overwritten_and_nothing_else_left(self, url: str, tmp_path: Path) -> None:
        (tmp_path / "b.db").write_text("mine")
        before = sorted(path.name for path in tmp_path.iterdir())
        with pytest.raises(InvalidInput, match="path must be the name of no file"):
            backup(url, tmp_path / "b.db")
        with pytest.raises(InvalidInput, match="path must be in a folder"):
            backup(url, tmp_path / "no" / "b.db")
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        assert (tmp_path / "b.db").read_text() == "mine"

    @pytest.mark.parametrize("path", [None, 7, b"b.db", "b\0.db", "b" * 5_000])
    def test_what_is_no_path_is_refused(self, url: str, path: Any) -> None:
        with pytest.raises(InvalidInput, match="path must be the path of a file"):
            backup(url, path)

    def test_a_file_that_appears_meanwhile_is_not_overwritten(
        self, url: str, tmp_path: Path
    ) -> None:
        target = tmp_path / "b.db"
        with pytest.raises(InvalidInput, match="path must be the name of no file"):
            backup(url, target, progress=lambda *_: target.write_text("mine"))
        assert target.read_text() == "mine"
        assert not list(tmp_path.glob(".b.db*"))

    @pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
    def test_a_backup_is_its_owners_alone(self, url: str, tmp_path: Path) -> None:
        backup(url, tmp_path / "b.db")
        assert stat.S_IMODE((tmp_path / "b.db").stat().st_mode) == 0o600

    def test_progress_comes_to_its_end(self, url: str, tmp_path: Path) -> None:
        told: list[tuple[int, int]] = []
        backup(url, tmp_path / "b.db", progress=lambda done, total: told.append((done, total)))
        assert told[-1][0] == told[-1][1] > 0

    def test_a_backup_that_fails_leaves_nothing(
        self, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(backups, "_settle", full)
        with pytest.raises(StoreError, match="No space left"):
            backup(url, tmp_path / "b.db")
        assert not list(tmp_path.glob("*b.db*"))

    def test_a_memory_is_backed_up_alone(self, url: str, tmp_path: Path) -> None:
        with SlotMemory.open(url, **OPTIONS) as memory:
            memory.backup(tmp_path / "b.db")
            with SlotMemory.open(at(tmp_path / "b.db"), **OPTIONS) as again:
                assert again.export() == memory.export()
        assert [one.memory_id for one in list_memories(at(tmp_path / "b.db"))] == ["default"]

    def test_memories_in_ram_are_backed_up(self, module: ModuleType, tmp_path: Path) -> None:
        store = MemoryStore()
        memory = lived(SlotMemory.open(store, **OPTIONS))
        SlotMemory.open(store, memory_id="other", **OPTIONS)
        assert store.backup(tmp_path / "b.db").memories == 2
        with SlotMemory.open(at(tmp_path / "b.db"), **OPTIONS) as again:
            assert again.export() == memory.export()

    def test_coroutines_do_the_same(self, url: str, tmp_path: Path) -> None:
        async def run() -> None:
            memory = await AsyncSlotMemory.open(url, **OPTIONS)
            assert (await memory.backup(tmp_path / "b.db")).memories == 1
            await memory.close()

        asyncio.run(run())

    def test_a_backup_is_of_one_moment_while_others_write(
        self, module: ModuleType, tmp_path: Path
    ) -> None:
        store = open_store(at(tmp_path / "a.db"))
        memory = SlotMemory.open(store, **OPTIONS)
        done = threading.Event()

        def write() -> None:
            number = 0
            while not done.is_set():
                memory.ingest(f"number {number} of many", key=str(number))
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(6):
                made = tmp_path / f"b{number}.db"
                store.backup(made)  # type: ignore[attr-defined]  # of files
                found = examine(made)
                assert found.is_sound
                (one,) = found.memories
                with SlotMemory.open(at(made), **OPTIONS) as again:
                    told = [item.text for item in again.evidence()]
                    assert told == [f"number {n} of many" for n in range(one.items)]
        finally:
            done.set()
            writer.join()
            store.close()


@pytest.fixture(scope="module")
def sound_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "a.db"
    with SlotMemory.open(at(path), **OPTIONS) as memory:
        lived(memory)
        memory.ingest_many([{"text": f"number {n} of the boilers"} for n in range(ITEMS)])
    return path


class TestTheDoctor:
    def test_a_sound_file_is_found_so(self, sound_file: Path) -> None:
        found = examine(sound_file)
        (one,) = found.memories
        assert (found.is_sound, found.faults, found.owes_erasure) == (True, (), False)
        assert (one.items, one.missing, one.damaged, one.broken) == (ITEMS + 2, 0, (), "")
        with SlotMemory.open(at(sound_file), **OPTIONS) as memory:
            assert memory.export()[-1]["digest"] == one.digest

    def test_what_is_not_there_or_not_ours_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="no file"):
            examine(tmp_path / "none.db")
        with closing(sqlite3.connect(tmp_path / "other.db")) as db:
            db.execute("CREATE TABLE something (a)")
        with pytest.raises(StoreError, match="another program"):
            examine(tmp_path / "other.db")
        (tmp_path / "noise.db").write_bytes(random.Random(0).randbytes(10_000))
        with pytest.raises(StoreError, match="no memory in the file can be read"):
            repair(tmp_path / "noise.db", tmp_path / "mended.db")
        assert not (tmp_path / "mended.db").exists()

    def test_a_file_that_another_holds_alone_is_not_waited_for_without_end(
        self, module: ModuleType, monkeypatch: pytest.MonkeyPatch, sound_file: Path
    ) -> None:
        monkeypatch.setattr(connections, "WAIT", 0.05)
        raised: list[StoreError] = []

        def examined() -> None:
            try:
                examine(sound_file)
            except StoreError as error:
                raised.append(error)

        with closing(module.connect(str(sound_file), isolation_level=None)) as holder:
            holder.execute("PRAGMA locking_mode=EXCLUSIVE")
            holder.execute("PRAGMA journal_mode=WAL")
            holder.execute("BEGIN EXCLUSIVE")
            waiting = threading.Thread(target=examined, daemon=True)
            waiting.start()
            waiting.join(20)
            assert not waiting.is_alive()
        assert raised

    def test_a_damaged_row_is_named_and_left_out_of_the_copy(
        self, sound_file: Path, tmp_path: Path
    ) -> None:
        damaged = tmp_path / "d.db"
        damaged.write_bytes(sound_file.read_bytes())
        edited(damaged, "evidence", 5)
        with closing(sqlite3.connect(damaged)) as db:  # else the item is read from its block
            db.execute("DELETE FROM snapshot")
            db.commit()
        before = damaged.read_bytes()
        found = examine(damaged)
        (one,) = found.memories
        assert not found.is_sound
        assert "evidence 5" in one.damaged
        done = repair(damaged, tmp_path / "m.db")
        assert (done.items, done.lost) == (ITEMS + 1, 1)
        assert "default: evidence 5" in done.rows
        assert damaged.read_bytes() == before
        assert examine(tmp_path / "m.db").is_sound
        with SlotMemory.open(at(tmp_path / "m.db"), **OPTIONS) as memory:
            memory.check()
            memory.forget("e6")

    def test_a_repair_overwrites_nothing(self, sound_file: Path, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="path must be the name of no file"):
            repair(sound_file, sound_file)

    @settings(max_examples=often(25))
    @given(st.integers(0, 2), st.integers(0, 2**32))
    def test_whatever_happened_to_a_file_its_copy_is_sound(
        self, sound_file: Path, tmp_path_factory: pytest.TempPathFactory, how: int, seed: int
    ) -> None:
        folder = tmp_path_factory.mktemp("damaged")
        damaged, mended = folder / "d.db", folder / "m.db"
        hurt = spoiled(sound_file.read_bytes(), how, random.Random(seed))
        damaged.write_bytes(hurt)
        try:
            found = examine(damaged)
            done = repair(damaged, mended)
        except StoreError:
            assert not mended.exists()
        else:
            assert examine(mended).is_sound
            assert done.items + done.lost >= sum(one.items for one in found.memories)
        assert damaged.read_bytes() == hurt


class TestHealth:
    def test_it_tells_of_the_file(self, url: str, tmp_path: Path) -> None:
        with SlotMemory.open(url, **OPTIONS) as memory:
            before = memory.health()
            memory.ingest("a late plover")
            health = memory.health()
            files = [
                path.stat().st_size for path in tmp_path.glob("a.db*") if "shm" not in path.name
            ]
            assert health.on_disk == sum(files)
            assert (health.damaged, health.owes_erasure) == ((), False)
            assert health.resident == memory.resident > before.resident
            assert health.changed == list_memories(url)[0].changed
            assert "nothing known" in str(health)

    def test_it_tells_of_damage_that_was_stepped_over(self, url: str, tmp_path: Path) -> None:
        edited(tmp_path / "a.db", "evidence", 2)
        with SlotMemory.open(url, skip_damaged=True, **OPTIONS) as memory:
            assert "evidence 2" in memory.health().damaged

    def test_in_ram_there_is_no_file(self) -> None:
        health = SlotMemory(**OPTIONS).health()
        assert (health.on_disk, health.schema, health.owes_erasure) == (None, None, False)


def spoiled(content: bytes, how: int, drawn: random.Random) -> bytes:
    """Flip bits, lose a page or cut the end off."""
    hurt = bytearray(content)
    if how == 0:
        for _ in range(4):
            hurt[drawn.randrange(len(hurt))] ^= 1 << drawn.randrange(8)
    elif how == 1:
        page = drawn.randrange(len(hurt) // 4096) * 4096
        hurt[page : page + 4096] = bytes(4096)
    else:
        del hurt[drawn.randrange(len(hurt)) :]
    return bytes(hurt)
