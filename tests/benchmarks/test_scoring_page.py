"""The page on the score: its tables are found in what the fits print, and its weights written."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

pytest.importorskip("rich")
pytest.importorskip("typer")
scoring_page = benchmark("scoring_page")

PRINTED = (
    "fold 1\r| | A |\n|---|---|\n| cosine | .4 |\n| fitted, held out, prior 0.15 | .8 |\n\n{}\n"
)
WEIGHTS = {"weights": {"own": 2.0}, "chat": {"own": -0.5}}


def test_a_table_is_the_lines_with_a_bar_one_after_another() -> None:
    first, second = scoring_page.tables(PRINTED + "| b |\n|---|\n| 1 |\n")
    assert first.splitlines()[0] == "| | A |"
    assert second == "| b |\n|---|\n| 1 |"


def test_the_readme_has_the_rows_that_it_names_in_its_own_words() -> None:
    (table,) = scoring_page.tables(PRINTED)
    assert [*scoring_page.newcomers(table)][2:] == [
        "| cosine, shipped encoder | .4 |",
        "| **DeMem** | **.8** |",
    ]


def test_weights_go_into_the_first_table_alone() -> None:
    page = "| own | said by the asker | 1 | 1 |\n\n## Refused\n\n| own | .03 | .04 | .04 |\n"
    assert scoring_page.weighed(page, WEIGHTS) == page.replace("| 1 | 1 |", "| 2 | -0.5 |")


def test_a_feature_without_a_row_ends_the_program() -> None:
    with pytest.raises(SystemExit, match="0 rows for the feature 'own'"):
        scoring_page.weighed("nothing\n\n## Refused\n", WEIGHTS)
