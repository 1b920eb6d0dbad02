"""The questions that were told and never told: as many of each, of memories of their own."""

from __future__ import annotations

import numpy as np
from benchmark_files import benchmark

never_told = benchmark("never_told")
MEMORIES = never_told.memories()


def test_there_is_as_much_to_look_at_as_is_kept() -> None:
    assert [len(never_told.of_half(half)) for half in never_told.HALVES] == [2, 2]
    for given in MEMORIES:
        assert (len(given["turns"]), len(given["told"]), len(given["never"])) == (40, 20, 20)


def test_no_question_is_asked_twice_of_a_memory() -> None:
    for given in MEMORIES:
        questions = given["told"] + given["never"]
        assert len(set(questions)) == len(questions)


def test_what_is_caught_is_counted_below_the_told_ones_that_may_be_lost() -> None:
    told = np.array([0.1, 0.4, 0.6, 0.8])
    never = np.array([0.05, 0.3, 0.5])
    assert never_told.caught(told, never, 0.0) == 1 / 3
    assert never_told.caught(told, never, 0.25) == 2 / 3
    assert never_told.area(told, never) == 9 / 12
