"""``demem bench NAME --systems``: this memory beside rivals, as far as they are installed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from command_line import Demem
from measured_samples import locomo
from openai import OpenAI

from demem_agent.evaluate.rivals import ASKING
from demem_agent.evaluate.rivals.asking.gate import Gate
from demem_agent.testing import Provider

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


@pytest.mark.parametrize("option", [("--slots",), ("--ablations",), ("--system", "demem")])
def test_what_a_comparison_leaves_out_is_refused(demem: Demem, option: tuple[str, ...]) -> None:
    done = demem("bench", "locomo", "--systems", "all", *option)
    assert done.code == 1
    assert "--systems measures rivals alone" in done.err


def test_tasks_that_are_rows_are_not_compared(demem: Demem) -> None:
    done = demem("bench", "memoryarena", "--systems", "all")
    assert done.code == 1
    assert "memoryarena has none" in done.err


def test_rivals_that_need_a_model_are_named_with_what_measures_them(
    demem: Demem, tmp_path: Path
) -> None:
    data = locomo(tmp_path / "l.json")
    options = ("bench", "locomo", "--data", data, "--systems", "fts5,graphiti", "--limit", "300")
    assert demem.document(*options)["unasked"] == ["graphiti"]
    done = demem(*options)
    assert "not measured, since it needs a model: graphiti" in done.out
    assert "--systems graphiti --model NAME" in done.out


def test_only_rivals_that_need_a_model_and_none_is_one_line(demem: Demem, tmp_path: Path) -> None:
    data = locomo(tmp_path / "l.json")
    done = demem("bench", "locomo", "--data", data, "--systems", "graphiti,mem0-facts")
    assert (done.code, done.out) == (1, "")
    assert "a model is needed for graphiti, mem0-facts: name one with --model" in done.err


def with_a_rival_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the rival ``graphiti`` be one that needs no package: it repeats what its model says."""

    class Asking:
        def __init__(self, _: Path, gate: Gate) -> None:
            self._client = OpenAI(base_url=gate.url, api_key="unused")
            self._memories: list[str] = []

        def tell(self, passages: Sequence[str], at: datetime | None) -> None:
            asked = [{"role": "user", "content": " ".join(passages)}]
            create: Any = self._client.chat.completions.create
            self._memories.append(create(model="m", messages=asked).choices[0].message.content)

        def find(self, query: str, most: int) -> list[str]:
            return self._memories

    rival = replace(ASKING["graphiti"], remembering=Asking, packages=("pytest",))
    monkeypatch.setattr("demem_agent.cli.measuring.comparing.ASKING", {"graphiti": rival})


def test_a_rival_asks_the_model_that_is_named_and_a_recording_the_second_time(
    demem: Demem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_rival_that_asks(monkeypatch)
    data = locomo(tmp_path / "l.json")
    options = ["bench", "locomo", "--data", data, "--systems", "fts5,graphiti", "--limit", "300"]
    with Provider("Ana likes tea.") as provider:
        options += ["--model", "m", "--base-url", provider.url, "--price", "1,1", "--yes"]
        options += ["--out", str(tmp_path / "out")]
        found = demem.document(*options)
        asked = len(provider.requests)
        again = demem.document(*options)
        assert len(provider.requests) == asked
        shown = demem(*options)
    used = found["systems"]["graphiti"]["used"]
    assert 0 < used["requests"] < asked == found["model"]["requests"]
    assert used["cost"] > 0
    assert found["systems"]["fts5"]["used"] is None
    assert found["unasked"] == []
    assert again["systems"]["graphiti"]["used"] == used
    assert again["model"]["requests"] == 0
    assert "calls" in shown.out
    assert "how much of the wording they kept" in " ".join(shown.out.split())
    assert "passages of" in shown.err


def test_nothing_is_asked_before_it_is_wanted(demem: Demem, tmp_path: Path) -> None:
    data = locomo(tmp_path / "l.json")
    options = ("bench", "locomo", "--data", data, "--systems", "fts5,graphiti")
    with Provider() as provider:
        done = demem(*options, "--model", "m", "--base-url", provider.url)
    assert done.code == 1
    assert "pass --yes" in done.err
    assert provider.requests == []


@pytest.mark.parametrize("option", [("--judge", "m"), ("--runs", "2"), ("--parallel", "2")])
def test_what_judges_answers_is_refused_beside_rivals(
    demem: Demem, tmp_path: Path, option: tuple[str, ...]
) -> None:
    data = locomo(tmp_path / "l.json")
    options = ("--systems", "fts5", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    done = demem("bench", "locomo", "--data", data, *options, *option)
    assert done.code == 1
    assert "--systems judges no answers" in done.err
