"""Measure memory beside a model that is slow, or fails: python benchmarks/models.py [--rounds 200]
[--json]

A provider on this machine (``demem_agent.testing.Provider``), in a process of its own, speaks the
protocol; the real ``openai`` client talks to it.

* compressions: under each way to fail, so many summaries of a memory that changes in between.
  Counted: evidence lost, summaries over L, summaries that cover what is not in their slot, and
  summaries that were kept although spoilt.
* one call: HTTP requests and seconds at worst, with the default retries.
* beside: ingest and read while the provider stalls, against the same without any model.
* at once: 50 answers of an async memory at a provider that takes 200 ms, against 200 ms.
* prefix: how much of each prompt begins as the one before it did, over 50 questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise, product
from multiprocessing.synchronize import Event
from typing import Any

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.errors import ModelError
from demem_agent.llms import (
    Breaker,
    Completion,
    ModelAnswerer,
    ModelCompressor,
    OpenAIChat,
    Options,
    Prompt,
    Retry,
    shared_prefix,
)
from demem_agent.testing import Provider, obedient

FAULTS = (
    "429", "500", "reset", "stall", "slow-drip", "html", "null-content", "no-choices", "cut-json",
    "wrong-schema", "unknown-ids", "too-long", "invented-numbers", "injected",
)  # fmt: skip
BOUGHT = product(range(1, 11), ("boiler", "violin", "fern"), ("Porto", "Oslo"))
TURNS = [
    {
        "text": f"On day {n} Ana paid {17 * n % 90 + 3} euros for the {thing} in {place}.",
        "speaker": "Ana",
        "at": f"2025-03-{day:02d}",
    }
    for n, (day, thing, place) in enumerate(BOUGHT)
]
CONCURRENT, DELAY = 50, 0.2
QUESTIONS = 50


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200, help="compressions under each fault")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


def main() -> None:
    """Measure memory beside a model that is slow or fails, and print what was found."""
    given = options()
    with serving(0.0) as url, serving(DELAY * 1000) as slow:
        by_fault = {fault: compressions(url, fault, given.rounds) for fault in FAULTS}
        found: dict[str, Any] = {"compressions": by_fault}
        found["one call, worst"] = worst_call(url)
        found["beside, ms p99"] = beside(url)
        found["at once, times the ideal"] = round(min(at_once(slow) for _ in range(3)), 2)
        found["stable prefix"] = round(prefix(url), 3)
    print(json.dumps(found, indent=1) if given.json else table(found))


@contextmanager
def serving(delay_ms: float) -> Iterator[str]:
    """Serve in a process of its own, so that it does not share an interpreter with what is
    measured.
    """
    context = multiprocessing.get_context("spawn")
    urls = context.Queue()
    done = context.Event()
    process = context.Process(target=_serve, args=(delay_ms, urls, done), daemon=True)
    process.start()
    try:
        yield urls.get(timeout=60)
    finally:
        done.set()
        process.join(10)


def _serve(delay_ms: float, urls: Any, done: Event) -> None:
    with Provider(obedient, delay_ms=delay_ms, retry_after=0.01) as provider:
        urls.put(provider.url)
        done.wait()


def compressions(url: str, fault: str, rounds: int) -> dict[str, int]:
    """Have a summary written ``rounds`` times by a model with a fault, the memory changing in
    between.
    """
    compressor = ModelCompressor(_faulty(url, fault))
    memory = SlotMemory(slots=1, slot_limit=300, compressor=compressor)
    memory.ingest_many(TURNS)
    bad = dict.fromkeys(("lost", "over L", "invalid cover", "kept"), 0)
    for n in range(rounds):
        memory.ingest(f"Small talk {n} about the weather.", speaker="Ben")
        bad["kept"] += sum(done.kept for done in memory.summarise())
        bad["lost"] += len(TURNS) + n + 1 - len(memory)
        for slot in memory.slots:
            bad["over L"] += slot.size > memory.settings.slot_limit
            bad["invalid cover"] += not set(slot.cover) <= set(slot.evidence)
    memory.check()
    return {**bad, "asked": rounds, "shown as failed": compressor.failures.count}


def _faulty(url: str, fault: str) -> OpenAIChat:
    """Return a model with a fault that is asked twice and given up soon."""
    retry = Retry(attempts=2, seconds=0.2, first_wait=0.001, longest_wait=0.002)
    return OpenAIChat(f"fault-{fault}", base_url=url, retry=retry, breaker=Breaker())


def worst_call(url: str) -> dict[str, float]:
    """Return the most HTTP requests and seconds of one call, with the default retries."""
    requests = 0
    seconds = 0.0
    for fault in ("429", "500", "stall", "slow-drip"):
        model = OpenAIChat(f"fault-{fault}", base_url=url, breaker=Breaker())
        started = time.perf_counter()
        try:
            model.complete(Prompt("Reply.", "Now."), Options(max_tokens=50))
        except ModelError as error:
            requests = max(requests, error.requests)
        seconds = max(seconds, time.perf_counter() - started)
    return {"requests": requests, "seconds": round(seconds, 1)}


def beside(url: str) -> dict[str, float]:
    """Time ingest and read alone, and while another thread waits for a provider that stalls."""
    model = OpenAIChat(
        "fault-stall", base_url=url, retry=Retry(attempts=1, seconds=30.0), breaker=Breaker()
    )
    memory = SlotMemory(
        slot_limit=300, answerer=ModelAnswerer(model), compressor=ModelCompressor(model)
    )
    memory.ingest_many(TURNS)
    alone = timed(memory)
    for work in (lambda: memory.answer("What did Ana pay in Oslo?"), memory.summarise):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)
    down = timed(memory)
    found = {f"{name}, alone": round(took, 2) for name, took in alone.items()}
    return found | {f"{name}, down": round(took, 2) for name, took in down.items()}


def timed(memory: SlotMemory) -> dict[str, float]:
    """Return how long an ingest and a read take, in milliseconds at the 99th percentile."""

    def p99(act: Callable[[int], object]) -> float:
        times = []
        for n in range(200):
            started = time.perf_counter()
            act(n)
            times.append((time.perf_counter() - started) * 1000)
        return statistics.quantiles(times, n=100)[98]

    return {
        "ingest": p99(lambda n: memory.ingest(f"Small talk {n} about the fern.", speaker="Ben")),
        "read": p99(lambda n: memory.read("What did Ana pay for the violin in Oslo?")),
    }


def at_once(url: str) -> float:
    """Give how many times one reply's delay so many answers at once take."""

    async def run() -> float:
        model = OpenAIChat("good", base_url=url, concurrency=CONCURRENT)
        memory = AsyncSlotMemory(answerer=ModelAnswerer(model))
        await memory.ingest_many(TURNS)
        await memory.answer("What did Ana pay in Oslo?")  # connections and imports are made once
        started = time.perf_counter()
        await asyncio.gather(
            *(memory.answer(f"What did Ana pay on day {n}?") for n in range(CONCURRENT))
        )
        return time.perf_counter() - started

    return asyncio.run(run()) / DELAY


def prefix(url: str) -> float:
    """Give the mean share of the bytes of a prompt that begin the one before it as well."""
    asked: list[Prompt] = []
    chat = OpenAIChat("good", base_url=url)

    class Watched:
        name = "good"

        def complete(self, prompt: Prompt, options: Options, /) -> Completion:
            asked.append(prompt)
            return chat.complete(prompt, options)

        async def acomplete(self, prompt: Prompt, options: Options, /) -> Completion:
            asked.append(prompt)
            return await chat.acomplete(prompt, options)

    memory = SlotMemory(answerer=ModelAnswerer(Watched()), read_limit=2000)
    memory.ingest_many(TURNS)
    for n in range(QUESTIONS):
        memory.answer(f"What did Ana pay on day {n}?")
    return statistics.mean(shared_prefix(a, b) for a, b in pairwise(asked))


def table(found: dict[str, Any]) -> str:
    """List what was found as aligned text."""
    rows = list(found["compressions"].items())
    names = list(rows[0][1])
    lines = [f"{'fault':<18}" + "".join(f"{name:>17}" for name in names)]
    for fault, row in rows:
        cells = [f"{row[name]:>17}" for name in names]
        lines.append(f"{fault:<18}" + "".join(cells))
    lines += [f"{name}: {value}" for name, value in found.items() if name != "compressions"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
