"""The public benchmarks: their names, how each is read, what is expected and where it is from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from demem_agent.cli.faults import UsageError
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import (
    Dialogue,
    load_beam,
    load_locomo,
    load_longmemeval,
    load_memoryarena,
)

__all__ = ["BENCHMARKS", "Benchmark", "benchmark_named", "loaded"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A data set that users fetch themselves.

    Attributes:
        load: reads it.
        expected: what there must be at the path, in words.
        source: where it is from.
    """

    name: str
    load: Callable[[Path], list[Dialogue]]
    expected: str
    source: str


BENCHMARKS: Mapping[str, Benchmark] = {
    "locomo": Benchmark(
        "LoCoMo",
        load_locomo,
        "a file such as locomo10.json",
        "https://github.com/snap-research/locomo",
    ),
    "longmemeval": Benchmark(
        "LongMemEval",
        load_longmemeval,
        "a file such as longmemeval_s.json, plain or gzipped",
        "https://github.com/xiaowu0162/LongMemEval",
    ),
    "beam": Benchmark(
        "BEAM",
        load_beam,
        "a folder of chats, each with chat.json and probing_questions.json",
        "https://github.com/mohammadtavakoli78/BEAM",
    ),
    "memoryarena": Benchmark(
        "MemoryArena",
        partial(load_memoryarena, every=True),
        "a file of rows, or a folder of *.jsonl",
        "arXiv 2602.16313",
    ),
}


def benchmark_named(name: str) -> Benchmark:
    """Return the benchmark of a name.

    Raises:
        InvalidInput: if there is none.
    """
    if name not in BENCHMARKS:
        raise InvalidInput("benchmark", name, f"one of {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]


def loaded(benchmark: Benchmark, data: Path | None, option: str = "--data") -> list[Dialogue]:
    """Read a benchmark from the user's file or folder.

    Args:
        option: of the command, which takes it.

    Raises:
        UsageError: if none was named, or there is none.
    """
    wanted = f"{option} takes {benchmark.expected} ({benchmark.source}), which DeMem does not ship"
    if data is None:
        raise UsageError(f"where is {benchmark.name}? {wanted}")
    if not data.exists():
        raise UsageError(f"there is no {benchmark.name} at {data}: {wanted}")
    return benchmark.load(data)
