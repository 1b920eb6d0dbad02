"""``python -m demem_adapters.new`` writes an adapter that passes as it stands, or nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT

from demem_adapters.new import Refused, written
from demem_adapters.new.__main__ import main

#: What lists adapters, and what their tests need.
COPIED = (
    "adapters docs/adapters docs/adapters.md examples mkdocs.yml pyproject.toml tests/adapters"
    " tests/conftest.py tests/support tests/test_adapters.py"
).split()
#: The shortest name, a plain one, and the longest.
NAMES = ("q", "nine_lives", "a23456789_b23456789_c234")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of what is needed of a checkout."""
    for name in COPIED:
        source, place = ROOT / name, tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place)
    (tmp_path / "demem_agent").symlink_to(ROOT / "demem_agent", target_is_directory=True)
    return tmp_path


def run(checkout: Path, *command: str) -> str:
    """Run a module of Python's in a copy, with its adapters, and return what it prints."""
    paths = [str(checkout), str(checkout / "adapters")]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python_of(checkout: Path) -> list[str]:
    """Write the adapters of all names, and return the paths of their Python files."""
    made: list[str] = []
    for name in NAMES:
        paths = [path for path in written(checkout, name) if path.suffix == ".py"]
        made += [str(path.relative_to(checkout)) for path in paths]
    return made


def files(checkout: Path) -> dict[str, str]:
    """Return the texts of a copy by their paths."""
    found: dict[str, str] = {}
    for path in checkout.rglob("*"):
        if path.is_file() and path.suffix in (".py", ".md", ".toml", ".yml"):
            found[str(path.relative_to(checkout))] = path.read_text(encoding="utf-8")
    return found


def test_what_is_written_passes_its_tests_lint_and_the_tests_of_the_tables(checkout: Path) -> None:
    made = python_of(checkout)
    tests = [path for path in made if "test_" in path]
    printed = run(checkout, "pytest", "-q", "-n", "0", *tests, "tests/test_adapters.py")
    assert len(tests) == len(NAMES)
    assert "skipped" not in printed
    run(checkout, "ruff", "check", *made)
    run(checkout, "ruff", "format", "--check", *made)


@pytest.mark.slow
def test_what_is_written_passes_mypy(checkout: Path) -> None:
    made = [path for path in python_of(checkout) if "test_" not in path]
    run(checkout, "mypy", "--cache-dir", str(checkout / "cache"), *made)


def test_the_command_tells_what_it_wrote_and_what_comes_next(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(checkout)
    arguments = ["x_y", "--root", str(checkout), "--requires", "x-y>=1.2", "--requires", "z[a]"]
    assert main(arguments) == 0
    *lines, _, after = capsys.readouterr().out.splitlines()
    now = files(checkout)
    assert {*lines} == {path for path, text in now.items() if before.get(path) != text}
    assert 'x-y = ["x-y>=1.2", "z[a]"]' in now["pyproject.toml"].splitlines()
    assert "tests/adapters/test_x_y.py" in after


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("langgraph", "taken: adapters/demem_adapters/langgraph.py is there"),
        ("openai", "taken: adapters/demem_adapters/openai is there"),
        ("crewai", "taken: adapters/demem_adapters/contrib/crewai is there"),
        ("common", "taken"),
        ("new", "taken"),
        ("dev", "there is an extra 'dev' already"),
        ("X-Y", "such as x_y"),
        ("x y", "such as x_y"),
        ("_x", "such as x"),
        ("2x", "small letters"),
        ("", "small letters"),
        ("../x", "such as x"),
        ("class", "a word of Python's own"),
        ("a" * 25, "at most 24"),
    ],
)
def test_a_name_that_is_taken_or_cannot_be_is_refused_and_nothing_is_written(
    checkout: Path, name: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(checkout)
    assert main([name, "--root", str(checkout)]) == 2
    assert why in capsys.readouterr().err
    assert files(checkout) == before


@pytest.mark.parametrize("requirement", ['x"]', "", "x y", "-r x"])
def test_what_is_no_requirement_is_refused(checkout: Path, requirement: str) -> None:
    with pytest.raises(Refused, match="requirement"):
        written(checkout, "x_y", [requirement])


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no checkout"):
        written(tmp_path, "x_y")
    assert not [*tmp_path.iterdir()]


def test_a_table_without_its_rows_is_refused_and_nothing_is_written(checkout: Path) -> None:
    site = checkout / "mkdocs.yml"
    site.write_text("nav: []\n", encoding="utf-8")
    before = files(checkout)
    with pytest.raises(Refused, match="no line"):
        written(checkout, "x_y")
    assert files(checkout) == before
