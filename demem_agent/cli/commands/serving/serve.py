"""``demem serve``: the memories of a store behind a URL."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from demem_agent.cli.commands.serving.guests import Guests
from demem_agent.cli.commands.serving.places import Served
from demem_agent.cli.commands.serving.plan import Plan, Told, logging_at, told_of
from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Budget, Helpers
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_json, print_line
from demem_agent.stores import shown_url

__all__ = ["serve"]


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
    workers: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=256,
            help="Processes that serve; each opens memories of its own, of the RAM together.",
        ),
    ] = 1,
    work_too_old: Annotated[
        float,
        typer.Option(
            metavar="MINUTES",
            min=0,
            help="Not ready once queued work of demem worker has waited so long; 0 for never.",
        ),
    ] = 15,
    read_age: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.01,
            help="Read from the replica of the store's URL where it is no older. [never]",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log faults alone.")] = False,
) -> None:
    """Serve memories over HTTP, until it is told to end; what was begun is done first.

    Without a key only this machine may call, and only until there is one: see demem keys. The
    settings (--slots, ...) are those of memories that are made here. The log on stderr has names
    of operations, numbers and ids of keys, and no text. --json prints where it serves as JSON.
    """
    served.require_folder()
    plan = Plan(
        served=served,
        budget=budget,
        helpers=helpers,
        guests=guests,
        names=(*(allow_host or ()), *_named(host)),
        body=max_body * 2**20,
        rate=rate,
        ram=ram * 2**20 // workers,
        tenant=tenant,
        encoder=encoder,
        audit=audit,
        otlp=otlp,
        level=logging.ERROR if quiet else logging.INFO,
        work_too_old=work_too_old * 60,
        read_age=read_age,
    )

    def say(address: str, told: Told) -> None:
        _say(address, told, served, guests, output)

    if workers == 1:
        _serve_here(plan, host, port, say)
    else:
        _serve_by(workers, plan, host, port, say)


def _serve_here(plan: Plan, host: str, port: int, say: Callable[[str, Told], None]) -> None:
    from demem_agent.server import serve as run

    with plan.app() as app:
        run(app, host=host, port=port, on_start=lambda at: say(at, told_of(app)))


def _serve_by(
    workers: int, plan: Plan, host: str, port: int, say: Callable[[str, Told], None]
) -> None:
    from demem_agent.server import serve_workers

    if plan.served.keys_path is None:
        raise UsageError("--workers takes --keys PATH where the store is no file of this machine")
    with logging_at(plan.level):
        serve_workers(
            plan.app,
            workers,
            host=host,
            port=port,
            rate=plan.rate,
            told_of=told_of,
            on_start=say,
        )


def _named(host: str) -> tuple[str, ...]:
    """Return the name that an address to listen on is, where it is one address."""
    return () if host in ("0.0.0.0", "::", "") else (host,)


def _say(address: str, told: Told, served: Served, guests: Guests, output: Output) -> None:
    """Print what is served, and to whom."""
    if output.json:
        counted = {"memories": told.memories, "keys": told.keys}
        print_json({"url": address, "store": shown_url(served.url), **counted})
    else:
        many = _many(told.memories, "memory", "memories")
        print_line(f"{shown_url(served.url)} ({many}) is served at {address}")
        print_line(_whom(told, served.keys_path))
        for line in guests.said(address):
            print_line(line)
        print_line(f"a page to look inside: {address}/")
        print_line(f"what can be asked: {address}/openapi.json")
    sys.stdout.flush()


def _whom(told: Told, path: str | None) -> str:
    if not told.has_keys:
        return "to this machine alone, without a key; demem keys create makes one"
    return f"to whoever has one of {_many(told.keys, 'valid key', 'valid keys')} of {path}"


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"
