"""Commands of ``demem`` in processes that need not import it first: forks of one that has.

Most of the time of a short command goes into imports. A page of documentation with ten commands
shows no more where each of them imports everything once more; that a command starts cold is tried
by the README and by the tests of ``demem_agent.cli``.

As a program this is the one that is forked. What asks it is a script of few imports, which hands on
what it was called with (arguments, environment, folder, standard streams) and the signals it gets,
and ends as the command ends.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["warm_demem"]

#: What asks, without what an installation adds to the start of Python.
ASKS = textwrap.dedent("""\
    import json, os, signal, socket, sys
    HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
    asking = socket.socket(socket.AF_UNIX)
    asking.connect({address!r})
    called = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
    socket.send_fds(asking, [len(called).to_bytes(4, "big")], [0, 1, 2])
    asking.sendall(called)
    pid = int.from_bytes(asking.recv(4), "big")
    for number in HANDED_ON:
        signal.signal(number, lambda number, _: os.kill(pid, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
    told = asking.recv(2)
    if len(told) < 2:
        sys.exit("what runs commands is gone")
    code = int.from_bytes(told, "big", signed=True)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
    """)


@contextmanager
def warm_demem() -> Iterator[Path]:
    """Write ``demem`` into a folder, and have what it asks run as long as it is wanted."""
    with TemporaryDirectory(prefix="demem") as made:  # a socket may have no long path
        folder = Path(made)
        address = str(folder / "socket")
        started = [sys.executable, __file__, address]
        with subprocess.Popen(started, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as forked:
            assert forked.stdout is not None
            assert forked.stdout.readline() == b"listening\n"
            try:
                yield _script(folder, address)
            finally:
                forked.kill()


def _script(folder: Path, address: str) -> Path:
    asks, script = folder / "asks.py", folder / "demem"
    asks.write_text(ASKS.format(address=address))
    start = shlex.join([sys.executable, "-IS", str(asks)])
    script.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    script.chmod(0o755)
    return script


def serve(address: str) -> int:
    """Fork for each call; a fork returns how its command ended, and the one forked never does."""
    from demem_agent.cli import main
    from demem_agent.cli.app import run  # noqa: F401  # what `main` imports when it is called

    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    print("listening", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    while True:
        asking, _ = listening.accept()
        if os.fork():
            asking.close()
            continue
        listening.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return main(_called(asking))


def _called(asking: socket.socket) -> list[str]:
    """Fork once more, and have the fork be what was called; the other tells how that ended.

    Returns:
        the arguments.
    """
    length, streams, *_ = socket.recv_fds(asking, 4, 3)
    with asking.makefile("rb") as told:
        arguments, environment, folder = json.loads(told.read(int.from_bytes(length, "big")))
    pid = os.fork()
    if pid:
        _end_as(pid, asking)
    asking.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # The old ones hold where they were in what the streams were before.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[:] = ["demem", *arguments]
    return list(arguments)


def _end_as(pid: int, asking: socket.socket) -> None:
    """Tell who asks of a process and how it ended, and end too."""
    asking.sendall(pid.to_bytes(4, "big"))
    _, status = os.waitpid(pid, 0)
    asking.sendall(os.waitstatus_to_exitcode(status).to_bytes(2, "big", signed=True))
    os._exit(0)


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1]))
