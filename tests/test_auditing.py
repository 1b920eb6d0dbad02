"""What is done is noted down with who did it and with ids, and never with a text."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.auditing import Audit, Noted, audited, noted_in
from demem_agent.errors import NotFound, StoreError
from demem_agent.testing import BagEncoder

SECRET = "The alarm code is 7431."
QUESTION = "What is the alarm code?"


@pytest.fixture
def log(tmp_path: Path) -> Audit:
    return Audit(tmp_path / "audit.jsonl")


def opened(**options: str) -> SlotMemory:
    return SlotMemory(encoder=BagEncoder(), **options)  # type: ignore[arg-type]


def told(log: Audit) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.operation, one.ids) for one in noted_in(log.path)]


def test_each_call_is_noted_with_the_ids_that_it_names_gives_or_changes(log: Audit) -> None:
    memory = audited(opened(), log, actor="ana")
    memory.ingest_many([{"text": SECRET}, {"text": "The lamp is lit."}])
    memory.read(QUESTION)
    memory.feedback(memory.answer(QUESTION), reference="7431")
    memory.update("e2", "The lamp is out.")
    memory.keep("e3")
    memory.evidence()
    memory.forget("e1")
    memory.undo("s1")
    assert told(log) == [
        ("ingest_many", ("e1", "e2")),
        ("read", ("e1", "e2")),
        ("answer", ("a1", "e1", "e2")),
        ("feedback", ("a1", "e1", "e2")),
        ("update", ("e2", "e3", "s1")),
        ("keep", ("e3",)),
        ("evidence", ("e1", "e2", "e3")),
        ("forget", ("e1", "a1")),
        ("undo", ("s1",)),
    ]


def test_no_text_is_in_it(log: Audit) -> None:
    memory = audited(opened(), log, actor="ana")
    memory.ingest(SECRET, speaker="Zora", session="Zora", source_id="Zora", key="Zora")
    memory.feedback(memory.answer(QUESTION), correction=SECRET)
    memory.decide(SECRET, ("open", "leave"))
    memory.ingest("e7")
    memory.rename(0, "Zora")
    memory.export()
    assert memory.slots[0].number == 0
    left = Path(log.path).read_text()
    assert not any(word in left for word in ("alarm", "7431", "Zora", "open", "e7"))


def test_who_did_it_when_and_of_which_memory_is_noted(log: Audit) -> None:
    ana = opened(memory_id="m", tenant="acme")
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    audited(ana, log, actor="ben").ingest(SECRET)
    audited(opened(), log, actor="eve").ingest(SECRET)
    (one,) = noted_in(log.path, actor="ben")
    assert before <= one.at <= datetime.now(UTC)
    assert one == Noted(one.at, "ben", "ingest", "acme", "m", ("e1",))
    assert [one.actor for one in noted_in(log.path, memory_id="default")] == ["eve"]
    assert [one.actor for one in noted_in(log.path, item="e1")] == ["ben", "eve"]
    assert not list(noted_in(log.path, item="e2"))


def test_what_fails_is_noted_with_its_kind(log: Audit) -> None:
    memory = audited(opened(), log, actor="ana")
    with pytest.raises(NotFound):
        memory.forget("e9")
    with pytest.raises(TypeError):
        memory.forget(nothing=1)  # type: ignore[arg-type]
    assert [(one.error, one.ids) for one in noted_in(log.path)] == [
        ("NotFound", ("e9",)),
        ("TypeError", ()),
    ]


def test_of_many_ids_the_number_is_noted(log: Audit) -> None:
    audited(opened(), log, actor="ana").ingest_many([{"text": f"Lamp {n}."} for n in range(105)])
    (one,) = noted_in(log.path)
    assert (len(one.ids), one.ids[0], one.more) == (100, "e1", 5)


def test_an_async_memory_is_noted_as_well(log: Audit) -> None:
    async def use() -> None:
        async with AsyncSlotMemory(encoder=BagEncoder()) as memory:
            seen = audited(memory, log, actor="ana")
            await asyncio.gather(*(seen.ingest(f"Lamp {n}.") for n in range(5)))
            with pytest.raises(NotFound):
                await seen.forget("e9")

    asyncio.run(use())
    assert [one.operation for one in noted_in(log.path)] == ["ingest"] * 5 + ["forget"]


def test_what_is_there_is_added_to_and_stays_its_owners(tmp_path: Path, log: Audit) -> None:
    audited(opened(), log, actor="ana").ingest(SECRET)
    log.close()
    again = Audit(log.path)
    audited(opened(), again, actor="ben").ingest(SECRET)
    again.close()
    assert [one.actor for one in noted_in(log.path)] == ["ana", "ben"]
    assert stat.S_IMODE(os.stat(log.path).st_mode) == 0o600


def test_a_call_that_cannot_be_noted_says_so(log: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("demem_agent.auditing.os.write", full)
    with pytest.raises(StoreError, match="cannot write the audit log"):
        audited(memory, log, actor="ana").ingest(SECRET)
    assert len(memory) == 1


@pytest.mark.parametrize("actor", ["", " ", None, 7])
def test_nobody_is_no_actor(log: Audit, actor: str) -> None:
    with pytest.raises(InvalidInput, match="actor"):
        audited(opened(), log, actor=actor)


@pytest.mark.parametrize("line", ["no", "{}", "[]", '{"at": 7}', json.dumps({"at": "2026-01-01"})])
def test_a_line_of_something_else_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(InvalidInput, match="line 1"):
        list(noted_in(path))


def test_a_log_that_cannot_be_opened_or_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot open the audit log"):
        Audit(tmp_path / "none" / "audit.jsonl")
    with pytest.raises(StoreError, match="cannot read the audit log"):
        list(noted_in(tmp_path / "none.jsonl"))
