"""Names and the whole numbers that stand for them in a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.columns import Column

__all__ = ["Names"]


class Names:
    """Names and the whole number that stands for each in a column; none is given twice."""

    def __init__(self) -> None:
        self.codes: dict[str | None, int] = {}
        self._given = 0

    def load(self, codes: Mapping[str | None, int], column: NDArray[np.int32]) -> NDArray[np.int32]:
        """Begin with names that have the numbers from 0 on; return the column of these."""
        self.codes = dict(codes)
        self._given = len(self.codes)
        return column

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

    def names(self, codes: NDArray[Any]) -> list[str | None]:
        """Return the names that some numbers stand for."""
        of_code = {code: name for name, code in self.codes.items()}
        return [of_code[code] for code in codes.tolist()]
