"""Workers as processes: one that dies is started again, and all end with who watches over them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from worker_processes import Served, holds_soon, served

from demem_agent import SlotMemory
from demem_agent.client import RemoteMemory
from demem_agent.errors import RemoteError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="has no workers"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served")) as made:
        yield made


def test_both_workers_answer_and_tell_of_one_memory(server: Served) -> None:
    for number in range(40):
        with RemoteMemory.open(server.url, memory_id="ana") as memory:  # a connection each
            assert memory.ingest(f"Thing {number}.").evidence_id == f"e{number + 1}"

    def have_both() -> bool:
        with urlopen(f"{server.url}/metrics") as came:
            families = [*text_string_to_metric_families(came.read().decode())]
        samples = [sample for family in families for sample in family.samples]
        ingested = {
            sample.labels["worker"]: sample.value
            for sample in samples
            if sample.name == "demem_requests_total" and sample.labels["operation"] == "ingest"
        }
        return sum(ingested.values()) == 40 and len(ingested) == 2

    assert holds_soon(have_both)


def test_a_worker_that_is_killed_is_started_again_and_the_other_goes_on(server: Served) -> None:
    before = server.workers()
    assert len(before) == 2
    with RemoteMemory.open(server.url, memory_id="ben") as memory:
        memory.ingest("Said before.", key="before")
    os.kill(before[0], signal.SIGKILL)
    told = 0
    while told < 5:
        with suppress(RemoteError), RemoteMemory.open(server.url, memory_id="ben") as memory:
            memory.ingest(f"Thing {told}.", key=f"k{told}")
            told += 1
    assert holds_soon(lambda: len(server.workers()) == 2 and server.is_ready())
    assert before[1] in server.workers()
    assert before[0] not in server.workers()
    with RemoteMemory.open(server.url, memory_id="ben") as memory:
        assert len(memory) == 6
        memory.check()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_all_end_when_they_are_told_to_and_what_was_acknowledged_is_there(
    tmp_path: Path, how: signal.Signals
) -> None:
    with served(tmp_path) as server:
        workers = server.workers()
        with RemoteMemory.open(server.url, memory_id="ana") as memory:
            memory.ingest("The cat is called Minka.")
        server.process.send_signal(how)
        _, log = server.process.communicate(timeout=60)
        # 0 where SIGINT is ignored from the beginning, as for what a shell runs in the background.
        assert server.process.returncode in (-how, 130, 0)
        assert "Traceback" not in log
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    with SlotMemory.open(f"sqlite:///{tmp_path}/bot.db", memory_id="ana") as memory:
        assert len(memory) == 1


def test_workers_end_with_who_watches_over_them(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        workers = server.workers()
        server.process.kill()
        server.process.wait()
        gone = holds_soon(lambda: not any(Path(f"/proc/{one}").exists() for one in workers), 30)
    assert gone


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--store", "memory://"), "--keys PATH"),
        (("--store", "memory://", "--keys", "a.keys"), "memory://"),
        (("--slots", "0"), "slots"),
        (("--host", "0.0.0.0"), "no keys"),
        (("--host", "203.0.113.7"), "host and port"),
    ],
)
def test_what_cannot_be_served_is_said_once_and_nothing_is_left(
    tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    command = [sys.executable, "-m", "demem_agent.cli", "serve", "--port", "0", "--workers", "2"]
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
