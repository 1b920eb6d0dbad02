"""Serve a memory over stdio or streamable HTTP, from Python or from a command line."""

from __future__ import annotations

import argparse
import ipaddress
import os
import sys
from collections.abc import Sequence
from typing import Any

from demem_adapters.common import Memories
from demem_adapters.mcp.server import make_app, make_server
from demem_agent import DeMemError, InvalidInput
from demem_agent.options import Options

__all__ = ["main", "serve"]

_INTERRUPTED = 130


def serve(
    server: Any,
    *,
    http: bool = False,
    host: str = "127.0.0.1",
    port: int = 8000,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
) -> None:
    """Serve until the client goes away (stdio) or the process is interrupted (HTTP).

    Nothing asks who a client is: what listens beyond this machine belongs behind a gateway that
    does.

    Raises:
        InvalidInput: for an address beyond this machine without ``hosts``, the names it may be
            called by.
    """
    if not http:
        _serve_stdio(server)
        return
    if not hosts and not _is_loopback(host):
        raise InvalidInput(
            "host",
            host,
            "a loopback address, unless the names it may be called by are given as well",
        )
    import uvicorn  # comes with mcp; not needed for stdio

    app = make_app(server, hosts=hosts, origins=origins)
    uvicorn.run(app, host=host, port=port, access_log=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``python -m demem_adapters.mcp`` and return its exit code.

    0: done. 1: a mistake, or a store that fails. 130: interrupted.

    Args:
        arguments: without the program's name; those of the process when None.
    """
    given = _parser().parse_args(arguments)
    try:
        url = _url(given.memory)
        with Memories(url, limit=given.limit, **_options(given)) as memories:
            namespace = None if given.namespace_per_call else given.namespace
            serve(
                make_server(memories, namespace=namespace, asker=given.asker),
                http=given.http,
                host=given.host,
                port=given.port,
                hosts=given.allow_host,
                origins=given.allow_origin,
            )
    except DeMemError as error:
        print(f"demem_adapters.mcp: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _options(given: argparse.Namespace) -> Options:
    """Return the options of memories that were typed."""
    options: Options = {"tenant": given.tenant}
    if given.decisions is not None:
        options["decisions"] = given.decisions
    return options


def _serve_stdio(server: Any) -> None:
    """Serve on copies of the process's streams: mcp 1.x closes those that it is given."""
    stdin = sys.stdin
    stdout = sys.stdout
    with (
        open(os.dup(stdin.fileno()), encoding="utf-8") as sys.stdin,
        open(os.dup(stdout.fileno()), "w", encoding="utf-8") as sys.stdout,
    ):
        try:
            server.run("stdio")
        finally:
            sys.stdin = stdin
            sys.stdout = stdout


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m demem_adapters.mcp", description="Serve a memory to MCP clients."
    )
    memory = os.environ.get("DEMEM_MEMORY", "memory://")
    parser.add_argument(
        "--memory", metavar="PATH", default=memory, help="SQLite file, or URL; in RAM unless given"
    )
    parser.add_argument(
        "--namespace", metavar="NAME", default="default", help="whose memory this server is"
    )
    parser.add_argument(
        "--namespace-per-call", action="store_true", help="have each call name it instead"
    )
    parser.add_argument("--tenant", metavar="NAME", default="default", help="whose namespaces")
    parser.add_argument("--limit", metavar="N", type=int, help="most that is recalled at once")
    parser.add_argument(
        "--asker", metavar="NAME", help="who asks in all calls; unless given each may say it"
    )
    parser.add_argument(
        "--decisions",
        action=argparse.BooleanOptionalAction,
        help="what proved right comes first when the same is decided again",
    )
    parser.add_argument(
        "--http", action="store_true", help="streamable HTTP at /mcp instead of stdio"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; this machine alone unless given"
    )
    parser.add_argument("--port", metavar="N", type=int, default=8000)
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="may be called by this name",
    )
    parser.add_argument(
        "--allow-origin",
        metavar="URL",
        action="append",
        default=[],
        help="of pages that may call it",
    )
    return parser


def _url(memory: str) -> str:
    return memory if "://" in memory else f"sqlite:///{memory}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
