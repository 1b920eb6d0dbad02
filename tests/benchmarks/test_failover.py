"""``benchmarks/scale/failover.py``: a synchronous standby loses nothing, and a loss is seen."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from benchmark_files import FOLDER
from postgres_server import programs

pytest.importorskip("psycopg")
pytestmark = [pytest.mark.postgres, pytest.mark.slow]


def found(*options: str) -> dict[str, Any]:
    """Return what it finds in two rounds."""
    bin = programs()
    if bin is None or not (bin / "pg_basebackup").exists():
        pytest.skip("no PostgreSQL: pip install pgserver 'demem-agent[postgres]'")
    script = str(FOLDER / "scale" / "failover.py")
    ran = subprocess.run(
        [sys.executable, script, "--rounds", "2", "--json", *options],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


@pytest.mark.parametrize("commit", ["on", "remote_apply"])
def test_what_was_acknowledged_is_there_once_after_the_standby_took_over(commit: str) -> None:
    told = found("--commit", commit, "--behind", "0.5")
    assert told["kills"] == 2
    assert told["acknowledged"] > 0
    assert told["wrong"] == {}


def test_what_an_asynchronous_standby_has_not_got_is_seen_to_be_lost() -> None:
    assert found("--asynchronous", "--behind", "2")["wrong"]["turns lost"] > 0
