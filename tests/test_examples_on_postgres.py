"""The examples of the chat backend and the proxy, as they are shipped, with the memories in
PostgreSQL and two processes that serve: also where one of them is killed between two calls.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from worker_processes import begun_by, holds_soon, served, workers_of

from demem_agent import SlotMemory
from demem_agent.testing import Provider

pytest.importorskip("psycopg")
pytestmark = [pytest.mark.postgres, pytest.mark.slow]

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
BRASS = "You told me: The boiler in the kitchen has a brass valve"


def printed_by(folder: Path, name: str, *given: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *given]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kill_one(workers: Callable[[], list[int]]) -> None:
    """Kill a worker of two, and wait until there is another in its place."""
    before = workers()
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)

    def is_replaced() -> bool:
        return len(workers()) == 2 and before[0] not in workers()

    assert holds_soon(is_replaced, 120)


def turns(url: str, memory_id: str) -> list[tuple[str | None, str]]:
    with SlotMemory.open(url, memory_id=memory_id) as memory:
        memory.check()
        return [(item.speaker, item.text) for item in memory.evidence()]


def test_the_clients_of_the_proxy_say_what_they_say_of_a_server_in_ram(
    database: str, tmp_path: Path
) -> None:
    given = ("--store", database, "--keys", "demem.keys", "--workers", "2")
    told = printed_by(tmp_path, "proxy_clients.py", *given).splitlines()
    assert told[1] == "  Noted."
    assert told[3] == f"  {BRASS}."
    assert told[5] == "  I know nothing of it."


def test_the_clients_of_the_proxy_notice_nothing_of_a_worker_that_is_killed(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = runpy.run_path(str(EXAMPLES / "proxy_clients.py"))
    with Provider(example["reply"]) as provider:
        options = ("--store", database, "--keys", "demem.keys", "--proxy", provider.root)
        with served(tmp_path, *options, "--proxy-deadline", "10000") as server:
            for number, (user, text) in enumerate(example["TURNS"]):
                if number:
                    kill_one(server.workers)
                example["by_openai"](server.url, user, text)
            with SlotMemory.open(server.url, memory_id="ana") as memory:
                assert "brass" in memory.read("Which valve?").text
    assert capsys.readouterr().out.splitlines()[1::2] == [
        "  Noted.",
        f"  {BRASS}.",
        "  I know nothing of it.",
    ]
    (_, told), (_, asked), _ = example["TURNS"]
    said = [("user", told), ("assistant", "Noted."), ("user", asked), ("assistant", f"{BRASS}.")]
    assert turns(database, "ana") == said


def test_the_chat_backend_says_by_two_processes_what_it_says_by_one(
    database: str, tmp_path: Path
) -> None:
    pytest.importorskip("fastapi")
    assert printed_by(tmp_path, "chat_backend.py", database) == printed_by(
        tmp_path, "chat_backend.py"
    )


def test_the_chat_backend_answers_from_memory_after_a_worker_was_killed(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fastapi")
    example: dict[str, Any] = runpy.run_path(str(EXAMPLES / "chat_backend.py"))
    with (
        Provider(example["reply"]) as provider,
        example["serving_by_two"](database, "small", provider.url) as url,
    ):
        ((token, _), *_) = example["USERS"].items()
        ana = example["Person"](url, "ana", token)
        (server,) = begun_by(os.getpid(), b"chat_backend:app")

        ana.say("monday", "The boiler in the kitchen has a brass valve, of 2019.")
        kill_one(lambda: workers_of(server))
        answer = ana.say("tuesday", "Which valve is in the kitchen's boiler?")
        kill_one(lambda: workers_of(server))  # the second of those that there were at first
        thumb = {"answer": answer, "thumbs": True}
        assert ana.request("POST", "/feedback", thumb)["reward"] == 1.0
        assert len(ana.request("GET", "/memory")) == 4
        assert ana.request("DELETE", "/memory/e1") == {"forgotten": ["e1", "e4"]}
    assert f"bot: {BRASS}, of 2019." in capsys.readouterr().out
    assert [text for _, text in turns(database, "ana")] == [
        "Noted.",
        "Which valve is in the kitchen's boiler?",
    ]
