"""Background work on memories: notes, summaries, and what is kept no longer.

What is due follows from the memories themselves, and each operation that does it is checked
against the version that it began from: work may be begun twice, and takes effect once.
:class:`Rounds` looks through the memories of any store by itself.
"""

from __future__ import annotations

from demem_agent.jobs.kinds import KINDS, Done, Means, Rule, attempted, kinds_of
from demem_agent.jobs.rounds import Rounds
from demem_agent.jobs.runners import Runner, runner_of
from demem_agent.jobs.trying import MOST_TRIES, wait_after

__all__ = [
    "KINDS",
    "MOST_TRIES",
    "Done",
    "Means",
    "Rounds",
    "Rule",
    "Runner",
    "attempted",
    "kinds_of",
    "runner_of",
    "wait_after",
]
