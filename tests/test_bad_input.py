"""Bad input: errors name the field and what is allowed, nothing is lost, hostile text comes back as
it was.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from often import often
from sealed_files import altered, altered_memory, edited, with_field

from demem_agent import SlotMemory, SplitSettings, Turn
from demem_agent.errors import (
    EncoderMismatch,
    IdempotencyConflict,
    InvalidInput,
    NotFound,
    StoreError,
)
from demem_agent.memories import list_memories
from demem_agent.safekeeping import examine
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder, Failing, ReadingAnswerer, ScriptedScorer

NAN, INFINITE = float("nan"), float("inf")
RIGHT = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
OPTIONS: dict[str, Any] = {
    "clock": None,
    "slots": 3, "initial_slots": 1, "slot_limit": 44, "read_limit": 90,
    "encoder": BagEncoder(), "answerer": ReadingAnswerer(), "scorers": (RIGHT, RIGHT),
}  # fmt: skip


def split(memory: SlotMemory) -> SlotMemory:
    """Fill every table: two slots after a split, two contexts, a certificate, keyed operations."""
    memory.ingest("the boiler has a brass valve", key="k1")
    memory.ingest("the violin has a broken bow", key="k2")
    memory.feedback(memory.answer("Which valve has the boiler?"), reference="a brass valve")
    assert memory.feedback(
        memory.answer("Which bow has the violin?"), reference="a broken bow", key="k3"
    ).split
    return memory


# Arguments

BLANK = "text must be a text that is not blank"
TEXT = "text must be a text"
UNIT = "must be a number from 0 to 1"
WHEN = "must be a date or a time in ISO 8601"

CALLS: list[tuple[str, Callable[[SlotMemory], object], str]] = [
    ("empty text", lambda m: m.ingest(""), BLANK),
    ("blank text", lambda m: m.ingest(" \n\t\u3000"), BLANK),
    ("no text", lambda m: m.ingest(None), TEXT),  # type: ignore[arg-type]
    ("bytes", lambda m: m.ingest(b"words"), TEXT),  # type: ignore[arg-type]
    ("speaker", lambda m: m.ingest("words", speaker=7), "speaker must be a text or None"),  # type: ignore[arg-type]
    ("source id", lambda m: m.ingest("words", source_id=7), "source_id must be a text or None"),  # type: ignore[arg-type]
    ("trust", lambda m: m.ingest("words", trust=1.5), f"trust {UNIT}, got 1.5"),
    ("time", lambda m: m.ingest("words", at="tomorrow"), f"at {WHEN}"),
    ("time of a query", lambda m: m.answer("words?", at="soon"), f"at {WHEN}"),
    (
        "one of many",
        lambda m: m.ingest_many([{"text": "fine"}, {"text": ""}]),
        r"turns\[1\].text must be",
    ),
    (
        "no turn",
        lambda m: m.ingest_many(["words"]),
        r"turns\[0\] must be a Turn or a mapping with a text",
    ),  # type: ignore[list-item]
    ("one text for many", lambda m: m.ingest_many("words"), r"turns"),  # type: ignore[arg-type]
    (
        "too long a turn",
        lambda m: m.ingest("x" * 20_000_001),
        "text must be a text of at most 20,000,000 characters",
    ),
    (
        "too long a name",
        lambda m: m.ingest("words", speaker="x" * 1_000_001),
        "speaker must be a text of at most 1,000,000 characters",
    ),
    (
        "too long a query",
        lambda m: m.read("x" * 1_000_001),
        "query must be a text of at most 1,000,000 characters",
    ),
    ("query to route", lambda m: m.route(" "), "query must be a text that is not blank"),
    ("query to read", lambda m: m.read(""), "query must be a text that is not blank"),
    ("query to answer", lambda m: m.answer(None), "query must be a text"),  # type: ignore[arg-type]
    (
        "limit",
        lambda m: m.read("words?", limit=0),
        "limit must be a whole number of at least 1, got 0",
    ),
    ("fraction of a limit", lambda m: m.read("words?", limit=9.5), "limit must be a whole number"),  # type: ignore[arg-type]
    (
        "mode",
        lambda m: m.read("words?", mode="all"),
        "mode must be 'evidence' or 'strict', got 'all'",
    ),  # type: ignore[arg-type]
    ("reward too high", lambda m: m.feedback("a1", reward=1.01), f"reward {UNIT}, got 1.01"),
    ("reward too low", lambda m: m.feedback("a1", reward=-0.01), f"reward {UNIT}, got -0.01"),
    ("reward not a number", lambda m: m.feedback("a1", reward=NAN), f"reward {UNIT}, got nan"),
    ("reward without end", lambda m: m.feedback("a1", reward=INFINITE), f"reward {UNIT}, got inf"),
    ("reward beyond all", lambda m: m.feedback("a1", reward=10**400), f"reward {UNIT}"),
    ("reward yes or no", lambda m: m.feedback("a1", reward=True), f"reward {UNIT}, got True"),
    ("reward in words", lambda m: m.feedback("a1", reward="1"), f"reward {UNIT}, got '1'"),  # type: ignore[arg-type]
    (
        "no reward",
        lambda m: m.feedback("a1"),
        "reward must be given, or else one of reference, thumbs",
    ),
    (
        "blank reference",
        lambda m: m.feedback("a1", reference=" "),
        "reference must be a text that is not blank",
    ),
    (
        "blank key",
        lambda m: m.feedback("a1", reward=1, key=""),
        "key must be a text that is not blank",
    ),
    (
        "nothing to forget",
        lambda m: m.forget(),
        "evidence_id must be given, or else one of source_id, before and where",
    ),
    (
        "two to forget",
        lambda m: m.forget("e1", source_id="x"),
        "source_id must be left out, as evidence_id is given",
    ),
    (
        "two that an answer is told by",
        lambda m: m.feedback("a1", thumbs=True, correction="x"),
        "thumbs must be left out, as correction is given",
    ),
    ("before", lambda m: m.forget(before="then"), f"before {WHEN}"),
    ("no encoder", lambda m: m.reembed("bag"), "encoder must be an object with encode"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("call", "message"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS]
)
def test_a_bad_argument_is_named_with_what_is_allowed_and_changes_nothing(
    call: Callable[[SlotMemory], object], message: str
) -> None:
    memory = split(SlotMemory(**OPTIONS))
    before = memory.export()
    with pytest.raises(InvalidInput, match=message) as caught:
        call(memory)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith(
        f"{caught.value.field} must be {caught.value.allowed}, got "
    )
    assert memory.export() == before


@pytest.mark.parametrize(
    ("turn", "meant"),
    [
        ({"text": "a", "speeker": "b"}, "speaker"),
        ({"text": "a", "Speaker": "b"}, "speaker"),
        ({"txt": "a"}, "text"),
        ({"content": "a"}, "text"),
        ({"text": "a", "role": "user"}, "speaker"),
        ({"text": "a", "timestamp": "2024-03-02"}, "at"),
        ({"text": "a", "source-id": "1"}, "source_id"),
        ({"text": "a", "id": "1"}, "source_id"),
    ],
)
def test_a_field_that_no_turn_has_is_told_with_the_one_that_was_meant(
    turn: dict[str, str], meant: str
) -> None:
    memory = split(SlotMemory(**OPTIONS))
    before = memory.export()
    with pytest.raises(InvalidInput) as caught:
        memory.ingest_many([{"text": "fine"}, turn])
    name = next(name for name in turn if name != "text")
    said = f"turns[1]: a turn has no field '{name}': did you mean '{meant}'? its fields are at, "
    assert str(caught.value).startswith(said)
    assert caught.value.field == f"turns[1].{name}"
    assert memory.export() == before


@pytest.mark.parametrize("turn", [{"text": "a", "mood": "b"}, {"text": "a", "txt": "b"}])
def test_what_is_like_no_field_that_is_left_is_not_guessed_at(turn: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match=r"a turn has no field '(mood|txt)': its fields are"):
        SlotMemory().ingest_many([turn])


MADE: list[tuple[dict[str, Any], str]] = [
    ({"slots": 0}, "slots must be a whole number of at least 1, got 0"),
    ({"slots": True}, "slots must be a whole number"),
    ({"slots": "10"}, "slots must be a whole number"),
    ({"slots": 2.0}, "slots must be a whole number"),
    ({"slot_limit": 39}, "slot_limit must be a whole number of at least 40, got 39"),
    ({"read_limit": 39}, "read_limit must be a whole number of at least 40, got 39"),
    ({"initial_slots": 0}, "initial_slots must be a whole number of at least 1"),
    (
        {"slots": 2, "initial_slots": 3},
        r"initial_slots must be a whole number from 1 to slots \(2\), got 3",
    ),
    ({"near": 1.1}, "near must be a number from -1.0 to 1.0, got 1.1"),
    ({"near": NAN}, "near must be a number"),
    ({"unit": "words"}, "unit must be 'chars', 'bytes' or 'tokens', got 'words'"),
    ({"mode": "all"}, "mode must be 'evidence' or 'strict', got 'all'"),
    ({"counter": len}, "counter must be given with unit='tokens' only"),
    ({"unit": "tokens", "counter": 3}, "counter must be"),
    ({"split": {"pairs": 1}}, "split must be"),
    ({"clock": "noon"}, "clock must be"),
    ({"encoder": "all-MiniLM-L6-v2"}, "encoder must be an object with encode"),
    ({"encoder": BagEncoder}, "encoder must be an object with encode"),
    ({"encoder": object()}, r"encoder must be an object with encode\(list of texts\)"),
    ({"answerer": object()}, r"answerer must be an object with answer\(question\)"),
    ({"scorers": (RIGHT,)}, "scorers must be at least two objects"),
    ({"scorers": (RIGHT, object())}, "scorers must be at least two objects"),
    ({"memory_id": ""}, "memory_id must be a text that is not blank"),
    ({"memory_id": "a\ud800"}, "memory_id must be"),
    ({"tenant": None}, "tenant must be a text"),
    ({"memory_id": "x" * 1_001}, "memory_id must be a text of at most 1,000 characters"),
    ({"tenant": "x" * 1_001}, "tenant must be a text of at most 1,000 characters"),
]


@pytest.mark.parametrize(
    ("options", "message"), MADE, ids=[f"{n}-{next(iter(row[0]))}" for n, row in enumerate(MADE)]
)
def test_a_memory_is_not_made_with_settings_out_of_range(
    options: dict[str, Any], message: str
) -> None:
    store = MemoryStore()
    with pytest.raises(InvalidInput, match=message):
        SlotMemory.open(store, **{"encoder": BagEncoder(), **options})
    assert store.memories("default") == []


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"c_beta": -1.0}, "c_beta must be a number of at least 0.0, got -1.0"),
        ({"sigma_0": 0.0}, "sigma_0 must be a number of at least 1e-09"),
        ({"eta_cal": 2.0}, "eta_cal must be a number from 0.0 to 1.0"),
        ({"tau_split": NAN}, "tau_split must be a number from 0.0 to 1.0"),
        ({"tau_split": 0.5, "tau_sat": 0.4}, "tau_sat must be a number from 0.5 to 1.0, got 0.4"),
        ({"pairs": -1}, "pairs must be a whole number of at least 0"),
        ({"counterfactuals": 1.5}, "counterfactuals must be a whole number of at least 0"),
    ],
)
def test_a_constant_of_the_split_trigger_out_of_range_is_refused(
    constants: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        SplitSettings(**constants)


def test_an_option_that_does_not_exist_is_a_type_error_that_lists_those_that_do() -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'slot'.*slot_limit"):
        SlotMemory(slot=3)  # type: ignore[call-arg]


def test_learn_is_no_option_any_more_and_the_error_lists_decisions() -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'learn'.*'decisions'"):
        SlotMemory(learn=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "given", [{"slots": 4}, {"slot_limit": 50}, {"unit": "bytes"}, {"near": 0.5}]
)
def test_a_stored_memory_is_not_opened_with_settings_that_contradict_its_own(
    given: dict[str, Any],
) -> None:
    store = MemoryStore()
    before = split(SlotMemory.open(store, **OPTIONS)).fingerprint()
    (name,) = given
    with pytest.raises(
        InvalidInput, match=f"{name} must be .* as the stored memory was made with, or left out"
    ):
        SlotMemory.open(store, **{**OPTIONS, **given})
    assert SlotMemory.open(store, encoder=BagEncoder()).fingerprint() == before


def test_a_bad_turn_among_many_keeps_all_of_them_out() -> None:
    memory = SlotMemory(encoder=BagEncoder())
    turns = [Turn(f"number {n}") for n in range(600)]
    with pytest.raises(InvalidInput, match=r"turns\[600\].text"):
        memory.ingest_many([*turns, Turn(" ")])
    assert len(memory) == 0


def test_what_was_given_is_shown_in_few_words() -> None:
    with pytest.raises(InvalidInput) as caught:
        SlotMemory(encoder=BagEncoder()).ingest("words", at="x" * 1000)
    assert len(str(caught.value)) < 200


# Ids and keys


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.feedback("a9", reward=1.0), "no answer has the id 'a9'"),
        (lambda m: m.feedback("e1", reward=1.0), "no answer has the id 'e1'"),
        (lambda m: m.forget("e9"), "no evidence has the id 'e9'"),
        (lambda m: m.forget(source_id="x9"), "no evidence has the source_id 'x9'"),
        (lambda m: m.undo("c9"), "no certificate has the id 'c9'"),
    ],
)
def test_an_unknown_id_is_not_found(call: Callable[[SlotMemory], object], message: str) -> None:
    memory = split(SlotMemory(**OPTIONS))
    before = memory.export()
    with pytest.raises(NotFound) as caught:
        call(memory)
    assert str(caught.value) == message
    assert isinstance(caught.value, KeyError)
    assert memory.export() == before


def test_forgotten_evidence_is_not_found() -> None:
    memory = split(SlotMemory(**OPTIONS))
    memory.forget("e1")
    with pytest.raises(NotFound, match="'e1'"):
        memory.forget("e1")


def test_a_split_is_not_undone_twice() -> None:
    memory = split(SlotMemory(**OPTIONS))
    memory.undo("c1")
    with pytest.raises(
        InvalidInput,
        match="id must be the id of a split that was carried out and not undone",
    ):
        memory.undo("c1")


@pytest.mark.parametrize(
    "other",
    [
        {"text": "another"},
        {"speaker": "Ana"},
        {"at": "2023-05-08"},
        {"trust": 0.5},
        {"source_id": "x"},
        {"session": "s"},
    ],
)
def test_the_same_key_with_another_request_is_a_conflict(other: dict[str, Any]) -> None:
    memory = SlotMemory(encoder=BagEncoder())
    memory.ingest("words", key="k")
    before = memory.fingerprint()
    with pytest.raises(
        IdempotencyConflict, match="the key 'k' was already used for another request"
    ):
        memory.ingest(**{"text": "words", "key": "k", **other})
    assert memory.fingerprint() == before


@pytest.mark.parametrize("bound", [{}, {"most_items": 9}])  # a bounded one writes one by one
def test_a_conflict_among_many_turns_keeps_all_of_them_out(bound: dict[str, Any]) -> None:
    memory = SlotMemory(encoder=BagEncoder(), **bound)
    with pytest.raises(IdempotencyConflict):
        memory.ingest_many([Turn("one"), Turn("two", key="k"), Turn("three", key="k")])
    assert len(memory) == 0


def test_a_conflict_with_a_turn_of_before_keeps_all_of_them_out() -> None:
    memory = SlotMemory(encoder=BagEncoder(), most_items=9)
    memory.ingest("words", key="k")
    with pytest.raises(IdempotencyConflict):
        memory.ingest_many([Turn("one"), Turn("others", key="k")])
    assert len(memory) == 1


@pytest.mark.parametrize("field", ["unit", "mode", "order", "stale", "unknown", "when_full"])
def test_what_cannot_be_compared_is_none_of_the_choices(field: str) -> None:
    given: dict[str, Any] = {field: np.arange(3)}
    with pytest.raises(InvalidInput, match=f"{field} must be '"):
        SlotMemory(encoder=BagEncoder(), **given)


@pytest.mark.parametrize("field", ["by", "gone"])
def test_a_list_is_compared_in_no_other_way(field: str) -> None:
    given: dict[str, Any] = {field: np.arange(3)}
    with pytest.raises(InvalidInput, match=f"{field} must be '"):
        SlotMemory(encoder=BagEncoder()).sync([], source="crm", **given)


@pytest.mark.parametrize("tenant", [np.arange(3), 7, ""])
def test_memories_of_what_is_no_tenant_are_not_listed(tenant: Any) -> None:
    with pytest.raises(InvalidInput, match="tenant must be a text"):
        list_memories(MemoryStore(), tenant)


@pytest.mark.parametrize("name", [b"evidence", b"secrets", b"CREATE"])
def test_a_damaged_name_of_a_table_or_column_is_told(stored: Path, name: bytes) -> None:
    file = stored / "a.db"
    sound = file.read_bytes()
    place = sound.index(name)
    file.write_bytes(sound[:place] + bytes([sound[place] ^ 0x80]) + sound[place + 1 :])
    with pytest.raises(StoreError, match="cannot"):
        SlotMemory.open(f"sqlite:///{file}", **OPTIONS)
    with suppress(StoreError):  # or else it says what is wrong
        assert not examine(file).is_sound


@pytest.mark.parametrize("name", ["a\ud83d.db", "a\0.db"])
def test_a_backup_needs_a_name_that_a_file_can_have(stored: Path, name: str) -> None:
    with (
        SlotMemory.open(f"sqlite:///{stored / 'a.db'}", **OPTIONS) as memory,
        pytest.raises(InvalidInput, match="path must be the path of a file"),
    ):
        memory.backup(stored / name)


def test_a_retry_under_a_clock_is_the_same_request() -> None:
    days = iter(range(1, 9))
    memory = SlotMemory(encoder=BagEncoder(), clock=lambda: datetime(2024, 1, next(days)))
    first = memory.ingest("words", key="k")
    assert memory.ingest("words", key="k") == first
    assert [item.at for item in memory.evidence()] == [datetime(2024, 1, 1)]


# Encoders


def test_an_encoder_of_another_name_is_refused_with_the_way_out() -> None:
    store = MemoryStore()
    split(SlotMemory.open(store, **OPTIONS))
    with pytest.raises(EncoderMismatch, match="reembed") as caught:
        SlotMemory.open(store, encoder=BagEncoder(name="sack"))
    assert (caught.value.built_with, caught.value.given) == ("bag bag-16", "sack bag-16")
    assert "bag bag-16" in str(caught.value)
    assert "sack bag-16" in str(caught.value)


def test_an_encoder_of_another_fingerprint_is_refused() -> None:
    store = MemoryStore()
    split(SlotMemory.open(store, **OPTIONS))
    newer = BagEncoder()
    newer.fingerprint = "bag-16-b"
    with pytest.raises(EncoderMismatch, match="bag bag-16, but bag bag-16-b was given"):
        SlotMemory.open(store, encoder=newer)


class Sleight:
    """Pass for a BagEncoder of 16 dimensions and give 8."""

    name, fingerprint = "bag", "bag-16"

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        return BagEncoder(8).encode(sentences)


@pytest.mark.parametrize(
    "call", [lambda m: m.ingest("words"), lambda m: m.read("words?"), lambda m: m.answer("words?")]
)
def test_an_encoder_of_another_dimension_is_refused(call: Callable[[SlotMemory], object]) -> None:
    store = MemoryStore()
    split(SlotMemory.open(store, **OPTIONS))
    memory = SlotMemory.open(store, encoder=Sleight())
    before = memory.fingerprint()
    with pytest.raises(EncoderMismatch, match=r"16 dimensions.*8 dimensions"):
        call(memory)
    assert memory.fingerprint() == before


def test_opening_with_reembed_moves_a_memory_to_another_encoder() -> None:
    store = MemoryStore()
    memory = split(SlotMemory.open(store, **OPTIONS))
    before, slots = memory.evidence(), [slot.evidence for slot in memory.slots]
    moved = SlotMemory.open(store, reembed=True, encoder=BagEncoder(8, "sack"))
    moved.check()
    assert moved.evidence() == before
    assert [slot.evidence for slot in moved.slots] == slots
    assert "brass valve" in moved.read("Which valve?").text
    assert (
        SlotMemory.open(store, encoder=BagEncoder(8, "sack")).fingerprint() == moved.fingerprint()
    )


def test_reembed_moves_an_open_memory_to_another_encoder() -> None:
    memory = split(SlotMemory(**OPTIONS))
    assert memory.reembed(BagEncoder(8, "sack")) == 2
    memory.ingest("the train has a new ticket")
    assert "new ticket" in memory.read("Which ticket has the train?").text
    memory.check()


def test_a_reembed_that_fails_leaves_the_memory_with_its_encoder() -> None:
    memory = split(SlotMemory(**OPTIONS))
    before = memory.fingerprint()
    with pytest.raises(Exception, match="the encoder failed"):
        memory.reembed(Failing())
    assert memory.fingerprint() == before
    assert "brass valve" in memory.read("Which valve?").text


def test_reembed_with_the_same_encoder_at_opening_changes_nothing() -> None:
    store = MemoryStore()
    before = split(SlotMemory.open(store, **OPTIONS)).export()
    assert SlotMemory.open(store, reembed=True, **OPTIONS).export() == before


def test_a_memory_that_forgot_everything_can_be_moved_too() -> None:
    memory = SlotMemory(encoder=BagEncoder())
    memory.ingest("words")
    memory.forget("e1")
    assert memory.reembed(BagEncoder(8)) == 0
    memory.ingest("other words")
    assert memory.read("words").evidence[0].id == "e2"
    memory.check()


# Models that fail


def test_an_answerer_that_fails_keeps_nobody_from_remembering_and_reading() -> None:
    memory = SlotMemory(encoder=BagEncoder(), answerer=Failing())
    memory.ingest("words of wisdom")
    with pytest.raises(Exception, match="the answerer failed: RuntimeError"):
        memory.answer("words?")
    assert memory.contexts() == ()
    memory.ingest("more words")
    assert "words of wisdom" in memory.read("words?").text


def test_an_encoder_that_fails_leaves_nothing_behind() -> None:
    memory = SlotMemory(encoder=Failing(BagEncoder(), good=1))
    memory.ingest("words")
    before = memory.export()
    with pytest.raises(Exception, match="the encoder failed: RuntimeError"):
        memory.ingest("more words", key="k")
    assert memory.export() == before


# Files


def url_of(folder: Path) -> str:
    return f"sqlite:///{folder}/a.db"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    with SlotMemory.open(url_of(folder), **OPTIONS) as memory:
        split(memory)
        made = memory.decide("The bow of the violin is broken", ["mend it", "buy one"])
        memory.feedback(made, reward=1.0)
    return folder


@pytest.fixture
def stored(once: Path, tmp_path: Path) -> Path:
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_store_of_a_newer_version_is_refused(stored: Path) -> None:
    with closing(sqlite3.connect(stored / "a.db")) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(
        StoreError,
        match=r"a.db was written by a newer version of demem-agent \(schema 99, known here: \d+\)",
    ):
        SlotMemory.open(url_of(stored), **OPTIONS)


@pytest.mark.parametrize(
    "content",
    [b"this is no database at all, only text\n" * 50, b"SQLite format 3\0" + b"\xff" * 5000],
)
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(
    tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(content)
    with pytest.raises(StoreError, match=r"a\.db"):
        SlotMemory.open(url_of(tmp_path), **OPTIONS)
    assert file.read_bytes() == content


NOT_FINITE = np.full(16, NAN, "<f4").tobytes()
#: What is changed of a row, None where it is taken away, and the name by which the error calls it.
DAMAGE: list[tuple[str, int, dict[str, Any] | None, str]] = [
    ("evidence", 1, {"text": b"\xff"}, "evidence 1"),
    ("evidence", 1, {"spans": "[[0,"}, "evidence 1"),
    ("evidence", 1, {"spans": "[[0,999]]"}, "evidence 1"),
    ("evidence", 1, {"codes": b"\x00"}, "evidence 1"),
    ("evidence", 1, {"vectors": b"\x00\x00\x00\x00"}, "evidence 1"),
    ("evidence", 1, {"codes": None, "vectors": b"\x00"}, "evidence 1"),
    ("evidence", 1, {"codes": None, "vectors": NOT_FINITE}, "evidence 1"),
    ("evidence", 1, {"at": "then"}, "evidence 1"),
    ("evidence", 1, {"trust": "much"}, "evidence 1"),
    ("evidence", 1, {"trust": 7}, "evidence 1"),
    ("evidence", 1, {"slot": "x"}, "evidence 1"),
    ("evidence", 1, None, "slot 0"),
    ("slot", 0, {"summary": b"\xff"}, "slot 0"),
    ("slot", 0, {"summary": b"something else"}, "slot 0"),
    ("slot", 0, {"total": b"\x00"}, "slot 0"),
    ("slot", 0, {"total": NOT_FINITE}, "slot 0"),
    ("slot", 0, {"gate": "["}, "slot 0"),
    ("slot", 1, {"parent": 9}, "slot 1"),
    ("slot", 0, None, "slot 0"),
    ("slot", 0, {"cover": "[[99,0,5]]"}, "slot 0"),
    ("slot", 0, {"cover": "[[1,1,6]]"}, "slot 0"),
    ("slot", 0, {"cover": "[]"}, "slot 0"),
    ("context", 1, {"body": "{"}, "context 1"),
    ("context", 1, {"body": "{}"}, "context 1"),
    ("context", 1, {"body": "null"}, "context 1"),
    ("context", 1, {"vector": b"\x00"}, "context 1"),
    ("context", 1, {"vector": b"\x00\x00\x00\x00"}, "context 1"),
    ("context", 1, {"vector": NOT_FINITE}, "context 1"),
    ("certificate", 1, {"body": "{"}, "certificate 1"),
    ("certificate", 1, {"body": "{}"}, "certificate"),
    ("certificate", 1, {"body": "null"}, "certificate"),
    ("certificate", 1, {"body": "[]"}, "certificate"),
    ("situation", 1, {"body": "{"}, "situation 1"),
    ("situation", 1, {"body": "{}"}, "situation 1"),
    ("situation", 1, {"vector": b"\x00"}, "situation 1"),
    ("situation", 1, {"vector": b"\x00\x00\x00\x00"}, "situation 1"),
    ("situation", 1, {"vector": NOT_FINITE}, "situation 1"),
    ("situation", 1, {"body": with_field("seen", "x")}, "situation 1"),
    ("situation", 1, {"body": with_field("seen", 99)}, "choice 1"),
    ("situation", 1, None, "choice 1"),
    ("choice", 1, {"body": "{"}, "choice 1"),
    ("choice", 1, {"body": "null"}, "choice 1"),
    ("choice", 1, {"body": with_field("action", "sell it")}, "choice 1"),
    ("choice", 1, {"body": with_field("reward", 7)}, "choice 1"),
    ("choice", 1, {"body": with_field("taken", "x")}, "choice 1"),
    ("choice", 1, {"body": with_field("judged", 0)}, "choice 1"),
    ("choice", 1, {"body": with_field("slot", 99)}, "choice 1"),
    ("choice", 1, {"body": with_field("slot", "x")}, "choice 1"),
    ("op", 1, {"op_key": b"\xff"}, "op 1"),
    ("op", 1, {"result": "{"}, "op 1"),
]


def check_named(stored: Path, table: str, row: str) -> None:
    """Check that a damaged row is named, and that the rest can be read and worked with."""
    with pytest.raises(
        StoreError, match=f"damaged rows: .*{row}.*open with skip_damaged=True to read the rest"
    ):
        SlotMemory.open(url_of(stored), **OPTIONS)
    with SlotMemory.open(url_of(stored), skip_damaged=True, **OPTIONS) as memory:
        memory.check()
        assert "broken bow" in memory.read("Which bow has the violin?").text
        assert len(memory) == (1 if table == "evidence" else 2)
        memory.ingest("the train has a new ticket")
        memory.feedback(memory.answer("Which ticket has the train?"), reference="a new ticket")
        memory.check()


@pytest.mark.parametrize(("table", "number", "change", "row"), DAMAGE)
def test_a_damaged_row_is_named_and_the_rest_can_be_read(
    stored: Path, table: str, number: int, change: dict[str, Any] | None, row: str
) -> None:
    altered(stored / "a.db", table, number, change)
    check_named(stored, table, row)


@pytest.mark.parametrize("table", ["evidence", "context", "certificate", "situation", "op"])
def test_a_row_that_was_changed_without_its_key_is_named(stored: Path, table: str) -> None:
    edited(stored / "a.db", table)
    check_named(stored, table, f"{table} 1")


def test_contexts_of_a_slot_that_is_gone_are_moved_to_one_that_is_there(stored: Path) -> None:
    altered(stored / "a.db", "slot", 1, None)
    altered(stored / "a.db", "evidence", 2, None)
    with SlotMemory.open(url_of(stored), skip_damaged=True, **OPTIONS) as memory:
        memory.check()
        assert {slot.number for slot in memory.slots} == {0}
        assert {context.slot for context in memory.contexts()} == {0}


def test_what_was_said_of_a_lost_line_is_lost_with_it(tmp_path: Path) -> None:
    with SlotMemory.open(url_of(tmp_path), **OPTIONS, decisions=True) as memory:
        memory.ingest("the violin has a broken bow")
        memory.ingest("the boiler has a brass valve")
        memory.feedback(memory.answer("Which bow has the violin?"), reference="a broken bow")
        assert [verdict[0] for verdict in memory.contexts()[0].verdicts] == ["e1"]
    altered(tmp_path / "a.db", "evidence", 1, {"text": b"\xff"})
    with SlotMemory.open(url_of(tmp_path), skip_damaged=True, **OPTIONS) as memory:
        memory.check()
        assert memory.contexts()[0].verdicts == ()


def test_contexts_find_a_slot_where_all_rows_of_slots_are_gone(stored: Path) -> None:
    for number in (0, 1):
        altered(stored / "a.db", "slot", number, None)
    altered(stored / "a.db", "evidence", 1, None)
    with SlotMemory.open(url_of(stored), skip_damaged=True, **OPTIONS) as memory:
        memory.check()
        assert {context.slot for context in memory.contexts()} == {1}


@pytest.mark.parametrize(
    "change",
    [{"settings": "{"}, {"settings": "{}"}, {"dimensions": "x"}, {"seq": "x"}, {"evidence": "x"}],
)
def test_a_memory_whose_own_row_is_damaged_is_named(stored: Path, change: dict[str, Any]) -> None:
    altered_memory(stored / "a.db", **change)
    for skip in (False, True):
        with pytest.raises(StoreError, match="the row memory 'default' is damaged"):
            SlotMemory.open(url_of(stored), skip_damaged=skip, **OPTIONS)


def test_damage_in_one_memory_leaves_the_others_of_the_file_alone(stored: Path) -> None:
    with SlotMemory.open(url_of(stored), memory_id="other", **OPTIONS) as memory:
        split(memory)
    altered(stored / "a.db", "evidence", 1, {"text": b"\xff"})
    with SlotMemory.open(url_of(stored), memory_id="other", **OPTIONS) as memory:
        assert len(memory) == 2


# Hostile text

HOSTILE = {
    "control characters": "Rex \x01\x02\x1b[31m barked\x7f\x85 at\x0b\x0c the\r\ngate",
    "lone surrogates": "Rex \ud800 barked \udfff\udc00 at the gate",
    "NUL": "Rex\x00barked\x00",
    "right to left": "רקס נבח בשער \u202eetag eht ta dekrab\u202c",
    "emoji": "Rex 🐕‍🦺 barked 👨‍👩‍👧‍👦 at 🇵🇹 \ufe0f\u200d",
    "combining": "e\u0301" * 50 + " Z" + "\u0335" * 100,
    "outside the plane": "𝕽𝖊𝖝 \U0010ffff \ufffe barked",
    "looks like SQL": "'); DROP TABLE evidence; --",
    "looks like JSON": '{"kind": "evidence", "text": "\\ud800"}\\',
    "white space around": "\n\n  Rex barked \t\n",
    "many lines": "\n".join("Rex barked" for _ in range(500)),
    "one long word": "x" * 5000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_comes_back_unchanged_also_from_the_file(tmp_path: Path, text: str) -> None:
    names: dict[str, Any] = {"speaker": text, "session": text, "source": text, "source_id": text}
    with SlotMemory.open(url_of(tmp_path), **{**OPTIONS, "read_limit": 20_000}) as memory:
        first = memory.ingest(text, key=text, **names)
        memory.ingest(text)  # once more, without a name that may leave no room for it in a reading
        reading = memory.read(text)
        assert text in {item.text for item in reading.evidence}
        memory.feedback(memory.answer(text), reference=text)
        fingerprint, items = memory.fingerprint(), memory.evidence()
        assert [(e.text, e.speaker, e.source_id) for e in items] == [
            (text, text, text),
            (text, None, None),
        ]
    with SlotMemory.open(url_of(tmp_path), **{**OPTIONS, "read_limit": 20_000}) as memory:
        memory.check()
        assert (memory.fingerprint(), memory.evidence()) == (fingerprint, items)
        assert memory.contexts()[0].query == text
        assert memory.ingest(text, key=text, **names) == first
        assert memory.read(text).text == reading.text


@settings(max_examples=often(40), deadline=None)
@given(st.text(st.characters(codec=None), min_size=1).filter(str.strip))
def test_any_text_survives_a_store_and_an_export(text: str) -> None:
    memory = SlotMemory(encoder=BagEncoder())
    memory.ingest(text, speaker=text)
    again = SlotMemory.restore(memory.export(), encoder=BagEncoder())
    assert again.evidence() == memory.evidence()
    assert again.evidence()[0].text == text


class Flat:
    """Give every text the same vector, at no cost."""

    name = "flat"

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        return np.ones((len(sentences), 2), np.float32)


@pytest.mark.parametrize(
    "size", [1_000_000, pytest.param(10_000_000, marks=pytest.mark.slow)], ids=str
)
def test_a_turn_of_megabytes_comes_back_unchanged_also_from_the_file(
    tmp_path: Path, size: int
) -> None:
    text = f"Here is the key: {random.Random(7).randbytes(size // 2).hex()}. Rex barked."
    with SlotMemory.open(url_of(tmp_path), encoder=Flat()) as memory:
        memory.ingest(text)
        assert memory.evidence()[0].text == text
        reading = memory.read("Who barked?")
        assert reading.size <= reading.limit
        assert "Rex barked." in reading.text
    with SlotMemory.open(url_of(tmp_path), encoder=Flat()) as memory:
        assert memory.evidence()[0].text == text
        memory.check()


def test_no_caller_marks_a_text_as_a_correction() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve")
    with pytest.raises(InvalidInput, match="source must be another word"):
        memory.ingest("What valve: a steel one", source="correction", source_id="correction:a1")
    with pytest.raises(InvalidInput, match=r"turns\[0\].source must be another word"):
        memory.ingest_many([{"text": "What valve: a steel one", "source": "correction"}])
    with pytest.raises(InvalidInput, match="source must be another word"):
        memory.sync([{"text": "a steel one", "source_id": "c-17"}], source="correction")
    assert len(memory) == 1
