from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from demem_agent.errors import InvalidInput
from demem_agent.evaluate import Dialogue, load_beam, load_jsonl, load_locomo, load_longmemeval, load_text

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_10_date_time": "9:05 am on 3 June, 2023",
            "session_10": [{"speaker": "Ana", "dia_id": "D10:1", "text": "The boat is sold."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Ana", "dia_id": "D2:1", "text": "I bought a boat."},
                {"speaker": "Bo", "dia_id": "D2:2", "text": "Look!", "blip_caption": "a red kite", "img_url": ["x"]},
            ],
            "session_3_date_time": "1:00 pm on 9 May, 2023",
        },
        "qa": [
            {"question": "What is sold?", "answer": "a boat", "category": 1, "evidence": ["D2:1; D10:1", "D", "D9:9"]},
            {"question": "How many?", "answer": 1, "category": 4, "evidence": ["D2:1", "D2:1, D2:2"]},
            {"question": "Who flew?", "adversarial_answer": "Ana", "category": 5},
        ],
    },
    {"sample_id": "conv-2", "conversation": {}, "qa": []},
]


def longmemeval(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "How many plants did I buy?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 21:51",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00", "2023/05/22 (Mon) 00:05"],
        "haystack_session_ids": ["filler", "answer_1", "filler"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " "}],
            [
                {"role": "user", "content": "I bought three plants.", "has_answer": True},
                {"role": "assistant", "content": "Lovely.", "has_answer": False},
            ],
            [{"role": "user", "content": "Hello again"}],
        ],
        "answer_session_ids": ["answer_1"],
        **changes,
    }


def unmarked(**changes: Any) -> dict[str, Any]:
    entry = longmemeval(**changes)
    for session in entry["haystack_sessions"]:
        for turn in session:
            turn.pop("has_answer", None)
    return entry


BEAM_CHAT = [
    {
        "batch_number": 1,
        "time_anchor": "March-15-2024",
        "turns": [
            [
                {"role": "user", "id": 0, "content": "I need a plan. ->-> 1,1"},
                {"role": "assistant", "id": 1, "content": "Here is a plan."},
            ],
            [{"role": "user", "id": 2, "content": "Thanks"}, {"role": "assistant", "id": 3, "content": ""}],
        ],
    },
    {"batch_number": 2, "time_anchor": None, "turns": [[{"role": "user", "id": 4, "content": "Back again"}]]},
]
BEAM_QUESTIONS = {
    "temporal_reasoning": [
        {"question": "When?", "answer": "Never", "source_chat_ids": {"first": [2], "second": {"a": [0, 2], "b": 99}}}
    ],
    "summarization": [{"question": "Sum up", "ideal_summary": "A plan", "source_chat_ids": [0, [1, 3]]}],
    "abstention": [{"question": "Who?", "ideal_response": "Not said"}],
}


def written(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def beam_chat(folder: Path) -> Path:
    written(folder / "chat.json", BEAM_CHAT)
    written(folder / "probing_questions.json", BEAM_QUESTIONS)
    return folder


@pytest.fixture
def locomo(tmp_path: Path) -> Dialogue:
    return load_locomo(written(tmp_path / "locomo.json", LOCOMO))[0]


@pytest.fixture
def haystack(tmp_path: Path) -> Dialogue:
    return load_longmemeval(written(tmp_path / "lme.json", [longmemeval()]))[0]


@pytest.fixture
def beam(tmp_path: Path) -> Dialogue:
    return load_beam(beam_chat(tmp_path / "7"))[0]


# -- LoCoMo ------------------------------------------------------------------------------------------------------


def test_locomo_sessions_come_in_the_order_of_their_numbers(locomo: Dialogue) -> None:
    assert [turn.source_id for turn in locomo.turns] == ["D2:1", "D2:2", "D10:1"]
    assert [turn.session for turn in locomo.turns] == ["session_2", "session_2", "session_10"]


def test_locomo_turns_carry_the_date_of_their_session(locomo: Dialogue) -> None:
    assert [turn.at for turn in locomo.turns] == [datetime(2023, 5, 8, 13, 56)] * 2 + [datetime(2023, 6, 3, 9, 5)]


def test_locomo_pictures_count_by_their_caption(locomo: Dialogue) -> None:
    assert locomo.turns[1].text == "Look! [shares a red kite]"


def test_locomo_evidence_in_one_string_is_taken_apart_and_what_names_no_turn_is_left_out(locomo: Dialogue) -> None:
    assert locomo.probes[0].evidence == ("D2:1", "D10:1")


def test_locomo_evidence_named_twice_counts_once(locomo: Dialogue) -> None:
    assert locomo.probes[1].evidence == ("D2:1", "D2:2")


def test_locomo_answers_are_texts_and_adversarial_questions_have_none(locomo: Dialogue) -> None:
    assert [probe.reference for probe in locomo.probes] == ["a boat", "1", ""]
    assert [probe.category for probe in locomo.probes] == ["multi-hop", "single-hop", "adversarial"]


# -- LongMemEval -------------------------------------------------------------------------------------------------


def test_longmemeval_evidence_is_the_marked_turns(haystack: Dialogue) -> None:
    assert haystack.probes[0].evidence == ("answer_1:0",)


def test_longmemeval_evidence_is_the_answer_sessions_where_no_turn_is_marked(tmp_path: Path) -> None:
    (dialogue,) = load_longmemeval(written(tmp_path / "lme.json", [unmarked()]))
    assert dialogue.probes[0].evidence == ("answer_1:0", "answer_1:1")


def test_longmemeval_sessions_with_one_id_stay_apart(haystack: Dialogue) -> None:
    assert [turn.source_id for turn in haystack.turns] == ["filler:0", "answer_1:0", "answer_1:1", "filler#2:0"]
    assert [turn.session for turn in haystack.turns] == ["filler", "answer_1", "answer_1", "filler#2"]


def test_longmemeval_both_sessions_of_one_answer_id_hold_evidence(tmp_path: Path) -> None:
    entry = unmarked(haystack_session_ids=["answer_1", "filler", "answer_1"])
    (dialogue,) = load_longmemeval(written(tmp_path / "lme.json", [entry]))
    assert dialogue.probes[0].evidence == ("answer_1:0", "answer_1#2:0")


def test_longmemeval_turns_carry_speaker_and_time(haystack: Dialogue) -> None:
    assert [turn.speaker for turn in haystack.turns] == ["user", "user", "assistant", "user"]
    assert haystack.turns[-1].at == datetime(2023, 5, 22, 0, 5)


def test_longmemeval_unanswerable_questions_are_abstentions(tmp_path: Path) -> None:
    path = written(tmp_path / "lme.json", [longmemeval(), longmemeval(question_id="q2_abs")])
    assert [d.probes[0].category for d in load_longmemeval(path)] == ["multi-session", "abstention"]


def test_longmemeval_answers_are_texts(haystack: Dialogue) -> None:
    assert haystack.probes[0].reference == "3"


def test_longmemeval_reads_gzip_as_it_reads_plain_text(tmp_path: Path, haystack: Dialogue) -> None:
    packed = tmp_path / "lme.json.gz"
    packed.write_bytes(gzip.compress(json.dumps([longmemeval()]).encode()))
    assert load_longmemeval(packed) == [haystack]


def test_longmemeval_refuses_a_damaged_gzip(tmp_path: Path) -> None:
    packed = tmp_path / "lme.json.gz"
    packed.write_bytes(gzip.compress(json.dumps([longmemeval()]).encode())[:-20])
    with pytest.raises(InvalidInput, match="LongMemEval"):
        load_longmemeval(packed)


# -- BEAM --------------------------------------------------------------------------------------------------------


def test_beam_evidence_is_found_however_deep_and_counts_once(beam: Dialogue) -> None:
    assert beam.probes[0].evidence == ("2", "0")


def test_beam_evidence_that_names_no_turn_is_left_out(beam: Dialogue) -> None:
    assert beam.probes[1].evidence == ("0", "1")


def test_beam_questions_without_sources_have_no_evidence(beam: Dialogue) -> None:
    assert beam.probes[2].evidence == ()


def test_beam_references_are_found_under_every_name(beam: Dialogue) -> None:
    assert [probe.reference for probe in beam.probes] == ["Never", "A plan", "Not said"]
    assert [probe.category for probe in beam.probes] == ["temporal reasoning", "summarization", "abstention"]


def test_beam_texts_lose_the_mark_of_their_generation_and_empty_turns_go(beam: Dialogue) -> None:
    assert [turn.text for turn in beam.turns] == ["I need a plan.", "Here is a plan.", "Thanks", "Back again"]
    assert [turn.source_id for turn in beam.turns] == ["0", "1", "2", "4"]


def test_beam_batches_are_sessions_dated_by_their_anchor_if_they_have_one(beam: Dialogue) -> None:
    assert [turn.session for turn in beam.turns] == ["session_1"] * 3 + ["session_2"]
    assert [turn.at for turn in beam.turns] == [datetime(2024, 3, 15)] * 3 + [None]


def test_beam_chats_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10", "2", "1"):
        beam_chat(tmp_path / name)
    assert [dialogue.name for dialogue in load_beam(tmp_path)] == ["1", "2", "10"]
    assert [dialogue.name for dialogue in load_beam(tmp_path, "2")] == ["2"]


def test_beam_names_the_chat_whose_questions_are_missing(tmp_path: Path) -> None:
    written(tmp_path / "3" / "chat.json", BEAM_CHAT)
    with pytest.raises(InvalidInput, match="BEAM chat"):
        load_beam(tmp_path)


# -- the user's own files ----------------------------------------------------------------------------------------


def test_jsonl_gives_a_turn_a_line_and_skips_blank_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "chat.jsonl", '{"text": "Hi", "speaker": "Ana", "at": "2024-05-01"}\n\n{"text": "Bye"}\n')
    dialogue = load_jsonl(path)
    assert dialogue.name == "chat"
    assert [(t.text, t.speaker, t.at) for t in dialogue.turns] == [
        ("Hi", "Ana", datetime(2024, 5, 1)),
        ("Bye", None, None),
    ]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{not json", "line 2"),
        ('["a"]', "line 2"),
        ('{"speaker": "Ana"}', "line 2: text"),
        ('{"text": "Hi", "when": 3}', "line 2: when"),
        ('{"text": "Hi", "at": "yesterday"}', "line 2: at"),
    ],
)
def test_jsonl_names_the_line_that_is_wrong(tmp_path: Path, line: str, named: str) -> None:
    path = written(tmp_path / "chat.jsonl", f'{{"text": "Hi"}}\n{line}\n')
    with pytest.raises(InvalidInput, match=named):
        load_jsonl(path)


def test_text_gives_a_turn_a_paragraph(tmp_path: Path) -> None:
    dialogue = load_text(written(tmp_path / "notes.txt", "First\nstill first\n \nSecond\n\n\n"))
    assert [turn.text for turn in dialogue.turns] == ["First\nstill first", "Second"]
    assert [turn.source_id for turn in dialogue.turns] == ["notes.txt#1", "notes.txt#2"]


@pytest.mark.parametrize("load", [load_jsonl, load_text])
def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path, load: Callable[[Path], Dialogue]) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes("caf\u00e9".encode("latin-1"))
    with pytest.raises(InvalidInput, match="UTF-8"):
        load(path)


# -- all ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_locomo, load_longmemeval])
@pytest.mark.parametrize("content", ["", "not json", "{}", '{"a": 1}', "[1]", '[{"other": 1}]', "null", '"text"'])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, load: Callable[[Path], object], content: str) -> None:
    with pytest.raises(InvalidInput):
        load(written(tmp_path / "other.json", content))


@pytest.mark.parametrize("content", ["", "not json", '{"a": 1}', "[1]", '[{"batch_number": 1}]', "null"])
def test_a_chat_of_another_kind_is_refused(tmp_path: Path, content: str) -> None:
    beam_chat(tmp_path)
    written(tmp_path / "chat.json", content)
    with pytest.raises(InvalidInput):
        load_beam(tmp_path)


@pytest.mark.parametrize("load", [load_locomo, load_longmemeval, load_beam, load_jsonl, load_text])
def test_a_missing_file_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: Callable[[Path], object]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="nowhere"):
        load(Path("nowhere"))


def test_an_unknown_sample_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    path = written(tmp_path / "locomo.json", LOCOMO)
    with pytest.raises(InvalidInput, match="conv-2"):
        load_locomo(path, "conv-9")
    with pytest.raises(InvalidInput, match="q1"):
        load_longmemeval(written(tmp_path / "lme.json", [longmemeval()]), "q9")
    beam_chat(tmp_path / "chats" / "7")
    with pytest.raises(InvalidInput, match="7"):
        load_beam(tmp_path / "chats", "9")


def test_every_turn_can_be_remembered_and_every_evidence_id_names_one(
    locomo: Dialogue, haystack: Dialogue, beam: Dialogue
) -> None:
    for dialogue in (locomo, haystack, beam):
        ids = [turn.source_id for turn in dialogue.turns]
        assert len(set(ids)) == len(ids)
        assert all(set(probe.evidence) <= set(ids) for probe in dialogue.probes)
        assert all(turn.text.strip() for turn in dialogue.turns)
