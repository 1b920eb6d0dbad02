"""Show records as the dataclasses that they are, though their methods are written at first use."""

from __future__ import annotations

from typing import Any

import griffe

__all__ = ["Records"]

LATER = "demem_agent.later.dataclass"


class Records(griffe.Extension):
    """Has griffe, which knows dataclasses by the name of the decorator, take ours for its own."""

    def on_alias_instance(self, *, alias: griffe.Alias, **_: Any) -> None:
        """Let what is imported from us mean what type checkers are told that it is."""
        if alias.target_path == LATER:
            alias.target_path = "dataclasses.dataclass"
