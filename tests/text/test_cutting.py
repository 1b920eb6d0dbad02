"""A part of a text is quoted so that it does not say something else than the whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.text.quoting.cutting import CUT, excerpt, through_turn
from demem_agent.text.quoting.fences import FENCE

CODE = f"Look:\n{FENCE}python\ndef one():\n    return 1\n\ndef two():\n    return 2\n{FENCE}\nDone."
PARTS = ["so it is. ", "a\n", "x = 1\n", "\n", "But no. ", "```x``` is one. "]
#: Blocks of code, each behind a line break, and what stands around them.
FENCED = [*PARTS, *(f"\n{FENCE}{name}\nx = (1)\n\ny = 2\n{FENCE}\n" for name in ("", "js"))]
TEXTS = st.lists(st.sampled_from(FENCED), min_size=1, max_size=12).map("".join)
#: With fences that nobody closed, or behind words.
LOOSE = st.lists(st.sampled_from([*FENCED, f"{FENCE}\n", "~~~\n", f"{FENCE}py\n"]), max_size=12)
#: What a cut is marked with, and the halves of brackets that it closes.
SIGNS = {CUT, "(", ")", f"({CUT}", f"{CUT})"}
ALONE = re.compile(r"\s*(?:```[a-z]*|~~~)\s*")


def stretches(text: str) -> st.SearchStrategy[tuple[int, int]]:
    """Draw where a stretch starts and ends, not within a fence."""
    within: set[int] = set()
    for match in re.finditer(r"`{3}x`{3}|```[a-z]*|~~~", text):
        within.update(range(match.start() + 1, match.end()))
    ends = st.sampled_from([n for n in range(len(text) + 1) if n not in within])
    return st.tuples(ends, ends).map(lambda pair: (min(pair), max(pair)))


def fences(told: str) -> list[str]:
    """Return the lines that hold a fence which is no part of a line of code."""
    return [line for line in told.replace("```x```", "x").split("\n") if "```" in line]


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("Look:", f"Look: {CUT}"),
        ("Done.", f"{CUT} Done."),
        (CODE, CODE),
        (
            "def two():\n    return 2",
            f"{CUT}\n{FENCE}python\ndef two():\n    return 2\n{FENCE}\n{CUT}",
        ),
        ("def one():", f"{CUT}\n{FENCE}python\ndef one():\n{FENCE}\n{CUT}"),
        ("```python\ndef one():", f"{CUT}\n{FENCE}python\ndef one():\n{FENCE}\n{CUT}"),
    ],
)
def test_a_cut_is_marked_and_code_stays_code(part: str, told: str) -> None:
    start = CODE.index(part)
    assert excerpt(CODE, start, start + len(part)) == told


@pytest.mark.parametrize(
    ("part", "told"), [("Look:\n```python", f"Look: {CUT}"), ("```\nDone.", f"{CUT} Done.")]
)
def test_a_fence_that_holds_nothing_is_left_out(part: str, told: str) -> None:
    start = CODE.rindex(part)
    assert excerpt(CODE, start, start + len(part)) == told


def test_a_fence_of_more_marks_is_closed_by_as_many() -> None:
    code = "Look:\n````md\n```\nx\n```\ny\n````\nDone."
    start = code.index("y")
    assert excerpt(code, start, start + 1) == f"{CUT}\n````md\ny\n````\n{CUT}"


@pytest.mark.parametrize("open_one", ["```\nx = 1", "So:\n```python\nx = 1"])
def test_a_fence_that_nobody_closed_is_closed(open_one: str) -> None:
    assert excerpt(open_one, 0, len(open_one)) == f"{open_one}\n```"


@pytest.mark.parametrize(
    "words", ["use ``` so", "```x = 1``` is it", "~~~ hi ~~~", "```", "a\n```"]
)
def test_a_mark_that_begins_no_block_stays_as_it_is(words: str) -> None:
    assert excerpt(words, 0, len(words)) == words


@given(TEXTS, st.data())
def test_every_fence_is_alone_on_its_line_and_has_its_other_half(
    text: str, data: st.DataObject
) -> None:
    start, end = data.draw(stretches(text))
    found = fences(excerpt(text, start, end))
    assert all(map(ALONE.fullmatch, found))
    assert len(found) % 2 == 0


@given(TEXTS, st.data())
def test_no_block_is_empty(text: str, data: st.DataObject) -> None:
    start, end = data.draw(stretches(text))
    assume(text[start:end].strip())
    parts = re.split(r"^```[a-z]*$", excerpt(text, start, end), flags=re.MULTILINE)
    assert all(part.strip() for part in parts[1::2])


@given(TEXTS | LOOSE.map("".join), st.data())
def test_what_stands_between_the_signs_of_cuts_was_said(text: str, data: st.DataObject) -> None:
    start, end = data.draw(stretches(text))
    told = excerpt(text, start, end)
    said = [word for word in text[start:end].split() if not ALONE.fullmatch(word)]
    shown = [word for word in told.split() if not ALONE.fullmatch(word)]
    assert [word for word in shown if word not in SIGNS] == [w for w in said if w not in SIGNS]


@given(TEXTS | LOOSE.map("".join))
def test_a_whole_text_stands_as_it_was_said(text: str) -> None:
    told = excerpt(text, 0, len(text))
    assert told.startswith(text)
    assert not told.removeprefix(text).strip("`\n")


@pytest.mark.parametrize(
    ("whole", "part", "told"),
    [
        ("He left (late. Alone) today.", "He left (late.", f"He left (late. {CUT})"),
        ("He left (late. Alone) today.", "Alone) today.", f"({CUT} Alone) today."),
        ("He left (a. b. c) today.", "b.", f"({CUT} b. {CUT})"),
        ('"One. Two," he said. Bye.', '"One.', f'"One. {CUT}"'),
        ('"One. Two," he said. Bye.', 'Two," he said.', f'"{CUT} Two," he said. {CUT}'),
        ("„Eins. Zwei“ und “one. Two” so.", "Two” so.", f"“{CUT} Two” so."),
        ("Sad :( so. Very :) then.", "Sad :( so.", f"Sad :( so. {CUT}"),
        ("Sad:( so. (Very.)", "Sad:( so.", f"Sad:( so. {CUT}"),
        ("See [1 of (19. 78)] there", "See [1 of (19.", f"See [1 of (19. {CUT})]"),
        ("a) one. b) two. (c) three.", "a) one.", f"a) one. {CUT}"),
        ('5" of rain. More rain.', '5" of rain.', f'5" of rain. {CUT}'),
        ("see [1. 2] there", "2] there", f"[ {CUT} 2] there"),
        ('{"a": [1, 2], "b": 3}', '2], "b": 3}', f'{{"a": [ {CUT} 2], "b": 3}}'),
        ('{"a": "one (1. two"}', "two", f'{{"a": "{CUT} two {CUT}"}}'),
    ],
)
def test_brackets_and_quotations_that_are_cut_are_closed(whole: str, part: str, told: str) -> None:
    start = whole.index(part)
    assert excerpt(whole, start, start + len(part)) == told


@pytest.mark.parametrize("fence", ["", FENCE])
def test_a_method_stands_below_the_line_of_its_class(fence: str) -> None:
    body = (
        "class A:\n    x = 1\n\nclass Car(A):\n    y = 2\n\n    def go(self):\n        pass\nz = 1"
    )
    code = f"{fence}\n{body}\n{fence}"
    start = code.index("def go")
    told = excerpt(code, start, code.index("\nz"))
    begins = f"{CUT}\n{FENCE}\n" if fence else f"{CUT} "
    assert told.startswith(f"{begins}class Car(A):\n{CUT}\n    def go(self):\n        pass")
    start = code.index("z = 1")
    assert "class" not in excerpt(code, start, start + 5)


def test_code_that_is_cut_keeps_its_brackets_and_its_indent() -> None:
    code = f"{FENCE}js\nclass A {{\n  go() {{\n    run(1);\n  }}\n}}\n{FENCE}"
    start = code.index("run(1);")
    told = f"{CUT}\n{FENCE}js\n{{{{{CUT}\n    run(1);\n{CUT}}}}}\n{FENCE}\n{CUT}"
    assert excerpt(code, start, start + len("run(1);")) == told


@pytest.mark.parametrize(
    ("before", "turns"),
    [
        ("I used to love coriander.", " Not any more."),
        ("I wanted a dog.", " But that changed."),
        ("We moved to Mars!", " Just kidding."),
        ("Buy oats.", " Nvm, I have some."),
        ("It is on Monday.", " Actually, no."),
        ("Send it to Ana.", " Never mind, Ben has it."),
        ("I take sugar.", " I don't take it any more."),
        ("The meeting is on Monday.", " Scratch that."),
    ],
)
def test_a_sentence_that_turns_the_one_before_round_goes_with_it(before: str, turns: str) -> None:
    assert through_turn(f"{before}{turns} And so on.", len(before)) == len(before + turns)


@pytest.mark.parametrize(
    "after", ["", " It tastes of soap.", " Butter is fine.", " Notes follow.", " " + "but so " * 30]
)
def test_any_other_sentence_stands_for_itself(after: str) -> None:
    before = "I used to love coriander."
    assert through_turn(f"{before}{after}", len(before)) == len(before)


def test_an_answer_does_not_leave_out_what_turns_it_round() -> None:
    memory = SlotMemory()
    memory.ingest("I used to love coriander. Not any more.", speaker="Ana")
    answer = memory.answer("Does Ana love coriander?")
    assert answer.text == "Ana: I used to love coriander. Not any more."
