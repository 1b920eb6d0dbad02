"""``docs/paper.md`` names code and tests that are there, and has a verdict for every label."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from typing import NamedTuple

from documents import ROOT

PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
VERDICTS = ("right", "partly", "deviates", "missing", "cannot be known here")
#: Rows that say how to get what is not there, or cannot be known.
WITH_COMMAND = ("missing", "cannot be known here")


class Row(NamedTuple):
    """A row of a table: what it is in the paper, and what of it is here."""

    labels: tuple[str, ...]
    code: tuple[str, ...]
    tests: tuple[str, ...]
    verdict: str
    why: str


def in_code(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


def rows() -> list[Row]:
    found = []
    for line in PAGE.splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
            labels, code, tests, verdict, why = cells
            found.append(Row(in_code(labels), in_code(code), in_code(tests), verdict, why))
    return found


ROWS = rows()


def listed_labels() -> list[str]:
    _, _, listed = PAGE.partition("## Labels")
    return re.findall(r"^\w+:[\w-]+$", listed, re.MULTILINE)


def test_every_label_of_the_paper_has_exactly_one_row() -> None:
    labels = [label for row in ROWS for label in row.labels]
    assert len(labels) > 80
    assert sorted(labels) == sorted(listed_labels())


def test_every_row_has_a_verdict_and_says_why_where_it_is_not_right() -> None:
    assert {row.verdict for row in ROWS} <= set(VERDICTS)
    assert [row for row in ROWS if row.verdict != "right" and len(row.why) < 20] == []


def test_what_is_not_missing_is_somewhere_and_tested() -> None:
    here = [row for row in ROWS if row.verdict not in WITH_COMMAND]
    assert [row for row in here if not row.code or not row.tests] == []


def test_what_is_missing_has_the_command_that_would_run_it() -> None:
    absent = [row for row in ROWS if row.verdict in WITH_COMMAND]
    assert [row for row in absent if not any(map(is_command, in_code(row.why)))] == []


def is_command(code: str) -> bool:
    return code.startswith(("demem ", "python "))


def test_every_name_of_code_can_be_imported() -> None:
    named = [name for row in ROWS for name in row.code]
    assert [name for name in named if not found(f"demem_agent.{name}")] == []


def test_every_test_is_one_that_pytest_collects() -> None:
    named = [test.partition("::") for row in ROWS for test in row.tests]
    assert [name for file, _, name in named if name not in functions(file)] == []


def found(name: str) -> bool:
    """Whether a dotted name is a module, or what one of the modules on its way has."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


@cache
def functions(file: str) -> frozenset[str]:
    """Return the test functions of a file below ``tests``."""
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    nodes = ast.parse(text).body
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in nodes if isinstance(node, kinds) and node.name.startswith("test_")
    )
