"""``demem bench paper``, ``verify`` and ``submit``, with a provider on this machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Demem, Done
from marked_runs import closed_anew, lines_of, put
from measured_samples import locomo

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli import main
from demem_agent.cli.measuring.paper_runs import TABLES
from demem_agent.testing import Provider
from demem_agent.testing.obedient import obedient

ROW = {
    "questions": ["Who wrote it?", "Where was it written?", "And when was it written?"],
    "answers": ["Ann Lee wrote it", "It was written in Rome", "It was written in 1990"],
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(obedient, retry_after=0.01) as serving:
        yield serving


@pytest.fixture(autouse=True)
def at(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every model be at the provider, unless an option says another place."""
    monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")


@pytest.fixture(scope="module")
def made(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with data, two dialogues with two questions each, and a run on it."""
    folder = tmp_path_factory.mktemp("made")
    data = locomo(folder / "l.json")
    places = ("--data", data, "--out", folder / "kept", "--base-url", provider.url)
    assert main(["bench", "locomo", *map(str, (*places, *ASKED))]) == 0
    return folder


@pytest.fixture
def kept(made: Path, tmp_path: Path) -> Path:
    """Return the folder of the run, where it may be changed."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return Path("kept")


ASKED = ("--model", "good", "--judge", "j1", "--judge", "j2", "--runs", 2, "--yes", "--any-judge")


def haystack(number: int, *, abstention: bool = False) -> dict[str, Any]:
    said = [{"role": "user", "content": "The kitchen was painted by Tamm.", "has_answer": True}]
    return {
        "question_id": f"q{number}_abs" if abstention else f"q{number}",
        "question_type": "multi-session",
        "question": "Who painted the moon?" if abstention else "Who painted the kitchen?",
        "answer": "You did not mention the moon." if abstention else "Tamm",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [said],
        "answer_session_ids": ["s1"],
    }


def written(name: str, content: object) -> Path:
    path = Path(name)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


# -- tables of the paper -------------------------------------------------------------------------


def data_of(benchmark: str) -> Path:
    if benchmark == "locomo":
        return locomo(Path("data.json"), 1)
    if benchmark == "longmemeval":
        return written("data.json", [haystack(1), haystack(2, abstention=True)])
    return written("formal_reasoning_math.jsonl", {**ROW, "id": 1})


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_one_command_that_is_kept_verified_and_gone_on_with(
    demem: Demem, provider: Provider, table: str
) -> None:
    data = data_of(TABLES[table].benchmark)
    since = len(provider.requests)
    done = demem("bench", "paper", table, "--data", data, "--yes", "--any-judge")
    assert done.code == 0
    assert "From the paper, not this run" in done.out
    asked = provider.requests[since:]
    assert {seen.body["seed"] for seen in asked} == set(range(5))
    assert {seen.body["temperature"] for seen in asked} == {0.0}
    answers = {seen.model for seen in asked if is_answer(seen)}
    judges = {seen.model for seen in asked if not is_answer(seen)}
    assert answers == {TABLES[table].backbones[0]}
    assert judges == {"gpt-4o-mini", "gpt-4.1-mini"}
    (file,) = Path().glob(f"{table}-*/results.jsonl")
    assert demem("bench", "verify", file, "--data", data).code == 0
    again = demem("bench", "paper", f"tab:{table}", "--data", data)
    assert again.code == 0
    assert len(provider.requests) - since == len(asked)


def is_answer(seen: Any) -> bool:
    return str(seen.body["messages"][0]["content"]).startswith("You answer")


def test_questions_that_nothing_answers_are_marked_under_their_kind(demem: Demem) -> None:
    data = data_of("longmemeval")
    document = demem.document(
        "bench", "paper", "longmemeval-main", "--data", data, "--yes", "--any-judge", "--runs", 1
    )
    assert document["questions"] == 2
    (category,) = document["systems"]["demem"]["categories"]
    assert category == "multi-session"


def test_the_arena_s_figures_are_in_the_file(demem: Demem) -> None:
    data = data_of("memoryarena")
    document = demem.document(
        "bench", "paper", "memoryarena", "--data", data, "--yes", "--any-judge"
    )
    closing = lines_of(Path("memoryarena-gpt-4.1-mini/results.jsonl"))[-1]
    assert closing["figures"]["arena"] == document["arena"]
    assert set(document["arena"]["demem"]["subsets"]) == {"formal reasoning math"}


def test_judges_may_be_elsewhere(demem: Demem, provider: Provider) -> None:
    with Provider(obedient) as elsewhere:
        since = len(provider.requests)
        options = ("--judge-url", elsewhere.url, "--runs", 1, "--yes", "--any-judge")
        done = demem("bench", "paper", "llama-locomo", "--data", data_of("locomo"), *options)
        assert done.code == 0
        assert all(map(is_answer, provider.requests[since:]))
        assert not any(map(is_answer, elsewhere.requests))
        tried, *answers = provider.requests[since:]
        assert is_answer(tried)
        assert len(elsewhere.requests) == 4 * len(answers)


def test_what_it_takes_is_said_before_it_starts(demem: Demem, provider: Provider) -> None:
    since = len(provider.requests)
    done = demem("bench", "paper", "locomo-main", "--data", data_of("locomo"), "--price", "1,2")
    assert done.code == 1
    said, *_, last = done.err.splitlines()
    assert said == "10 answers to be marked."
    for words in (
        "About 50 calls",
        "tokens of prompts",
        "cost 0.",
        "s a call, as one took, about 1 min",
    ):
        assert words in done.err
    assert "--yes", "--any-judge" in last
    assert len(provider.requests) == since + 1
    assert list(Path().glob("locomo-main*")) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["paper"], "which table? demem bench paper locomo-main|"),
        (["paper", "tab:split-acc"], "one of locomo-main"),
        (["paper", "locomo-main"], "where is LoCoMo?"),
        (["paper", "locomo-main", "--data", "no.json"], "there is no LoCoMo at no.json"),
        (["paper", "locomo-main", "--slots"], "without --systems"),
        (["verify"], "which file?"),
        (["verify", "none.jsonl"], "there is no file none.jsonl"),
        (["verify", "none.jsonl", "--model", "good"], "takes --data and --json"),
        (["submit", "none.jsonl", "--slots"], "takes --data, --contract"),
        (["locomo", "results.jsonl"], "one word too many"),
        (["locomo", "--contract", "mem0"], "are of demem bench submit"),
        (["beam", "--data", ".", "--model", "good"], "not of beam"),
    ],
)
def test_a_wrong_call_is_one_line_that_helps(demem: Demem, words: list[str], said: str) -> None:
    done = demem("bench", *words)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert said in done.err


# -- verify --------------------------------------------------------------------------------------


def test_a_file_that_agrees_is_told_check_by_check(demem: Demem, kept: Path) -> None:
    done = demem("bench", "verify", kept, "--data", "l.json")
    assert done.code == 0
    for name in ("digest", "answers", "instructions", "marks", "figures", "data", "questions"):
        assert f"{name}: agrees." in done.out
    assert "All that was looked at agrees." in done.out
    document = demem.document("bench", "verify", kept / "results.jsonl")
    assert document["agrees"] is True
    assert document["digest"] == lines_of(kept / "results.jsonl")[-1]["digest"]


def test_a_file_that_does_not_agree_ends_with_1_and_says_where(demem: Demem, kept: Path) -> None:
    file = kept / "results.jsonl"
    lines = lines_of(file)
    answer = next(line for line in lines if line["line"] == "answer")
    answer["binary"] = [1.0 - mark for mark in answer["binary"]]
    closed_anew(file, lines, figures=True)
    done = demem("bench", "verify", file)
    assert done.code == 1
    assert "marks: does not" in done.out
    assert "It does not agree: marks." in done.out
    assert f"run {answer['run']}, question {answer['question']} of {answer['dialogue']}" in done.out
    document = demem("bench", "verify", file, "--json")
    assert (document.code, document.document["agrees"]) == (1, False)


def test_other_data_is_said(demem: Demem, kept: Path, tmp_path: Path) -> None:
    done = demem("bench", "verify", kept, "--data", locomo(tmp_path / "other.json", 3))
    assert done.code == 1
    assert "data: does not" in done.out
    assert "question 0 of conv-2 (demem): missing" in done.out


def test_a_file_that_was_cut_off_is_said_and_gone_on_with(demem: Demem, kept: Path) -> None:
    file = kept / "results.jsonl"
    before = told(file)
    file.write_bytes(file.read_bytes()[:-900])
    done = demem("bench", "verify", file)
    assert done.code == 1
    assert "in the middle of a line" in done.out
    run = demem("bench", "locomo", "--data", "l.json", *ASKED, "--out", "kept")
    assert run.code == 0
    assert demem("bench", "verify", file).code == 0
    assert told(file) == before


def told(file: Path) -> Any:
    """Return the figures of a file, but for times."""
    figures = lines_of(file)[-1]["figures"]
    for takes in figures["takes"].values():
        del takes["seconds"]
    return figures


def test_a_line_that_is_none_is_named(demem: Demem, kept: Path) -> None:
    file = kept / "results.jsonl"
    lines = lines_of(file)
    del lines[3]["seconds"]
    put(file, lines)
    done = demem("bench", "verify", file)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "line 4" in done.err
    assert "seconds" in done.err


def test_a_folder_of_another_run_is_refused_before_anything_is_asked(
    demem: Demem, kept: Path, provider: Provider
) -> None:
    since = len(provider.requests)
    done = demem("bench", "locomo", "--data", "l.json", *ASKED, "--limit", 300, "--out", kept)
    assert (done.code, done.out) == (1, "")
    assert "limit" in done.err.splitlines()[-1]
    assert len(provider.requests) == since


def test_a_folder_of_readings_is_not_mistaken_for_a_run(demem: Demem, kept: Path) -> None:
    (kept / "results.jsonl").write_text('{"dialogue": "conv-0"}\n')
    done = demem("bench", "locomo", "--data", "l.json", *ASKED, "--out", kept)
    assert (done.code, done.out) == (1, "")


# -- submit --------------------------------------------------------------------------------------


def submitted(done: Done) -> Any:
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_answers_are_submitted_in_the_form_of_the_benchmark(demem: Demem, kept: Path) -> None:
    made = submitted(demem("bench", "submit", kept, "--data", "l.json", "--run", 1))
    answers = [line for line in lines_of(kept / "results.jsonl") if line.get("run") == 1]
    given = {(one["dialogue"], one["question"]): one["answer"] for one in answers}
    assert [entry["sample_id"] for entry in made] == ["conv-0", "conv-1"]
    for entry in made:
        # The third question, adversarial, was not asked.
        predictions = [asked["good_prediction"] for asked in entry["qa"]]
        assert predictions == [given[entry["sample_id"], number] for number in (0, 1)]


def test_another_contract_may_be_named(demem: Demem, kept: Path) -> None:
    made = submitted(demem("bench", "submit", kept, "--data", "l.json", "--contract", "mem0"))
    assert list(made) == ["0", "1"]


def test_nothing_is_submitted_with_other_data(demem: Demem, kept: Path, tmp_path: Path) -> None:
    done = demem("bench", "submit", kept, "--data", locomo(tmp_path / "other.json", 3))
    assert (done.code, done.out) == (1, "")
    assert "the data of the run, l.json" in done.err
