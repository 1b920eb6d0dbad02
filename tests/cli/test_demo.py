"""``demem demo``: what it shows, and that nothing of it is arranged."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from command_line import Demem, rows_file

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.demo import data, story


@pytest.fixture(scope="module")
def played() -> story.Story:
    return story.play()


def test_demo_is_one_json_document_and_takes_less_than_ten_seconds(demem: Demem) -> None:
    begun = time.monotonic()
    done = demem("demo", "--json")
    assert time.monotonic() - begun < 10
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert document["split"]["certificate"]["decision"] == "split"
    assert document["suppressed"]["certificate"]["decision"] == "suppressed"
    assert document["check"]["ok"] is True


def test_demo_conversation_is_sixty_to_a_hundred_turns_over_months() -> None:
    turns = data.conversation()
    assert 60 <= len(turns) <= 100
    assert len({turn.session for turn in turns}) >= 5
    assert len({str(turn.at)[:7] for turn in turns}) >= 4
    assert 2 <= len({turn.speaker for turn in turns}) <= 3


def test_demo_answers_resolve_their_dates(played: story.Story) -> None:
    answers = " ".join(one.answer.text for one in played.asked)
    assert "(yesterday: 11 January 2025" in answers
    assert "(last Friday: 21 February 2025" in answers
    assert "next month: April 2025" in answers


def test_demo_certificates_exceed_their_thresholds(played: story.Story) -> None:
    split = played.split.certificate
    suppressed = played.suppressed.certificate
    assert split.radius > split.threshold
    assert suppressed.radius > suppressed.threshold > split.threshold
    assert (split.saturated, suppressed.saturated) == (False, True)


def test_demo_split_serves_the_need_that_sharing_starves_and_harms_none(
    played: story.Story,
) -> None:
    gains = [
        after.score - shared.score
        for shared, after in zip(played.split.kept_shared, played.split.after, strict=True)
    ]
    assert max(gains) > 0.2
    assert min(gains) >= 0


def test_demo_undo_gives_back_the_state_that_was_never_split(played: story.Story) -> None:
    assert len(set(played.split.fingerprints)) == 1


def test_demo_reads_from_evidence_what_the_shared_summary_has_lost(played: story.Story) -> None:
    assert played.suppressed.evidence.score > min(one.score for one in played.suppressed.strict)


def test_demo_without_a_conflict_is_a_fault(demem: Demem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "NEEDS", data.NEEDS[:1])
    done = demem("demo")
    assert (done.code, done.out) == (2, "")
    assert done.err == "demem: the demo came to no certified split\n"


def test_demo_without_a_suppressed_split_is_a_fault(
    demem: Demem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story, "NEEDS", data.NEEDS[:2])
    done = demem("demo")
    assert (done.code, done.err) == (2, "demem: the demo came to no suppressed split\n")


def test_demo_conversation_is_looked_for_in_the_package_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "demem_agent"
    (package / "examples").mkdir(parents=True)
    rows_file(package / "examples" / "demo.jsonl", {"text": "From the wheel."})
    monkeypatch.setattr(data, "files", lambda _: package)
    assert [turn.text for turn in data.conversation()] == ["From the wheel."]


def test_demo_without_its_conversation_says_where_it_looked(
    demem: Demem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "files", lambda _: tmp_path / "elsewhere" / "demem_agent")
    done = demem("demo")
    assert done.code == 2
    assert "elsewhere" in done.err


def test_demo_for_a_person_fits_a_hundred_columns_and_shows_both_certificates(demem: Demem) -> None:
    done = demem("demo")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 100
    assert "Certificate c1" in done.out
    assert "Every invariant holds" in done.out
