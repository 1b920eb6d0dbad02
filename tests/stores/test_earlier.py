"""What earlier versions wrote is read, without what feedback no longer teaches."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sealed_files import altered, altered_memory
from stored import OPTIONS as LIVED

from demem_agent import Settings, SlotMemory
from demem_agent.encoders import as_matrix
from demem_agent.errors import StoreError
from demem_agent.scoring.directions import codes_of
from demem_agent.slots.records import Vector
from demem_agent.stores import connections, migrating, snapshots
from demem_agent.stores.examining import examined
from demem_agent.stores.manifest import ended
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.testing import BagEncoder
from demem_agent.types import Context

#: As they were written by hand when memories could also learn weights.
SETTINGS = """{
    "decisions": false, "initial_slots": 5, "learn": true, "mode": "evidence", "near": 0.9,
    "read_limit": 6000, "slot_limit": 2000, "slots": 10, "unit": "chars", "split": {
        "c_beta": 0.5, "counterfactuals": 24, "delta": 0.05, "eta_cal": 0.05, "pairs": 2,
        "sigma_0": 0.05, "tau_sat": 0.3, "tau_split": 0.1}
}"""
CONTEXT = """{
    "answer": "The bow of the violin is broken.", "asker": null, "at": null, "channel": "reward",
    "conditions": [], "credible": true, "id": "a1", "kept": ["e1"], "lead": 0,
    "lesson": [["cosine", 0.25], ["named", -1.5]], "query": "Which bow has the violin?",
    "read": [["e1", 0, 27]], "redacted": false, "reference": null, "rewards": [1.0], "slot": 0,
    "supports": ["e1"], "told": ["reward"], "untested": [], "verdicts": []
}"""
KNOWN = Context(
    id="a1",
    query="Which bow has the violin?",
    at=None,
    slot=0,
    answer="The bow of the violin is broken.",
    read=(("e1", 0, 27),),
    supports=("e1",),
    kept=("e1",),
    channel="reward",
    rewards=(1.0,),
    told=("reward",),
    credible=True,
    lead=0,
)
OPTIONS: dict[str, Any] = {"clock": None, "encoder": BagEncoder()}


def asked(memory: SlotMemory) -> SlotMemory:
    """Remember an item and answer from it, so that there is a row to put an older one for."""
    memory.ingest("the violin has a broken bow")
    memory.answer(KNOWN.query)
    return memory


def check_read(memory: SlotMemory) -> None:
    """Check that all but the lesson is there, and that it is worked on."""
    assert memory.settings == Settings(decisions=False)  # as it was when these were written
    assert memory.contexts() == (KNOWN,)
    memory.check()
    memory.feedback("a1", reward=1.0)
    memory.check()
    assert memory.contexts()[0].rewards == (1.0, 1.0)


def test_a_file_with_lessons_opens(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    asked(SlotMemory.open(url, **OPTIONS)).close()
    altered_memory(tmp_path / "a.db", settings=SETTINGS)
    altered(tmp_path / "a.db", "context", 1, {"body": CONTEXT})
    with SlotMemory.open(url, **OPTIONS) as memory:
        check_read(memory)
        told = json.dumps(memory.export())
    assert "lesson" not in told
    assert '"learn"' not in told


def test_an_export_with_lessons_is_restored() -> None:
    lines = json.loads(json.dumps(asked(SlotMemory(**OPTIONS)).export()))
    for line in lines:
        if line["kind"] == "memory":
            line["settings"] = json.loads(SETTINGS)
        if line["kind"] == "context":
            line.update(json.loads(CONTEXT))
    check_read(SlotMemory.restore(ended(lines), **OPTIONS))


@pytest.mark.parametrize("taught", [[], [["cosine", float("nan")]], None])
def test_whatever_was_in_a_lesson_the_rest_is_as_it_was(taught: object) -> None:
    memory = asked(SlotMemory(**OPTIONS))
    lines = json.loads(json.dumps(memory.export()))
    for line in lines:
        if line["kind"] == "context":
            line["lesson"] = taught
    assert SlotMemory.restore(ended(lines), **OPTIONS).fingerprint() == memory.fingerprint()


def test_an_export_of_the_first_format_is_restored() -> None:
    memory = asked(SlotMemory(**OPTIONS))
    first, *others, _ = memory.export()  # it had no last line that tells of the others
    lines = [{**first, "format": 1}, *others]
    assert SlotMemory.restore(lines, **OPTIONS).export() == memory.export()


#: What version 9 had written, before rows were sealed: two memories, as SQL.
NINTH = Path(__file__).with_name("schema9.sql").read_text(encoding="utf-8")
PLAIN_TEXTS = (b"brass valve", b"broken bow", "Fähre".encode())


@pytest.fixture
def ninth(tmp_path: Path) -> Path:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(NINTH)
        assert db.execute("PRAGMA user_version").fetchone() == (9,)
    return file


def test_a_file_from_before_rows_were_sealed_answers_as_it_did(ninth: Path) -> None:
    for _ in range(2):
        with SlotMemory.open(f"sqlite:///{ninth}", **LIVED) as memory:
            memory.check()
            assert [item.text for item in memory.evidence()] == [
                "the boiler has a brass valve",
                "the violin has a broken bow",
                "the Fähre leaves at nine \0 sharp",
            ]
            asked = ["Which valve has the boiler?", "Which bow has the violin?"]
            assert [context.query for context in memory.contexts()] == asked
            assert memory.read("When does the ferry leave?").text == (
                "<demem:memory>\n# 8 May 2024\n- Zoë: the Fähre leaves at nine \\x00 sharp\n"
                "</demem:memory>"
            )
            assert [slot.summary for slot in memory.slots] == ["", "- the violin has a broken bow"]
            about: dict[str, Any] = {"speaker": "Zoë", "at": "2024-05-08T13:56"}
            text = "the Fähre leaves at nine \0 sharp"
            told = memory.ingest(text, key="k1", metadata={"a": 1}, **about)
            assert told.evidence_id == "e4"
    with SlotMemory.open(f"sqlite:///{ninth}", memory_id="other", tenant="ana", **LIVED) as memory:
        assert len(memory) == 1


def test_nothing_that_was_not_sealed_stays_in_a_file(ninth: Path) -> None:
    before = ninth.read_bytes()
    assert all(text in before for text in PLAIN_TEXTS)
    SlotMemory.open(f"sqlite:///{ninth}", **LIVED).close()
    after = b"".join(path.read_bytes() for path in ninth.parent.iterdir())
    assert not any(text in after for text in PLAIN_TEXTS)


def test_a_file_that_cannot_be_carried_over_stays_as_it_was(
    ninth: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    before = content_of(ninth)
    with monkeypatch.context() as full:
        full.setattr(migrating, "write_memory", fails)
        full.setattr(connections, "sqlite3", sqlite3)
        with pytest.raises(StoreError, match="disk is full"):
            SlotMemory.open(f"sqlite:///{ninth}", **LIVED)
    assert content_of(ninth) == before


#: What version 10 had written, before vectors were codes.
TENTH = Path(__file__).with_name("schema10.sql").read_text(encoding="utf-8")


def test_vectors_of_before_stay_as_they_were_beside_those_that_come(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.executescript(TENTH)
        assert db.execute("PRAGMA user_version").fetchone() == (10,)
    with SlotMemory.open(url, **LIVED) as memory:
        memory.check()
        text = memory.read("Which key has the piano?").text
        assert text == (
            "<demem:memory>\n# 8 May 2024\n- Zoë: the piano has a golden key\n</demem:memory>"
        )
        assert len(memory.certificates()) == 1
        about: dict[str, Any] = {"speaker": "Zoë", "at": "2024-05-08T13:56", "key": "k1"}
        assert memory.ingest("the piano has a golden key", **about).evidence_id == "e4"
        known = [_vector(memory, f"e{n}") for n in (1, 2, 4)]
        memory.ingest("the lamp has a red cord and a red cord")
        told = memory.fingerprint()
    encoded = LIVED["encoder"].encode(
        ["the boiler has a brass valve", "the violin has a broken bow", text.split(": ")[1][:26]]
    )
    np.testing.assert_array_equal(known, as_matrix(encoded, 3))
    with SlotMemory.open(url, **LIVED) as memory:
        memory.check()
        assert memory.fingerprint() == told
        assert codes_of(_vector(memory, "e5")[None]) is not None
        assert codes_of(np.stack(known)) is None


#: What version 12 had written, when rows had their vectors in themselves: three items packed, a
#: fourth after them. Version 11 packed nothing.
TWELFTH = Path(__file__).with_name("schema12.sql").read_text(encoding="utf-8")
FINGERPRINT = "e0132cfe9c03b8916d14cd300fa587882a723435d8cb2518353b870fb00f4543"
ELEVENTH = f"{TWELFTH} DROP TABLE snapshot; PRAGMA user_version = 11;"


@pytest.mark.parametrize("written", [TWELFTH, ELEVENTH], ids=["12", "11"])
def test_a_file_whose_rows_have_their_vectors_answers_as_it_did(
    tmp_path: Path, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "FEWEST", 1)
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(written)
    for _ in range(2):
        with SlotMemory.open(f"sqlite:///{file}", **LIVED) as memory:
            memory.check()
            assert memory.fingerprint() == FINGERPRINT
            assert memory.read("Which key has the piano?").text == (
                "<demem:memory>\n# 8 May 2024\n- Zoë: the piano has a golden key\n</demem:memory>"
            )
            assert len(memory.certificates()) == len(memory.contexts()) - 1 == 0
    (one,) = examined(file).memories
    assert (one.damaged, one.broken, one.items) == ((), "", 4)


def test_vectors_of_before_leave_their_rows_once_they_are_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "FEWEST", 1)
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(TWELFTH)
    SlotMemory.open(f"sqlite:///{file}", **LIVED).close()
    store = SqliteStore(file)
    with store._reading("look at") as tables:
        rows = tables.opened("evidence", 1, range(1, 6)).values()
        assert [row["codes"] for row in rows] == [None] * 4
        assert len(tables.vectors.together(1, range(1, 6)).numbers) == 4
    store.close()


def _vector(memory: SlotMemory, item: str) -> Vector:
    return memory._held.state.item_vector(item)


def content_of(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return list(db.iterdump())
