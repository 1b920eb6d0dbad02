"""Many memories at once: what each is told, once, whatever is done twice or dies meanwhile."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from dask_workers import killing, workers

from demem_agent import SlotMemory
from demem_agent.bulk import Load, Reembedding, Telling, by_dask, here, loads_of
from demem_agent.errors import InvalidInput, WorkersGone
from demem_agent.memories import list_memories
from demem_agent.stores import Address, MemoryStore, Store
from demem_agent.testing import BagEncoder


def lines(path: Path, rows: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def said(count: int, who: str = "Ana") -> list[dict[str, str]]:
    return [{"text": f"Boat {n} of {who} is green.", "speaker": who} for n in range(count)]


def told(store: str | Store, memory_id: str) -> list[str]:
    """Return what a memory holds, in the order in which it was told."""
    with SlotMemory.open(store, memory_id=memory_id) as memory:
        return [item.text for item in memory.evidence()]


def texts(rows: Sequence[dict[str, str]]) -> list[str]:
    return [row["text"] for row in rows]


def test_a_file_is_a_memory_that_is_called_as_it_is_below_the_folder(tmp_path: Path) -> None:
    lines(tmp_path / "ana.jsonl", said(3))
    lines(tmp_path / "team" / "ben.jsonl", said(2, "Ben"))
    (tmp_path / "team" / ".hidden").write_text("no turn")
    loads = loads_of(tmp_path)
    assert [load.memory_id for load in loads] == ["ana", "team/ben"]
    store = MemoryStore()
    assert [one.new for one in here(Telling(store), loads)] == [3, 2]
    assert told(store, "team/ben") == texts(said(2, "Ben"))
    assert [load.memory_id for load in loads_of(tmp_path / "ana.jsonl")] == ["ana"]


def test_a_line_is_told_to_the_memory_that_it_names_in_the_order_of_files(tmp_path: Path) -> None:
    rows = [{**row, "user": row["speaker"]} for row in (*said(2), *said(2, "Bén"))]
    lines(tmp_path / "1.jsonl", [rows[0], rows[2]])
    lines(tmp_path / "2.jsonl", [rows[3], rows[1]])
    store = MemoryStore()
    loads = loads_of(tmp_path, by="user")
    assert [one.new for one in here(Telling(store), loads)] == [2, 2]
    assert told(store, "Ana") == texts(said(2))
    assert told(store, "Bén") == texts(said(2, "Bén"))
    assert [one.known for one in here(Telling(store), loads)] == [2, 2]


def test_the_same_line_twice_is_two_turns_and_stays_two(tmp_path: Path) -> None:
    row = {"text": "Yes.", "user": "Ana"}
    loads = loads_of(lines(tmp_path / "all.jsonl", [row, row]), by="user")
    store = MemoryStore()
    assert [one.new for one in here(Telling(store), loads * 2)] == [2, 0]


def test_what_was_cut_short_is_gone_on_with(tmp_path: Path) -> None:
    path = lines(tmp_path / "ana.jsonl", said(5))
    store = MemoryStore()
    with SlotMemory.open(store, memory_id="ana", clock=None) as memory:
        memory.ingest_many(islice(loads_of(path)[0].pieces[0].turns(), 2))
    (done,) = here(Telling(store), loads_of(path))
    assert (done.new, done.known) == (3, 2)
    assert told(store, "ana") == texts(said(5))


def test_a_file_that_cannot_be_read_tells_nothing_and_the_others_go_on(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", said(1))
    lines(tmp_path / "b.jsonl", [*said(3), {"text": "Hi", "loud": True}])
    lines(tmp_path / "c.jsonl", said(1))
    store = MemoryStore()
    first, second, third = here(Telling(store), loads_of(tmp_path))
    assert (first.error, first.new, third.error, third.new) == (None, 1, None, 1)
    assert second.error is not None
    assert "loud" in second.error
    assert "drop" in second.error
    assert store.memories("default") == ["a", "c"]


def test_two_files_of_one_memory_are_refused_by_name(tmp_path: Path) -> None:
    lines(tmp_path / "ana.jsonl", said(1))
    (tmp_path / "ana.md").write_text("The boat is green.")
    with pytest.raises(InvalidInput, match=r"ana\.jsonl"):
        loads_of(tmp_path)


@pytest.mark.parametrize("row", [{"text": "Hi"}, ["Hi"], {"text": "Hi", "user": 4}])
def test_a_line_that_names_no_memory_is_named(tmp_path: Path, row: object) -> None:
    path = lines(tmp_path / "all.jsonl", [{"text": "Hi", "user": "Ana"}, row])
    with pytest.raises(InvalidInput, match=r"all\.jsonl line 2"):
        loads_of(path, by="user")


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a file or a folder"):
        loads_of(tmp_path / "none")


def test_a_memory_of_another_encoder_is_encoded_anew_and_no_other() -> None:
    store = MemoryStore()
    with SlotMemory.open(store, memory_id="old", encoder=BagEncoder()) as memory:
        memory.ingest("The boat is green.")
    with SlotMemory.open(store, memory_id="new") as memory:
        memory.ingest("The cat is grey.")
    addresses = [Address("default", name) for name in ("old", "new", "none")]
    old, new, _ = here(Reembedding(store), addresses)
    assert (old.new, old.known, new.new, new.known) == (1, 0, 0, 1)
    assert [one.known for one in here(Reembedding(store), addresses[:2])] == [1, 1]


def test_a_task_can_be_sent_to_another_process(tmp_path: Path) -> None:
    loads = loads_of(lines(tmp_path / "a.jsonl", [{"text": "Hi", "user": "Ana"}]), by="user")
    work = Telling(f"sqlite:///{tmp_path}/bot.db", settings={"slots": 3})
    (done,) = here(*pickle.loads(pickle.dumps((work, loads))))
    assert done.new == 1


@pytest.mark.slow
def test_each_turn_is_there_once_though_a_worker_is_killed_twice(tmp_path: Path) -> None:
    names = [f"m{n:02}" for n in range(20)]
    for name in names:
        lines(tmp_path / "said" / f"{name}.jsonl", said(40, name))
    loads = loads_of(tmp_path / "said")
    url = f"sqlite:///{tmp_path}/bot.db"
    with (
        workers(tmp_path) as cluster,
        cluster.get_client() as client,
    ):
        address = cluster.scheduler_address
        done = list(killing(by_dask(Telling(url), loads, scheduler=address), client, (2, 8)))
        again = list(by_dask(Telling(url), loads, scheduler=address))
    assert sorted(one.memory_id for one in done) == names
    assert [one.error for one in done] == [None] * 20
    assert [(one.new, one.known) for one in again] == [(0, 40)] * 20
    for name in names:
        assert told(url, name) == texts(said(40, name))
    assert {one.memory_id for one in list_memories(url)} == set(names)


def test_where_no_worker_is_left_the_call_ends_and_says_so(tmp_path: Path) -> None:
    """Whatever waits: of 1,200 tasks the scheduler knows of 1,000 at a time."""
    dask = pytest.importorskip("dask")
    loads = [Load(f"m{n}", ()) for n in range(1_200)]
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "500ms"}),
        workers(tmp_path, 0) as cluster,
    ):
        work = Telling(f"sqlite:///{tmp_path}/bot.db")
        with pytest.raises(WorkersGone, match="same call again"):
            list(by_dask(work, loads, scheduler=cluster.scheduler_address))
