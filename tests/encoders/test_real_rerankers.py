"""A real cross-encoder of sentence-transformers, tiny and made here with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from demem_agent import SlotMemory
from demem_agent.encoders import CrossEncoderReranker

pytest.importorskip("sentence_transformers")
pytestmark = pytest.mark.models

TEXTS = ["The boat is in the harbour.", "We had soup.", "I painted the boat green."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a BERT of one layer that says one number of two texts."""
    transformers: Any = pytest.importorskip("transformers")
    path = tmp_path_factory.mktemp("cross-encoder")
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters]
    (path / "vocab.txt").write_text("\n".join([*pieces, ".", "?"]), encoding="utf-8")
    transformers.set_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(pieces) + 2,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
        num_labels=1,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(path)
    transformers.BertTokenizer(str(path / "vocab.txt")).save_pretrained(path)
    return path


def test_it_scores_each_text_by_its_name(folder: Path) -> None:
    scores = CrossEncoderReranker(str(folder)).score("Where is the boat?", TEXTS)
    assert scores.shape == (3,)
    assert len(set(scores.tolist())) == 3


def test_a_memory_reads_in_its_order(folder: Path) -> None:
    scores = CrossEncoderReranker(str(folder)).score("Where is the boat?", TEXTS)
    memory = SlotMemory(reranker=str(folder), slots=1)
    for text in TEXTS:
        memory.ingest(text)
    reading = memory.read("Where is the boat?")
    assert not reading.unranked
    best = max(zip(scores.tolist(), TEXTS, strict=True))[1]
    assert reading.ranked[0].text == best


def test_a_folder_without_a_model_is_a_failure_that_is_seen(tmp_path: Path) -> None:
    memory = SlotMemory(reranker=str(tmp_path / "nothing"))
    for text in TEXTS:
        memory.ingest(text)
    assert memory.read("Where is the boat?").unranked.startswith("the reranker failed")
