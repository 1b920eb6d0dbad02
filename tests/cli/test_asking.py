"""Ask, read, give feedback and explain: what the commands show of a memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import BUDGET, DEMO, Demem, rows_file

from demem_agent import SlotMemory

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.demo import data
from demem_agent.stores.manifest import ended


def test_ask_shows_the_turn_that_the_answer_rests_on(demem: Demem, memory: Path) -> None:
    done = demem("ask", "When was Pixel at the vet?", "-m", memory)
    assert done.code == 0
    cited = [line.split() for line in done.out.splitlines() if line.strip().startswith("*")]
    assert [(words[2], words[3], words[4]) for words in cited] == [("s4:1", "2025-02-23", "Mara")]
    assert "21 February 2025" in done.out


def test_ask_shows_the_twelve_best_lines_best_first(demem: Demem, tmp_path: Path) -> None:
    turns = [{"text": f"Bruno's medicine number {n} is blue."} for n in range(20)]
    demem("ingest", rows_file(tmp_path / "blue.jsonl", *turns), "-m", "m.db")
    document = demem.document("ask", "Is Bruno's medicine number 7 blue?", "-m", "m.db")
    with SlotMemory.open("sqlite:///m.db") as opened:
        read = opened.read("Is Bruno's medicine number 7 blue?")
    best_first = [item.id for item in read.ranked]
    rests_on = document["evidence"]
    assert rests_on[0] == best_first[0]
    out = demem("ask", "Is Bruno's medicine number 7 blue?", "-m", "m.db").out
    assert "Evidence, best first" in out
    assert _ids_shown(out) == best_first[:12]
    assert f"{len(best_first) - 12} more lines were read: --all shows them" in out
    every = demem("ask", "Is Bruno's medicine number 7 blue?", "-m", "m.db", "--all").out
    assert _ids_shown(every) == best_first


def _ids_shown(out: str) -> list[str]:
    """Return the ids of the evidence in a table, in its order."""
    rows = [line.lstrip(" *").split() for line in out.splitlines()]
    return [row[0] for row in rows if row and row[0][0] == "e" and row[0][1:].isdigit()]


def test_ask_and_explain_agree_on_the_answer(demem: Demem, memory: Path) -> None:
    asked = demem.document("ask", "When was Pixel at the vet?", "-m", memory)
    explained = demem.document("explain", asked["id"], "-m", memory)
    assert explained["answer"]["answer"] == asked["text"]
    assert [line["id"] for line in explained["evidence"] if line["cited"]] == asked["evidence"]
    assert explained["route"]["scores"] == asked["route"]["scores"]


def test_each_line_says_how_probably_it_bears_on_the_question(demem: Demem, memory: Path) -> None:
    asked = "When was Pixel at the vet?"
    lines = demem.document("read", asked, "-m", memory)["lines"]
    with SlotMemory.open(f"sqlite:///{memory}") as opened:
        expected = [line.probability for line in opened.read(asked).lines]
    assert [line["probability"] for line in lines] == expected
    assert all(0.0 < one <= 1.0 for one in expected)


def test_read_prints_the_exact_reading_and_nothing_else(demem: Demem, memory: Path) -> None:
    with SlotMemory.open(f"sqlite:///{memory}") as opened:
        expected = [
            opened.read("Bruno's medicine?", limit=300, mode=mode).text
            for mode in ("evidence", "strict")
        ]
    printed = [
        demem("read", "Bruno's medicine?", "--limit=300", f"--mode={mode}", "-m", memory).out
        for mode in ("evidence", "strict")
    ]
    assert printed == [f"{text}\n" for text in expected]
    assert printed[0] != printed[1]


def test_read_gives_the_latest_days_first_where_asked(demem: Demem, memory: Path) -> None:
    with SlotMemory.open(f"sqlite:///{memory}") as opened:
        expected = opened.read("Bruno's medicine?", limit=600, order="latest").text
    arguments = ("read", "Bruno's medicine?", "-m", memory, "--limit", 600)
    assert demem(*arguments, "--order", "latest").out == f"{expected}\n"
    assert demem(*arguments, "--order", "newest").code == 1


def test_feedback_that_splits_shows_the_certificate(demem: Demem) -> None:
    demem("ingest", DEMO, "-m", "m.db", *BUDGET)
    shown_last = ""
    for need in data.NEEDS:
        answer = demem.document("ask", need.question, "-m", "m.db")
        reference = f"--reference={need.reference}"
        shown_last = demem("feedback", answer["id"], reference, "-m", "m.db").out
        if "Certificate c1" in shown_last:
            break
    assert "radius" in shown_last
    assert "Conditions: " in shown_last


def test_feedback_with_the_same_key_counts_once(demem: Demem, memory: Path) -> None:
    reports = [
        demem.document("feedback", "a1", "--reward=1", "--key=k", "-m", memory) for _ in range(2)
    ]
    assert reports[0] == reports[1]
    rewards = demem.document("explain", "a1", "-m", memory)["answer"]["rewards"]
    assert rewards == [1.0]


@pytest.mark.parametrize(
    ("typed", "channel", "reward"),
    [
        (["--thumbs", "up"], "thumbs", 1.0),
        (["--thumbs", "down"], "thumbs", 0.0),
        (["--outcome", "success"], "outcome", 1.0),
        (["--outcome", "failure"], "outcome", 0.0),
        (["--outcome", "0.25"], "outcome", 0.25),
        (["--correction", "Pixel never was", "--reward", "0.1"], "correction", 0.1),
    ],
    ids=str,
)
def test_feedback_is_told_in_every_channel(
    demem: Demem, memory: Path, typed: list[str], channel: str, reward: float
) -> None:
    document = demem.document("feedback", "a1", *typed, "-m", memory)
    assert (document["channel"], document["reward"]) == (channel, reward)
    stored = demem.document("explain", "a1", "-m", memory)["answer"]
    assert (stored["told"], stored["rewards"]) == ([channel], [reward])


def test_a_certificate_is_explained_with_whether_its_replay_agrees(
    demem: Demem, memory: Path
) -> None:
    assert demem.document("explain", "c1", "-m", memory)["replay"] == {
        "agrees": True,
        "refusal": None,
    }
    assert demem("explain", "c1", "-m", memory).out.count("Replay: computed again") == 1


def test_a_certificate_with_an_altered_number_is_explained_as_refused(
    demem: Demem, memory: Path
) -> None:
    with SlotMemory.open(f"sqlite:///{memory}") as original:
        text = json.dumps(original.export())
        radius = json.dumps(original.certificates()[0].radius)
    assert text.count(f'"radius": {radius}') == 1
    lines = json.loads(text.replace(f'"radius": {radius}', f'"radius": {float(radius) + 0.01}'))
    SlotMemory.restore(ended(lines), "sqlite:///altered.db").close()
    replayed = demem.document("explain", "c1", "-m", "altered.db")["replay"]
    assert replayed["agrees"] is False
    assert "digest" in replayed["refusal"]
    assert "Replay: refused" in demem("explain", "c1", "-m", "altered.db").out


def test_a_certificate_is_explained_with_every_number_it_rests_on(
    demem: Demem, memory: Path
) -> None:
    document = demem.document("explain", "c1", "-m", memory)
    text = demem("explain", "c1", "-m", memory).out
    for candidate in document["candidates"]:
        for n in (0, 1):
            assert f"[{candidate['lower'][n]:.2f}, {candidate['upper'][n]:.2f}]" in text
            assert f"{candidate['losses'][n]:.2f}" in text
    assert f"{document['radius']:.2f} > {document['threshold']:.2f}" in text
    assert all(query in text for query in document["queries"])


def test_explain_names_the_certificate_of_an_answer(demem: Demem, memory: Path) -> None:
    for answer, expected in (("a1", []), ("a2", ["c1"]), ("a3", ["c1"])):
        found = demem.document("explain", answer, "-m", memory)["certificates"]
        assert [certificate["id"] for certificate in found] == expected


def test_explain_survives_the_forgetting_of_the_question(demem: Demem, tmp_path: Path) -> None:
    sentence = "The quick brown fox keeps its passport in the blue drawer."
    demem("ingest", rows_file(tmp_path / "fox.jsonl", {"text": sentence}), "-m", "m.db")
    demem("ask", f"Is it so? {sentence}", "-m", "m.db")
    demem("forget", "e1", "-m", "m.db")
    done = demem("explain", "a1", "-m", "m.db")
    assert done.code == 0
    assert "(forgotten)" in done.out
    assert "passport" not in done.out


def test_slots_can_be_read_in_full(demem: Demem, memory: Path) -> None:
    slots = demem.document("slots", "-m", memory)["slots"]
    full = demem("slots", "--full", slots[0]["number"], "-m", memory).out
    assert "".join(full.split()) == "".join(slots[0]["summary"].split())


def test_a_reranker_that_fails_is_told_of_and_changes_nothing(
    demem: Demem, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = demem("read", "Bruno's medicine?", "-m", memory)
    monkeypatch.setattr("demem_agent.encoders.crossing.find_spec", lambda _: object())
    monkeypatch.setattr("demem_agent.encoders.crossing._LIBRARY", "no_such_library")
    done = demem("read", "Bruno's medicine?", "-m", memory, "--reranker", "some/model")
    assert (done.code, done.out) == (0, plain.out)
    told = "the reranker failed: ModuleNotFoundError"
    assert told in done.err.splitlines()
    assert [line for line in done.err.splitlines() if line != told] == plain.err.splitlines()
    asked = demem("ask", "When was Pixel at the vet?", "-m", memory, "--reranker", "some/model")
    assert "by the score alone: the reranker failed" in asked.out


@pytest.mark.parametrize("command", ["read", "ask"])
def test_a_reranker_without_the_extra_names_the_command(
    demem: Demem, memory: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("demem_agent.encoders.crossing.find_spec", lambda _: None)
    done = demem(command, "Bruno's medicine?", "-m", memory, "--reranker", "some/model")
    assert done.code != 0
    assert "pip install 'demem-agent[sentence-transformers]'" in " ".join(done.err.split())


def test_the_evidence_of_ask_and_explain_says_until_when_it_held(
    demem: Demem, tmp_path: Path
) -> None:
    said = [("I live in Porto.", "2024-03-01"), ("I live in Lisbon now.", "2024-05-02")]
    turns = [{"text": text, "speaker": "Ana", "at": at} for text, at in said]
    demem("ingest", rows_file(tmp_path / "homes.jsonl", *turns), "-m", "m.db")
    asked = demem("ask", "Where does Ana live?", "-m", "m.db").out
    explained = demem("explain", "a1", "-m", "m.db").out
    for shown in (asked, explained):
        assert "[until 2 May 2024]" in " ".join(shown.split())
