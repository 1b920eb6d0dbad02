"""The encoder that ships with DeMem, and what is asked of any other."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from often import often

from demem_agent import encoders
from demem_agent.encoders import (
    EncoderInfo,
    StaticEncoder,
    as_matrix,
    default_encoder,
    describe,
    static,
)
from demem_agent.errors import CollaboratorError, InvalidInput

FOLDER = Path(encoders.__file__).parent / "minilm256"
PIECES = json.loads((FOLDER / "tokenizer.json").read_bytes())["model"]["vocab"]
ENCODER = default_encoder()
ENCODER.encode(["loads the model, so that no example is charged for it"])

# Unicode as old as the tokenizer's tables: what the vocabulary is made of, and characters that are
# treated specially.
SPECIAL = " \t\n\r\x00\x0b\x1c\x7f\x85\xa0\u200b\u200d\ufe0f\ufffd😀🏽ÀéÎİẞΣς½ﬁ한글かガश्㐀𠀀𪜀豈丽"
CHARACTERS = "".join(sorted(set().union(*PIECES))) + SPECIAL
STRETCHES = st.sampled_from(sorted(piece.removeprefix("##") for piece in PIECES)) | st.sampled_from(
    CHARACTERS
)
BERT_TEXTS = st.lists(STRETCHES | STRETCHES.map(str.upper), max_size=12).map("".join)
ANY_TEXTS = st.text(st.characters(codec=None), max_size=40) | BERT_TEXTS


def cosine(one: str, other: str) -> float:
    first, second = ENCODER.encode([one, other])
    return float(first @ second)


@cache
def reference_tokenizer() -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_file(str(FOLDER / "tokenizer.json"))


def run_python(script: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


# The encoder that ships


@given(st.lists(ANY_TEXTS, max_size=8))
def test_rows_are_float32_of_length_one_or_zero(texts: list[str]) -> None:
    vectors = ENCODER.encode(texts)
    lengths = np.linalg.norm(vectors, axis=1)
    assert vectors.shape == (len(texts), ENCODER.dimensions)
    assert vectors.dtype == np.float32
    assert np.all((np.abs(lengths - 1) < 1e-6) | (lengths == 0))


@given(st.lists(ANY_TEXTS, min_size=1, max_size=8))
def test_a_text_gives_the_same_bytes_alone_as_among_others(texts: list[str]) -> None:
    together = ENCODER.encode(texts)
    assert [ENCODER.encode([text]).tobytes() for text in texts] == [
        row.tobytes() for row in together
    ]


def test_a_text_gives_the_same_bytes_at_any_place_in_a_large_batch() -> None:
    texts = [f"turn {i}: we met at the station at {i % 12} o'clock" for i in range(1000)]
    texts[500] = "a text of another length " * 40
    forth, back = ENCODER.encode(texts), ENCODER.encode(texts[::-1])
    assert forth.tobytes() == back[::-1].tobytes()


def test_every_process_gives_the_same_bytes() -> None:
    script = (
        "import json; from demem_agent.encoders import default_encoder;"
        "vectors = default_encoder().encode(['When is the dentist appointment?']);"
        "print(json.dumps(vectors.tobytes().hex()))"
    )
    assert (
        run_python(script) == ENCODER.encode(["When is the dentist appointment?"]).tobytes().hex()
    )


def test_threads_that_share_the_encoder_get_the_same_bytes() -> None:
    pairs = product(list(PIECES)[5000:5040], list(PIECES)[9000:9020])
    texts = [f"{first} {second}" for first, second in pairs]
    expected = ENCODER.encode(texts).tobytes()
    static._load.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: StaticEncoder().encode(texts).tobytes(), range(16)))
    assert found == [expected] * 16


def test_a_cache_of_any_size_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "Über die Brücke — naïve café",
        "one two three four five six",
        "unbelievably misspeling wrods",
    ] * 2
    expected = ENCODER.encode(texts).tobytes()
    monkeypatch.setattr(static, "_CACHED_WORDS", 2)
    monkeypatch.setattr(static, "_CACHED_CHARACTERS", 2)
    static._load.cache_clear()
    assert ENCODER.encode(texts).tobytes() == expected


def test_memory_for_words_already_met_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "_CACHED_WORDS", 100)
    ENCODER.encode([f"word{i} wörd{i}" for i in range(1000)])
    assert len(static._model().pieces) <= 100


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\x00",
        "\ud800",
        "😀",
        "\u200f\u202e",
        "[",
        "##",
        "[PAD]",
        "x" * 101,
        "مرحبا",
        "a\x00b\x1fc",
        "👩‍👩‍👧",
    ],
)
def test_odd_texts_are_encoded(text: str) -> None:
    assert np.isfinite(ENCODER.encode([text, text + " dog"])).all()


@pytest.mark.parametrize("text", ["", " \n\t", "\ud800", "😀 🫠", "x" * 101])
def test_a_text_without_known_words_is_a_row_of_zeros(text: str) -> None:
    assert not ENCODER.encode([text]).any()


def test_ten_megabytes_are_encoded_by_their_beginning() -> None:
    opening = "the dentist moved the appointment " * 400
    vectors = ENCODER.encode([opening[: static.MAX_CHARS], opening + "dog " * 2_500_000])
    assert vectors[0].tobytes() == vectors[1].tobytes()


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ("great 😂", "great"),
        ("great😂", "great"),
        ("dog \ud83d dog", "dog dog"),
        ("do\ud83dg", "dog"),
        ("do\x00g", "dog"),
        ("CAFÉ", "cafe"),
        ("two\u00a0words", "two words"),
        ("it’s", "it ’ s"),
        ("dog㐀𠀀𪜀cat", "dog cat"),
    ],
)
def test_what_bears_no_meaning_here_changes_nothing(given: str, same: str) -> None:
    assert ENCODER.encode([given]).tobytes() == ENCODER.encode([same]).tobytes()


def test_a_marker_of_the_tokenizer_in_a_text_is_plain_text() -> None:
    assert (
        ENCODER.encode(["[PAD] [UNK]"]).tobytes() == ENCODER.encode(["[ pad ] [ unk ]"]).tobytes()
    )


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("She adopted a puppy.", "The dog sleeps on the sofa.", "The invoice was paid in March."),
        (
            "When is the dentist appointment?",
            "I have to see the dentist at 10am.",
            "My sister plays the violin.",
        ),
        ("The server ran out of disk space.", "database storage is full", "a walk along the beach"),
        ("He is allergic to peanuts.", "What food should he avoid?", "Which train goes to Lisbon?"),
    ],
)
def test_related_texts_are_nearer_than_unrelated_ones(text: str, near: str, far: str) -> None:
    assert cosine(text, near) > cosine(text, far) + 0.1


def test_one_string_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(InvalidInput, match="sentences"):
        ENCODER.encode("a dog")  # type: ignore[arg-type]


def test_no_texts_give_no_rows() -> None:
    assert ENCODER.encode([]).shape == (0, 256)


def test_the_fingerprint_is_that_of_the_files() -> None:
    both = (FOLDER / "model.safetensors").read_bytes() + (FOLDER / "tokenizer.json").read_bytes()
    assert ENCODER.fingerprint == hashlib.sha256(both).hexdigest()[:16]


def test_the_dimensions_are_those_of_the_rows() -> None:
    assert ENCODER.encode(["a"]).shape[1] == ENCODER.dimensions == static._model().rows.shape[1]


def test_the_model_has_a_row_for_each_piece() -> None:
    assert sorted(PIECES.values()) == list(range(len(static._model().rows)))


def test_the_rows_stay_int8_in_memory() -> None:
    assert static._model().rows.dtype == np.int8


def test_the_folder_is_at_most_eight_megabytes_and_names_its_origin() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 8_000_000
    assert "all-MiniLM-L6-v2" in (FOLDER / "NOTICE").read_text(encoding="utf-8")


def test_neither_import_nor_encoding_loads_a_model_library() -> None:
    script = (
        "import json, sys; from demem_agent.encoders import default_encoder;"
        "default_encoder().encode(['a dog 😀']); print(json.dumps(sorted(sys.modules)))"
    )
    loaded = {name.partition(".")[0] for name in run_python(script)}
    assert "demem_agent" in loaded
    assert (
        loaded
        & {"huggingface_hub", "model2vec", "safetensors", "tokenizers", "torch", "transformers"}
        == set()
    )


def test_importing_reads_no_model() -> None:
    script = (
        "import json; from demem_agent import encoders as e;"
        "from demem_agent.encoders import static as s;"
        "d = e.default_encoder(); d.dimensions, d.fingerprint;"
        "print(json.dumps(s._load.cache_info().currsize))"
    )
    assert run_python(script) == 0


@settings(max_examples=often(300))
@given(BERT_TEXTS)
def test_word_pieces_are_those_of_the_tokenizer_library(text: str) -> None:
    theirs = reference_tokenizer().encode(text).ids
    model = static._model()
    ours = list(chain.from_iterable(model.pieces[word] for word in model.words(text)))
    assert ours == [id for id in theirs if id != PIECES["[UNK]"]]


@given(
    st.lists(
        st.sampled_from(sorted(word for word in PIECES if word.isascii() and word.isalnum())),
        min_size=1,
    )
)
def test_a_vector_is_the_mean_of_its_rows(words: list[str]) -> None:
    mean = static._model().rows[[PIECES[word] for word in words]].astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(
        ENCODER.encode([" ".join(words)])[0], mean / np.linalg.norm(mean), atol=1e-6
    )


def test_long_texts_of_one_word_do_not_overflow() -> None:
    np.testing.assert_allclose(ENCODER.encode(["dog " * 2000]), ENCODER.encode(["dog"]), atol=1e-6)


# Other encoders


@pytest.mark.parametrize(
    "raw",
    [
        np.array([[3.0, 4.0]]),
        np.array([[3, 4]], np.int8),
        np.array([3.0, 4.0], np.float16),
        [[3.0, 4.0]],
        [3, 4],
        ([3.0, 4.0],),
        np.array([[3e300, 4e300]]),
        np.array([[3e-300, 4e-300]]),
    ],
)
def test_any_real_array_of_one_row_is_normalised(raw: Any) -> None:
    matrix = as_matrix(raw, 1)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix, [[0.6, 0.8]], rtol=1e-3)


def test_rows_of_zeros_stay_zero() -> None:
    np.testing.assert_array_equal(as_matrix([[0, 0], [0, 2]], 2), [[0, 0], [0, 1]])


@pytest.mark.parametrize("raw", [[], np.zeros((0, 5)), np.zeros(0, np.float32)])
def test_no_texts_need_no_rows(raw: Any) -> None:
    assert len(as_matrix(raw, 0)) == 0


class FakeTensor:
    """As much of a torch tensor as matters: numpy cannot read it before it is detached, copied."""

    def __init__(self, values: list[Any], steps: tuple[str, ...] = ()) -> None:
        self.values = values
        self.steps = steps

    def detach(self) -> FakeTensor:
        return FakeTensor(self.values, (*self.steps, "detach"))

    def cpu(self) -> FakeTensor:
        return FakeTensor(self.values, (*self.steps, "cpu"))

    def double(self) -> FakeTensor:
        return FakeTensor(self.values, (*self.steps, "double"))

    def numpy(self) -> np.ndarray[Any, Any]:
        if self.steps != ("detach", "cpu", "double"):
            raise TypeError(f"a tensor that went through {self.steps} is not numpy's")
        return np.array(self.values, np.float64)


@pytest.mark.parametrize(
    "raw", [FakeTensor([[3, 4], [0, 1]]), [FakeTensor([3, 4]), FakeTensor([0, 1])]]
)
def test_tensors_and_lists_of_them_are_copied_from_their_device(raw: Any) -> None:
    np.testing.assert_allclose(as_matrix(raw, 2), [[0.6, 0.8], [0.0, 1.0]], rtol=1e-6)


@pytest.mark.parametrize(
    ("raw", "n"),
    [
        ([[1.0, 2.0]], 2),
        ([1.0, 2.0], 2),
        ([[1.0], [2.0]], 1),
        (np.zeros((1, 0)), 1),
        (np.zeros((1, 1, 3)), 1),
        (5.0, 1),
        ([[1.0], [2.0, 3.0]], 2),
        ([[np.nan, 1.0]], 1),
        ([[np.inf, 1.0]], 1),
        ([["a", "b"]], 1),
        ([[1j, 2j]], 1),
        ([[True, False]], 1),
        (None, 1),
        ("text", 1),
        ({"vectors": [1.0]}, 1),
        ([], 1),
        ([[1.0, 2.0]], 0),
    ],
)
def test_what_is_no_finite_matrix_of_the_right_shape_is_refused(raw: Any, n: int) -> None:
    with pytest.raises(CollaboratorError, match="the encoder gave"):
        as_matrix(raw, n)


FINITE = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 70)), elements=st.floats(-1e6, 1e6)
)


@given(FINITE)
def test_every_row_of_a_matrix_has_length_one_or_zero(raw: np.ndarray[Any, Any]) -> None:
    lengths = np.linalg.norm(as_matrix(raw, len(raw)).astype(np.float64), axis=1)
    assert np.all(np.abs(lengths - raw.any(axis=1)) < 1e-6)


@given(FINITE)
def test_a_row_of_a_matrix_gives_the_same_bytes_alone(raw: np.ndarray[Any, Any]) -> None:
    together = as_matrix(raw, len(raw))
    assert [as_matrix(row, 1).tobytes() for row in raw] == [row.tobytes() for row in together]


def test_an_input_matrix_is_left_as_it_was() -> None:
    raw = np.array([[3.0, 4.0]])
    as_matrix(raw, 1)[:] = 7
    np.testing.assert_array_equal(raw, [[3.0, 4.0]])


class Nameless:
    def encode(self, sentences: list[str], /) -> Any:
        raise AssertionError("describing an encoder must not run it")


def nameless(**attributes: Any) -> Nameless:
    encoder = Nameless()
    vars(encoder).update(attributes)
    return encoder


def test_the_shipped_encoder_goes_by_its_own_name() -> None:
    assert describe(ENCODER) == EncoderInfo("demem-minilm256", ENCODER.fingerprint)


def test_a_name_without_fingerprint_is_enough() -> None:
    assert describe(nameless(name="mine-v2")) == EncoderInfo("mine-v2", "")


def test_an_encoder_without_a_name_goes_by_its_class() -> None:
    assert describe(Nameless()) == EncoderInfo(f"{__name__}.Nameless", "")


@pytest.mark.parametrize(
    ("attributes", "model"),
    [
        ({"model_card_data": SimpleNamespace(base_model="org/model")}, "org/model"),
        ({"base_model_name": "org/model"}, "org/model"),
        ({"config": {"tokenizer_name": "org/model"}}, "org/model"),
        ({"tokenizer": SimpleNamespace(name_or_path="org/model")}, "org/model"),
        (
            {"tokenizer": SimpleNamespace(name_or_path=str(Path("models", "mini").absolute()))},
            "mini",
        ),
        ({"base_model_name": None, "config": {"tokenizer_name": "org/model"}}, "org/model"),
        ({"name": lambda: "a method", "base_model_name": "org/model"}, "org/model"),
    ],
)
def test_a_loaded_model_goes_by_its_class_and_origin(
    attributes: dict[str, Any], model: str
) -> None:
    assert describe(nameless(**attributes)).name == f"Nameless({model})"


def test_a_description_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        describe(ENCODER).name = "other"  # type: ignore[misc]


def test_the_default_encoder_is_one_shared_instance() -> None:
    assert default_encoder() is default_encoder()
