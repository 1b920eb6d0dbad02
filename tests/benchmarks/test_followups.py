"""The follow-up questions that are measured: each has one right line, which its world holds."""

from __future__ import annotations

from itertools import chain

from benchmark_files import benchmark

from demem_agent.text.unsaid import in_context

followups = benchmark("followups")
WORLDS = followups.worlds()


def test_there_are_as_many_to_look_at_as_are_held_out() -> None:
    assert [world["name"] for world in WORLDS] == ["development", "held out"]
    assert [len(world["questions"]) for world in WORLDS] == [18, 18]


def test_each_question_has_one_right_line() -> None:
    lines = [*chain.from_iterable(world["lines"] for world in WORLDS)]
    for world in WORLDS:
        for scene in world["questions"]:
            holding = [line for line in lines if scene["right"] in line]
            assert len(holding) == 1
            assert holding[0] in world["lines"]


def test_no_question_says_what_its_right_line_says() -> None:
    for world in WORLDS:
        for scene in world["questions"]:
            assert scene["right"] not in " ".join([scene["ask"], *scene["before"]])


def test_each_is_asked_with_what_was_said_before() -> None:
    for world in WORLDS:
        for scene in world["questions"]:
            assert in_context(scene["ask"], scene["before"]) != scene["ask"]


def test_more_right_lines_are_found_with_what_was_said() -> None:
    memory = followups.remembered()
    for world in WORLDS:
        counts = followups.row(world["name"], followups.asked(world, memory))
        assert counts["told: in three"] >= 1.5 * counts["alone: in three"]
