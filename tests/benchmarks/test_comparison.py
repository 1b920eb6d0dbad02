"""The page that compares: best first, and what is ahead of this memory is named."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import benchmark

comparison = benchmark("comparison")


def system(recall: float, seconds: float, disk: int | None) -> dict[str, Any]:
    return {
        "recall": {"2000": {"mean": recall, "low": None, "high": None}},
        **{"turns": 10, "reads": 4, "ingesting": seconds, "reading": seconds, "disk": disk},
        **{"made_by": "", "encoder": "", "settings": "as it comes", "needs": "nothing"},
    }


REPORT: dict[str, Any] = {
    **{"dialogues": 1, "of": 5, "names": ["conv-26"], "questions": 4, "limits": [2000]},
    "commit": "0123456789ab",
    "systems": {
        "demem": system(0.5, 0.02, 3000),
        "found less": system(0.4, 0.01, None),
        "found more": system(0.6, 0.04, 2000),
    },
    "missing": {"absent": ["a-package"]},
}


def test_what_is_ahead_of_this_memory_is_named() -> None:
    assert list(comparison.standing(REPORT)) == [
        "* Recall at 2,000: demem .500, the best other .600 (found more); ahead of it: found more.",
        "* Milliseconds a turn: demem 2.00, the best other 1.00 (found less); "
        "ahead of it: found less.",
        "* Milliseconds a read: demem 5.00, the best other 2.50 (found less); "
        "ahead of it: found less.",
        "* KB a dialogue: demem 3.00, the best other 2.00 (found more); ahead of it: found more.",
    ]


def test_the_table_has_the_best_first() -> None:
    names = [line.split(" | ")[0].strip("| *") for line in comparison.table(REPORT)]
    assert names[2:] == ["found more", "demem", "found less"]


def test_the_stamp_says_how_many_dialogues_were_measured() -> None:
    assert "from commit `0123456789ab`" in comparison.stamp(REPORT)
    assert "1 of its 5 dialogues" in comparison.stamp(REPORT)
    assert "all 1 dialogues" in comparison.stamp({**REPORT, "of": 1})


def test_what_was_not_installed_is_said() -> None:
    lines = list(comparison.settings({**REPORT, "systems": {"fts5": system(0.5, 0.01, 1)}}))
    assert lines[-1] == "| absent |  | not measured | not installed: a-package |"
    assert lines[-2].startswith("| fts5 | this library | SQLite's FTS5")


def test_an_interpreter_measures_what_those_before_it_lacked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps([{}] * 5), encoding="utf-8")
    asked: list[tuple[str, str]] = []

    def run(python: str, _: Path, wanted: str) -> dict[str, Any]:
        asked.append((python, wanted))
        if python == "first":
            return {**REPORT, "systems": dict(REPORT["systems"])}
        return {**REPORT, "systems": {"absent": system(0.1, 0.1, None)}, "missing": {}}

    monkeypatch.setattr(comparison, "run", run)
    given = Namespace(data=data, systems="all", python=["first", "second", "third"])
    whole = comparison.measured(given, data)
    assert asked == [("first", "all"), ("second", "absent")]
    assert list(whole["systems"]) == [*REPORT["systems"], "absent"]
    assert whole["missing"] == {}
    assert whole["of"] == 5
