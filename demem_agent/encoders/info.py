"""What DeMem has to know of any encoder: which one it is, and that what it returned can be used."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.errors import CollaboratorError
from demem_agent.later import dataclass

__all__ = ["EncoderInfo", "as_matrix", "describe", "query_method"]

# Where libraries keep the name of what they loaded, the most telling first: sentence-transformers,
# model2vec (twice), the tokenizer of any transformers model.
_MODEL_NAMES = (
    "model_card_data.base_model",
    "base_model_name",
    "config.tokenizer_name",
    "tokenizer.name_or_path",
)


@dataclass(frozen=True, slots=True)
class EncoderInfo:
    """Which encoder a memory was built with.

    Attributes:
        name: the same on every machine for the same encoder.
        fingerprint: tells two versions of one name apart; empty when the encoder does not give one.
        multilingual: whether it says that its vectors of one meaning are alike in any language.
    """

    name: str
    fingerprint: str = ""
    multilingual: bool = field(default=False, compare=False)


def describe(encoder: object) -> EncoderInfo:
    """Name an encoder.

    By its own ``name`` and ``fingerprint`` where it has them, else by what it is. A
    sentence-transformers or model2vec model is its class and the model it was loaded from, as in
    ``SentenceTransformer(sentence-transformers/all-MiniLM-L6-v2)``; of a local folder only the last
    part counts, since the rest differs between machines. Anything else is its class. No model is
    loaded or run.
    """
    name = _text(encoder, "name") or _name_by_what_it_is(encoder)
    multilingual = getattr(encoder, "multilingual", False) is True
    return EncoderInfo(name, _text(encoder, "fingerprint"), multilingual)


def _name_by_what_it_is(encoder: object) -> str:
    kind = type(encoder)
    model = next(_model_names(encoder), "")
    if model:
        return f"{kind.__name__}({model})"
    return f"{kind.__module__}.{kind.__qualname__}"


def query_method(encoder: object) -> Callable[[list[str]], Any] | None:
    """Return the method by which an encoder encodes whole questions; None where it has none."""
    method = getattr(encoder, "encode_query", None)
    return method if callable(method) else None


def as_matrix(raw: object, n: int) -> NDArray[np.float32]:
    """Turn what an encoder returned for n texts into an array whose rows have length 1.

    Takes arrays and lists of any real type, torch tensors on any device and lists of them, and for
    one text a plain vector. Rows of zeros stay zero. A row's result depends on that row alone.

    Returns:
        Shape (n, d).

    Raises:
        CollaboratorError: for another shape, no dimensions, or a value that is not a finite number.
    """
    array = as_numbers(raw)
    if n == 1 and array.ndim == 1:
        array = array[None, :]
    if n == 0 and array.size == 0:
        dimensions = array.shape[1] if array.ndim == 2 else 0
        return np.zeros((0, dimensions), np.float32)
    _check_rows(array, n)
    return _unit(array)


def _check_rows(array: NDArray[np.float64], n: int) -> None:
    """Refuse what is not n rows of finite numbers."""
    fits = array.ndim == 2 and array.shape[0] == n and array.shape[1] > 0
    if not fits:
        raise CollaboratorError(f"the encoder gave an array of shape {array.shape} for {n} texts")
    if not np.isfinite(array).all():
        raise CollaboratorError("the encoder gave values that are not finite numbers")


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    largest = np.abs(rows).max(axis=1, keepdims=True)
    largest[largest == 0] = 1
    scaled = rows / largest  # so that no square overflows or vanishes
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    lengths[lengths == 0] = 1
    unit: NDArray[np.float32] = (scaled / lengths[:, None]).astype(np.float32)
    return unit


def as_numbers(raw: object, who: str = "the encoder") -> NDArray[np.float64]:
    """Return an array of what somebody gave: arrays, lists and torch tensors of any real type.

    Raises:
        CollaboratorError: naming who gave anything else.
    """
    try:
        array = np.asarray(_off_device(raw))
        if array.dtype.kind in "fiu" or array.size == 0:
            return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise CollaboratorError(
            f"{who} gave {type(raw).__name__}, which is no array of numbers"
        ) from error
    raise CollaboratorError(
        f"{who} gave {type(raw).__name__} of {array.dtype}, which are no real numbers"
    )


def _off_device(raw: object) -> object:
    """Copy torch tensors, or a list of them, to where numpy can read them."""
    if isinstance(raw, list | tuple):
        return [_plain(row) for row in raw]
    return _plain(raw)


def _plain(item: Any) -> Any:
    # A tensor is known by its methods, so that torch need not be imported.
    if hasattr(item, "detach"):
        return item.detach().cpu().double().numpy()
    return item


def _model_names(encoder: object) -> Iterator[str]:
    for attribute in _MODEL_NAMES:
        found = _text(encoder, attribute)
        if found:
            yield os.path.basename(os.path.normpath(found)) if os.path.isabs(found) else found


def _text(thing: object, path: str) -> str:
    """Return what stands at a dotted path of attributes and keys, if it is a text, else ""."""
    for part in path.split("."):
        thing = thing.get(part) if isinstance(thing, dict) else getattr(thing, part, None)
    return thing if isinstance(thing, str) else ""
