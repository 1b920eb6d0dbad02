"""``demem open``: look inside a memory, in a browser."""

from __future__ import annotations

import sys
import threading
import webbrowser
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from demem_agent.cli.commands.serving.places import Served
from demem_agent.cli.demo.household import household
from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_json, print_line
from demem_agent.stores import Store, open_store

if TYPE_CHECKING:
    from demem_agent.server import KeyRing

__all__ = ["open_page"]


def open_page(
    output: Output,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="SQLite file, or URL. [a memory made for the show]"),
    ] = None,
    memory_id: Annotated[
        str | None,
        typer.Option("--memory-id", metavar="NAME", help="Which of its memories. [the first]"),
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="[one that is free]")
    ] = 0,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", envvar="DEMEM_ENCODER", help="As for demem serve."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")
    ] = True,
) -> None:
    """Look inside a memory with a page in the browser, until this is ended (Ctrl+C).

    It serves this machine alone, on a port of its own. The address has a key that is made for this
    once and is kept nowhere: whoever has not the address is refused. Without a file it shows a
    memory that is made for it, in RAM.
    """
    from demem_agent.server import KeyRing, make_app
    from demem_agent.server import serve as run

    ring = KeyRing()
    app = make_app(_store(file), keys=ring, **Place(encoder=encoder).options())
    key = _key(ring)

    def say(address: str) -> None:
        url = _address(address, memory_id, key)
        if output.json:
            print_json({"url": url})
        else:
            print_line(url)
            print_line("Ctrl+C ends it")
        sys.stdout.flush()
        if browser:
            # A browser in the terminal would be waited for, and itself waits for this server.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    run(app, port=port, on_start=say)


def _store(file: str | None) -> str | Store:
    """Return the store that is looked into.

    Raises:
        UsageError: for a file that is not there: looking makes none.
    """
    if file is None:
        store = open_store("memory://")
        household(store)
        return store
    served = Served(store=file)
    path = Place(served.url).path
    if path is not None and not path.is_file():
        raise UsageError(f"there is no file {path}; demem ingest makes one")
    return served.url


def _key(ring: KeyRing) -> str:
    """Return a key for everything, which ends with this process."""
    from demem_agent.server.keys.records import SCOPES

    _, written = ring.make("", list(SCOPES), name="demem open")
    return written


def _address(address: str, memory_id: str | None, key: str) -> str:
    """Return the address with the key where no server sees it."""
    place = "" if memory_id is None else f"&memory={quote(memory_id, safe='')}"
    return f"{address}/#key={key}{place}"
