"""What a run came to, as JSON."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

__all__ = ["as_json"]


def as_json(found: Any) -> str:
    """Return a dataclass as a JSON object.

    ``dataclasses.asdict`` will not do: before Python 3.12 it makes a Counter of the pairs of one.
    """
    return json.dumps({field.name: getattr(found, field.name) for field in fields(found)})
