"""Judges beside people, on recorded marks and labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import benchmark

agreement = benchmark("judge_agreement")

#: Marks of two judges, and labels of three people, of six answers: they differ on the last two.
MARKS = [(1, 1), (1, 1), (0, 0), (0, 0), (1, 1), (1, 0)]
LABELS = [(1, 1, 1), (1, 1, 0), (0, 0, 0), (0, 1, 0), (0, 0, 0), (1, 1, 1)]


def answer(number: int) -> dict[str, Any]:
    return {"system": "demem" if number % 2 else "full", "dialogue": "d", "question": number}


def recorded() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    marks = [{**answer(n), "run": 0, "binary": list(both)} for n, both in enumerate(MARKS)]
    labels = [{**answer(n), "right": list(own)} for n, own in enumerate(LABELS)]
    return marks, labels


def test_judges_are_compared_with_the_majority_of_people() -> None:
    found = agreement.compared(*recorded())
    every = found["all"]
    assert every["answers"] == 6
    assert every["agreed"] == pytest.approx(4 / 6)
    # Both say right of three of six, so that half would agree by chance.
    assert every["judges_kappa"] == pytest.approx(1 / 3)
    assert every["lenient"] == {"first_only": 1, "second_only": 1, "p": 1.0}
    assert found["demem"]["answers"] == found["full"]["answers"] == 3


def test_a_label_of_an_answer_that_nobody_marked_is_refused() -> None:
    marks, labels = recorded()
    with pytest.raises(SystemExit, match="1 labels"):
        agreement.compared(marks[1:], labels)


def test_what_is_recorded_in_files_is_printed_in_a_line_a_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    marks, labels = recorded()
    others = [{"line": "header"}, {**answer(7), "line": "question"}]
    for name, records in {"marks": [*others, *marks], "labels": labels}.items():
        text = "".join(json.dumps(one) + "\n" for one in records)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(
        "sys.argv", ["judge_agreement.py", str(tmp_path / "marks"), str(tmp_path / "labels")]
    )
    agreement.main()
    printed = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in printed] == ["all", "full", "demem"]
    assert "66.7% agree" in printed[0]
