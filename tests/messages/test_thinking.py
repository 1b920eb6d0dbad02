"""What a model thinks is no part of what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.messages.thinking import spoken_so_far, without_thinking


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>\nHe asks ...\n</think>\n\nNoted.", "Noted."),
        ("  <thinking>a</thinking> Yes.", "Yes."),
        ("He asks for the key.\n</think>\n\nBehind the pot.", "Behind the pot."),
        (
            '<details type="reasoning" done="true">\n<summary>4 s</summary>\n> a\n</details>\nHi.',
            "Hi.",
        ),
        ("<think>one</think>A.\n<think>two</think>B.", "A.\nB."),
        ("<think>cut off in the", ""),
        ("<THINK>a <think>b</think> c</THINK>D", "D"),
    ],
)
def test_thinking_is_cut_off(text: str, said: str) -> None:
    assert without_thinking(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "a < b and b > c",
        "Wrap it in `<think>` and `</think>`.",
        "<details><summary>Steps</summary>One.</details>",
        "Some models write\n<think> before they answer.",
        " as it stands ",
    ],
)
def test_what_speaks_of_tags_stays_as_it_is(text: str) -> None:
    assert without_thinking(text) == text


@given(st.text(), st.text().filter(lambda text: "<" not in text))
def test_thinking_before_an_answer_leaves_the_answer(thought: str, answer: str) -> None:
    thought = thought.replace("<", "(")
    assert without_thinking(f"<think>{thought}</think>{answer}") == answer.strip()


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", "\n", "<", ">", "</details>", " "])))
def test_what_was_said_so_far_stays_said(pieces: list[str]) -> None:
    so_far = ""
    for end in range(len(pieces) + 1):
        now = spoken_so_far("".join(pieces[:end]))
        if "</think>" in pieces[:end]:  # what had seemed said was thought, as the template began it
            return
        assert now.startswith(so_far)
        so_far = now
