"""The guide holds every block that is made for it."""

from __future__ import annotations

import re

import pytest
from command_line import ROOT

pytest.importorskip("rich")
pytest.importorskip("typer")
pytest.importorskip("matplotlib")


def test_every_block_of_the_guide_that_is_made_is_there() -> None:
    guide = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    maker = (ROOT / "benchmarks" / "evaluate_all.py").read_text(encoding="utf-8")
    made = re.findall(r'yield (?:\(\s*)?"(\w+)",', maker)
    named = re.findall(r"<!-- (?!end\b)(\w+) -->", guide)
    assert made
    assert sorted([*made, "made", "contexts"]) == sorted(named)  # the last by model_answers.py
    for name in made:
        block = rf"<!-- {name} -->\n(```|\|).+?\n<!-- end -->"
        assert re.search(block, guide, re.DOTALL), name
