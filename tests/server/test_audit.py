"""The audit log of a server: a line for each request, whatever is in it, and none that is lost in
silence.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from served import MEMORY, calling, served

from demem_agent.server import KeyRing


def test_a_line_is_one_line_whatever_the_id_has_in_it(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    ring = KeyRing()
    key, written = ring.make("", ["read"])
    with served(ring=ring, audit=str(path)) as ask:
        odd = "a%0d%0ab%1b%5b31m%e2%80%a8%c2%9b%00"
        ask.by(written)("GET", f"/v1/memories/{odd}", user_agent="x\x1b[2J")
        ask("GET", f"/v1/memories/{'x' * 20_000}")
    lines = path.read_bytes().splitlines()
    assert all(32 <= byte < 127 for line in lines for byte in line)
    told = [json.loads(line) for line in lines]
    assert [one["memory"] for one in told] == ["a\r\nb\x1b[31m\u2028\x9b\0", "x" * 1000]
    assert [(one["key"], one["status"]) for one in told] == [(key.id, 404), ("", 401)]


def test_what_cannot_be_noted_down_is_not_told_to_have_been_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with calling(audit=str(tmp_path / "audit.jsonl")) as ask:

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("demem_agent.auditing.os.write", full)
        came = ask("GET", MEMORY)
        assert (came.status, came.problem) == (503, "store-failed")
        assert b"items" not in came.body
