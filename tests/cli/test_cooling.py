"""``demem cool``: memories that are not used are put aside, and opened as any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem

pytest.importorskip("rich")
pytest.importorskip("typer")
pytest.importorskip("obstore")

from demem_agent import SlotMemory


def test_what_is_old_enough_is_put_aside_once_the_file_is_ready(
    demem: Demem, tmp_path: Path
) -> None:
    with SlotMemory.open("sqlite:///bot.db") as memory:
        memory.ingest("I live in Porto.")
    to = f"file://{tmp_path}/cold"
    assert "made ready" in demem("cool", "bot.db", "--to", to).out
    assert demem.document("cool", "bot.db", "--to", to)["memories"] == 0
    done = demem("cool", "bot.db", "--to", to, "--older-than", "0")
    assert "1 memory with 1 items put aside" in done.out.replace("\n", " ")
    assert len([path for path in (tmp_path / "cold").rglob("*") if path.is_file()]) == 1
    (listed,) = demem.document("memories", "bot.db")
    assert listed["items"] == 1
    assert "Porto" in demem("read", "Where do I live?", "-m", "bot.db").out
    assert demem("cool", "bot.db", "--to", "nowhere").code == 1
