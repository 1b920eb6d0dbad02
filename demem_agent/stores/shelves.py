"""Where memories lie that are not used: objects in a folder, in RAM, or in a bucket.

Needs an extra: ``pip install 'demem-agent[cold]'`` brings obstore, which knows S3, Google's and
Azure's stores by their URLs as well, with what they need to know you by from the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from demem_agent.errors import InvalidInput, MissingExtra, StoreError

if TYPE_CHECKING:
    import obstore
else:
    try:
        import obstore
    except ImportError as error:
        raise MissingExtra("memories that are put aside", "cold") from error

__all__ = ["Shelf", "shelf_at"]

_FILE = "file"
#: Objects that are younger are left alone when a shelf is swept: they may be on their way.
_YOUNG = timedelta(hours=1)


@cache
def shelf_at(url: str) -> Shelf:
    """Return the shelf of a URL; ``memory:///`` is one and the same in this process.

    Raises:
        InvalidInput: for what is none.
        StoreError: if it cannot be used.
    """
    return Shelf(url)


class Shelf:
    """Objects by their paths, each written once.

    Args:
        url: ``file:///var/cold``, ``s3://bucket/prefix``, ``memory:///``, or another that obstore
            knows.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        parts = urlsplit(url) if isinstance(url, str) else None
        if parts is None or not parts.scheme or "://" not in url:
            allowed = "'file:///path/to/folder', 's3://bucket/prefix' or 'memory:///'"
            raise InvalidInput("to", url, allowed)
        self._folder = unquote(parts.path) if parts.scheme == _FILE else None
        about: dict[str, Any] = {"mkdir": True} if self._folder is not None else {}
        with self._reported("open"):
            self._objects = obstore.store.from_url(url, **about)

    def put(self, path: str, data: bytes) -> None:
        """Write an object; it is there, also if the power fails, once this returns.

        Raises:
            StoreError: if it cannot be written, or there is such a one.
        """
        with self._reported("write"):
            obstore.put(self._objects, path, data, mode="create")
            if self._folder is not None:
                _synced(self._folder, path)

    def get(self, path: str) -> bytes:
        """Return an object.

        Raises:
            StoreError: if it cannot be read.
        """
        with self._reported("read"):
            found: bytes = obstore.get(self._objects, path).bytes().to_bytes()
            return found

    def delete(self, path: str) -> None:
        """Delete an object, if it is there.

        Raises:
            StoreError: if it cannot be deleted.
        """
        with self._reported("delete"):
            try:
                obstore.delete(self._objects, path)
            except FileNotFoundError:
                return

    def sweep(self, under: str, but: Iterable[str]) -> int:
        """Delete the objects under a path that nobody names, but for those of the last hour.

        Args:
            but: the paths of those that stay.

        Returns:
            How many there were.
        """
        named, before = {*but}, datetime.now(UTC) - _YOUNG
        gone = 0
        with self._reported("list"):
            for objects in obstore.list(self._objects, prefix=under):
                for one in objects:
                    if one["path"] not in named and one["last_modified"] < before:
                        self.delete(one["path"])
                        gone += 1
        return gone

    @contextmanager
    def _reported(self, doing: str) -> Iterator[None]:
        """Turn what obstore raises into a StoreError, here and nowhere else."""
        try:
            yield
        except (obstore.exceptions.BaseError, OSError, ValueError) as error:
            kind = type(error).__name__
            raise StoreError(f"cannot {doing} what is put aside at {self.url}: {kind}") from error


def _synced(folder: str, path: str) -> None:
    """Have a file, and the names that lead to it, be on the disk."""
    place = os.path.join(folder, path)
    while len(place) >= len(folder.rstrip("/")):
        opened = os.open(place, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
        place = os.path.dirname(place)
