"""A store that another process holds costs an answer no more than the patience that was asked for,
and nothing is lost by it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, texts

from demem_adapters.common import Memories
from demem_agent import InvalidInput
from demem_agent.errors import StoreError
from demem_agent.stores import MemoryStore, connections
from demem_agent.testing import BagEncoder

#: SQLite itself waits for five seconds.
SOON = 2.5


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(connections, "sqlite3", pytest.importorskip("pysqlite3"))
    return tmp_path / "bot.db"


def stored(file: Path, **options: Any) -> Memories:
    return Memories(f"sqlite:///{file}", encoder=BagEncoder(), **options)


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Have another connection hold the file, as another process would."""
    other = connections.sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


@contextmanager
def soon() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize("background", [False, True])
def test_a_file_that_another_process_writes_to_is_recalled_from(
    file: Path, background: bool
) -> None:
    with stored(file, patience=0.1, recall_patience=1.0, background=background) as memories:
        memories.heard("ana", [VALVE])
        memories.names()
        with held(file):
            memories.heard("ana", ["It leaks."])
            for _ in range(3):
                with soon():
                    reading = memories.prepare("ana", ASKED)
                assert reading is not None
                assert "valve" in reading.text


def test_a_turn_is_held_up_once_by_no_more_than_the_patience(file: Path) -> None:
    with stored(file, patience=0.3) as memories:
        memories.heard("ana", [VALVE])
        with held(file), soon():
            for n in range(9):  # of which one waits
                heard = memories.heard("ana", [f"It leaks {n} times."])
                memories.converse("ana", f"It leaks {n} times.", f"Noted {n}.", key=heard)
            assert memories.waiting == 18
        memories.names()
        while memories.waiting:
            time.sleep(0.01)
        said = [text for n in range(9) for text in (f"It leaks {n} times.", f"Noted {n}.")]
        assert texts(memories) == [VALVE, *said]


def test_a_user_of_another_process_that_holds_the_file_does_not_hold_up_the_others(
    file: Path,
) -> None:
    with stored(file, patience=60.0) as memories:
        memories.heard("ben", [VALVE])
        with held(file):
            writing = threading.Thread(target=memories.heard, args=("ana", [VALVE]))
            writing.start()
            time.sleep(0.1)  # it waits for the file now
            with soon():
                assert memories.prepare("ben", ASKED) is not None
        writing.join()
        assert texts(memories, "ana") == [VALVE]


@pytest.mark.parametrize("call", ["remember", "forget", "feedback", "delete", "chosen"])
def test_what_an_application_calls_itself_waits_no_longer_than_the_patience(
    file: Path, call: str
) -> None:
    with stored(file, patience=0.2) as memories:
        heard = memories.heard("ana", [VALVE])
        memories.converse("ana", VALVE, "Noted.", key=heard, call="r1")
        given: dict[str, Callable[[], object]] = {
            "remember": lambda: memories.remember("ana", "It leaks."),
            "forget": lambda: memories.forget("ana", "e1"),
            "feedback": lambda: memories.feedback("r1", namespace="ana", thumbs=True),
            "delete": lambda: memories.delete("ana"),
            "chosen": lambda: memories.chosen("ana", "It leaks.", "call", outcome=True),
        }
        with held(file), soon(), pytest.raises(StoreError):
            given[call]()
        assert texts(memories) == [VALVE, "Noted."]  # nothing of it was done


def test_in_the_background_what_an_application_remembers_is_left_to_the_thread(
    file: Path,
) -> None:
    with stored(file, background=True) as memories:
        memories.remember("ana", VALVE)
        memories.names()
        with held(file), soon():
            memories.remember("ana", "It leaks.", speaker="user")
            assert memories.waiting == 1
            with pytest.raises(InvalidInput, match="at"):
                memories.remember("ana", "It leaks.", at="soon")
        while memories.waiting:
            memories.names()
        assert texts(memories) == [VALVE, "It leaks."]


@pytest.mark.parametrize(
    ("count", "told"), [(1, "1 turn or a part of one was"), (2, "2 turns or parts of them were")]
)
def test_how_much_was_given_up_is_said_in_words(
    caplog: pytest.LogCaptureFixture, count: int, told: str
) -> None:
    store = _Held()
    memories = Memories(store, encoder=BagEncoder())
    store.commit = _fails  # type: ignore[method-assign]
    for n in range(count):
        memories.heard("ana", [f"It leaks {n} times."])
    memories._writes.drain(0.0)
    assert caplog.messages[-1] == f"{told} not remembered: the memories were closed"


def _fails(address: Any, delta: Any) -> None:
    raise StoreError("gone")


class _Held(MemoryStore):
    """To commit takes until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.free = threading.Event(), threading.Event()
        self.free.set()

    def commit(self, address: Any, delta: Any) -> None:
        self.reached.set()
        self.free.wait()
        super().commit(address, delta)


def test_a_memory_that_is_at_work_for_long_is_not_recalled_from_which_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = _Held()
    memories = Memories(store, encoder=BagEncoder(), recall_patience=0.05)
    memories.heard("ana", [VALVE])
    store.reached.clear()
    store.free.clear()
    writing = threading.Thread(target=memories.remember, args=("ana", "It leaks."))
    writing.start()
    store.reached.wait()
    with soon():
        assert [memories.prepare("ana", ASKED) for _ in range(3)] == [None] * 3
    assert caplog.messages == ["nothing was recalled: StoreError"]
    store.free.set()
    writing.join()
    assert memories.prepare("ana", ASKED) is not None


@pytest.mark.parametrize("patience", [-1, float("nan"), 1e9])
def test_the_patience_of_a_recall_is_a_number_of_seconds(patience: float) -> None:
    with pytest.raises(InvalidInput, match="recall_patience"):
        Memories(recall_patience=patience)


def test_a_copy_is_as_patient() -> None:
    import pickle

    memories = Memories(recall_patience=0.25, patience=0.75, limit=77)
    again = pickle.loads(pickle.dumps(memories))
    assert (again.recall_patience, again._writes.patience, again.limit) == (0.25, 0.75, 77)


def test_the_thread_that_writes_waits_for_more(file: Path) -> None:
    """To start one for each turn takes milliseconds that a model would be waited for."""
    wrote: list[int] = []
    with stored(file, background=True) as memories:
        for turn in range(3):
            memories.write("ana", lambda: wrote.append(threading.get_ident()))
            end = time.monotonic() + 10
            while len(wrote) == turn and time.monotonic() < end:
                time.sleep(0.001)
    assert len(wrote) == 3
    assert {*wrote} == {wrote[0]}
    assert wrote[0] != threading.get_ident()
