"""The session in the documentation is what a chat gives."""

from __future__ import annotations

import io
import re
import runpy
import sys
from pathlib import Path

import pytest
from chatting import Chat
from command_line import ROOT

pytest.importorskip("rich")
pytest.importorskip("typer")


DOCS = ROOT / "docs" / "chat.md"


def test_the_session_in_the_documentation_is_what_it_gives(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DOCS.read_text(encoding="utf-8")
    session = re.search(r"```python\n(.*?)```\n```console\n\$ python (.*?)\n```", text, re.DOTALL)
    assert session is not None
    script, shown = session.groups()
    command, _, transcript = shown.partition(" < lines.txt\n")
    Path("local.py").write_text(script, encoding="utf-8")
    lines = re.findall(r"^you> (.*)", transcript, re.MULTILINE)
    typed = "".join(f"{line}\n" for line in lines)
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    monkeypatch.setattr(sys, "argv", command.split())
    with pytest.raises(SystemExit) as left:
        runpy.run_path("local.py", run_name="__main__")
    assert left.value.code == 0
    given = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert _undated(given) == _undated(transcript)


def _undated(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d", "TODAY", text)
