"""``demem bench NAME --systems``: this memory beside rivals, as far as they are installed."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from command_line import Demem
from measured_samples import locomo

pytest.importorskip("rich")
pytest.importorskip("typer")


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have one package be missing, and all others be there."""

    def version(name: str) -> str:
        if name == package:
            raise PackageNotFoundError
        return "1.0"

    monkeypatch.setattr("demem_agent.evaluate.rivals.table.version", version)


def test_what_is_installed_is_measured_and_the_rest_is_named(
    demem: Demem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("chromadb", monkeypatch)
    data = locomo(tmp_path / "l.json")
    done = demem("bench", "locomo", "--data", data, "--systems", "demem,fts5,chroma", "--json")
    found = json.loads(done.out)
    assert list(found["systems"]) == ["demem", "fts5"]
    assert found["missing"] == {"chroma": ["chromadb"]}
    assert found["questions"] == 4
    assert found["systems"]["fts5"]["reads"] == 2 * 4
    for one in found["systems"].values():
        assert 0 < one["recall"]["2000"]["mean"] <= 1
        assert one["disk"] > 0


def test_a_person_sees_what_each_takes_and_needs(demem: Demem, tmp_path: Path) -> None:
    data = locomo(tmp_path / "l.json")
    out = tmp_path / "out"
    options = ("--systems", "bm25,fts5", "--limit", "300", "--out", str(out))
    done = demem("bench", "locomo", "--data", data, *options)
    assert done.code == 0
    for words in ("2 dialogues", "4 questions with evidence", "recall 300", "ms a turn", "porter"):
        assert words in done.out
    assert {path.name for path in out.iterdir()} == {"results.jsonl", "report.json", "table.txt"}


def test_nothing_installed_is_one_line(
    demem: Demem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("chromadb", monkeypatch)
    data = locomo(tmp_path / "l.json")
    done = demem("bench", "locomo", "--data", data, "--systems", "chroma")
    assert (done.code, done.out) == (1, "")
    assert "systems must be at least one that is installed" in done.err


def test_an_unknown_rival_names_those_there_are(demem: Demem, tmp_path: Path) -> None:
    data = locomo(tmp_path / "l.json")
    done = demem("bench", "locomo", "--data", data, "--systems", "fts6")
    assert done.code == 1
    assert "fts5" in done.err


@pytest.mark.parametrize(
    "option", [("--slots",), ("--ablations",), ("--system", "demem"), ("--model", "m")]
)
def test_what_a_comparison_leaves_out_is_refused(demem: Demem, option: tuple[str, ...]) -> None:
    done = demem("bench", "locomo", "--systems", "all", *option)
    assert done.code == 1
    assert "--systems measures rivals alone" in done.err


def test_tasks_that_are_rows_are_not_compared(demem: Demem) -> None:
    done = demem("bench", "memoryarena", "--systems", "all")
    assert done.code == 1
    assert "memoryarena has none" in done.err
