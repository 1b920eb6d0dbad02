"""What is said of background work in the log: kinds, ids of memories and numbers, no text."""

from __future__ import annotations

import logging

from demem_agent.jobs.kinds import Done

__all__ = ["tell"]

_log = logging.getLogger("demem.work")


def tell(kind: str, memory_id: str, done: Done, wait: float | None) -> None:
    """Say what came of a piece of work, where anything did.

    Args:
        wait: seconds until it is tried again, where it failed; None where it is given up.
    """
    if done.count:
        _log.info("%s of %r: %d", kind, memory_id, done.count)
    if done.failed and wait is not None:
        _log.warning("%s of %r failed, again in %d s: %s", kind, memory_id, wait, done.failed)
    elif done.failed:
        _log.error("%s of %r given up until it changes: %s", kind, memory_id, done.failed)
