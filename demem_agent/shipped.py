"""Files that ship with the package: the model of the encoder, the weights of scores."""

from __future__ import annotations

import os

__all__ = ["shipped"]

# importlib.resources and pathlib take longer to import than these files to read.
_FOLDER = os.path.dirname(__file__)


def shipped(path: str) -> bytes:
    """Return the content of a file, by its path in the package: ``scoring/weights.json``.

    Raises:
        OSError: if it cannot be read.
    """
    with open(os.path.join(_FOLDER, *path.split("/")), "rb") as file:
        return file.read()
