"""The pages in ``docs`` do what they say: their code runs, block by block, a namespace a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from documents import ROOT, blocks, run_command, run_python

GUIDES = [
    page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "adapters"
]  # the pages of adapters run inside their frameworks


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


@pytest.mark.parametrize("guide", sorted((ROOT / "docs" / "use").glob("*.md")), ids=name)
def test_the_commands_of_a_page_on_use_run(guide: Path, tmp_path: Path, tools: Path) -> None:
    for block in blocks(guide.read_text(encoding="utf-8")):
        for command in block.commands:
            run_command(command, tmp_path, tools)


@pytest.mark.parametrize("guide", GUIDES, ids=name)
def test_a_block_that_is_not_run_says_why(guide: Path) -> None:
    assert [
        block.line for block in blocks(guide.read_text(encoding="utf-8")) if block.skipped == ""
    ] == []


def test_every_theorem_of_the_theory_has_an_example_that_checks_itself() -> None:
    guide = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    sections = guide.split("\n## ")[1:]
    assert len(sections) >= 8
    assert [s.splitlines()[0] for s in sections if "```python" not in s or "assert" not in s] == []
