"""The corrections that are asked for in other words: as many to look at as are held out."""

from __future__ import annotations

from collections import Counter

from benchmark_files import benchmark

corrected = benchmark("corrected")
HALVES = {half: corrected.corrections(half) for half in corrected.HALVES}


def test_both_halves_ask_as_much_in_the_same_languages() -> None:
    languages = [Counter(one["language"] for one in given) for given in HALVES.values()]
    assert languages[0] == languages[1]
    for one in (one for given in HALVES.values() for one in given):
        assert (len(one["same"]), len(one["else"])) == (3, 3)


def test_no_question_is_in_both_halves() -> None:
    asked = [{one["question"], *one["same"]} for given in HALVES.values() for one in given]
    assert sum(map(len, asked)) == len(set[str]().union(*asked)) == 4 * 64


def test_what_is_right_is_what_was_told_and_not_what_is_wrong() -> None:
    for one in (one for given in HALVES.values() for one in given):
        assert one["right"].lower() in one["correction"].lower()
        assert one["right"].lower() not in one["wrong"].lower()
