"""Whether what a receipt says is forgotten still is: looked up in the rows, not in the receipt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from demem_agent.errors import InvalidInput, MemoryGone, StoreError
from demem_agent.later import dataclass
from demem_agent.slots.naming import LISTED, named_in
from demem_agent.stores.base import Address, Rows, Store
from demem_agent.stores.loading import load_state
from demem_agent.stores.portable import export
from demem_agent.text.units import Measure, measure
from demem_agent.types import Receipt, number_of

__all__ = ["Verified", "receipt_in", "verified"]

_FIELDS = tuple(Receipt.__annotations__)


@dataclass(frozen=True, slots=True)
class Verified:
    """What a memory was found to hold of what a receipt says is forgotten.

    Attributes:
        receipt: as it was given.
        found: why it does not hold, each in words; empty where it does.
    """

    receipt: Receipt
    found: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all that the receipt says is so."""
        return not self.found


def receipt_in(text: str) -> Receipt:
    """Return a receipt from JSON, as ``demem forget --json`` writes it.

    Raises:
        InvalidInput: for anything else.
    """
    allowed = f"a receipt in JSON, an object of lists of ids: {', '.join(_FIELDS)}"
    try:
        told = json.loads(text)
        receipt = Receipt(**{name: tuple(ids) for name, ids in told.items()})
        numbers = [*map(number_of, receipt.evidence)]
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidInput("receipt", text[:40], allowed) from error
    if not numbers:
        raise InvalidInput("receipt", "no ids", "that of something that was forgotten")
    return receipt


def verified(
    store: Store, address: Address, receipt: Receipt, counter: Measure | None = None
) -> Verified:
    """Look in a memory for what a receipt says is forgotten.

    Raises:
        MemoryGone: where there is no such memory.
        StoreError: if it cannot be read whole: then nobody knows.
    """
    rows = store.load(address)
    if rows is None:
        raise MemoryGone(address.memory_id)
    if rows.damaged:
        raise StoreError(f"damaged rows: {', '.join(rows.damaged)}; nobody knows what is in them")
    found = [*_there(rows, receipt), *_named(rows, receipt, counter), *_digests(rows, receipt)]
    found += _described(rows, receipt)
    if getattr(store, "owes_erasure", False):
        found.append("text that was forgotten may still be in the file or its log")
    return Verified(receipt, tuple(found))


def _there(rows: Rows, receipt: Receipt) -> Iterator[str]:
    live = {stored.evidence.id for stored in rows.evidence}
    for id in receipt.evidence:
        if id in live:
            yield f"{id} is in the memory"
        elif number_of(id) > rows.head.evidence:
            yield f"{id} was never in this memory"


def _named(rows: Rows, receipt: Receipt, counter: Measure | None) -> Iterator[str]:
    """Yield what refers to an item that is gone: what it is of would be told by that."""
    gone = frozenset(receipt.evidence)
    counts = counter if rows.settings.unit == "tokens" else None
    for line in export(load_state(rows, measure(rows.settings.unit, counts))):
        if line["kind"] != "evidence" or line["id"] not in gone:
            for id in sorted(gone.intersection(_texts_in(line))):
                yield f"{line['kind']} {line.get('id', line.get('number', ''))} names {id}"


def _digests(rows: Rows, receipt: Receipt) -> Iterator[str]:
    gone = frozenset(receipt.evidence)
    for one in rows.keyed:
        is_kept = one.request and one.kind != LISTED  # what a list says is known by it
        if is_kept and not gone.isdisjoint(named_in(one)):
            yield f"of the keyed call {one.seq} the digest is kept, which confirms a guess"


def _described(rows: Rows, receipt: Receipt) -> Iterator[str]:
    """Yield what was blanked and is not blank."""
    for context in (stored.context for stored in rows.contexts):
        if context.id in receipt.contexts and not context.redacted:
            yield f"the answer {context.id} is whole"
    for situation in (stored.situation for stored in rows.situations):
        if situation.id in receipt.situations and situation.text:
            yield f"the situation {situation.id} has its description"


def _texts_in(value: Any) -> Iterable[str]:
    """Yield every text in JSON values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part)
