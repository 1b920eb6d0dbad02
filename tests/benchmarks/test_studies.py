"""Every page that says which commit its figures are of is made by a study."""

from __future__ import annotations

import re

import pytest
from benchmark_files import benchmark

studies = benchmark("studies")

STAMPED = re.compile(r"from commit `[0-9a-f]{7,40}")


def test_every_page_with_a_stamp_is_made_by_one_of_the_studies() -> None:
    pages = (studies.ROOT / "docs").rglob("*.md")
    stamped = {page for page in pages if STAMPED.search(page.read_text(encoding="utf-8"))}
    assert stamped == {studies.ROOT / page for page, _ in studies.STUDIES.values()}


@pytest.mark.parametrize("name", studies.STUDIES)
def test_a_study_names_a_script_that_there_is(name: str) -> None:
    _, command = studies.STUDIES[name]
    assert (studies.ROOT / "benchmarks" / command.split()[0]).is_file()
