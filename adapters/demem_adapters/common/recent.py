"""What is held for a while: of the latest, no more than so many."""

from __future__ import annotations

import threading
from typing import Any, TypeVar

__all__ = ["Recent"]

Key = TypeVar("Key")
Value = TypeVar("Value")
_LOCK = threading.Lock()


class Recent(dict[Key, Value]):
    """A dict of at most ``most``: when there are more, what was put in first goes. Safe to put into
    from threads.
    """

    most = 1000

    def __init__(self, most: int = most) -> None:
        super().__init__()
        self.most = most

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.most,), None, None, iter([*self.items()])

    def __setitem__(self, key: Key, value: Value) -> None:
        with _LOCK:
            super().__setitem__(key, value)
            while len(self) > self.most:
                del self[next(iter(self))]
