"""The README does what it says: its Python and its commands run, in the order in which a reader
meets them.

Every ``python`` block shares one namespace; every ``$ ...`` line of a ``console`` or ``bash`` block
goes to a shell; both work in the same empty folder. A Python block that cannot run here begins with
``# not run: <reason>``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from documents import README, ROOT, Block, blocks, run_command, run_python


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    empty = tmp_path / "reader"
    empty.mkdir()
    monkeypatch.chdir(empty)
    return empty


def test_everything_runs_in_reading_order(
    folder: Path, tools: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    ran = {"python": 0, "demem": 0, "printed": 0}
    for block in blocks(README.read_text(encoding="utf-8")):
        if block.language == "python" and block.skipped is None:
            run_python(block, namespace)
            ran["python"] += 1
        elif block.language == "text":
            assert capsys.readouterr().out == block.text, f"printed otherwise: line {block.line}"
            ran["printed"] += 1
        elif block.language in {"bash", "console"}:
            for command in block.commands:
                run_command(command, folder, tools)
                ran["demem"] += 1
    assert min(ran.values()) > 0, f"nothing was run of one kind: {ran}"


def test_the_readme_is_short() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert len(text.split()) <= 900


def test_a_block_that_is_not_run_says_why() -> None:
    assert [
        block.line for block in blocks(README.read_text(encoding="utf-8")) if block.skipped == ""
    ] == []


@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_command_of_the_readme_is_in_the_makefile(target: str) -> None:
    assert f"make {target}" in README.read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_blocks_and_commands_are_found_in_markdown() -> None:
    markdown = (
        "a\n```python\nx = 1\n```\n```console\n$ demem demo \\\n    --json\nshown\n$ ls\n```\n"
    )
    python, console = blocks(markdown)
    assert (python.language, python.text, python.line) == ("python", "x = 1\n", 3)
    assert console.commands == ["demem demo      --json", "ls"]


def test_a_failing_command_is_a_failure(folder: Path, tools: Path) -> None:
    with pytest.raises(AssertionError, match="no-such-file"):
        run_command("ls no-such-file", folder, tools)


def test_a_reason_is_required_for_not_running() -> None:
    reasons = [
        Block("python", text, 1).skipped
        for text in ("# not run: needs a key\n", "# not run:\n", "x = 1\n")
    ]
    assert reasons == ["needs a key", "", None]
