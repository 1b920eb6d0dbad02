"""Rivals: two people want it otherwise; which pairs are tested, what is certified, who says it.

It was said how warm Ann and Ben like their seat, and not who said it; both ask for it in the same
words. What is right is told of the one, and of the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from demem_agent import FeedbackReport, SlotMemory, SplitCertificate, SplitSettings
from demem_agent.errors import CertificateRefused, InvalidInput
from demem_agent.reading import composing
from demem_agent.splitting import replay
from demem_agent.splitting.replaying import sealed
from demem_agent.types import Reading

SAID = {
    "Ann": "I want the seat heating at level 3.",
    "Ben": "Level 1 of the seat heating is enough.",
}
OTHERS = (
    "We stop for coffee at the old mill.",
    "The concert begins at eight in the evening.",
    "My sister has moved to a town by the sea.",
)
QUESTION = "Set the seat heating as I like it."


def memory_of(**options: Any) -> SlotMemory:
    given: dict[str, Any] = {"decisions": True, "initial_slots": 1, "slots": 4, **options}
    memory = SlotMemory(**given)
    for text in (*SAID.values(), *OTHERS):
        memory.ingest(text)
    return memory


def told(memory: SlotMemory, asker: str, query: str = QUESTION, **more: Any) -> FeedbackReport:
    """Do what the first line says, and tell what would have been right."""
    given = {"reference": SAID[asker], "reward": 0.0, **more}
    reading = memory.read(query, asker=asker)
    done = reading.ranked[0].text
    answer = memory.answered(query, done, reading=reading, asker=asker)
    given["reward"] = float(done == given["reference"])
    report = memory.feedback(answer, **given)
    memory.check()
    return report


def certified(memory: SlotMemory) -> SplitCertificate:
    for asker in SAID:
        report = told(memory, asker)
    assert report.certificate is not None
    return report.certificate


def ordered(reading: Reading) -> list[str]:
    lines = sorted(reading.lines, key=lambda line: -line.score)
    return [line.text for line in lines]


# What is certified


def test_two_who_want_it_otherwise_are_certified_as_soon_as_both_were_told() -> None:
    made = certified(memory_of())
    assert made.regime == "rival lines"
    assert made.rivals == (("e1", 0, len(SAID["Ann"])), ("e2", 0, len(SAID["Ben"])))
    assert "default reading" in made.conditions


def test_a_certificate_says_for_each_whether_its_right_line_would_be_ahead() -> None:
    made = certified(memory_of())
    ahead = {one.name: [scores[0] for scores in one.scores] for one in made.candidates}
    assert ahead["told of the first"] == [1.0, 0.0]
    assert ahead["told of the second"] == [0.0, 1.0]
    assert sum(ahead["told of both"]) < 2
    assert made.candidates[1].answers == (SAID["Ann"], SAID["Ann"])


def test_it_divides_the_slot_that_both_share() -> None:
    memory = memory_of()
    made = certified(memory)
    homes = [next(c.slot for c in memory.contexts() if c.id == id) for id in made.pair]
    assert (made.decision, homes) == ("split", [made.slot, made.new_slot])


def test_rivals_are_certified_though_nothing_can_be_divided() -> None:
    memory = memory_of(slots=6, initial_slots=5, near=1.0)
    for asker in ("Ann", "Ann", "Ben"):
        made = told(memory, asker).certificate
    assert made is not None
    assert (made.decision, made.undivided, made.new_slot) == ("suppressed", True, None)
    assert ordered(memory.read(QUESTION, asker="Ann"))[-1] == SAID["Ben"]


def test_it_replays_and_with_a_score_changed_does_not() -> None:
    made = certified(memory_of())
    assert replay(made).radius == made.radius
    first = replace(made.candidates[1], scores=((1.0, 1.0), (1.0, 1.0)))
    changed = (made.candidates[0], first, *made.candidates[2:])
    with pytest.raises(CertificateRefused):
        replay(sealed(replace(made, candidates=changed)))


def test_the_same_two_decisions_are_certified_once() -> None:
    memory = memory_of()
    certified(memory)
    again = [told(memory, asker).certificate for asker in (*SAID, *SAID)]
    assert again == [None] * 4


def test_no_model_is_asked_for_it() -> None:
    memory = memory_of()
    told(memory, "Ann")
    report = told(memory, "Ben")
    assert report.certificate is not None
    assert report.counterfactuals == 0


@pytest.mark.parametrize(
    "options", [{"decisions": False}, {"split": SplitSettings(pairs=0)}], ids=str
)
def test_there_are_none_where_nothing_is_kept_or_tested(options: dict[str, Any]) -> None:
    memory = memory_of(**options)
    reports = [told(memory, asker) for asker in SAID]
    assert not any(report.certificate and report.certificate.rivals for report in reports)


def test_what_has_changed_for_one_asker_is_no_rival() -> None:
    memory = memory_of()
    told(memory, "Ann")
    assert told(memory, "Ann", reference=SAID["Ben"]).certificate is None


def test_two_who_want_the_same_are_no_rivals() -> None:
    memory = memory_of()
    memory.ingest("Level 3 is what I want for the seat heating.")
    told(memory, "Ann")
    answer = memory.answer(QUESTION, asker="Cem")
    report = memory.feedback(answer, reference="Level 3 is what I want for the seat heating.")
    assert report.certificate is None or not report.certificate.rivals


def test_questions_about_other_things_are_no_rivals() -> None:
    memory = memory_of()
    told(memory, "Ann")
    answer = memory.answer("When does the concert begin?", asker="Ben")
    report = memory.feedback(answer, reference=OTHERS[1], reward=1.0)
    assert report.certificate is None or not report.certificate.rivals


def test_there_is_none_where_the_reading_tells_them_apart_by_itself() -> None:
    memory = SlotMemory(decisions=True, initial_slots=1)
    for asker, text in SAID.items():
        memory.ingest(text, speaker=asker)
    reports = [told(memory, asker) for asker in SAID]
    assert not any(
        report.certificate and report.certificate.regime == "rival lines" for report in reports
    )


# What it says of readings


@pytest.mark.parametrize(("asker", "other"), [("Ann", "Ben"), ("Ben", "Ann")])
def test_the_line_of_the_other_side_stands_behind_all(asker: str, other: str) -> None:
    memory = memory_of()
    certified(memory)
    lines = ordered(memory.read(QUESTION, asker=asker))
    assert (lines[0], lines[-1]) == (SAID[asker], SAID[other])


def test_a_short_reading_is_without_it() -> None:
    memory = memory_of()
    certified(memory)
    assert SAID["Ben"] not in memory.read(QUESTION, asker="Ann", limit=130).text


def test_who_is_on_neither_side_reads_as_before() -> None:
    memory = memory_of()
    before = ordered(memory.read(QUESTION, asker="Cem"))
    certified(memory)
    assert sorted(ordered(memory.read(QUESTION, asker="Cem"))) == sorted(before)
    assert ordered(memory.read("When does the concert begin?", asker="Ann"))[0] == OTHERS[1]


def test_undo_takes_it_back() -> None:
    memory = memory_of(slots=1)
    made = certified(memory)
    assert made.decision == "suppressed"
    fingerprint = memory.fingerprint()
    memory.undo(made.id)
    memory.check()
    assert memory.fingerprint() == fingerprint
    (now,) = memory.certificates()
    assert now == replace(made, undone=True)
    with pytest.raises(InvalidInput):
        memory.undo(made.id)


def test_an_undone_certificate_says_nothing_of_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    # What was decided puts the other's line behind, too: here the certificate alone does.
    monkeypatch.setattr(composing, "opposed", lambda state, ranking, found: (ranking, ()))
    memory = memory_of()
    for n in range(2):
        # More about it, so that what stands last is not the other's line by itself.
        memory.ingest(f"The seat heating was repaired in year {n}.")
    made = certified(memory)
    kept = ordered(memory.read(QUESTION, asker="Ann"))
    memory.undo(made.id)
    assert kept[-1] == SAID["Ben"] != ordered(memory.read(QUESTION, asker="Ann"))[-1]


def test_a_reopened_memory_reads_the_same() -> None:
    memory = memory_of()
    certified(memory)
    again = SlotMemory.restore(memory.export())
    for asker in SAID:
        assert again.read(QUESTION, asker=asker) == memory.read(QUESTION, asker=asker)
    assert again.certificates() == memory.certificates()


def test_forgetting_a_line_takes_its_words_out_of_the_certificate() -> None:
    memory = memory_of()
    made = certified(memory)
    memory.forget("e2")
    memory.check()
    (now,) = memory.certificates()
    assert SAID["Ben"] not in str(now)
    assert replay(now).radius == made.radius
    assert ordered(memory.read(QUESTION, asker="Ann"))[0] == SAID["Ann"]
