"""What shows that a change only saves work prints all that comes of a dialogue."""

from __future__ import annotations

from itertools import islice

from benchmark_files import benchmark

replayed = benchmark("replayed")
speed_data = benchmark("speed_data")


def test_a_replay_prints_the_same_twice() -> None:
    invented = speed_data.Invented(0)
    turns = list(islice(invented.turns(), 30))
    probes = list(islice(invented.probes(), 4))
    first = list(replayed.replayed(turns, probes))
    assert first == list(replayed.replayed(turns, probes))
    said = {line.split()[0] for line in first}
    assert said == {"ingested", "read", "answered", "told", "forgotten", "remembered", "exported"}
