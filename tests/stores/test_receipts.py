"""A receipt of what was forgotten holds as long as nothing of it is in the memory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from demem_agent import InvalidInput, Receipt, SlotMemory
from demem_agent.errors import MemoryGone, StoreError
from demem_agent.safekeeping import receipt_in, verify_receipt
from demem_agent.stores import MemoryStore
from demem_agent.stores.base import Address, Rows
from demem_agent.testing import BagEncoder, ReadingAnswerer

SECRET = "The alarm code is 7431."
OPTIONS: dict[str, Any] = {"encoder": BagEncoder(), "answerer": ReadingAnswerer(), "clock": None}
HOME = Address("default", "default")


def lived(memory: SlotMemory) -> None:
    memory.ingest(SECRET, key="k")
    memory.ingest("The lamp is lit.")
    memory.update("e2", "The lamp is out.")
    memory.feedback(memory.answer("What is the alarm code?"), reference="7431", key="f")
    memory.decide(SECRET, ("open", "leave"))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def forgotten(store: MemoryStore) -> Receipt:
    memory = SlotMemory.open(store, **OPTIONS)
    lived(memory)
    return memory.forget("e1")


def test_it_holds_from_then_on(store: MemoryStore) -> None:
    receipt = forgotten(store)
    assert verify_receipt(store, receipt).holds
    memory = SlotMemory.open(store, **OPTIONS)
    memory.ingest(SECRET)  # it is another item, told anew
    assert verify_receipt(store, receipt).holds
    assert receipt_in(json.dumps(asdict(receipt))) == receipt


def test_it_does_not_where_an_older_file_was_put_back(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    url = f"sqlite:///{path}"
    with SlotMemory.open(url, **OPTIONS) as memory:
        lived(memory)
    shutil.copy(path, tmp_path / "before.db")
    with SlotMemory.open(url, **OPTIONS) as memory:
        receipt = memory.forget("e1")
    assert verify_receipt(url, receipt).holds
    found = verify_receipt(f"sqlite:///{tmp_path}/before.db", receipt).found
    assert {"e1 is in the memory", "the answer a1 is whole"} <= set(found)


def _named(rows: Rows) -> Rows:
    (context,) = rows.contexts
    naming = replace(context.context, read=(("e1", 0, 3),))
    return replace(rows, contexts=[replace(context, context=naming)])


def _known(rows: Rows) -> Rows:
    return replace(rows, keyed=[replace(one, request="0" * 64) for one in rows.keyed])


def _described(rows: Rows) -> Rows:
    (stored,) = rows.situations
    told = replace(stored.situation, text=SECRET)
    return replace(rows, situations=[replace(stored, situation=told)])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_named, "context a1 names e1"),
        (_known, "of the keyed call 1 the digest is kept, which confirms a guess"),
        (_described, "the situation x1 has its description"),
    ],
)
def test_what_is_left_is_told(
    store: MemoryStore, change: Callable[[Rows], Rows], says: str
) -> None:
    receipt = forgotten(store)
    rows = store.load(HOME)
    assert rows is not None
    tampered = MemoryStore()
    tampered.put(HOME, change(rows))
    assert verify_receipt(tampered, receipt).found == (says,)


def test_what_the_memory_never_had_is_told(store: MemoryStore) -> None:
    forgotten(store)
    assert verify_receipt(store, Receipt(("e99",))).found == ("e99 was never in this memory",)


def test_a_file_that_owes_an_erasure_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SlotMemory.open(f"sqlite:///{tmp_path}/a.db", **OPTIONS) as memory:
        lived(memory)
        receipt = memory.forget("e1")
        store = memory._held.team.store
        monkeypatch.setattr(type(store), "owes_erasure", True)
        (found,) = verify_receipt(store, receipt).found
    assert "may still be in the file" in found


def test_of_a_memory_that_is_gone_or_damaged_nobody_knows(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    SlotMemory.open(url, **OPTIONS).close()
    with pytest.raises(MemoryGone):
        verify_receipt(url, Receipt(("e1",)), memory_id="nobody")
    with pytest.raises(StoreError, match="there is no file"):
        verify_receipt(f"sqlite:///{tmp_path}/none.db", Receipt(("e1",)))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"evidence": "no"}', '{"evidence": [1]}', '{"other": []}']
)
def test_what_is_no_receipt_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="receipt"):
        receipt_in(text)


def test_digests_of_what_was_forgotten_before_go_with_the_next(store: MemoryStore) -> None:
    first = forgotten(store)
    rows = store.load(HOME)
    assert rows is not None
    before = MemoryStore()
    before.put(HOME, _known(rows))  # as an earlier version left them
    SlotMemory.open(before, **OPTIONS).forget("e3")
    assert verify_receipt(before, first).holds
