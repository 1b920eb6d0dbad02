"""What is left of what was forgotten, for a thief who has kept every sealed row that ever was.

    python benchmarks/reliability/canaries.py [--count 40] [--seed 0] [--json]

Each canary is a secret that is told in an item, its speaker, its metadata and a question about it,
by a keyed turn, and every third time in a correction. It is forgotten by one route after another:
by id, by the caller's own id, by a date, by a filter. Before that all rows are packed, as when a
memory is closed. Then the files are read: as they are, and with every sealed row that ever was
opened where its key still lies anywhere in a file. A canary is left if its secret or its vector is
found, or the digest of a keyed call that told it, by which a guess could be confirmed. Every call
is made once more afterwards, and must bring nothing back.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent import SlotMemory
from demem_agent.encoders import as_matrix
from demem_agent.scoring.directions import rounded
from demem_agent.stores import sealing, snapshots
from demem_agent.stores.bodies import parts_of
from demem_agent.stores.sealing import SECRET
from demem_agent.stores.vectors import codes_to_bytes, vectors_to_bytes
from demem_agent.testing import BagEncoder, ReadingAnswerer

ENCODER = BagEncoder(64)
OPTIONS: dict[str, Any] = {"encoder": ENCODER, "answerer": ReadingAnswerer(), "clock": None}
FIRST = datetime(2020, 1, 1)
#: Items that stay, for each canary.
OTHERS = 5
CORRECTED = 3
_DIGEST = re.compile(rb"[0-9a-f]{64}")
Sealed = dict[bytes, bytes]
Seal = Callable[[bytes, bytes, bytes, str, bytes], bytes]


def noting(sealed: Sealed, seal: Seal) -> Seal:
    """Return what seals a row or its vectors and keeps what they were, by their secret."""

    def noted(body: bytes, secret: bytes, file: bytes, place: str, use: bytes = b"") -> bytes:
        told = body if use else b"".join(parts_of(body))
        sealed[secret] = sealed.get(secret, b"") + told
        return seal(body, secret, file, place, use)

    return noted


def secrets_in(content: bytes, sealed: Sealed) -> set[bytes]:
    """Return the secrets that lie anywhere in the bytes of a file."""
    known = np.frombuffer(b"".join(secret[:8] for secret in sealed), "<u8")
    found = set()
    for shift in range(8):
        numbers = np.frombuffer(content, "<u8", (len(content) - shift) // 8, shift)
        for place in np.flatnonzero(np.isin(numbers, known)):
            start = shift + 8 * int(place)
            found.add(content[start : start + SECRET])
    return found & sealed.keys()


def legible(folder: Path, sealed: Sealed) -> bytes:
    """Return all that can be read of the files of a folder."""
    files = [path.read_bytes() for path in folder.iterdir()]
    opened: list[bytes] = []
    for content in files:
        if len(content) >= SECRET:
            opened += (sealed[secret] for secret in secrets_in(content, sealed))
    return b"\n".join([*files, *opened])


class Canary:
    """A secret, and what would tell of it."""

    def __init__(self, number: int, drawn: random.Random) -> None:
        self.number = number
        self.secret = f"zq{drawn.randrange(10**8):08d}x"
        self.text = f"The password of safe {number} is {self.secret}."
        self.at = FIRST + timedelta(days=number)
        self.digests: list[bytes] = []
        self.given: dict[str, Any] = {
            "speaker": f"Mr {self.secret}",
            "key": f"turn {number}",
            "source_id": f"note {number}",
            "metadata": {"of": self.secret},
            "at": self.at,
        }

    def tell(self, memory: SlotMemory) -> None:
        """Have a memory hold it in every way there is."""
        before = memory._held.state.head.seq
        told = memory.ingest(self.text, **self.given)
        self.id = told.evidence_id
        memory.answer(f"Is it true that the password of safe {self.number} is {self.secret}.")
        answer = memory.answer(f"What is the password of safe {self.number}?")
        if self.number % CORRECTED == 0:
            memory.feedback(answer, correction=self.text, key=f"f{self.number}")
        else:
            memory.feedback(answer, reference=f"it is {self.secret}")
        memory.decide(f"Asked: {self.text}", ("tell", "hide"), key=f"d{self.number}")
        for one in memory._held.state.keyed.values():
            if one.seq > before:
                self.digests += _DIGEST.findall(f"{one.key} {one.request}".encode())

    def tell_again(self, memory: SlotMemory) -> bool:
        """Make the keyed turn again, as a client does that never got a reply; tell if it is back.

        ``ingest_many`` tells the secret as well, for the same key in a batch.
        """
        items = len(memory.evidence())
        memory.ingest(self.text, **self.given)
        memory.ingest_many([{"text": self.text, **self.given}])
        return len(memory.evidence()) != items

    def forget(self, memory: SlotMemory) -> None:
        """Forget it by one route or another."""
        route = self.number % 4
        if route == 0:
            memory.forget(self.id)
        elif route == 1:
            memory.forget(source_id=f"note {self.number}")
        elif route == 2:
            memory.forget(before=self.at + timedelta(hours=1))
        else:
            memory.forget(where={"speaker": f"Mr {self.secret}"})

    def is_left_in(self, content: bytes) -> list[str]:
        """Say what is left of it."""
        vector = vectors_to_bytes(ENCODER.encode([self.text])[0])
        codes = codes_to_bytes(rounded(as_matrix(ENCODER.encode([self.text]), 1)))
        signs = {"text": self.secret.encode(), "vector": vector, "codes": codes or vector}
        return [name for name, token in signs.items() if token in content]


def measure(count: int, seed: int) -> dict[str, Any]:
    """Tell and forget so many secrets; return what is left of them, and what came back."""
    drawn = random.Random(seed)
    sealed: Sealed = {}
    seal = sealing.seal
    sealing.seal = noting(sealed, seal)  # type: ignore[assignment]  # it takes the same
    fewest, snapshots.FEWEST = snapshots.FEWEST, 1
    left: dict[str, list[str]] = {}
    secrets: list[str] = []
    seen = digests = told = back = 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            with SlotMemory.open(f"sqlite:///{place}/a.db", **OPTIONS) as memory:
                for number in range(count):
                    canary = Canary(number, drawn)
                    secrets.append(canary.secret)
                    memory.ingest_many([{"text": f"the lamp {drawn.random()} is lit"}] * OTHERS)
                    canary.tell(memory)
                    memory._held.pack()  # as when it is closed
                    seen += bool(canary.is_left_in(legible(place, sealed)))
                    canary.forget(memory)
                    content = legible(place, sealed)
                    digests += any(digest in content for digest in canary.digests)
                    told += len(canary.digests)
                    back += canary.tell_again(memory)
                    signs = canary.is_left_in(content)
                    if signs:
                        left[f"{number}, route {number % 4}"] = signs
                memory.check()
                export = json.dumps(memory.export())
                if any(secret in export for secret in secrets):
                    left["export"] = ["text"]
    finally:
        sealing.seal = seal
        snapshots.FEWEST = fewest
    return {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "seed": seed,
        "canaries": count,
        "seen_before": seen,
        "left": left,
        "digests": told,
        "digests_left": digests,
        "back": back,
    }


def main() -> None:
    """Print what is left; fail where anything is, or where nothing was seen before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.count, options.seed)
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print(f"{result['machine']}, seed {result['seed']}")
        print(f"{result['canaries']} canaries, {result['seen_before']} found before, after:")
        print(f"  digests of what keyed calls told, of {result['digests']}:", end=" ")
        print(f"of {result['digests_left']} canaries; back by a retry: {result['back']}")
        print(
            "  texts and vectors: none"
            if not result["left"]
            else json.dumps(result["left"], indent=1)
        )
    found = result["left"] or result["digests_left"] or result["back"]
    sys.exit(bool(found) or result["seen_before"] != result["canaries"])


if __name__ == "__main__":
    main()
