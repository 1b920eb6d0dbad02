"""A model judges only where it marks what is known rightly, and use is of what was read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from marked_runs import Obedient
from measured_samples import locomo

from demem_agent.cli import main
from demem_agent.errors import ModelError
from demem_agent.evaluate.protocol.judging import LEAST, PAIRS, marked_rightly
from demem_agent.evaluate.protocol.posing import Posed
from demem_agent.evaluate.protocol.reporting import figures_of
from demem_agent.evaluate.protocol.run import Mark
from demem_agent.llms import OpenAIChat
from demem_agent.testing import Provider
from demem_agent.testing.obedient import obedient
from demem_agent.types import Question, Reading


def test_half_of_what_a_judge_is_tried_with_is_right() -> None:
    assert sum(pair.is_right for pair in PAIRS) * 2 == len(PAIRS) == 12


def test_one_that_marks_by_words_is_right_by_chance_alone() -> None:
    assert asyncio.run(marked_rightly(Obedient("good"))) == len(PAIRS) / 2 < LEAST


def test_one_that_marks_as_it_is_known_is_taken() -> None:
    known = {pair.answer: pair.is_right for pair in PAIRS}

    def judge(messages: Sequence[Mapping[str, object]]) -> str:
        answer = str(messages[-1]["content"]).partition("Answer to be marked: ")[2]
        return json.dumps({"right": known[answer]})

    with Provider(judge) as serving:
        model = OpenAIChat("good", base_url=serving.url, api_key="sk-nobody")
        assert asyncio.run(marked_rightly(model)) == len(PAIRS)


def test_a_judge_that_cannot_be_asked_is_an_error() -> None:
    with pytest.raises(ModelError):
        asyncio.run(marked_rightly(Obedient("gone", fails=["unauthorised"])))


@pytest.mark.parametrize("reply", ['{"right": true}', "As a language model"])
def test_one_that_marks_all_alike_or_nothing_is_refused(
    reply: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    data = locomo(tmp_path / "locomo.json", 1)
    with Provider(lambda messages: reply, retry_after=0.01) as serving:
        place = ("--data", str(data), "--base-url", serving.url, "--model", "good", "--yes")
        assert main(["bench", "locomo", *place]) == 1
    said = capsys.readouterr().err
    assert f"marks {LEAST} of 12 built-in answers rightly" in said
    assert "--any-judge" in said


@pytest.mark.parametrize("finish", ["length", "no-finish"])
def test_a_try_of_how_long_a_call_takes_needs_no_whole_answer(
    finish: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    data = locomo(tmp_path / "locomo.json", 1)
    with Provider(obedient, faults={"good": f"{finish}:1"}) as serving:
        place = ("--data", str(data), "--base-url", serving.url, "--model", "good")
        assert main(["bench", "locomo", *place]) == 1
    said = capsys.readouterr().err
    assert "s a call, as one took" in said
    assert "pass --yes" in said


def test_use_is_of_the_questions_whose_evidence_was_read() -> None:
    nothing = Reading("", 0, 100, "chars", "evidence", (), ())
    recalls = (1.0, 0.95, 0.5, None)
    questions = [
        Posed("demem", "d", n, "", "x", Question(f"q{n}", None, nothing), recall=recall)
        for n, recall in enumerate(recalls)
    ]
    marks = [
        Mark(0, "demem", "d", n, "", answer="x", binary=(mark,), graded=(mark,))
        for n, mark in enumerate((1.0, 0.0, 1.0, 1.0))
    ]
    figures = figures_of(marks, ["j"], 1, questions)
    assert figures["use"] == {"demem": {"mean": 0.5, "questions": 2}}
