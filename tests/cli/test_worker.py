"""``demem worker``: notes, summaries and retention in the background; the provider is here."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import Demem

pytest.importorskip("openai")

from demem_agent import SlotMemory
from demem_agent.testing import Provider, obedient


def test_a_model_does_what_is_due_and_says_what_it_did(demem: Demem, memory: Path) -> None:
    with Provider(obedient) as provider:
        asked = ("worker", "-m", memory, "--once", "--model", "small", "--base-url", provider.url)
        done = demem(*asked, "--json")
        again = demem(*asked)
    assert done.code == 0
    assert done.document["done"]["notes"] > 0
    assert done.document["waiting"] == {
        "retention": 0,
        "notes": 0,
        "changes": 0,
        "summaries": 0,
    }
    assert done.document["used"]["requests"] >= 1
    assert "notes 0" in again.out
    assert "Waiting: 0." in again.out


def test_a_failing_provider_is_told_of_and_the_work_waits(demem: Demem, memory: Path) -> None:
    with Provider(obedient) as provider:
        url = ("--base-url", provider.url, "--timeout", "0.5", "--kinds", "notes")
        done = demem("worker", "-m", memory, "--once", "--model", "fault-html", *url)
    assert done.code == 0
    assert "notes of 'default' failed, again in 10 s" in done.err
    assert "notes 0" in done.out
    assert "Bruno" not in done.err


def test_what_is_older_than_a_rule_is_forgotten(demem: Demem, tmp_path: Path) -> None:
    path = tmp_path / "bot.db"
    for name in ("guests/ana", "staff/ben"):
        with SlotMemory.open(f"sqlite:///{path}", memory_id=name) as memory:
            memory.ingest("The code is 4711.", at="2020-03-01")
    rule = ("--forget-older-than", "guests/=30d")
    done = demem("worker", "-m", path, "--once", *rule, "--json")
    assert done.document["done"] == {"retention": 1}
    with SlotMemory.open(f"sqlite:///{path}", memory_id="staff/ben") as memory:
        assert len(memory) == 1


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("--kinds", "notes"), "--model"),
        (("--kinds", "dreams"), "retention, notes, changes, summaries"),
        (("--forget-older-than", "a year"), "365d"),
        (("--kinds", "notes", "--model", "m", "--forget-older-than", "1d"), "retention"),
    ],
)
def test_what_it_cannot_do_it_says(
    demem: Demem, memory: Path, typed: tuple[str, ...], says: str
) -> None:
    done = demem("worker", "-m", memory, "--once", *typed)
    assert done.code == 1
    assert says in done.err


def test_a_file_that_is_not_there_is_not_made(demem: Demem, tmp_path: Path) -> None:
    done = demem("worker", "-m", tmp_path / "none.db", "--once")
    assert done.code == 1
    assert not (tmp_path / "none.db").exists()


@pytest.mark.slow
def test_it_goes_on_until_sigterm_and_ends_well(memory: Path) -> None:
    command = [sys.executable, "-m", "demem_agent.cli", "worker", "-m", str(memory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "working on" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
    assert process.returncode == 0
    assert rest.startswith("Done: retention 0.")


def test_a_file_has_no_queue(demem: Demem, memory: Path) -> None:
    done = demem("jobs", "-m", memory)
    assert done.code == 1
    assert "postgresql://" in done.err


@pytest.mark.postgres
def test_a_store_in_postgresql_has_one(demem: Demem, database: str) -> None:
    pytest.importorskip("procrastinate")
    with SlotMemory.open(database, memory_id="ana") as memory:
        memory.ingest("I moved to Lisbon.", speaker="Ana")
    assert "Nothing is queued" in demem("jobs", "-m", database).out
    with Provider(obedient) as provider:
        url = ("--base-url", provider.url)
        done = demem("worker", "-m", database, "--once", "--model", "small", *url, "--json")
    assert done.document["done"]["notes"] == 1
    with SlotMemory.open(database, memory_id="ana") as memory:
        memory.ingest("The cat is grey.", speaker="Ana")
    assert demem("jobs", "-m", database, "--json").document["waiting"]["notes"] == 1
    off = demem("jobs", "-m", database, "--off", "--json").document
    assert off == {"waiting": {}, "oldest": 0.0, "given_up": 0}


@pytest.mark.postgres
def test_sigterm_ends_a_worker_on_postgresql_well(database: str) -> None:
    pytest.importorskip("procrastinate")
    with SlotMemory.open(database) as memory:
        memory.ingest("I moved to Lisbon.", at="2020-03-01")
    command = [sys.executable, "-m", "demem_agent.cli", "worker", "-m", database, "--every", "0.2"]
    command += ["--forget-older-than", "30d"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "working on" in process.stdout.readline()
        for _ in range(600):
            with SlotMemory.open(database) as memory:
                if not len(memory):
                    break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
    assert process.returncode == 0
    assert rest.startswith("Done: retention 1.")
