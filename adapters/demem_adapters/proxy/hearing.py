"""What comes back from an upstream is heard as it passes: decoded, cut into events, and read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from demem_adapters.proxy.surfaces import Talk, read

__all__ = ["Ear", "can_hear", "ear_for"]

#: Most bytes of a response that are heard, decoded: what is longer is no answer that somebody said.
_MOST = 32 * 2**20
#: Of these in one document, or one event of a stream: to read it takes many times its bytes.
_LONGEST = 8 * 2**20
_GZIP = frozenset({"gzip", "x-gzip"})
_DONE = "[DONE]"


def can_hear(coding: str) -> bool:
    """Whether a response in a content coding can be heard."""
    return coding.strip().casefold() in {"", "identity", "deflate", *_GZIP}


def ear_for(talk: Talk, kind: str, coding: str) -> Ear:
    """Return what hears a response.

    Args:
        kind: its media type.
        coding: its content coding.
    """
    is_stream = kind.partition(";")[0].strip().casefold() == "text/event-stream"
    return (_StreamEar if is_stream else Ear)(talk, coding)


class Ear:
    """Hears a response that is one JSON document, when it is whole.

    Attributes:
        holds_back: whether its last bytes are to be passed on when it was heard, so that who asked
            finds it remembered.
    """

    holds_back = True

    def __init__(self, talk: Talk, coding: str) -> None:
        self.talk = talk
        #: Bytes that wait for the rest of what they are part of.
        self.waiting = 0
        self._decoder = _decoder(coding.strip().casefold())
        self._left = _MOST
        self._parts: list[bytes] = []
        self._deaf = False

    def take(self, data: bytes) -> None:
        """Hear some bytes; what cannot be read is heard no more, and passes all the same."""
        if self._deaf:
            return
        try:
            plain = (
                data if self._decoder is None else self._decoder.decompress(data, self._left + 1)
            )
            self._left -= len(plain)
            if self._left < 0:
                raise ValueError("too long")
            self._heard(plain)
            if self.waiting > _LONGEST:
                raise ValueError("too long")
        except (ValueError, zlib.error, RecursionError, TypeError, AttributeError):
            self._deafen()

    def end(self) -> None:
        """Hear that the response is whole."""
        if self._deaf:
            return
        try:
            self.talk.hear(read(b"".join(self._parts)))
        except (ValueError, RecursionError, TypeError, AttributeError):
            self._deafen()

    def _deafen(self) -> None:
        """Hear nothing more, and keep nothing of what was heard."""
        self._deaf = True
        self._parts = []
        self.waiting = 0

    def _heard(self, data: bytes) -> None:
        self._parts.append(data)
        self.waiting += len(data)


class _StreamEar(Ear):
    """Hears a stream of events as they come."""

    holds_back = False

    def __init__(self, talk: Talk, coding: str) -> None:
        super().__init__(talk, coding)
        self._line: list[bytes] = []
        self._data: list[str] = []

    def _deafen(self) -> None:
        super()._deafen()
        self._line, self._data = [], []

    def end(self) -> None:
        """Hear that the stream has ended: events end by themselves."""

    def _heard(self, data: bytes) -> None:
        for event in self._events(data):
            if event != _DONE:
                self.talk.hear(read(event))

    def _events(self, data: bytes) -> Iterator[str]:
        """Yield the data of the events that are whole by now."""
        for line in self._lines(data):
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip().decode())
            elif not line:
                event, self._data, self.waiting = "\n".join(self._data), [], 0
                if event:
                    yield event

    def _lines(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines that are whole by now; each byte of a long one is looked at once."""
        first, *others = data.split(b"\n")
        self._line.append(first)
        self.waiting += len(first)
        for begun in others:
            yield b"".join(self._line).removesuffix(b"\r")
            self._line = [begun]
            self.waiting += len(begun)


def _decoder(coding: str) -> zlib._Decompress | None:
    """Return what undoes a content coding, if there is one to undo."""
    if coding in _GZIP:
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    return zlib.decompressobj() if coding == "deflate" else None
