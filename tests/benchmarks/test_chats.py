"""What counts as read in a conversation with an assistant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmark_files import benchmark

chats = benchmark("chats")

TURNS = [
    {"text": "The gym locker code is 4471.", "speaker": "user"},
    {"text": "Noted.", "speaker": "assistant"},
    {
        "text": f"{'The tenant pays on time. ' * 60}The fee for pets is 29 pounds.",
        "speaker": "user",
    },
]
QUESTIONS = [
    {"question": "What is the gym locker code?", "evidence": ["s1:0"], "category": "current"},
    {
        "question": "What is the fee for pets?",
        "evidence": ["s1:2"],
        "category": "document-clause",
        "quotes": ["fee for pets is 29"],
    },
    {"question": "What is the cat called?", "evidence": [], "category": "unanswerable"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    about = {"at": "2024-05-06T10:00", "session": "s1"}
    turns = [{**turn, **about, "source_id": f"s1:{n}"} for n, turn in enumerate(TURNS)]
    asked = [{**question, "at": "2024-05-07T10:00"} for question in QUESTIONS]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, turns)), "utf-8")
    (tmp_path / "a_questions.jsonl").write_text("\n".join(map(json.dumps, asked)), "utf-8")
    return tmp_path


def test_questions_that_can_be_answered_are_counted_each_under_its_kind(folder: Path) -> None:
    found = chats.measure(chats.load(folder), chats.ours)
    assert found["all"] == [2, 2, 2, 2]
    assert found["current"] == found["document-clause"] == [1, 1, 1, 1]


def test_a_turn_that_does_not_fit_is_not_read_by_words_alone(folder: Path) -> None:
    assert chats.measure(chats.load(folder), chats.READERS["BM25"])["document-clause"] == [
        1,
        0,
        1,
        1,
    ]


def test_a_folder_without_conversations_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"_questions\.jsonl"):
        chats.load(tmp_path)
