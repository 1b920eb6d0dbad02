"""What is reckoned and simulated of many memories comes to what it must in cases that are known."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from benchmark_files import benchmark

load = benchmark("load", "scale")
units = benchmark("units", "scale")
plan = benchmark("plan", "scale")
simulate = benchmark("simulate", "scale")

UNITS = units.Units(
    items=1_000,
    machine="none",
    commit="none",
    item_bytes=1_000.0,
    object_bytes=500_000.0,
    process_bytes=1e8,
    memory_bytes=1e6,
    collects_every=10.0,
    seconds={
        "read": [0.004, 0.006],
        "ingest": [0.01],
        "open": [0.02],
        "collect": [0.0],
        "follow": [0.003],
        "cool": [0.1],
        "back": [0.05],
    },
)
LOAD = simulate.Load(memories=50, most_open=50, requests=2_000, writes=0.0, think=0.05)


def test_the_most_popular_are_drawn_as_often_as_they_are_to_be() -> None:
    zipf = load.Zipf(100, 1.0, random.Random(0))
    drawn = [zipf.draw() for _ in range(20_000)]
    assert min(drawn) == 0
    assert max(drawn) == 99
    assert sum(one < 10 for one in drawn) / len(drawn) == pytest.approx(zipf.share_of(10), abs=0.02)
    alike = load.Zipf(100, 0.0, random.Random(0))
    assert alike.share_of(10) == pytest.approx(0.1)


def test_where_all_are_open_each_is_opened_once() -> None:
    told = simulate.simulated(LOAD, UNITS)
    assert told.missed == pytest.approx(50 / 2_000)


def test_a_client_who_is_alone_waits_for_what_is_done_and_no_longer() -> None:
    told = simulate.simulated(replace(LOAD, clients=1), UNITS)
    assert told.p99 == pytest.approx(0.006)
    # A round is .05 s of thought, on average, and .005 of work.
    assert told.rate == pytest.approx(1 / 0.0551, rel=0.05)


def test_a_worker_that_is_never_idle_does_as_much_as_it_can() -> None:
    told = simulate.simulated(replace(LOAD, clients=60), UNITS)
    assert told.busy > 0.99
    assert told.rate == pytest.approx(1 / 0.00525, rel=0.05)
    assert told.p50 == pytest.approx(60 * 0.005 - 0.05, rel=0.1)


def test_two_workers_do_twice_as_much_and_follow_each_others_writes() -> None:
    one = simulate.simulated(replace(LOAD, clients=60), UNITS)
    two = simulate.simulated(replace(LOAD, clients=60, workers=2), UNITS)
    assert two.rate == pytest.approx(2 * one.rate, rel=0.03)
    write = replace(LOAD, clients=60, writes=0.5, memories=2)
    alone = simulate.simulated(write, UNITS)
    both = simulate.simulated(replace(write, workers=2), UNITS)
    assert both.rate < 2 * alone.rate * 0.95


def test_who_keeps_fewer_opens_more() -> None:
    shares = [
        simulate.simulated(replace(LOAD, most_open=most), UNITS).missed for most in (2, 10, 25)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.5


def test_ten_times_as_many_need_ten_times_as_much() -> None:
    assumed = plan.Assumed()
    some, more = (plan.needs_of(count, UNITS, assumed) for count in (1e7, 1e8))
    assert some.disk == 1e7 * 1e6
    assert some.objects == pytest.approx(0.99 * 1e7 * 5e5)
    for figure in ("disk", "disk_hot", "objects", "ram", "cores", "commits", "dollars"):
        assert getattr(more, figure) == pytest.approx(10 * getattr(some, figure))
    assert more.dollars_aside < more.dollars


def test_at_a_wall_what_is_needed_is_what_there_is() -> None:
    assumed = plan.Assumed()
    walls = plan.walls_of(UNITS, assumed)
    assert [*walls.values()] == sorted(walls.values())
    at = plan.needs_of(walls["the RAM of one machine"], UNITS, assumed)
    assert at.ram == pytest.approx(assumed.machine * 1e9)
    at = plan.needs_of(walls["the commits of one primary"], UNITS, assumed)
    assert at.commits == pytest.approx(assumed.commits)


def test_what_is_slow_together_is_waited_for_longer_than_what_is_slow_now_and_then() -> None:
    quick, slow = [0.004] * 800, [0.02] * 200
    mixed = random.Random(0).sample(quick + slow, 1_000)
    load = replace(LOAD, requests=8_000)
    together, apart = (
        simulate.simulated(load, replace(UNITS, seconds={**UNITS.seconds, "read": reads}))
        for reads in (quick + slow, mixed)
    )
    assert together.rate == pytest.approx(apart.rate, rel=0.15)
    assert together.p99 > 1.1 * apart.p99
