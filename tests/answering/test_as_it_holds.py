"""What stands behind another line is not quoted beside that: more of what holds is."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory


@pytest.mark.parametrize(
    ("old", "new", "question", "value"),
    [
        (
            "el código del portal es 4471",
            "el código del portal es ahora 8820",
            "cuál es el código del portal?",
            "8820",
        ),
        (
            "the code for the gym door is 4471",
            "the code for the gym door is 8820 now",
            "what is the code for the gym door?",
            "8820",
        ),
    ],
)
def test_an_answer_has_the_value_that_holds_and_not_the_one_before(
    old: str, new: str, question: str, value: str
) -> None:
    memory = SlotMemory(clock=None)
    memory.ingest(old, speaker="user", at="2025-09-01")
    memory.ingest(new, speaker="user", at="2025-09-20")
    answer = memory.answer(question, at="2025-09-25")
    assert answer.reading.replaced
    assert value in answer.text
    assert "4471" not in answer.text
