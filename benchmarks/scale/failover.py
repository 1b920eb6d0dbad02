"""A primary is killed while turns are remembered, and its standby takes over: what is lost.

    python benchmarks/scale/failover.py [--rounds 50] [--threads 8] [--commit on|remote_apply]
        [--asynchronous] [--behind 0] [--seed 0] [--json]

Two servers have a folder each, and one URL names both (``target_session_attrs=read-write``). A
process of some threads remembers turns by it as fast as it can, each thread in a memory of its own,
each turn under a key, and notes down what was acknowledged. A round: the one that is down is made
anew as the standby of the other, commits wait for it, all processes of the primary get SIGKILL
after a while drawn at random, and the standby is promoted. The clients go on; a call that fails is
made again under its key.

With ``--asynchronous`` no commit waits for the standby. With ``--behind`` the primary sends nothing
more for up to so many seconds before it is killed, as where a net is slow or cut.

At the end each turn that was acknowledged must be there once. Leaves with 1 where one is not; what
is lost with ``--asynchronous`` is told, and counts as a finding.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import psycopg
from kills import LATE, PATIENCE, SOON, Found, Worker, look

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from postgres_server import Server, programs


def url_of_both(servers: tuple[Server, Server]) -> str:
    """Return the URL by which a client finds the one that takes writes."""
    folders = ",".join(str(server.folder) for server in servers)
    both = f"host={folders}&port=5432,5432&user=postgres"
    return f"postgresql:///postgres?{both}&target_session_attrs=read-write&connect_timeout=2"


def told(server: Server, statement: str) -> list[tuple[object, ...]]:
    """Return what a server says to a statement."""
    with psycopg.connect(server.url, autocommit=True) as db:
        cursor = db.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until something holds."""
    late = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > late:
            sys.exit(f"in {PATIENCE:.0f} s {what}")
        time.sleep(0.02)


def wait_for_standby(primary: Server, commit: str) -> None:
    """Have each commit wait until the standby has it, and until that is so."""
    told(primary, f"ALTER SYSTEM SET synchronous_commit = '{commit}'")
    told(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    told(primary, "SELECT pg_reload_conf()")
    state = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
    until(lambda: told(primary, state), "the standby is not synchronous")
    ((now,),) = told(primary, "SELECT pg_current_wal_lsn()")
    # What was acknowledged before commits waited.
    flushed = f"SELECT 1 FROM pg_stat_replication WHERE flush_lsn >= '{now}'"
    until(lambda: told(primary, flushed), "the standby does not catch up")


def cut_off(primary: Server) -> None:
    """Have a primary send its standby nothing more."""
    ((sender,),) = told(primary, "SELECT pid FROM pg_stat_replication")
    assert isinstance(sender, int)
    os.kill(sender, signal.SIGSTOP)


def tried(bin: Path, options: argparse.Namespace) -> tuple[Found, list[float]]:
    """Kill the primary again and again; return what was found, and how long nobody could write."""
    drawn = random.Random(options.seed)
    primary = Server(bin, durable=True)
    standby = Server(bin, durable=True, follows=primary)
    url = url_of_both((primary, standby))
    worker = Worker(url, "failover", options.threads)
    found = Found("asynchronous" if options.asynchronous else options.commit)
    without = []
    try:
        for round in range(options.rounds):
            if round:
                standby.follow(primary)
            worker.goes_on()
            if not options.asynchronous:
                wait_for_standby(primary, options.commit)
            time.sleep(drawn.uniform(SOON, LATE))
            if options.behind:
                cut_off(primary)
                time.sleep(drawn.uniform(0, options.behind))
            primary.kill()
            began = time.monotonic()
            standby.promote()
            worker.goes_on()
            without.append(time.monotonic() - began)
            primary, standby = standby, primary
            found.kills += 1
        worker.kill()
        look(url, worker, found)
    finally:
        worker.kill()
        primary.close()
        standby.close()
    return found, without


def main() -> None:
    """Kill, look, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--commit", choices=("on", "remote_apply"), default="on")
    parser.add_argument("--asynchronous", action="store_true")
    parser.add_argument("--behind", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bin = programs()
    if bin is None or not (bin / "pg_basebackup").exists():
        sys.exit("no PostgreSQL with pg_basebackup: pip install pgserver")
    found, without = tried(bin, options)
    if options.json:
        print(json.dumps({**found.plain(), "seconds_without": without}))
    else:
        print(found)
        print(
            f"nobody could write for {median(without):.1f} s (median), {max(without):.1f} at most"
        )
    if set(found.wrong) - ({"turns lost"} if options.asynchronous else set()):
        sys.exit(1)


if __name__ == "__main__":
    main()
