"""All that asks a model, with a real one: make test-local-model BASE_URL=http://127.0.0.1:11434/v1

Any server that speaks OpenAI's protocol will do. What a small model says is not judged here, only
that nothing is lost, dead or mute: every call comes through or fails as the pages say. Minutes with
a model of half a billion parameters.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import openai
import pytest

from demem_agent import SlotMemory
from demem_agent.cli.chat.local import found_model
from demem_agent.cli.chat.session import Session
from demem_agent.cli.chat.talker import Talker
from demem_agent.llms import (
    ModelAnswerer,
    ModelCompressor,
    ModelJudge,
    ModelNoteTaker,
    ModelRouter,
    OpenAIChat,
)
from demem_agent.types import Attempt

BASE_URL = os.environ["BASE_URL"]
NAME = os.environ.get("MODEL") or found_model(BASE_URL)[0]
TOLD = (
    ("Noor", "2025-01-16", "I am allergic to peanuts and sesame, in case we cook."),
    ("Mara", "2025-01-17", "The flat in Porto costs 1,240 euros a month."),
    ("Mara", "2025-01-20", "I moved to Porto yesterday, with my two cats."),
    ("Noor", "2025-01-21", "The spare key is behind the blue pot."),
    ("Mara", "2025-01-22", "haha ok"),
)


@pytest.fixture
def model() -> OpenAIChat:
    return OpenAIChat(NAME, base_url=BASE_URL, api_key=os.environ.get("OPENAI_API_KEY", "none"))


def memory_of(**options: object) -> SlotMemory:
    memory = SlotMemory(clock=None, **options)  # type: ignore[arg-type]
    memory.ingest_many([{"speaker": who, "at": at, "text": text} for who, at, text in TOLD])
    return memory


def test_a_chat_answers_every_turn(model: OpenAIChat) -> None:
    pieces: list[str] = []
    talker = Talker(model, pieces.append)
    session = Session(SlotMemory(answerer=talker, clock=None, read_limit=1500), talker, room=1500)
    said = [session.say(text) for _, _, text in TOLD]
    said += [session.say("What can Noor not eat?")]
    assert [one.trouble for one in said] == [None] * len(said)
    assert pieces
    assert len(session.memory) == 2 * len(said)


def test_an_answer_rests_on_what_it_quotes_or_is_extracted(model: OpenAIChat) -> None:
    answerer = ModelAnswerer(model)
    memory = memory_of(answerer=answerer)
    answers = [memory.answer(q) for q in ("What is Noor allergic to?", "Where is the spare key?")]
    assert all(answer.evidence for answer in answers if answer.text)
    assert answerer.failures.count <= len(answers)


def test_notes_are_sound_or_not_taken(model: OpenAIChat) -> None:
    taker = ModelNoteTaker(model)
    memory = memory_of(note_taker=taker)
    (taken,) = memory.take_notes()
    assert taken.failed == ""
    assert all(item.made_from for item in memory.evidence() if item.speaker == "note")


def test_a_summary_is_kept_or_the_excerpts_stay(model: OpenAIChat) -> None:
    memory = memory_of(compressor=ModelCompressor(model), slot_limit=200, slots=1)
    for done in memory.summarise(0):
        assert done.kept or done.reason
    assert memory.slots[0].summary


def test_a_router_chooses_a_slot_or_the_score_does(model: OpenAIChat) -> None:
    memory = memory_of(router=ModelRouter(model), slots=3, initial_slots=3)
    assert memory.route("What does the flat cost?").slot is not None


def test_a_judge_marks(model: OpenAIChat) -> None:
    attempt = Attempt("What can Noor not eat?", "peanuts and sesame", "", "sesame, peanuts")
    assert asyncio.run(ModelJudge(model, "binary").score(attempt)) in (0.0, 1.0)


def test_a_client_that_is_wrapped_remembers() -> None:
    from demem_adapters.common import Memories
    from demem_adapters.openai import wrap

    memories = Memories("memory://", limit=500)
    client = wrap(openai.OpenAI(base_url=BASE_URL, api_key="none"), memories, namespace="noor")
    told = [{"role": "user", "content": "My locker code is 4417."}]
    client.chat.completions.create(model=NAME, messages=told, max_tokens=20)  # type: ignore[call-overload]
    recalled = memories.recall("noor", "What is my locker code?")
    assert recalled is not None
    assert "4417" in recalled.text


def test_a_table_of_the_benchmark_over_ten_questions(tmp_path: Path) -> None:
    turns = [
        {"speaker": who, "dia_id": f"D1:{n}", "text": text}
        for n, (who, _, text) in enumerate(TOLD, 1)
    ]
    questions = [
        {"question": f"What is Noor allergic to, {n}?", "answer": "peanuts", "evidence": ["D1:1"]}
        for n in range(10)
    ]
    sample = {
        "sample_id": "local",
        "conversation": {
            "speaker_a": "Noor",
            "speaker_b": "Mara",
            "session_1_date_time": "1:00 pm on 16 January, 2025",
            "session_1": turns,
        },
        "qa": [{**one, "category": 4} for one in questions],
    }
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps([sample]), encoding="utf-8")
    command = [sys.executable, "-m", "demem_agent.cli", "bench", "locomo", "--data", str(data)]
    command += ["--model", NAME, "--base-url", BASE_URL, "--runs", "1", "--limit", "1000"]
    command += ["--yes", "--any-judge", "--json"]  # small models cannot judge
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["limit"] == 1000
