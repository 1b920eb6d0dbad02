"""Replay: each certificate of a memory comes to its own decision again, no altered one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory, SplitCertificate, SplitSettings
from demem_agent.errors import CertificateRefused
from demem_agent.slots.experiment import Experiment
from demem_agent.splitting.replaying import replay, sealed
from demem_agent.studies.ablations.triggers import always
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedAnswerer, ScriptedScorer
from demem_agent.types import Attempt, Question

BOILER, VIOLIN = "the boiler has a brass valve", "the violin has a broken bow"
ABOUT_BOILER, ABOUT_VIOLIN = "Which valve has the boiler?", "Which bow has the violin?"


def apart(attempt: Attempt) -> float:
    return 1.0 if ("violin" in attempt.query) == ("violin" in attempt.reading) else 0.25


class InTurns:
    """Answer "brass", "broken", "brass", ... whatever is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def answer(self, question: Question) -> str:
        self.calls += 1
        return "brass" if self.calls % 2 else "broken"


def options_of(slots: int = 4, **more: Any) -> dict[str, Any]:
    split = SplitSettings(c_beta=0.2, sigma_0=0.1, eta_cal=0.02, tau_split=0.1, tau_sat=0.2)
    one, two = (
        ScriptedScorer(apart, "one"),
        ScriptedScorer(lambda attempt: apart(attempt) * 0.9, "two"),
    )
    return {
        "clock": None,
        "slots": slots,
        "split": split,
        "initial_slots": 1,
        "slot_limit": 44,
        "read_limit": 90,
        "encoder": BagEncoder(),
        "answerer": ReadingAnswerer(),
        "scorers": (one, two),
        "judges": (two, one),
        **more,
    }


def filled(memory: SlotMemory) -> SlotMemory:
    memory.ingest(BOILER)
    memory.ingest(VIOLIN)
    return memory


def told_both(memory: SlotMemory, first: dict[str, Any], second: dict[str, Any]) -> SlotMemory:
    filled(memory)
    memory.feedback(memory.answer(ABOUT_BOILER), **first)
    memory.feedback(memory.answer(ABOUT_VIOLIN), **second)
    assert len(memory.certificates()) == 1
    return memory


def referenced(memory: SlotMemory) -> SlotMemory:
    return told_both(memory, {"reference": "a brass valve"}, {"reference": "a broken bow"})


def repeated(memory: SlotMemory) -> SlotMemory:
    filled(memory)
    for _ in range(20):
        for query, right in ((ABOUT_BOILER, "brass"), (ABOUT_VIOLIN, "broken")):
            for _ in range(2):
                answer = memory.answer(query)
                memory.feedback(answer, reward=float(answer.text == right))
    assert len(memory.certificates()) == 1
    return memory


#: Room for one correction, which quotes its question.
ROOM = {"slot_limit": 76, "read_limit": 130}
Made = Callable[[], SlotMemory]
MADE: dict[str, Made] = {
    "guard band": lambda: referenced(SlotMemory(**options_of())),
    "corrections": lambda: told_both(
        SlotMemory(**options_of(**ROOM)),
        {"correction": "a brass valve"},
        {"correction": "a broken bow"},
    ),
    "stand-ins": lambda: told_both(SlotMemory(**options_of()), {"thumbs": True}, {"outcome": True}),
    "judges": lambda: told_both(SlotMemory(**options_of()), {"judge": True}, {"judge": True}),
    "suppressed": lambda: referenced(SlotMemory(**options_of(slots=1))),
    "confidence sequence": lambda: repeated(SlotMemory(**options_of(answerer=InTurns()))),
    "confidence sequence, suppressed": lambda: repeated(
        SlotMemory(**options_of(slots=1, answerer=InTurns()))
    ),
}
every_kind = pytest.mark.parametrize("kind", list(MADE))
every_regime = pytest.mark.parametrize("kind", ["guard band", "suppressed", "confidence sequence"])


@cache
def made(kind: str) -> SplitCertificate:
    return MADE[kind]().certificates()[0]


@cache
def exported(kind: str) -> tuple[dict[str, Any], ...]:
    return tuple(MADE[kind]().export())


def again(kind: str) -> SlotMemory:
    """Return a memory of that kind of its own, without making it anew."""
    room = ROOM if kind == "corrections" else {}
    slots = 1 if "suppressed" in kind else 4
    return SlotMemory.restore(exported(kind), **options_of(slots=slots, **room))


def refused(certificate: SplitCertificate) -> str:
    with pytest.raises(CertificateRefused) as caught:
        replay(certificate)
    return caught.value.field


# What a memory makes


@every_kind
def test_every_certificate_comes_to_its_own_numbers_again(kind: str) -> None:
    certificate = made(kind)
    found = replay(certificate)
    assert found.decision == certificate.decision
    assert found.radius == pytest.approx(certificate.radius)
    for candidate, losses in zip(certificate.candidates, found.losses, strict=True):
        assert losses == pytest.approx(candidate.losses)


def test_the_kinds_are_what_their_names_say() -> None:
    assert {
        kind: (made(kind).regime, made(kind).decision, made(kind).channels[1]) for kind in MADE
    } == {
        "guard band": ("guard band", "split", "reference"),
        "corrections": ("guard band", "split", "correction"),
        "stand-ins": ("guard band", "split", "stand-in"),
        "judges": ("guard band", "split", "judge"),
        "suppressed": ("guard band", "suppressed", "reference"),
        "confidence sequence": (
            "confidence sequence",
            "split",
            made("confidence sequence").channels[1],
        ),
        "confidence sequence, suppressed": (
            "confidence sequence",
            "suppressed",
            made("confidence sequence, suppressed").channels[1],
        ),
    }


def test_a_certificate_names_the_models_behind_it() -> None:
    assert made("guard band").models == ("ReadingAnswerer", "bag")


def test_the_answerers_own_name_is_kept_where_it_has_one() -> None:
    answerer = ReadingAnswerer()
    answerer.name = "mine"  # type: ignore[attr-defined]  # any object may have one
    certificate = referenced(SlotMemory(**options_of(answerer=answerer))).certificates()[0]
    assert certificate.models[0] == "mine"


@every_kind
def test_it_replays_after_its_split_was_undone(kind: str) -> None:
    memory = again(kind)
    if made(kind).decision == "split":
        memory.undo("c1")
        assert memory.certificates()[0].undone
    assert replay(memory.certificates()[0]) == replay(made(kind))


@every_kind
@pytest.mark.parametrize("item", ["e1", "e2"])
def test_it_replays_after_its_text_was_forgotten(kind: str, item: str) -> None:
    memory = again(kind)
    memory.forget(item)
    assert replay(memory.certificates()[0]) == replay(made(kind))


def test_a_certificate_without_its_text_says_so() -> None:
    memory = MADE["guard band"]()
    memory.forget("e1")
    assert memory.certificates()[0].redacted
    assert replay(memory.certificates()[0]).decision == "split"


@every_kind
def test_it_replays_after_export_and_restore(kind: str) -> None:
    (certificate,) = again(kind).certificates()
    assert certificate == made(kind)
    assert replay(certificate) == replay(made(kind))


def test_it_replays_from_a_reopened_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with SlotMemory.open(url, **options_of()) as memory:
        referenced(memory)
    with SlotMemory.open(url, **options_of()) as reopened:
        assert replay(reopened.certificates()[0]) == replay(made("guard band"))


def test_settings_given_as_whole_numbers_replay_after_restore() -> None:
    split = SplitSettings(c_beta=0, sigma_0=1, eta_cal=0, tau_split=0, tau_sat=0)
    memory = referenced(SlotMemory(**options_of(split=split)))
    restored = SlotMemory.restore(memory.export(), **options_of(split=split))
    assert replay(restored.certificates()[0]) == replay(memory.certificates()[0])


# What is not what it claims

#: A field, the numbers in it as a tuple, and how to put others there.
Numbers = tuple[float, ...]
TOP = ("radius", "threshold")
OF_CANDIDATE = ("lower", "upper", "losses")


def numbers_in(certificate: SplitCertificate, field: str) -> Numbers:
    if field in TOP:
        return (getattr(certificate, field),)
    if field == "parameters":
        return tuple(value for _, value in certificate.parameters)
    if field == "scores":
        return tuple(score for c in certificate.candidates for side in c.scores for score in side)
    return tuple(value for c in certificate.candidates for value in getattr(c, field))


def with_numbers(certificate: SplitCertificate, field: str, values: Numbers) -> SplitCertificate:
    left = iter(values)
    if field in TOP:
        change: dict[str, Any] = {field: next(left)}
        return replace(certificate, **change)
    if field == "parameters":
        return replace(
            certificate, parameters=tuple((name, next(left)) for name, _ in certificate.parameters)
        )
    if field == "scores":
        sides = [
            tuple(tuple(next(left) for _ in side) for side in c.scores)
            for c in certificate.candidates
        ]
        changed = [
            replace(c, scores=(s[0], s[1]))
            for c, s in zip(certificate.candidates, sides, strict=True)
        ]
        return replace(certificate, candidates=tuple(changed))
    pairs: list[dict[str, Any]] = [
        {field: (next(left), next(left))} for _ in certificate.candidates
    ]
    others = [replace(c, **pair) for c, pair in zip(certificate.candidates, pairs, strict=True)]
    return replace(certificate, candidates=tuple(others))


def test_numbers_put_back_where_they_were_are_accepted() -> None:
    certificate = made("guard band")
    for field in (*TOP, *OF_CANDIDATE, "parameters", "scores"):
        assert with_numbers(certificate, field, numbers_in(certificate, field)) == certificate


@every_regime
@pytest.mark.parametrize("field", [*TOP, *OF_CANDIDATE, "parameters", "scores"])
@settings(max_examples=often(15), deadline=None)
@given(data=st.data())
def test_one_flipped_number_is_refused(kind: str, field: str, data: st.DataObject) -> None:
    certificate = made(kind)
    values = list(numbers_in(certificate, field))
    at = data.draw(st.integers(0, len(values) - 1))
    values[at] = data.draw(st.floats(0, 1).filter(lambda other: other != values[at]))
    assert refused(with_numbers(certificate, field, tuple(values))) == "digest"


@every_regime
@pytest.mark.parametrize("field", ["radius", *OF_CANDIDATE])
@settings(max_examples=often(15), deadline=None)
@given(data=st.data())
def test_one_flipped_number_is_refused_even_under_a_new_digest(
    kind: str, field: str, data: st.DataObject
) -> None:
    certificate = made(kind)
    values = list(numbers_in(certificate, field))
    at = data.draw(st.integers(0, len(values) - 1))
    values[at] = data.draw(st.floats(0, 1).filter(lambda other: abs(other - values[at]) > 1e-6))
    found = refused(sealed(with_numbers(certificate, field, tuple(values))))
    assert found.rpartition(".")[2] == field


@pytest.mark.parametrize("kind", ["guard band", "judges"])
@settings(max_examples=often(15), deadline=None)
@given(data=st.data())
def test_another_score_is_refused_even_under_a_new_digest(kind: str, data: st.DataObject) -> None:
    certificate = made(kind)
    values = list(numbers_in(certificate, "scores"))
    at = data.draw(st.integers(0, len(values) - 1))
    values[at] = data.draw(st.floats(0.1, 0.9).filter(lambda other: abs(other - values[at]) > 1e-3))
    assert refused(sealed(with_numbers(certificate, "scores", tuple(values)))).startswith(
        "candidates["
    )


@every_kind
def test_a_threshold_that_the_radius_does_not_exceed_is_refused_even_under_a_new_digest(
    kind: str,
) -> None:
    certificate = made(kind)
    assert refused(sealed(replace(certificate, threshold=certificate.radius))) == "threshold"


@pytest.mark.parametrize(
    ("kind", "changes", "field"),
    [
        ("guard band", {"decision": "suppressed"}, "decision"),
        ("guard band", {"saturated": True}, "decision"),
        ("guard band", {"new_slot": None}, "new_slot"),
        ("suppressed", {"decision": "split"}, "decision"),
        ("suppressed", {"new_slot": 3}, "new_slot"),
        ("guard band", {"parameters": ()}, "scores"),
        ("guard band", {"candidates": ()}, "scores"),
    ],
    ids=str,
)
def test_a_decision_that_does_not_follow_is_refused_even_under_a_new_digest(
    kind: str, changes: dict[str, Any], field: str
) -> None:
    assert refused(sealed(replace(made(kind), **changes))) == field


@pytest.mark.parametrize("score", [float("nan"), -0.5, 1.5])
def test_scores_that_no_envelope_can_be_built_from_are_refused(score: float) -> None:
    values = (score, *numbers_in(made("guard band"), "scores")[1:])
    assert refused(sealed(with_numbers(made("guard band"), "scores", values))) == "scores"


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "c2"},
        {"slot": 9},
        {"pair": ("a1", "a3")},
        {"channels": ("reference", "judge")},
        {"scorers": ("one", "three")},
        {"models": ()},
        {"seed": 1},
        {"new_slot": 7},
        {"regime": "confidence sequence"},
    ],
    ids=str,
)
def test_another_name_or_id_is_refused(changes: dict[str, Any]) -> None:
    assert refused(replace(made("guard band"), **changes)) == "digest"


@pytest.mark.parametrize("changes", [{"name": "other"}, {"slot": 3}, {"revision": 99}], ids=str)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_another_candidate_is_refused(changes: dict[str, Any], at: int) -> None:
    candidates = list(made("guard band").candidates)
    candidates[at] = replace(candidates[at], **changes)
    assert refused(replace(made("guard band"), candidates=tuple(candidates))) == "digest"


def test_a_certificate_without_a_digest_is_refused() -> None:
    assert refused(replace(made("guard band"), digest="")) == "digest"


def test_an_untested_certificate_of_an_experiment_is_refused_as_such() -> None:
    options = options_of(answerer=ScriptedAnswerer({}, "brass"))
    memory = filled(SlotMemory(**options, experiment=Experiment(trigger=always())))
    for query in (ABOUT_BOILER, ABOUT_VIOLIN):
        memory.feedback(memory.answer(query), reference="a brass valve")
    with pytest.raises(CertificateRefused, match=r"c1: regime is none.*tests the pair") as caught:
        replay(memory.certificates()[0])
    assert caught.value.field == "regime"
