"""Systems of a user's own, measured beside the built-in ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem
from measured_samples import QUESTIONS, TURNS

pytest.importorskip("rich")
pytest.importorskip("typer")
pytest.importorskip("matplotlib")


SYSTEM = """
class Parrot:
    def ingest(self, turns):
        self.turns = list(turns)

    def read(self, query, limit, at=None):
        return self.turns[-1].text[:limit]


class Chatterer(Parrot):
    def read(self, query, limit, at=None):
        return "x" * (limit + 1)


NUMBER = 3
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(SYSTEM)
    return file


def test_a_system_of_ones_own_is_measured_by_its_file_and_name(demem: Demem, own: Path) -> None:
    options = ("--system", "demem", "--system", f"{own}:Parrot", "--limit", "400")
    systems = demem.document("eval", TURNS, QUESTIONS, *options)["systems"]
    assert set(systems) == {"demem", "Parrot"}
    assert 0 < systems["Parrot"]["400"]["size"] <= 400


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("nonsense", "one of cosine, bm25"),
        ("mine.py:Parrott", "mine.py defines no Parrott"),
        ("mine.py:NUMBER", "mine.py defines no NUMBER"),
        ("other.py:Parrot", "there is no file other.py"),
        ("leaves.py:Parrot", "leaves.py ended before it defined Parrot: no such library"),
        (
            "mine.py:Chatterer",
            "the reading of 'Chatterer' must be at most 400 characters, got '401 characters'",
        ),
    ],
)
def test_a_system_that_cannot_be_measured_is_named(
    demem: Demem, own: Path, system: str, words: str
) -> None:
    Path("leaves.py").write_text("import sys\nsys.exit('no such library')\n")
    options = ("--system", system, "--limit", "400")
    done = demem("eval", TURNS, QUESTIONS, *options)
    assert (done.code, done.out) == (1, "")
    assert words in done.err
    assert done.err.count("\n") == 1
