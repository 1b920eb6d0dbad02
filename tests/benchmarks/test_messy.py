"""The messy chats that readings are judged on are what their notes say."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

messy = benchmark("messy")


@pytest.mark.parametrize("name", ["seen", "judged"])
def test_each_question_has_its_line(name: str) -> None:
    chat = messy.load(messy.FOLDER / f"{name}.txt")
    ids = [turn.source_id for turn in chat.turns]
    assert len(ids) == len(set(ids)) >= 190
    assert {line for _, line in chat.questions} <= set(ids)
    assert sum((id or "").startswith("-") for id in ids) > len(ids) / 2
    assert len({turn.at for turn in chat.turns}) >= 15


def test_no_line_of_one_chat_is_told_in_the_other_but_for_chatter() -> None:
    seen, judged = (messy.load(messy.FOLDER / f"{name}.txt") for name in ("seen", "judged"))
    told = {turn.text for turn in seen.turns if not (turn.source_id or "").startswith("-")}
    assert told.isdisjoint(turn.text for turn in judged.turns)
