"""The row of a file: how often memories of it were deleted or renamed, and which there are.

It tells when the row of a memory is missing, so that no empty one takes its place.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from demem_agent.errors import StoreError
from demem_agent.later import dataclass
from demem_agent.stores.base import Address
from demem_agent.stores.codec import dumps
from demem_agent.stores.keys import REGISTER, Keys
from demem_agent.stores.sealing import packed, unpacked

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = ["Register", "read_register", "require_all", "write_register"]

_COLUMNS = ("memories", "names")
_NAMES = 16


@dataclass(frozen=True, slots=True)
class Register:
    """What is known of the memories of a file.

    Attributes:
        era: how many were deleted or renamed.
        memories: how many there are.
        names: what their addresses come to, in whatever order.
    """

    era: int = 0
    memories: int = 0
    names: bytes = bytes(_NAMES)

    def with_memory(self, address: Address) -> Register:
        """Return it with a memory more."""
        return replace(self, memories=self.memories + 1, names=_xor(self.names, address))

    def without_memory(self, address: Address) -> Register:
        """Return it with a memory less."""
        return replace(self, memories=self.memories - 1, names=_xor(self.names, address))


def read_register(db: Database, keys: Keys) -> Register:
    """Return what a file says of its memories.

    Raises:
        StoreError: if that is damaged.
    """
    row = db.execute("SELECT era, sealed FROM erasure").fetchone()
    try:
        body = keys.unseal(row["sealed"], _place(row["era"]), REGISTER)
    except (TypeError, ValueError) as error:
        raise StoreError("the row of the file is damaged") from error
    return Register(row["era"], **unpacked(body, _COLUMNS))


def write_register(db: Database, keys: Keys, register: Register) -> None:
    """Write what a file says of its memories."""
    body = packed([register.memories, register.names])
    _, sealed = keys.seal(body, _place(register.era), REGISTER)
    db.execute("UPDATE erasure SET era = ?, sealed = ?", (register.era, sealed))


def require_all(db: Database, register: Register) -> None:
    """Refuse to go on where the row of a memory is not there, or under another address.

    Raises:
        StoreError: then.
    """
    there = Register(register.era)
    for row in db.execute("SELECT tenant, memory_id FROM memory NOT INDEXED"):
        there = there.with_memory(Address(*map(str, row)))
    if there.memories != register.memories:
        raise StoreError(f"of {register.memories} memories, {there.memories} are in the file")
    if there.names != register.names:
        raise StoreError("a memory is in the file under another id than it was given")
    told = db.execute("PRAGMA integrity_check(memory)").fetchone()[0]
    if told != "ok":
        raise StoreError(f"the list of memories is damaged: {told}")


def _xor(names: bytes, address: Address) -> bytes:
    digest = hashlib.blake2b(dumps(list(address)).encode("ascii"), digest_size=_NAMES).digest()
    return bytes(one ^ other for one, other in zip(names, digest, strict=True))


def _place(era: int) -> str:
    return f"erasure {era}"
