"""The benchmark of languages: whole data, and nine of ten questions read right in each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmark_files import benchmark

languages = benchmark("languages")
FILES = sorted(languages.FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_question_has_a_line_and_no_line_stands_twice(path: Path) -> None:
    data = json.loads(path.read_text("utf-8"))
    for part in [name for name in languages.PARTS if name in data]:
        texts = [text for _, text in data[part]["lines"]]
        answers = [line for _, line in data[part]["questions"]]
        assert (len(texts), len(set(texts)), len(answers)) == (15, 15, 10)
        assert all(0 <= line < 15 for line in answers)


@pytest.mark.slow
def test_nine_of_ten_questions_are_read_right_in_each_language() -> None:
    rows = list(languages.measured(None))
    assert len(rows) == len(FILES)
    assert [row for row in rows if min(_counts(row)) < 9] == []


def _counts(row: dict[str, int]) -> list[int]:
    return [row[part] for part in languages.PARTS if part in row]
