"""``--encoder``: a memory is made and opened with a model of another library."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Demem

from demem_agent.cli import memory_options

LETTERS = """
import numpy as np

class SentenceTransformer:
    name = "letters"
    def __init__(self, model):
        if model != "letters":
            raise OSError(model)
    def encode(self, texts):
        return np.array([[1.0 + text.count(vowel) for vowel in "aeiou"] for text in texts])
"""


@pytest.fixture(autouse=True)
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "sentence_transformers.py").write_text(LETTERS)
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    monkeypatch.delenv("DEMEM_ENCODER", raising=False)
    monkeypatch.syspath_prepend(str(folder))
    memory_options._loaded.cache_clear()
    yield
    sys.modules.pop("sentence_transformers", None)
    memory_options._loaded.cache_clear()


def remember(demem: Demem, *options: str) -> int:
    Path("turns.jsonl").write_text('{"text": "Die Fähre legt um neun ab."}\n', encoding="utf-8")
    return demem("ingest", "turns.jsonl", "-m", "m.db", *options).code


def test_a_memory_is_made_and_read_with_the_encoder_that_is_named(demem: Demem) -> None:
    assert remember(demem, "--encoder", "letters") == 0
    read = demem("read", "Wann legt die Fähre ab?", "-m", "m.db", "--encoder", "letters")
    assert "neun" in read.out


def test_a_memory_is_not_opened_with_another_encoder_than_its_own(demem: Demem) -> None:
    remember(demem, "--encoder", "letters")
    refused = demem("read", "Fähre", "-m", "m.db")
    assert refused.code == 1
    assert "letters" in refused.err


def test_the_environment_may_name_the_encoder(
    demem: Demem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMEM_ENCODER", "letters")
    assert remember(demem) == 0
    assert "neun" in demem("read", "Fähre", "-m", "m.db").out


def test_a_model_that_does_not_exist_makes_no_memory(demem: Demem) -> None:
    Path("turns.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    refused = demem("ingest", "turns.jsonl", "-m", "m.db", "--encoder", "none")
    assert refused.code == 1
    assert "encoder" in refused.err
    assert not Path("m.db").exists()


def test_a_missing_library_is_named_with_the_command_that_installs_it(
    demem: Demem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demem_agent.encoders.loading.find_spec", lambda name: None)
    Path("turns.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    refused = demem("ingest", "turns.jsonl", "-m", "m.db", "--encoder", "letters")
    assert refused.code == 1
    assert "pip install 'demem-agent[sentence-transformers]'" in refused.err
