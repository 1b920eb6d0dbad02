"""The file of a run with a model: gone on with wherever it was cut, and checked by others."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked_runs import (
    LIBRARY,
    MINE,
    Obedient,
    agrees,
    closed_anew,
    found_in,
    leaves,
    lines_of,
    put,
    ran,
    wrong,
)
from often import often

from demem_agent.errors import InvalidInput, StoreError
from demem_agent.evaluate import BASELINES, Probe
from demem_agent.evaluate.protocol.comparing import checks_with_data
from demem_agent.evaluate.protocol.library import Library
from demem_agent.evaluate.protocol.results import Results, closing_of, read_results
from demem_agent.evaluate.protocol.submitting import NOT_KNOWN, answers_of, contract_named
from demem_agent.evaluate.protocol.verifying import checks_of
from demem_agent.turns import Turn

Line = dict[str, Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a run that nothing interrupted."""
    path = tmp_path_factory.mktemp("whole") / "results.jsonl"
    ran(path)
    return path


def told(path: Path) -> list[Line]:
    """Return what a file says but for times, the order of answers, and attempts that failed."""
    lines = [line for line in lines_of(path) if not line.get("failed")]
    for line in lines:
        for name in ("seconds", "digest", "answers"):
            line.pop(name, None)
        for call in line.get("calls", ()):
            del call["seconds"], call["kept"]
        if line["line"] == "closing":
            line["figures"]["takes"]["demem"].pop("seconds")
    return sorted(lines, key=lambda line: json.dumps(line, sort_keys=True))


# -- what is in it -------------------------------------------------------------------------------


def test_a_file_holds_each_question_once_and_each_answer_with_its_calls(whole: Path) -> None:
    header, *lines = lines_of(whole)
    assert (header["line"], header["format"]) == ("header", "demem-bench 1")
    assert [line["line"] for line in lines] == ["question"] * 3 + ["answer"] * 6 + ["closing"]
    answers = [line for line in lines if line["line"] == "answer"]
    assert {(line["run"], line["question"]) for line in answers} == {
        (run, question) for run in (0, 1) for question in range(3)
    }
    for line in answers:
        assert [(call["prompt"], call["model"]) for call in line["calls"]] == [
            ("answer", "good"),
            *((prompt, j) for prompt in ("judge_binary", "judge_graded") for j in ("j1", "j2")),
        ]
        assert {call["seed"] for call in line["calls"]} == {line["run"]}


def test_the_prompt_of_a_question_is_what_was_sent_and_begins_with_the_reading(whole: Path) -> None:
    question = next(line for line in lines_of(whole) if line["line"] == "question")
    prompt, size = question["prompt"], question["size"]
    assert "painted by Tamm" in prompt[:size]
    assert prompt[size:] == f"\n\nAsked: {question['asked']}"
    assert question["recall"] == 1.0


def test_the_digest_is_that_of_the_lines_before_it(whole: Path) -> None:
    *before, closing = whole.read_bytes().splitlines(keepends=True)
    assert json.loads(closing)["digest"] == hashlib.sha256(b"".join(before)).hexdigest()


def test_what_was_used_is_the_sum_over_all_calls(whole: Path) -> None:
    closing = lines_of(whole)[-1]
    assert closing["used"]["requests"] == 6 * 5
    assert closing["used"]["cost"] == 6 * 5 * 0.25


def test_a_file_without_a_change_agrees(whole: Path) -> None:
    assert all(check.agrees for check in checks_of(read_results(whole), LIBRARY))


# -- going on ------------------------------------------------------------------------------------


@settings(max_examples=often(40))
@given(share=st.floats(0, 1))
def test_a_run_that_was_cut_off_anywhere_comes_to_the_same_file(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, share: float
) -> None:
    content = whole.read_bytes()
    path = tmp_path_factory.mktemp("cut") / "results.jsonl"
    path.write_bytes(content[: round(share * len(content))])
    models = [Obedient(name) for name in ("good", "j1", "j2")]
    had = path.read_bytes().count(b'\n{"line": "answer"') if share else 0
    ran(path, models=models)
    assert told(path) == told(whole)
    assert agrees(path)
    whole_lines = min(had, 6)
    assert 6 - whole_lines <= models[0].calls <= 6 - whole_lines + 1


@settings(max_examples=often(40))
@given(
    answers=st.lists(st.sampled_from(["", "timeout", "cut off", "unavailable"]), max_size=6),
    marks=st.lists(st.sampled_from(["", "timeout", "refused"]), max_size=12),
    parallel=st.integers(1, 4),
)
def test_what_failed_is_asked_again_and_comes_to_the_same_file(
    whole: Path,
    tmp_path_factory: pytest.TempPathFactory,
    answers: list[str],
    marks: list[str],
    parallel: int,
) -> None:
    path = tmp_path_factory.mktemp("failed") / "results.jsonl"
    failing = [Obedient("good", list(answers)), Obedient("j1", list(marks)), Obedient("j2")]
    ran(path, models=failing, parallel=parallel)
    sound = [Obedient(name) for name in ("good", "j1", "j2")]
    ran(path, models=sound)
    assert told(path) == told(whole)
    assert agrees(path)
    failures = sum(map(bool, [*answers, *marks]))
    asked = sum(model.calls for model in [*failing, *sound])
    assert asked <= 6 * 5 + failures


def test_a_call_that_came_to_something_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    failing = [Obedient("good"), Obedient("j1", ["timeout"]), Obedient("j2")]
    ran(path, models=failing, parallel=1)
    sound = [Obedient(name) for name in ("good", "j1", "j2")]
    ran(path, models=sound)
    assert [model.calls for model in sound] == [0, 2, 2]
    closing = lines_of(path)[-1]
    assert closing["used"]["requests"] == 6 * 5  # none twice, though two lines have it


def test_a_finished_run_asks_nothing_and_leaves_its_file(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(whole.read_bytes())
    models = [Obedient(name) for name in ("good", "j1", "j2")]
    ran(path, models=models)
    assert sum(model.calls for model in models) == 0
    assert path.read_bytes() == whole.read_bytes()


def test_what_ended_a_run_is_kept_and_is_no_failure_of_its_question(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    refused = [Obedient("good"), Obedient("j1", ["", "", "", "quota"]), Obedient("j2")]
    stopped = ran(path, models=refused, parallel=1)
    assert "quota" in stopped.stopped
    assert [mark.failed for mark in stopped.marks] == [""]
    figures = lines_of(path)[-1]["figures"]
    assert (figures["marked"], figures["failed"]) == (1, {})
    sound = [Obedient(name) for name in ("good", "j1", "j2")]
    ran(path, models=sound)
    assert sound[0].calls == 4  # of six, one was whole and one had its answer
    assert agrees(path)


@pytest.mark.parametrize(
    ("name", "changed"), [("runs", {"runs": 3}), ("judges", {"models": ["good", "j1", "j3"]})]
)
def test_a_file_of_another_run_is_not_gone_on_with(
    whole: Path, tmp_path: Path, name: str, changed: dict[str, Any]
) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(whole.read_bytes())
    if "models" in changed:
        changed = {"models": [Obedient(one) for one in changed["models"]]}
    with pytest.raises(InvalidInput, match=name):
        ran(path, **changed)
    assert path.read_bytes() == whole.read_bytes()


def test_a_file_whose_readings_are_others_is_not_gone_on_with(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    lines = lines_of(whole)
    lines[1]["prompt"] = lines[1]["prompt"].replace("Tamm", "Saar")
    put(path, lines)
    with pytest.raises(InvalidInput, match="question 0 of mine"):
        ran(path)


@pytest.mark.parametrize("content", ["some text\n", '{"text": "said"}\n', "{}"])
def test_another_file_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(content)
    with pytest.raises(InvalidInput):
        ran(path)
    assert path.read_text() == content


def test_what_people_wrote_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    odd = "half of an emoji \ud83d, \u202e and \x00"
    said = (*MINE.turns, Turn(f"The hall was painted by {odd}.", source_id="hall"))
    asked = replace(MINE, turns=said, probes=(Probe("Who painted the hall?", odd, ("hall",)),))
    ran(path, dialogue=asked)
    (question,) = read_results(path).questions
    assert question.reference == odd
    assert agrees(path)


def test_two_runs_that_write_to_one_file_are_told_so(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(whole.read_bytes())
    had = read_results(path)
    first, second = (Results(path, had.header, [], had) for _ in range(2))
    first.add(had.marks[0])
    with pytest.raises(StoreError, match="another run writes there"):
        second.add(had.marks[0])


# -- what others find ----------------------------------------------------------------------------


def other(value: object) -> object:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else "x"


def changed(line: Line, path: tuple[str | int, ...]) -> Line:
    """Return a line with the value at a place changed."""
    made = copy.deepcopy(line)
    within: Any = made
    for step in path[:-1]:
        within = within[step]
    within[path[-1]] = other(within[path[-1]])
    return made


@cache
def edits(path: Path) -> list[tuple[int, tuple[str | int, ...]]]:
    """Return each place of a file where one value stands."""
    return [(n, place) for n, line in enumerate(lines_of(path)) for place, _ in leaves(line)]


def found(path: Path) -> bool:
    """Whether a change of a file is found."""
    try:
        return not agrees(path)
    except InvalidInput:
        return True


@settings(max_examples=often(200))
@given(data=st.data())
def test_any_one_edit_is_found(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = lines_of(whole)
    number, place = data.draw(st.sampled_from(edits(whole)))
    lines[number] = changed(lines[number], place)
    path = tmp_path_factory.mktemp("edited") / "results.jsonl"
    put(path, lines)
    assert found(path)


#: What nothing else in a file tells: of the moment, of the data, and of replies what their
#: parsing leaves out. The digest alone holds it.
UNTOLD = {
    "header": {"data", "sha256", "began", "limit", "benchmark", "version", "commit"},
    "call": {"reply", "finish", "served", "seconds"},
}


def is_told(line: Line, place: tuple[str | int, ...]) -> bool:
    """Whether a value follows from others in the file."""
    if line["line"] == "header":
        return place[0] not in UNTOLD["header"]
    if line["line"] == "answer" and place[0] == "calls":
        return place[-1] not in UNTOLD["call"]
    return place != ("digest",)


@settings(max_examples=often(200))
@given(data=st.data())
def test_an_edit_is_found_with_its_digest_made_anew(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = lines_of(whole)
    told_of = [(n, place) for n, place in edits(whole) if is_told(lines[n], place)]
    number, place = data.draw(st.sampled_from(told_of))
    lines[number] = changed(lines[number], place)
    path = tmp_path_factory.mktemp("hidden") / "results.jsonl"
    try:
        closed_anew(path, lines, figures=False)
    except InvalidInput:
        return
    assert found(path)


def first_answer(lines: list[Line]) -> Line:
    return next(line for line in lines if line["line"] == "answer")


def flip_a_mark(lines: list[Line]) -> None:
    line = first_answer(lines)
    line["binary"] = [1.0 - line["binary"][0], line["binary"][1]]


def change_a_prompt(lines: list[Line]) -> None:
    question = next(line for line in lines if line["line"] == "question")
    question["prompt"] = question["prompt"].replace("Tamm", "Saar")


def change_a_reference(lines: list[Line]) -> None:
    question = next(line for line in lines if line["line"] == "question")
    question["reference"] = "Saar"


def change_a_judges_reply(lines: list[Line]) -> None:
    call = first_answer(lines)["calls"][1]
    assert call["prompt"] == "judge_binary"
    right = json.loads(call["reply"])["right"]
    call["reply"] = json.dumps({"right": not right})


def change_an_answer(lines: list[Line]) -> None:
    first_answer(lines)["answer"] = "Saar"


def drop_an_answer(lines: list[Line]) -> None:
    lines.remove(first_answer(lines))


def drop_a_question(lines: list[Line]) -> None:
    dropped = next(line for line in lines if line["line"] == "question")
    lines[:] = [line for line in lines if line.get("question") != dropped["question"]]


def answer_again(lines: list[Line]) -> None:
    lines.insert(-1, first_answer(lines))


def drop_a_call(lines: list[Line]) -> None:
    del first_answer(lines)["calls"][-1]


def soften_the_instructions(lines: list[Line]) -> None:
    told = lines[0]["prompts"]["judge_binary"]
    told["text"] += " Be kind."
    told["sha256"] = hashlib.sha256(told["text"].encode()).hexdigest()


@pytest.mark.parametrize(
    ("edit", "check"),
    [
        (flip_a_mark, "marks"),
        (change_a_prompt, "marks"),
        (change_a_reference, "marks"),
        (change_a_judges_reply, "marks"),
        (change_an_answer, "marks"),
        (drop_a_call, "marks"),
        (drop_an_answer, "answers"),
        (drop_a_question, "answers"),
        (answer_again, "answers"),
        (soften_the_instructions, "instructions"),
    ],
)
def test_an_edit_is_found_with_figures_and_digest_made_anew(
    whole: Path, tmp_path: Path, edit: Callable[[list[Line]], None], check: str
) -> None:
    lines = lines_of(whole)
    edit(lines)
    path = tmp_path / "results.jsonl"
    closed_anew(path, lines, figures=True)
    assert check in found_in(path)


def test_a_changed_figure_is_named(whole: Path, tmp_path: Path) -> None:
    lines = lines_of(whole)
    lines[-1]["figures"]["systems"]["demem"]["overall"]["score"]["mean"] = 0.911
    path = tmp_path / "results.jsonl"
    put(path, lines)
    (fault,) = wrong(read_results(path))
    assert fault.name == "figures"
    assert fault.faults[0].startswith("figures.systems.demem.overall.score.mean: 0.911")


def test_a_file_that_is_not_closed_does_not_agree(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(whole.read_bytes()[:-20])
    assert found_in(path) == {"digest"}


def test_a_run_that_was_stopped_has_its_figures_and_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    ran(path, models=[Obedient("good", ["", "", "timeout"]), Obedient("j1"), Obedient("j2")])
    assert found_in(path) == {"answers"}


def test_instructions_of_another_version_are_not_held_against_a_file(
    whole: Path, tmp_path: Path
) -> None:
    lines = lines_of(whole)
    soften_the_instructions(lines)
    path = tmp_path / "results.jsonl"
    closed_anew(path, lines, figures=True)
    checks = checks_of(read_results(path), Library("0.2.0"))
    assert [check.agrees for check in checks if check.name == "instructions"] == [None]


# -- with the data -------------------------------------------------------------------------------


def with_data(path: Path, library: Library = LIBRARY, sha256: str = "0" * 64) -> dict[str, Any]:
    """Return what each check against the data came to."""
    checks = checks_with_data(
        read_results(path), sha256, [MINE], BASELINES, unanswerable=False, library=library
    )
    return {check.name: check.agrees for check in checks}


def test_a_file_agrees_with_its_data_and_memory_reads_the_same_again(whole: Path) -> None:
    assert with_data(whole) == {"data": True, "questions": True, "readings": True}


def test_other_data_is_told(whole: Path) -> None:
    assert with_data(whole, sha256="1" * 64)["data"] is False


def test_a_question_that_was_dropped_everywhere_is_found_with_the_data(
    whole: Path, tmp_path: Path
) -> None:
    lines = lines_of(whole)
    drop_a_question(lines)
    lines[0]["questions"] -= 1
    path = tmp_path / "results.jsonl"
    closed_anew(path, lines, figures=True)
    assert agrees(path)  # by itself nothing tells
    assert with_data(path)["questions"] is False


def test_a_reading_that_memory_does_not_give_is_found(whole: Path, tmp_path: Path) -> None:
    lines = lines_of(whole)
    change_a_prompt(lines)
    path = tmp_path / "results.jsonl"
    closed_anew(path, lines, figures=True)
    assert with_data(path) == {"data": True, "questions": True, "readings": False}


def test_a_system_of_ones_own_is_not_asked_again(whole: Path, tmp_path: Path) -> None:
    both = {"demem": BASELINES["demem"], "mine": BASELINES["recency"]}
    path = tmp_path / "results.jsonl"
    ran(path, systems=both, runs=1)
    told = {}
    for file in (whole, path):
        makers = {"mine": BASELINES["recency"]} if file == whole else BASELINES
        *_, told[file] = checks_with_data(
            read_results(file), "", [MINE], makers, unanswerable=False, library=LIBRARY
        )
    assert told[whole].agrees is None
    assert "demem is not of this library" in told[whole].says
    assert told[path].agrees is True
    assert told[path].says.endswith("3 questions; mine is not of this library, and was not asked")


@pytest.mark.parametrize("library", [Library("0.2.0"), Library("0.1.0", "a" * 40)])
def test_readings_of_another_version_are_not_made_again(whole: Path, library: Library) -> None:
    assert with_data(whole, library)["readings"] is None


def test_a_checkout_with_changes_is_no_version() -> None:
    dirty = Library("0.1.0", f"{'a' * 40}-dirty")
    assert not dirty.is_surely(dirty)
    assert "checkout" in dirty.why_not(dirty)
    assert LIBRARY.is_surely(Library("0.1.0"))
    assert "0.2.0" in LIBRARY.why_not(Library("0.2.0"))


# -- submitting ----------------------------------------------------------------------------------


def test_answers_of_a_run_are_those_of_its_lines(whole: Path) -> None:
    answers = answers_of(read_results(whole), 1)
    assert list(answers) == [("mine", 0), ("mine", 1), ("mine", 2)]
    lines = {line["question"]: line["answer"] for line in lines_of(whole) if line.get("run") == 1}
    assert list(answers.values()) == [lines[number] for number in range(3)]


def test_what_is_not_known_is_said_in_words_and_what_is_useless_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    models = [Obedient("good", ["malformed"]), Obedient("j1"), Obedient("j2")]
    asked = replace(MINE, probes=(MINE.probes[0], Probe("Zzz qqq?", "Saar")))
    ran(path, models=models, runs=1, parallel=1, dialogue=asked)
    assert answers_of(read_results(path), 0) == {("mine", 0): "", ("mine", 1): NOT_KNOWN}


@pytest.mark.parametrize(("run", "system"), [(2, None), (0, "full")])
def test_answers_of_no_run_or_system_are_refused(whole: Path, run: int, system: str | None) -> None:
    with pytest.raises(InvalidInput, match="run" if system is None else "system"):
        answers_of(read_results(whole), run, system)


def test_an_unfinished_run_is_not_submitted(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    ran(path, models=[Obedient("good", ["timeout"]), Obedient("j1"), Obedient("j2")], parallel=1)
    with pytest.raises(InvalidInput, match="this has 2"):
        answers_of(read_results(path), 0)


def test_a_contract_is_that_of_its_benchmark() -> None:
    assert contract_named(None, "locomo") == contract_named("locomo", "locomo")
    with pytest.raises(InvalidInput, match="locomo, mem0"):
        contract_named("longmemeval", "locomo")
    with pytest.raises(InvalidInput, match="no public script"):
        contract_named(None, "memoryarena")


ANSWERS = {("conv-1", 0): "Tamm", ("conv-2", 1): "Saar"}
LOCOMO: list[dict[str, Any]] = [
    {"sample_id": "conv-1", "qa": [{"question": "Who?", "answer": "Tamm", "category": 4}] * 2},
    {"sample_id": "conv-2", "qa": [{"question": "Who?", "answer": "Saar", "category": 1}] * 2},
]


def test_locomo_has_a_list_of_dialogues_with_the_answers_beside_the_questions() -> None:
    made = json.loads(contract_named("locomo", "locomo").written(LOCOMO, ANSWERS, "gpt"))
    assert [entry["sample_id"] for entry in made] == ["conv-1", "conv-2"]
    assert made[0]["qa"] == [{**LOCOMO[0]["qa"][0], "gpt_prediction": "Tamm"}]
    assert made[1]["qa"] == [{**LOCOMO[1]["qa"][1], "gpt_prediction": "Saar"}]


def test_mem0_has_dialogues_by_number_with_a_response_to_each_question() -> None:
    made = json.loads(contract_named("mem0", "locomo").written(LOCOMO, ANSWERS, "gpt"))
    assert {number: [one["response"] for one in own] for number, own in made.items()} == {
        "0": ["Tamm"],
        "1": ["Saar"],
    }
    assert {"question", "answer", "category"} < made["0"][0].keys()


def test_longmemeval_has_a_line_for_each_question_with_its_hypothesis() -> None:
    data = [{"question_id": "q1"}, {"question_id": "q2_abs"}]
    answers = {("q1", 0): "Tamm", ("q2_abs", 0): NOT_KNOWN}
    made = contract_named(None, "longmemeval").written(data, answers, "gpt")
    assert [json.loads(line) for line in made.splitlines()] == [
        {"question_id": "q1", "hypothesis": "Tamm"},
        {"question_id": "q2_abs", "hypothesis": NOT_KNOWN},
    ]


def test_a_closing_line_is_made_of_the_other_lines_alone(whole: Path) -> None:
    contents = read_results(whole)
    assert closing_of(contents) == contents.closing
