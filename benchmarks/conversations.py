"""How much of generated conversations is lost, doubled, foreign or out of order in a memory.

Several messages before an answer, errors, retries, edits, answers made anew or cut off, tool loops,
restarts, and in one of three a store that fails now and then: with what all adapters share, or
through an adapter whose framework is installed::

    python benchmarks/conversations.py --count 10000
    python benchmarks/conversations.py --count 10000 --adapter openai

With ``--processes 4`` that many processes talk at the same time on one SQLite file (which wants the
extra ``sqlite``), each with a user of its own and all in one namespace; ``--count`` files.

``--short`` has them for a half to a third of the time: what is recalled is what was said last
instead of what bears on the question, pauses are shorter, and some of a framework's own work is
done once. One in ten is had in full all the same.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from demem_adapters.common import Memories
from demem_agent.testing import BagEncoder

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from generated_conversations import Conversation, FailingStore, problems_of
from several_processes import several
from shortcuts import shortcuts
from talks import TALKS, talk_through

#: One of so many conversations is had in full.
_IN_FULL = 10


def opened(rng: random.Random) -> Callable[[], Memories]:
    """Return what opens the memories of a conversation, in one of three on a store that fails."""
    store = FailingStore(rng, rng.choice((0.0, 0.0, 0.1)))
    background = rng.random() < 0.2
    return lambda: Memories(store, encoder=BagEncoder(), background=background)


def main() -> None:
    """Have conversations, and print the first problems and how many had any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--adapter", choices=TALKS, help="the core of all unless given")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--short", action="store_true")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # of the store that is made to fail
    seeds = range(given.seed, given.seed + given.count)
    if given.processes > 1:
        with several(given.processes, given.adapter, short=given.short) as processes:
            report(seeds, processes.problems_of)
        return
    talk = talk_through(given.adapter) if given.adapter else Conversation

    def had(seed: int) -> list[str]:
        takes_all = seed % _IN_FULL == 0 or not given.short
        with nullcontext() if takes_all else shortcuts(given.adapter):
            return problems_of(seed, opened, conversation=talk)

    report(seeds, had)


def report(seeds: range, having: Callable[[int], list[str]]) -> None:
    """Have the conversations of each seed; print the first problems, and all seeds with any."""
    found: Counter[str] = Counter()
    bad: list[int] = []
    for seed in seeds:
        problems = having(seed)
        if problems and len(bad) < 3:
            print(seed, *problems, sep="\n  ", flush=True)
        if problems:
            bad.append(seed)
            found[problems[-1].partition(":")[0]] += 1
    print(f"{len(seeds)} conversations, {len(bad)} with a problem: {dict(found)} {bad[:100]}")


if __name__ == "__main__":
    main()
