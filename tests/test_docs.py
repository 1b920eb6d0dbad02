"""The guides in ``docs`` do what they say: their Python runs, block by block, in one namespace a
guide.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from documents import ROOT, blocks, run_python

GUIDES = sorted((ROOT / "docs").glob("*.md"))


def name(guide: Path) -> str:
    return guide.name


@pytest.mark.parametrize("guide", GUIDES, ids=name)
def test_the_python_of_a_guide_runs_in_reading_order(
    guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(guide.read_text(encoding="utf-8")):
        if block.language == "python" and block.skipped is None:
            run_python(block, namespace)


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
