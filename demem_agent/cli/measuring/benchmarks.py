"""The public benchmarks: their names, how each is read, what is expected and where it is from."""

from __future__ import annotations

import hashlib
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

__all__ = ["BENCHMARKS", "Benchmark", "benchmark_named", "digest_of", "found", "loaded"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A data set that users fetch themselves.

    Attributes:
        load: reads it.
        for_model: reads it for a model that answers; None where questions have no reference each.
        unanswerable: whether a model is asked as well what nothing answers.
        expected: what there must be at the path, in words.
        source: where it is from.
    """

    name: str
    load: Callable[[Path], list[Dialogue]]
    expected: str
    source: str
    for_model: Callable[[Path], list[Dialogue]] | None = None
    unanswerable: bool = False


BENCHMARKS: Mapping[str, Benchmark] = {
    "locomo": Benchmark(
        "LoCoMo",
        load_locomo,
        "a file such as locomo10.json",
        "https://github.com/snap-research/locomo",
        for_model=load_locomo,
    ),
    "longmemeval": Benchmark(
        "LongMemEval",
        load_longmemeval,
        "a file such as longmemeval_s.json, plain or gzipped",
        "https://github.com/xiaowu0162/LongMemEval",
        for_model=partial(load_longmemeval, by_type=True),
        unanswerable=True,
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
        for_model=partial(load_memoryarena, every=True),
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
    return benchmark.load(found(benchmark, data, option))


def found(benchmark: Benchmark, data: Path | None, option: str = "--data") -> Path:
    """Return where a benchmark is.

    Args:
        option: of the command, which takes it.

    Raises:
        UsageError: if no place was named, or nothing is there.
    """
    wanted = f"{option} takes {benchmark.expected} ({benchmark.source}), which DeMem does not ship"
    if data is None:
        raise UsageError(f"where is {benchmark.name}? {wanted}")
    if not data.exists():
        raise UsageError(f"there is no {benchmark.name} at {data}: {wanted}")
    return data


def digest_of(data: Path) -> str:
    """Return the SHA-256 of a file; of a folder, that of the names and contents of its files."""
    if data.is_file():
        return _sha256(data.read_bytes())
    files = sorted(path for path in data.rglob("*") if path.is_file())
    lines = [f"{_sha256(path.read_bytes())}  {path.relative_to(data).as_posix()}" for path in files]
    return _sha256("\n".join(lines).encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
