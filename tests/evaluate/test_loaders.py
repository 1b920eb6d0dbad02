"""The loaders: public benchmarks, and a user's own turns and questions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from demem_agent.errors import InvalidInput
from demem_agent.evaluate import (
    Dialogue,
    Probe,
    load_beam,
    load_jsonl,
    load_locomo,
    load_longmemeval,
    load_text,
)
from demem_agent.evaluate.data.letta import load_letta
from demem_agent.evaluate.data.memoryarena import load_memoryarena
from demem_agent.evaluate.data.questions import load_own, load_questions, with_questions

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
                {
                    "speaker": "Bo",
                    "dia_id": "D2:2",
                    "text": "Look!",
                    "blip_caption": "a red kite",
                    "img_url": ["x"],
                },
            ],
            "session_3_date_time": "1:00 pm on 9 May, 2023",
        },
        "qa": [
            {
                "question": "What is sold?",
                "answer": "a boat",
                "category": 1,
                "evidence": ["D2:1; D10:1", "D", "D9:9"],
            },
            {
                "question": "How many?",
                "answer": 1,
                "category": 4,
                "evidence": ["D2:1", "D2:1, D2:2"],
            },
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
        "haystack_dates": [
            "2023/05/20 (Sat) 02:21",
            "2023/05/21 (Sun) 10:00",
            "2023/05/22 (Mon) 00:05",
        ],
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
            [
                {"role": "user", "id": 2, "content": "Thanks"},
                {"role": "assistant", "id": 3, "content": ""},
            ],
        ],
    },
    {
        "batch_number": 2,
        "time_anchor": None,
        "turns": [[{"role": "user", "id": 4, "content": "Back again"}]],
    },
]
BEAM_QUESTIONS = {
    "temporal_reasoning": [
        {
            "question": "When?",
            "answer": "Never",
            "source_chat_ids": {"first": [2], "second": {"a": [0, 2], "b": 99}},
        }
    ],
    "summarization": [
        {"question": "Sum up", "ideal_summary": "A plan", "source_chat_ids": [0, [1, 3]]}
    ],
    "abstention": [{"question": "Who?", "ideal_response": "Not said"}],
}


SHOPPING = {
    "id": 4,
    "category": "baking_item_4",
    "questions": ["Buy a cake mix.", "Buy a frosting that fits.", "Buy a pan that fits."],
    "answers": [
        {"target_asin": "B01", "attributes": ["Gluten Free", "Vanilla"]},
        {"target_asin": "B02", "attributes": ["Creamy"]},
        {"target_asin": "B03", "attributes": []},
    ],
}


def day(number: int, dinner: str) -> dict[str, Any]:
    return {"days": number, "current_city": "Rockford", "breakfast": "-", "dinner": dinner}


TRAVEL = {
    "id": 1,
    "base_person": {
        "name": "Jennifer",
        "query": "I am Jennifer. Please help me plan a trip to Rockford.",
        "daily_plans": [day(1, "Coco"), day(2, "Olympic")],
    },
    "questions": [
        "I am Eric.\n I'm joining Jennifer for this trip. "
        "For dinner on the second day, I want Mexican food.",
        "I am Emma.\n I'm traveling with Jennifer and Eric. "
        "For dinner on the first day, I'd like tea.",
        "I am Bart. I'm going with Jennifer, Eric and Emma. "
        "For dinner on the second day, I'd like to join Eric.\n"
        "On day 1, I want to sit with Emma.",
        "I am Zoe. I'm joining Jennifer, Eric, Emma and Bart. I'd like to sleep where Emma does.",
    ],
    "answers": [[day(1, name), day(2, name)] for name in ("Taco", "Tea House", "Grill", "Bistro")],
}

SEARCH = {
    "id": 0,
    "questions": ["Who was born in 1950?", "Who wrote?", "Who is it, given all?"],
    "answers": ["A", 2, "C"],
}

FORMAL = {
    "id": "3",
    "paper_name": "2503.1",
    "backgrounds": ["Let f be convex.", "", "Let g be f + 1."],
    "questions": ["Bound f.", "Bound 2 f.", "Bound g. (Recall the answers of Questions 1 and 2.)"],
    "answers": ["f <= 1", "2 f <= 2", "g <= 2"],
}

LETTA: dict[str, Any] = {
    "input": "Who sails with Ana?",
    "ground_truth": "Bo",
    "agent_args": {
        "extra": {
            "facts": ["Ana bakes.", "Ana sails with Cy.", "Cy sings."],
            "contradicting_fact": "Ana sails with Bo.",
            "contradicting_answer": "Bo",
            "supporting_fact_indices": [1],
        }
    },
}

CHAT = [
    {"text": "I bought a boat.", "source_id": "a"},
    {"text": "It is red.", "source_id": "b"},
    {"text": "Bye."},
]


def written(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(path: Path, *rows: object) -> Path:
    return written(path, "".join(json.dumps(row) + "\n" for row in rows))


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


# -- LoCoMo --------------------------------------------------------------------------------------


def test_locomo_sessions_come_in_the_order_of_their_numbers(locomo: Dialogue) -> None:
    assert [turn.source_id for turn in locomo.turns] == ["D2:1", "D2:2", "D10:1"]
    assert [turn.session for turn in locomo.turns] == ["session_2", "session_2", "session_10"]


def test_locomo_turns_carry_the_date_of_their_session(locomo: Dialogue) -> None:
    assert [turn.at for turn in locomo.turns] == [datetime(2023, 5, 8, 13, 56)] * 2 + [
        datetime(2023, 6, 3, 9, 5)
    ]


def test_locomo_pictures_count_by_their_caption(locomo: Dialogue) -> None:
    assert locomo.turns[1].text == "Look! [shares a red kite]"


def test_locomo_evidence_in_one_string_is_taken_apart_and_what_names_no_turn_is_left_out(
    locomo: Dialogue,
) -> None:
    assert locomo.probes[0].evidence == ("D2:1", "D10:1")


def test_locomo_evidence_named_twice_counts_once(locomo: Dialogue) -> None:
    assert locomo.probes[1].evidence == ("D2:1", "D2:2")


def test_locomo_answers_are_texts_and_adversarial_questions_have_none(locomo: Dialogue) -> None:
    assert [probe.reference for probe in locomo.probes] == ["a boat", "1", ""]
    assert [probe.category for probe in locomo.probes] == ["multi-hop", "single-hop", "adversarial"]


# -- LongMemEval ---------------------------------------------------------------------------------


def test_longmemeval_evidence_is_the_marked_turns(haystack: Dialogue) -> None:
    assert haystack.probes[0].evidence == ("answer_1:0",)


def test_longmemeval_evidence_is_the_answer_sessions_where_no_turn_is_marked(
    tmp_path: Path,
) -> None:
    (dialogue,) = load_longmemeval(written(tmp_path / "lme.json", [unmarked()]))
    assert dialogue.probes[0].evidence == ("answer_1:0", "answer_1:1")


def test_longmemeval_sessions_with_one_id_stay_apart(haystack: Dialogue) -> None:
    assert [turn.source_id for turn in haystack.turns] == [
        "filler:0",
        "answer_1:0",
        "answer_1:1",
        "filler#2:0",
    ]
    assert [turn.session for turn in haystack.turns] == [
        "filler",
        "answer_1",
        "answer_1",
        "filler#2",
    ]


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


def test_longmemeval_unanswerable_questions_have_no_evidence_even_where_a_turn_is_marked(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path / "lme.json", [longmemeval(question_id="q1_abs"), unmarked(question_id="q2_abs")]
    )
    assert [d.probes[0].evidence for d in load_longmemeval(path)] == [(), ()]


def test_longmemeval_questions_are_asked_at_their_date(haystack: Dialogue) -> None:
    assert haystack.probes[0].at == datetime(2023, 5, 30, 21, 51)


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


# -- BEAM ----------------------------------------------------------------------------------------


def test_beam_evidence_is_found_however_deep_and_counts_once(beam: Dialogue) -> None:
    assert beam.probes[0].evidence == ("2", "0")


def test_beam_evidence_that_names_no_turn_is_left_out(beam: Dialogue) -> None:
    assert beam.probes[1].evidence == ("0", "1")


def test_beam_questions_without_sources_have_no_evidence(beam: Dialogue) -> None:
    assert beam.probes[2].evidence == ()


def test_beam_references_are_found_under_every_name(beam: Dialogue) -> None:
    assert [probe.reference for probe in beam.probes] == ["Never", "A plan", "Not said"]
    assert [probe.category for probe in beam.probes] == [
        "temporal reasoning",
        "summarization",
        "abstention",
    ]


def test_beam_texts_lose_the_mark_of_their_generation_and_empty_turns_go(beam: Dialogue) -> None:
    assert [turn.text for turn in beam.turns] == [
        "I need a plan.",
        "Here is a plan.",
        "Thanks",
        "Back again",
    ]
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


# -- MemoryArena ---------------------------------------------------------------------------------


def arena(path: Path, *rows: object, every: bool = True) -> list[Dialogue]:
    return load_memoryarena(lines(path / "rows.jsonl", *rows), every=every)


def evidence(dialogues: list[Dialogue]) -> list[tuple[str, ...]]:
    return [dialogue.probes[0].evidence for dialogue in dialogues]


def test_memoryarena_asks_the_last_sub_task_after_all_others(tmp_path: Path) -> None:
    (dialogue,) = arena(tmp_path, SEARCH, every=False)
    assert dialogue.name == "progressive_search-0"
    assert [turn.text for turn in dialogue.turns] == [
        "Who was born in 1950?",
        "A",
        "Who wrote?",
        "2",
    ]
    assert dialogue.probes[0].question == "Who is it, given all?"
    assert dialogue.probes[0].reference == "C"


def test_memoryarena_asks_every_sub_task_after_those_before_it(tmp_path: Path) -> None:
    dialogues = arena(tmp_path, SEARCH)
    assert [dialogue.name for dialogue in dialogues] == [
        "progressive_search-0/2",
        "progressive_search-0/3",
    ]
    assert [turn.source_id for turn in dialogues[0].turns] == ["1:question", "1:result"]


@pytest.mark.parametrize("row", [SHOPPING, TRAVEL, SEARCH, FORMAL])
def test_memoryarena_never_holds_an_answer_before_it_is_asked_for(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    for dialogue in arena(tmp_path, row):
        (probe,) = dialogue.probes
        held = {turn.text for turn in dialogue.turns}
        assert held.isdisjoint(probe.reference.split("\n"))
        assert set(probe.evidence) <= {turn.source_id for turn in dialogue.turns}


def test_memoryarena_shopping_rests_on_all_that_was_bought(tmp_path: Path) -> None:
    dialogues = arena(tmp_path, SHOPPING)
    assert evidence(dialogues) == [("1:result",), ("1:result", "2:result")]
    assert dialogues[0].turns[1].text == "target asin: B01; attributes: Gluten Free, Vanilla"


def test_memoryarena_travel_rests_on_the_base_plan_and_on_the_days_that_a_wish_names(
    tmp_path: Path,
) -> None:
    base = ("0:day 1", "0:day 2")
    eric, emma, bart, zoe = evidence(arena(tmp_path, TRAVEL))
    assert eric == emma == base
    assert bart == (*base, "1:day 2", "2:day 1")
    assert zoe == (*base, "2:day 1", "2:day 2")


def test_memoryarena_travellers_speak_for_themselves_and_a_plan_is_a_turn_a_day(
    tmp_path: Path,
) -> None:
    first = arena(tmp_path, TRAVEL)[1].turns[3:6]
    assert [turn.speaker for turn in first] == ["Eric", "assistant", "assistant"]
    assert first[2].text == "Eric's plan for day 2: current city: Rockford; dinner: Taco"


def test_memoryarena_only_travellers_are_known_by_name(tmp_path: Path) -> None:
    (dialogue,) = arena(
        tmp_path, {"id": 1, "questions": ["I am vegan. Find soup.", "And?"], "answers": ["A", "B"]}
    )
    assert [turn.speaker for turn in dialogue.turns] == ["user", "assistant"]


def test_memoryarena_search_rests_on_all_results_for_the_last_question_alone(
    tmp_path: Path,
) -> None:
    assert evidence(arena(tmp_path, SEARCH)) == [(), ("1:result", "2:result")]


def test_memoryarena_formal_reasoning_rests_on_the_questions_that_are_named(tmp_path: Path) -> None:
    assert evidence(arena(tmp_path, FORMAL)) == [(), ("1:result", "2:result")]


def test_memoryarena_asks_after_the_background_of_the_sub_task(tmp_path: Path) -> None:
    second, third = arena(tmp_path, FORMAL)
    assert second.probes[0].question == "Bound 2 f."
    assert third.probes[0].question == f"Let g be f + 1.\n\n{FORMAL['questions'][2]}"
    assert [turn.source_id for turn in third.turns if "background" in str(turn.source_id)] == [
        "1:background"
    ]


@pytest.mark.parametrize("background", ["Let f be convex.", ["Let f be", "convex."]])
def test_memoryarena_a_background_of_all_sub_tasks_is_remembered_once(
    tmp_path: Path, background: object
) -> None:
    dialogues = arena(tmp_path, FORMAL | {"backgrounds": background})
    assert [dialogue.turns[0].source_id for dialogue in dialogues] == ["0:background"] * 2
    assert dialogues[1].probes[0].question == FORMAL["questions"][2]


def test_memoryarena_subsets_are_told_by_their_fields(tmp_path: Path) -> None:
    names = [
        dialogue.name for dialogue in arena(tmp_path, SHOPPING, TRAVEL, SEARCH, FORMAL, every=False)
    ]
    assert names == [
        "bundled_shopping-4",
        "group_travel_planner-1",
        "progressive_search-0",
        "formal_reasoning-3",
    ]


def test_memoryarena_subsets_are_told_by_folder_or_file_first(tmp_path: Path) -> None:
    lines(tmp_path / "formal_reasoning_math" / "data.jsonl", FORMAL)
    lines(tmp_path / "formal_reasoning_phys.jsonl", FORMAL)
    dialogues = load_memoryarena(tmp_path)
    assert [dialogue.name for dialogue in dialogues] == [
        "formal_reasoning_math-3",
        "formal_reasoning_phys-3",
    ]
    assert [d.probes[0].category for d in dialogues] == [
        "formal reasoning math",
        "formal reasoning phys",
    ]


def test_memoryarena_a_row_without_earlier_sub_tasks_gives_nothing(tmp_path: Path) -> None:
    single = {"id": 1, "questions": ["Who?"], "answers": ["A"]}
    assert arena(tmp_path, single) == arena(tmp_path, single, every=False) == []


def test_memoryarena_gives_the_row_that_is_named(tmp_path: Path) -> None:
    path = lines(tmp_path / "rows.jsonl", SHOPPING, SEARCH)
    assert [d.name for d in load_memoryarena(path, "progressive_search-0")] == [
        "progressive_search-0"
    ]
    with pytest.raises(InvalidInput, match="bundled_shopping-4"):
        load_memoryarena(path, "progressive_search-7")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (["a"], "rows.jsonl line 2 must be"),
        ({"answers": ["a"]}, "line 2: questions"),
        ({"questions": ["a"], "answers": "a"}, "line 2: answers"),
        ({"questions": ["a", "b"], "answers": ["a"]}, "line 2: answers"),
        ({"questions": ["a", 3], "answers": ["a", "b"]}, r"line 2: questions\[1\]"),
        (SEARCH, "line 2: id"),
    ],
)
def test_memoryarena_names_the_line_and_the_field_that_is_wrong(
    tmp_path: Path, wrong: object, named: str
) -> None:
    with pytest.raises(InvalidInput, match=named):
        arena(tmp_path, SEARCH, wrong)


# -- Letta ---------------------------------------------------------------------------------------


def test_letta_records_keep_facts_correction_and_question(tmp_path: Path) -> None:
    (update,) = load_letta(lines(tmp_path / "letta.jsonl", LETTA))
    assert [fact.text for fact in update.facts] == ["Ana bakes.", "Ana sails with Cy.", "Cy sings."]
    assert update.correction.text == "Ana sails with Bo."
    assert (update.name, update.question, update.new) == ("line 1", "Who sails with Ana?", "Bo")


def test_letta_supporting_facts_are_named_by_their_source_id(tmp_path: Path) -> None:
    (update,) = load_letta(lines(tmp_path / "letta.jsonl", LETTA))
    assert update.supporting == (update.facts[1].source_id,)


def test_letta_ids_are_unique_in_a_file(tmp_path: Path) -> None:
    updates = load_letta(lines(tmp_path / "letta.jsonl", LETTA, LETTA))
    ids = [turn.source_id for update in updates for turn in (*update.facts, update.correction)]
    assert len(set(ids)) == len(ids) == 8


def test_letta_the_old_answer_is_empty_where_only_the_new_one_is_told(tmp_path: Path) -> None:
    told = LETTA | {"ground_truth": "Cy"}
    assert [update.old for update in load_letta(lines(tmp_path / "letta.jsonl", LETTA, told))] == [
        "",
        "Cy",
    ]


def test_letta_gives_the_record_that_is_named(tmp_path: Path) -> None:
    path = lines(tmp_path / "letta.jsonl", LETTA, LETTA | {"input": "Who sings?"})
    assert [update.question for update in load_letta(path, "line 2")] == ["Who sings?"]
    with pytest.raises(InvalidInput, match="line 1"):
        load_letta(path, "line 9")


@pytest.mark.parametrize(
    "change",
    [
        {"facts": [3]},
        {"facts": None},
        {"supporting_fact_indices": [3]},
        {"supporting_fact_indices": [-1]},
        {"supporting_fact_indices": ["1"]},
        {"contradicting_answer": None},
        {"contradicting_fact": ""},
    ],
)
def test_letta_names_the_line_that_is_wrong(tmp_path: Path, change: dict[str, Any]) -> None:
    wrong = LETTA | {"agent_args": {"extra": LETTA["agent_args"]["extra"] | change}}
    with pytest.raises(InvalidInput, match=r"letta\.jsonl line 2"):
        load_letta(lines(tmp_path / "letta.jsonl", LETTA, wrong))


# -- the user's own files ------------------------------------------------------------------------


def test_jsonl_gives_a_turn_a_line_and_skips_blank_lines(tmp_path: Path) -> None:
    path = written(
        tmp_path / "chat.jsonl",
        '{"text": "Hi", "speaker": "Ana", "at": "2024-05-01"}\n\n{"text": "Bye"}\n',
    )
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
        ('{"text": "Hi", "when": 3}', "line 2: a turn has no field 'when'"),
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


def test_questions_keep_what_they_say(tmp_path: Path) -> None:
    asked = {
        "question": "What?",
        "reference": "A boat",
        "evidence": ["a", "b", "a"],
        "category": "x",
        "at": "2024-05-01",
        "quotes": ["of oak", "a boat", "of oak"],
    }
    (probe,) = load_questions(lines(tmp_path / "q.jsonl", asked))
    kept = Probe("What?", "A boat", ("a", "b"), "x", datetime(2024, 5, 1))
    assert probe == replace(kept, quotes=("of oak", "a boat"))


def test_questions_need_no_more_than_a_question_and_its_reference(tmp_path: Path) -> None:
    (probe,) = load_questions(
        lines(tmp_path / "q.jsonl", {"question": "What?", "reference": "A boat"})
    )
    assert probe == Probe("What?", "A boat")


def test_questions_that_cannot_be_answered_need_no_reference(tmp_path: Path) -> None:
    (probe,) = load_questions(
        lines(tmp_path / "q.jsonl", {"question": "What?", "category": "abstention"})
    )
    assert probe == Probe("What?", "", (), "abstention")


def test_a_question_may_say_itself_that_nothing_answers_it(tmp_path: Path) -> None:
    (probe,) = load_questions(
        lines(tmp_path / "q.jsonl", {"question": "What?", "category": "x", "answerable": False})
    )
    assert probe == Probe("What?", "", (), "x", answerable=False)
    assert not probe.has_answer


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"reference": "x"}, "q.jsonl line 3: question"),
        ({"question": " ", "reference": "x"}, "line 3: question"),
        ({"question": "x"}, "line 3: reference"),
        ({"question": "x", "reference": 3}, "line 3: reference"),
        ({"question": "x", "reference": "x", "evidence": "a"}, "line 3: evidence"),
        ({"question": "x", "reference": "x", "evidence": [1]}, "line 3: evidence"),
        ({"question": "x", "reference": "x", "quotes": "a"}, "line 3: quotes"),
        ({"question": "x", "reference": "x", "quotes": [" "]}, "line 3: quotes"),
        ({"question": "x", "reference": "x", "category": 4}, "line 3: category"),
        ({"question": "x", "reference": "x", "at": "yesterday"}, "line 3: at"),
        ({"question": "x", "answer": "x"}, "line 3: answer"),
        ({"question": "x", "answerable": "no"}, "line 3: answerable"),
        ({"question": "x", "answerable": True}, "line 3: reference"),
        (["x"], "line 3 must be"),
    ],
)
def test_questions_name_the_line_and_the_field_that_is_wrong(
    tmp_path: Path, wrong: object, named: str
) -> None:
    path = written(
        tmp_path / "q.jsonl", f'{{"question": "x", "reference": "x"}}\n\n{json.dumps(wrong)}\n'
    )
    with pytest.raises(InvalidInput, match=named):
        load_questions(path)


@pytest.mark.parametrize("load", [load_questions, load_letta, load_memoryarena])
def test_a_file_without_a_row_is_refused(tmp_path: Path, load: Callable[[Path], object]) -> None:
    with pytest.raises(InvalidInput, match="path"):
        load(written(tmp_path / "empty.jsonl", "\n"))


def test_own_questions_are_about_the_turns_beside_them(tmp_path: Path) -> None:
    turns = lines(tmp_path / "chat.jsonl", *CHAT)
    asked = lines(
        tmp_path / "q.jsonl", {"question": "What?", "reference": "A boat", "evidence": ["b"]}
    )
    dialogue = load_own(turns, asked)
    assert dialogue == Dialogue("chat", load_jsonl(turns).turns, load_questions(asked))


def test_own_evidence_that_names_no_turn_is_refused_with_its_line(tmp_path: Path) -> None:
    first, second = (
        {"question": "What?", "reference": "A boat", "evidence": ids} for ids in (["a"], ["a", "c"])
    )
    with pytest.raises(InvalidInput, match=r"q\.jsonl line 2: evidence must be .* got 'c'"):
        load_own(lines(tmp_path / "chat.jsonl", *CHAT), lines(tmp_path / "q.jsonl", first, second))


def test_own_quotes_that_stand_in_no_evidence_are_refused_with_their_line(tmp_path: Path) -> None:
    notes = load_text(written(tmp_path / "notes.txt", "A boat.\n\nA red\nkite, of silk."))
    asked = {"question": "What flies?", "reference": "A kite", "evidence": ["notes.txt#2"]}
    good = lines(tmp_path / "good.jsonl", {**asked, "quotes": ["a red kite"]})
    assert with_questions(notes, good).probes[0].quotes == ("a red kite",)
    wrong = lines(tmp_path / "q.jsonl", {**asked, "quotes": ["A boat"]})
    with pytest.raises(InvalidInput, match=r"q\.jsonl line 1: quotes must be .* got 'A boat'"):
        with_questions(notes, wrong)


def test_paragraphs_of_a_text_can_be_evidence(tmp_path: Path) -> None:
    notes = load_text(written(tmp_path / "notes.txt", "A boat.\n\nA kite."))
    asked = lines(
        tmp_path / "q.jsonl",
        {"question": "What flies?", "reference": "A kite", "evidence": ["notes.txt#2"]},
    )
    assert with_questions(notes, asked).probes[0].evidence == ("notes.txt#2",)


def test_the_support_chat_is_a_whole_example() -> None:
    folder = Path(__file__).parents[2] / "examples"
    dialogue = load_own(folder / "support_chat.jsonl", folder / "support_chat_questions.jsonl")
    assert {turn.speaker for turn in dialogue.turns} == {"user", "assistant"}
    assert all(isinstance(turn.at, datetime) for turn in dialogue.turns)
    unanswerable = [probe for probe in dialogue.probes if probe.category == "abstention"]
    assert len(unanswerable) == 2
    assert [bool(probe.evidence) for probe in dialogue.probes] == [
        p not in unanswerable for p in dialogue.probes
    ]


@pytest.mark.parametrize("load", [load_jsonl, load_text])
def test_a_file_that_is_not_utf8_is_refused(
    tmp_path: Path, load: Callable[[Path], Dialogue]
) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes("caf\u00e9".encode("latin-1"))
    with pytest.raises(InvalidInput, match="UTF-8"):
        load(path)


# -- all -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "load", [load_locomo, load_longmemeval, load_letta, load_memoryarena, load_questions]
)
@pytest.mark.parametrize(
    "content", ["", "not json", "{}", '{"a": 1}', "[1]", '[{"other": 1}]', "null", '"text"']
)
def test_a_file_of_another_kind_is_refused(
    tmp_path: Path, load: Callable[[Path], object], content: str
) -> None:
    with pytest.raises(InvalidInput):
        load(written(tmp_path / "other.json", content))


@pytest.mark.parametrize(
    "content", ["", "not json", '{"a": 1}', "[1]", '[{"batch_number": 1}]', "null"]
)
def test_a_chat_of_another_kind_is_refused(tmp_path: Path, content: str) -> None:
    beam_chat(tmp_path)
    written(tmp_path / "chat.json", content)
    with pytest.raises(InvalidInput):
        load_beam(tmp_path)


@pytest.mark.parametrize(
    "load",
    [
        load_locomo,
        load_longmemeval,
        load_beam,
        load_jsonl,
        load_text,
        load_questions,
        load_letta,
        load_memoryarena,
    ],
)
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
