"""What opens memories by a URL opens those in PostgreSQL: a server, a pool, commands."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from command_line import Demem
from served import MEMORY, calling, served

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.pool import MemoryPool
from demem_agent.testing import BagEncoder

pytest.importorskip("psycopg")
pytestmark = pytest.mark.postgres


def test_a_server_serves_them_and_two_see_what_the_other_writes(database: str) -> None:
    with calling(url=database) as ask, served(url=f"{database}&connections=2") as other:
        said = {"text": "The cat sleeps on the boiler."}
        assert ask("POST", f"{MEMORY}/items", said).status == 201
        read = other("POST", f"{MEMORY}/read", {"query": "Where does the cat sleep?"}).json
        assert "boiler" in read["text"]


def test_a_pool_has_memories_of_many_threads(database: str) -> None:
    with MemoryPool(database, encoder=BagEncoder(), most_open=3) as pool:

        def remember(n: int) -> None:
            for turn in range(4):
                pool.of(f"m{n % 5}").ingest(f"turn {turn} of thread {n}")

        threads = [threading.Thread(target=remember, args=(n,)) for n in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert pool.names() == [f"m{n}" for n in range(5)]
        assert [len(pool.of(name)) for name in pool.names()] == [8] * 5


def test_coroutines_open_them(database: str) -> None:
    async def run() -> int:
        memory = await AsyncSlotMemory.open(database, encoder=BagEncoder())
        await asyncio.gather(*(memory.ingest(f"turn {n}") for n in range(5)))
        await memory.close()
        with SlotMemory.open(database, encoder=BagEncoder()) as again:
            return len(again)

    assert asyncio.run(run()) == 5


def test_commands_take_the_url_and_show_no_password(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demem = Demem(capsys)
    url = database.replace("postgresql:///", "postgresql://postgres:plover@/")
    if url == database:
        pytest.skip("the server is one that has a URL of its own")
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"text": "The cat is called Minka."}\n')
    assert demem("ingest", turns, "-m", url).code == 0
    assert "Minka" in demem("read", "What is the cat called?", "-m", url).out
    for command in (("memories",), ("check",), ("read", "x", "--id", "nobody"), ("doctor",)):
        done = demem(*command, "-m", url)
        assert "plover" not in done.out + done.err
    assert "***" in done.err
