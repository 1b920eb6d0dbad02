"""Keys for what comes without an id of its own."""

from __future__ import annotations

import hashlib
import json

__all__ = ["digest"]

_LENGTH = 32


def digest(*parts: object) -> str:
    """Return a key of 32 hexadecimal digits, the same for the same parts."""
    written = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:_LENGTH]
