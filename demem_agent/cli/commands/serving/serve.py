"""``demem serve``: the memories of a store behind a URL."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from demem_agent.cli.commands.serving.guests import Guests
from demem_agent.cli.commands.serving.places import Served
from demem_agent.cli.memory_options import Budget, Helpers, Place
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_json, print_line
from demem_agent.stores import shown_url

if TYPE_CHECKING:
    from demem_agent.server import App

__all__ = ["serve"]

_LOGGERS = ("demem.server", "uvicorn.error", "asyncio")


def serve(
    output: Output,
    served: Served,
    budget: Budget,
    helpers: Helpers,
    guests: Guests,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="To listen on; this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="0 for any that is free.")
    ] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="May be called by this name; may be repeated."),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Note down who did what, without text. [nowhere]"),
    ] = None,
    max_body: Annotated[
        int, typer.Option(metavar="MB", min=1, max=1024, help="Most that a request may have.")
    ] = 8,
    rate: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.01, help="Requests a second of each key. [no bound]"),
    ] = None,
    ram: Annotated[
        int, typer.Option(metavar="MB", min=1, help="Most that open memories may take together.")
    ] = 512,
    tenant: Annotated[str, typer.Option(metavar="NAME", help="Whose memories.")] = "default",
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="DEMEM_ENCODER",
            help="A sentence-transformers or model2vec model, or its folder. [the shipped one]",
        ),
    ] = None,
    otlp: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Collector that spans are sent to. [none are]"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log faults alone.")] = False,
) -> None:
    """Serve memories over HTTP, until it is told to end; what was begun is done first.

    Without a key only this machine may call, and only until there is one: see demem keys. The
    settings (--slots, ...) are those of memories that are made here. The log on stderr has names
    of operations, numbers and ids of keys, and no text. --json prints where it serves as JSON.
    """
    from demem_agent.server import Limits, make_app
    from demem_agent.server import serve as run
    from demem_agent.server.exporting import exporting

    served.require_folder()
    settings = {**budget.given(), **helpers.given(), **Place(encoder=encoder).options()}
    app = make_app(
        served.url,
        keys=served.keys_path,
        names=(*(allow_host or ()), *_named(host)),
        limits=Limits(body=max_body * 2**20, rate=rate),
        audit=audit,
        most_bytes=ram * 2**20,
        guests=guests.invited(),
        tenant=tenant,
        **settings,
    )
    with _logging(logging.ERROR if quiet else logging.INFO), exporting(otlp):
        run(app, host=host, port=port, on_start=lambda at: _say(at, served, guests, app, output))


def _named(host: str) -> tuple[str, ...]:
    """Return the name that an address to listen on is, where it is one address."""
    return () if host in ("0.0.0.0", "::", "") else (host,)


def _say(address: str, served: Served, guests: Guests, app: App, output: Output) -> None:
    """Print what is served, and to whom."""
    count = len(app.house.pool.names())
    keys = sum(key.is_valid() for key in app.house.ring.all())
    if output.json:
        told = {"url": address, "store": shown_url(served.url), "memories": count, "keys": keys}
        print_json(told)
    else:
        print_line(
            f"{shown_url(served.url)} ({_many(count, 'memory', 'memories')}) is served at {address}"
        )
        print_line(_whom(app, keys, served.keys_path))
        for line in guests.said(address):
            print_line(line)
        print_line(f"a page to look inside: {address}/")
        print_line(f"what can be asked: {address}/openapi.json")
    sys.stdout.flush()


def _whom(app: App, keys: int, path: str | None) -> str:
    if not app.house.ring.has_any():
        return "to this machine alone, without a key; demem keys create makes one"
    return f"to whoever has one of {_many(keys, 'valid key', 'valid keys')} of {path}"


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


@contextmanager
def _logging(level: int) -> Iterator[None]:
    """Have the server's log, and what uvicorn and asyncio warn of, go to stderr meanwhile.

    By a handler that needs nothing more: what others would load for it may not be there to be
    opened, where too much is open already.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    loggers[0].setLevel(level)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.propagate = True
