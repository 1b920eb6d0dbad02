"""Cursors: where a list goes on, signed, so that nobody can make one up or use it elsewhere."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json

from demem_agent.server.refusals import Refusal

__all__ = ["Cursors"]

_TAG = 16


class Cursors:
    """Makes and reads cursors.

    Args:
        secret: what they are signed with.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def made(self, place: object, last: str | int) -> str:
        """Return the cursor of what comes after a record.

        Args:
            place: of which list, under which filter, and for whom, as JSON values: only there is
                the cursor of use.
            last: the record's id or number.
        """
        text = json.dumps(last).encode()
        return base64.urlsafe_b64encode(self._tag(place, text) + text).decode().rstrip("=")

    def read(self, place: object, cursor: str) -> str | int:
        """Return the id or number of the record that a cursor goes on after.

        Raises:
            Refusal: if it was not made for this place.
        """
        try:
            data = base64.b64decode(_padded(cursor), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise _refused() from None
        tag, text = data[:_TAG], data[_TAG:]
        if not hmac.compare_digest(tag, self._tag(place, text)):
            raise _refused()
        last: str | int = json.loads(text)
        return last

    def _tag(self, place: object, text: bytes) -> bytes:
        where = json.dumps(place, sort_keys=True).encode()
        said = len(where).to_bytes(8, "big") + where + text
        return hmac.new(self._secret, said, hashlib.sha256).digest()[:_TAG]


def _padded(cursor: str) -> str:
    return cursor + "=" * (-len(cursor) % 4)


def _refused() -> Refusal:
    return Refusal("bad-cursor", "the cursor is none that this list gave, with this key and filter")
