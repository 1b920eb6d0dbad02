"""Copy and pickle a memory: with all it holds if it lives in RAM, else as a handle on its store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from demem_agent.errors import InvalidInput
from demem_agent.held import Held
from demem_agent.options import Options, collaborators
from demem_agent.stores import SCHEMES, MemoryStore, Store, open_store, require_no_key
from demem_agent.stores.portable import export, restore

if TYPE_CHECKING:
    from demem_agent.stores.wrapping import EncryptionKey

__all__ = ["Kept", "Lines", "kept_of", "made_again", "opened"]

#: Exported lines of a memory, as ``export`` gives them.
Lines = Iterable[Mapping[str, Any]]


def opened(
    url: str | Store,
    options: Options,
    *,
    lines: Lines | None = None,
    skip_damaged: bool = False,
    reembed: bool = False,
    encryption_key: EncryptionKey | None = None,
) -> Held:
    """Open a store and a memory in it, first made of exported ``lines`` if these are given.

    A store that was opened from a URL is closed again where the memory cannot be opened.
    """
    if not isinstance(url, str | Store):
        known = ", ".join(repr(scheme.example) for scheme in SCHEMES.values())
        raise InvalidInput("url", url, f"{known} or a store")
    is_own = isinstance(url, str)
    if isinstance(url, str):
        store = open_store(url, encryption_key=encryption_key)
    else:
        require_no_key(encryption_key)
        store = url
    try:
        if lines is not None:
            _restore(lines, store, options)
        held = Held(options, store, skip_damaged=skip_damaged, reembed=reembed)
    except BaseException:
        if is_own:
            store.close()
        raise
    held.owns_store = is_own
    return held


class Kept(TypedDict):
    """What makes a memory again elsewhere: all its lines, or else the store that it lives in."""

    options: Options
    store: Store | None
    lines: Lines


def kept_of(held: Held) -> Kept:
    """Return what makes a memory again elsewhere: all it holds, or the store that it lives in."""
    options = held.options()
    store = held.team.store
    if isinstance(store, MemoryStore):
        return {"options": options, "store": None, "lines": list(export(held.state))}
    return {"options": options, "store": store, "lines": ()}


def made_again(kept: Kept) -> Held:
    """Make a memory from what :func:`kept_of` gave; its store is nobody else's."""
    store = kept["store"]
    if store is None:
        store = MemoryStore()
        _restore(kept["lines"], store, kept["options"])
    held = Held(kept["options"], store)
    held.owns_store = True
    return held


def _restore(lines: Lines, store: Store, options: Options) -> None:
    address = collaborators(options, store).address
    restore(lines, store, address, options.get("counter"))
