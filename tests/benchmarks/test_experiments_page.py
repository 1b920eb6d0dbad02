"""The page of experiments has every block that is made for it, of tables that there are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from benchmark_files import benchmark

pytest.importorskip("rich")
pytest.importorskip("typer")
page = benchmark("experiments_page")


def test_every_block_that_is_made_has_its_place() -> None:
    guide = (page.evaluate_all.ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- (?!end\b)([\w-]+) -->", guide) == ["made", *page.AUDITS, "epochs"]


def test_a_block_is_a_command_with_the_tables_that_are_shown() -> None:
    sheets = [{"title": f"Table {n}", "columns": ["ours"], "rows": [["a", [n]]]} for n in range(3)]
    report: dict[str, Any] = {
        "audit": "sweep",
        "data": "LoCoMo",
        "dialogues": 1,
        "left_out": 0,
        "stand_ins": "something stands in",
        "notes": ["a note"],
        "sheets": sheets,
    }
    block = page.block("sweep", report, (0, 2))
    assert block.startswith("```console\n$ demem audit sweep locomo")
    assert "Table 0" in block
    assert "Table 2" in block
    assert "Table 1" not in block
    assert "a note" in block
