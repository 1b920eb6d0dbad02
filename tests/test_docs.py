"""The pages in ``docs`` do what they say: their code runs, block by block, a namespace a page."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from documents import ROOT, blocks, run_command, run_python
from warm import warm_demem

GUIDES = [
    page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "adapters"
]  # the pages of adapters run inside their frameworks

#: A block that is not run says so, and which file it is, where the commands of the page run that.
FILE = re.compile(r"(\w+\.py),")


def name(guide: Path) -> str:
    return str(guide.relative_to(ROOT / "docs"))


@pytest.mark.parametrize("guide", GUIDES, ids=name)
def test_the_python_of_a_guide_runs_in_reading_order_and_prints_what_it_shows(
    guide: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What a page shows under a block, indented, is what the block prints."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(guide.read_text(encoding="utf-8")):
        if block.language == "python" and block.skipped is None:
            run_python(block, namespace)
            printed = capsys.readouterr().out.strip()
            assert block.shown in ("", printed)


@pytest.fixture(scope="module")
def warm() -> Iterator[Path]:
    with warm_demem() as script:
        yield script


@pytest.mark.parametrize("guide", sorted((ROOT / "docs" / "use").glob("*.md")), ids=name)
def test_the_commands_of_a_page_on_use_run_and_print_what_it_shows(
    guide: Path, tmp_path: Path, tools: Path, warm: Path
) -> None:
    """A page may serve: on another port than it says, as several tests may run at once."""
    shutil.copy(warm, tools / "demem")
    port = str(free_port())
    text = re.sub(r"(?<=[: ])8000\b", port, guide.read_text(encoding="utf-8"))
    try:
        for block in blocks(text):
            file = FILE.match(block.skipped or "")
            if file:
                (tmp_path / file[1]).write_text(block.text)
            for run in block.runs:
                printed = run_command(run.command, tmp_path, tools)
                assert run.prints(printed), f"$ {run.command}\n{printed}\nis not\n{run.shown}"
    finally:
        end_what_serves(tmp_path)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def end_what_serves(folder: Path) -> None:
    """End what a page started, where it did not come to its end."""
    for noted in folder.glob("*.pid"):
        with suppress(ProcessLookupError):
            os.kill(int(noted.read_text()), signal.SIGTERM)


def test_a_block_that_is_not_run_says_why() -> None:
    assert [
        (name(guide), block.line)
        for guide in GUIDES
        for block in blocks(guide.read_text(encoding="utf-8"))
        if block.skipped == ""
    ] == []


def test_every_theorem_of_the_theory_has_an_example_that_checks_itself() -> None:
    guide = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    sections = guide.split("\n## ")[1:]
    assert len(sections) >= 8
    assert [s.splitlines()[0] for s in sections if "```python" not in s or "assert" not in s] == []
