"""``demem keys``: who may do what to which of the memories that are served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from demem_agent.cli.commands.serving.places import Served
from demem_agent.cli.faults import UsageError
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_json, print_line
from demem_agent.cli.tables.cells import add_columns, cell, day, table

if TYPE_CHECKING:
    from demem_agent.server import Key, KeyRing

__all__ = ["keys"]

_ACTIONS = "create|list|rotate|revoke"


def keys(
    action: Annotated[str, typer.Argument(metavar=_ACTIONS, help="What is to be done.")],
    output: Output,
    served: Served,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Of the key that is rotated or revoked.")
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="It reaches memories whose ids begin so; '' for all."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--only", metavar="ID", help="It reaches this memory and no other."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="Some of read,write,feedback,forget,admin; may be repeated."
        ),
    ] = None,
    name: Annotated[str, typer.Option(metavar="TEXT", help="Whose it is, for people.")] = "",
    days: Annotated[
        float | None, typer.Option(metavar="N", help="After how many it expires. [never]")
    ] = None,
    hours: Annotated[
        float, typer.Option(metavar="N", min=0, help="How long a rotated key still holds.")
    ] = 24.0,
) -> None:
    """Make, list, rotate and revoke the keys of demem serve.

    A key is shown once, when it is made, and kept by nobody but you. As soon as there is one,
    everybody needs one. A server that runs goes by what is done here at once.
    """
    from demem_agent.server import KeyRing

    served.require_folder()
    path = served.keys_path
    if path is None:
        raise UsageError("a store in RAM has no keys; name a file: --keys PATH")
    with KeyRing(path) as ring:
        if action == "create":
            _show_made(output, *_created(ring, prefix, memory, scope, name, days))
        elif action == "list":
            _show_all(output, ring.all())
        elif action == "rotate":
            _show_made(output, *ring.rotate(_given(id), hours=hours))
        elif action == "revoke":
            _show_revoked(output, ring.revoke(_given(id)))
        else:
            raise UsageError(f"{action!r} is none of {_ACTIONS.replace('|', ', ')}")


def _created(
    ring: KeyRing,
    prefix: str | None,
    memory: str | None,
    scope: list[str] | None,
    name: str,
    days: float | None,
) -> tuple[Key, str]:
    if (prefix is None) == (memory is None):
        says = "which memories? pass one of --prefix team-a/, --prefix '' for all, and --only ID"
        raise UsageError(says)
    if not scope:
        raise UsageError("what may it do? pass --scope read,write")
    scopes = [one.strip() for given in scope for one in given.split(",")]
    return ring.make(memory or prefix or "", scopes, name=name, days=days, exact=memory is not None)


def _given(id: str | None) -> str:
    if id is None:
        raise UsageError("which key? its id is the middle part; demem keys list has all")
    return id


def _show_made(output: Output, key: Key, written: str) -> None:
    if output.json:
        print_json({**_value(key), "key": written})
        return
    print_line(written)
    print_line(f"it reaches {_reach(key)}, for {', '.join(key.scopes)}; it is not shown again")


def _show_revoked(output: Output, key: Key) -> None:
    if output.json:
        print_json({**_value(key), "revoked": True})
    else:
        print_line(f"{key.id} is refused from now on")


def _show_all(output: Output, found: Sequence[Key]) -> None:
    output.show([_value(key) for key in found], _table(found))


def _table(found: Sequence[Key]) -> Table:
    shown = table(f"{len(found)} keys" if len(found) != 1 else "1 key")
    add_columns(shown, "id", "name", "reaches", "scopes", "made", "expires", "is")
    for key in found:
        state = "revoked" if key.revoked else "valid" if key.is_valid() else "expired"
        cells = map(cell, (key.id, key.name, _reach(key), ", ".join(key.scopes)))
        shown.add_row(*cells, day(key.made), day(key.expires), state)
    return shown


def _reach(key: Key) -> str:
    if key.exact:
        return f"the memory {key.prefix}"
    return f"memories {key.prefix}..." if key.prefix else "all memories"


def _value(key: Key) -> dict[str, Any]:
    from demem_agent.server.endpoints.keys import shown_of

    return shown_of(key)
