"""Try generated requests on a server, and compare what comes back with its OpenAPI document.

``make test-server`` runs it, in an environment with schemathesis (which brings 31 packages, 90 MB,
and so is in no extra)::

    python tests/server/conformance.py --max-examples 6 --seed 1      5,500 requests: what CI runs
    python tests/server/conformance.py --max-examples 800 --seed 2    about 50,000

It prints what schemathesis prints and ends as it does: 0 where nothing was found. More arguments
go to ``schemathesis run``. Two passes are made: in the second a memory may be deleted and keys
revoked, the one that is used as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demem_agent.cli.demo.household import household
from demem_agent.server import KeyRing, make_app
from demem_agent.server.keys import SCOPES
from demem_agent.server.serving import Server
from demem_agent.stores import open_store

#: What the document allows may be refused all the same: that exactly one field is given, that an id
#: is known, that a time can be read, no schema tells. A 401 and a 500 are never right. What it does
#: not allow may be refused as 412 first, for a version that the memory does not have.
CONFIGURATION = """
[parameters]
"path.memory" = "household"

[[operations]]
include-operation-id = ["replay_certificate", "undo_certificate"]
parameters = {"path.id" = "c4"}

[checks]
negative_data_rejection.expected-statuses = ["4xx"]
positive_data_acceptance.expected-statuses = ["2xx", 304, 400, 403, 404, 409, 410, 412, 422]
"""
#: Schemathesis 4.32 turns tuples into the form of an older draft and then refuses that form; lines
#: of JSON it cannot write.
HOOKS = """
import schemathesis


def plain(part):
    if isinstance(part, list):
        return [plain(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {name: plain(each) for name, each in part.items()}
    if "prefixItems" in made:
        made["items"] = {"anyOf": made.pop("prefixItems")}
    return made


@schemathesis.hook
def before_load_schema(context, raw_schema):
    made = plain(raw_schema)
    raw_schema.clear()
    raw_schema.update(made)


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value.encode() if isinstance(value, str) else str(value).encode()
"""
ENDING = ("delete_memory", "revoke_key", "rotate_key")
#: It does not end by itself.
ENDLESS = ("--exclude-operation-id", "events")


@contextmanager
def serving() -> Iterator[tuple[str, str]]:
    """Serve a memory that has everything, the demo's; yield the URL and a key."""
    ring = KeyRing()
    _, key = ring.make("", list(SCOPES))
    store = open_store("memory://")
    household(store)
    app = make_app(store, keys=ring, clock=None)
    began = threading.Event()
    found: list[str] = []

    def on_start(url: str) -> None:
        found.append(url)
        began.set()

    server = Server(app, port=0, on_start=on_start)
    thread = threading.Thread(target=server.run)
    thread.start()
    began.wait()
    try:
        yield found[0], key
    finally:
        server.should_exit = True
        thread.join()


def tried(arguments: list[str]) -> int:
    """Run schemathesis against a new server; return its exit status."""
    with serving() as (url, key), tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "schemathesis.toml").write_text(CONFIGURATION)
        (Path(folder) / "hooks.py").write_text(HOOKS)
        program = str(Path(sys.executable).with_name("schemathesis"))
        command = [program, "run", f"{url}/openapi.json"]
        command += ["--header", f"Authorization: Bearer {key}", "--continue-on-failure"]
        environment = os.environ | {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": folder}
        return subprocess.run([*command, *arguments], cwd=folder, env=environment).returncode


def main(arguments: list[str]) -> int:
    """Make both passes; return the worse exit status."""
    apart = [word for name in ENDING for word in ("--exclude-operation-id", name)]
    alone = [word for name in ENDING for word in ("--include-operation-id", name)]
    return max(tried([*apart, *ENDLESS, *arguments]), tried([*alone, *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["--max-examples", "6", "--seed", "1"]))
