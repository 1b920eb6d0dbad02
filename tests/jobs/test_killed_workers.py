"""Workers that are killed at random: the benchmark in its short form."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmark_files import FOLDER, benchmark

jobs = benchmark("jobs", "scale")


@pytest.fixture(autouse=True)
def found_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They import the benchmark by its name."""
    monkeypatch.syspath_prepend(str(FOLDER / "scale"))


@pytest.mark.slow
@pytest.mark.postgres
def test_each_job_of_a_queue_is_done_once_whoever_is_killed(database: str) -> None:
    pytest.importorskip("procrastinate")
    found = jobs.found_of(database, 300, random.Random(0), pause=0.1)
    assert not +found.wrong
    assert found.kills > 0
    assert found.begun >= found.jobs


@pytest.mark.slow
def test_what_is_due_in_a_file_is_done_once_whoever_is_killed(tmp_path: Path) -> None:
    found = jobs.found_of(
        f"sqlite:///{tmp_path / 'bot.db'}", 100, random.Random(0), count=1, pause=0.1
    )
    assert not +found.wrong
    assert found.kills > 0
