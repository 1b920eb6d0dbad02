"""A server of two workers, and the processes that another has begun, to be killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

__all__ = ["Served", "begun_by", "holds_soon", "served", "workers_of"]


class Served:
    """A server of two workers."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url

    def is_ready(self) -> bool:
        with suppress(URLError, ConnectionError):
            return bool(urlopen(f"{self.url}/health/ready").status == 200)
        return False

    def workers(self) -> list[int]:
        """Return the processes that serve."""
        return workers_of(self.process.pid)


def begun_by(parent: int, word: bytes) -> list[int]:
    """Return the processes that one has begun whose command has a word in it, on Linux."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent and word in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return sorted(found)


def workers_of(parent: int) -> list[int]:
    """Return the workers that a process has begun."""
    return begun_by(parent, b"spawn_main")


def holds_soon(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until something holds; return whether it does."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    """Serve by two workers, of a file in a folder unless the options say otherwise."""
    command = [sys.executable, "-m", "demem_agent.cli", "serve", "--port", "0", "--json"]
    command += ["--store", "bot.db", "--workers", "2", *options]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            told += line
        try:
            yield Served(process, json.loads(told)["url"])
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=60)
