"""Names and the whole numbers that stand for them in a column."""

from __future__ import annotations

import numpy as np

from demem_agent.scoring.columns import Column

__all__ = ["Names"]


class Names:
    """Names and the whole number that stands for each in a column; none is given twice."""

    def __init__(self) -> None:
        self.codes: dict[str | None, int] = {}
        self._given = 0

    def code(self, name: str | None) -> int:
        """Return the number of a name, a new one where the name is new."""
        if name not in self.codes:
            self.codes[name] = self._given
            self._given += 1
        return self.codes[name]

    def keep(self, column: Column) -> None:
        """Drop the names that no passage has any more."""
        present = set(np.unique(column.view()).tolist())
        self.codes = {name: code for name, code in self.codes.items() if code in present}
