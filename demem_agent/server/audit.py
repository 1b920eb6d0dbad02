"""What was done, by whom and when: a line each, with ids and numbers and no text."""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime

from demem_agent.errors import StoreError

__all__ = ["Audit"]


class Audit:
    """A file of JSON lines that is only ever added to; its owner alone may read it.

    Raises:
        StoreError: if it cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        try:
            self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        except OSError as error:
            raise StoreError(f"cannot open the audit log {path}: {error.strerror}") from error

    def note(self, **told: object) -> None:
        """Write a line, with the time in UTC."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"at": at, **told}).encode() + b"\n"
        with self._lock:
            os.write(self._file, line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
