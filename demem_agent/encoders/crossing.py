"""Rerankers: a cross-encoder of sentence-transformers, by its name or as it is loaded."""

from __future__ import annotations

import threading
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders.info import as_numbers
from demem_agent.errors import CollaboratorError, InvalidInput, MissingExtra

__all__ = ["CrossEncoderReranker", "relevances"]

_LIBRARY = "sentence_transformers"


@runtime_checkable
class _Predicts(Protocol):
    """A loaded cross-encoder: it scores pairs of a query and a text."""

    def predict(self, sentences: list[tuple[str, str]], /) -> Any: ...


class CrossEncoderReranker:
    """A :class:`~demem_agent.types.Reranker` of a cross-encoder of sentence-transformers.

    Args:
        model: its name or folder, such as ``cross-encoder/ms-marco-MiniLM-L6-v2``, loaded when it
            is first needed; or one that is loaded, anything with ``predict(pairs)``.

    Safe to use from several threads, one at a time.

    Raises:
        MissingExtra: for a name, if sentence-transformers is not installed.
        InvalidInput: for a blank name, or what has no ``predict``.
    """

    def __init__(self, model: str | _Predicts) -> None:
        self._lock = threading.Lock()
        self._model: _Predicts | None = None
        if isinstance(model, str):
            if not model.strip():
                raise InvalidInput("reranker", model, "the name or folder of a cross-encoder")
            if find_spec(_LIBRARY) is None:
                raise MissingExtra("a reranker by name", "sentence-transformers")
            self.name = model
        elif isinstance(model, _Predicts) and not isinstance(model, type):
            self._model = model
            self.name = type(model).__name__
        else:
            raise InvalidInput("reranker", model, "a name, or an object with predict(pairs)")

    def score(self, query: str, texts: list[str], /) -> NDArray[np.float64]:
        """Return how well each text answers the query, on the model's own scale, shape (n,).

        Raises:
            CollaboratorError: for anything but one number a text.
        """
        pairs = [(query, text) for text in texts]
        with self._lock:
            given = self._loaded().predict(pairs)
        return relevances(given, len(texts))

    def _loaded(self) -> _Predicts:
        if self._model is not None:
            return self._model
        loaded: _Predicts = import_module(_LIBRARY).CrossEncoder(self.name)
        self._model = loaded
        return loaded


def relevances(given: object, n: int) -> NDArray[np.float64]:
    """Return what a reranker gave for n texts, shape (n,).

    Raises:
        CollaboratorError: for anything but n finite numbers, be it in a column.
    """
    numbers = as_numbers(given, "the reranker")
    if numbers.shape == (n, 1):
        numbers = numbers[:, 0]
    if numbers.shape != (n,):
        raise CollaboratorError(f"the reranker gave numbers of shape {numbers.shape} for {n} texts")
    if not np.isfinite(numbers).all():
        raise CollaboratorError("the reranker gave values that are not finite numbers")
    return numbers
