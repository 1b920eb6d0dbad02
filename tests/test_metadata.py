"""Metadata: JSON values that cannot change, go everywhere their item goes, and go with it."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sealed_files import altered, made_earlier

from demem_agent import SlotMemory, Turn
from demem_agent.errors import IdempotencyConflict, InvalidInput, StoreError
from demem_agent.metadata import MOST_BYTES, NO_METADATA, Metadata, metadata_field, same
from demem_agent.testing import BagEncoder
from demem_agent.turns import as_turn, request_hash

OPTIONS: dict[str, Any] = {"clock": None, "encoder": BagEncoder()}
#: Beside the text of a turn that has a key.
ABOUT = {"speaker": "Ana", "at": "2024-03-02", "key": "k"}
TOLD = {"project": "apollo", "tags": ["a", {"b": None}], "done": True, "year": 2024, "share": 0.5}

scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=9)
values = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
mappings = st.dictionaries(st.text(max_size=8), values, max_size=4)


@given(mappings)
def test_it_equals_what_it_was_made_of_and_is_the_same_after_json_and_pickling(
    plain: dict[str, Any],
) -> None:
    made = Metadata(plain)
    assert made == plain
    assert plain == made
    for again in (
        Metadata(json.loads(json.dumps(made))),
        pickle.loads(pickle.dumps(made)),
        copy.deepcopy(made),
        Metadata(reversed(made.items())),
    ):
        assert again == made
        assert hash(again) == hash(made)
        assert repr(again) == repr(made)


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.__setitem__("project", "zeus"),
        lambda held: held.__delitem__("project"),
        lambda held: held.update(project="zeus"),
        lambda held: held.pop("project"),
        lambda held: held.popitem(),
        lambda held: held.setdefault("other", 1),
        lambda held: held.clear(),
        lambda held: held.__ior__({"other": 1}),
        lambda held: held["tags"].append("c"),
        lambda held: held["tags"][1].update(b=1),
    ],
)
def test_it_cannot_change(change: Any) -> None:
    made = Metadata(TOLD)
    with pytest.raises((TypeError, AttributeError)):
        change(made)
    assert made == TOLD


def test_a_caller_who_changes_the_mapping_changes_nothing_that_is_remembered() -> None:
    told = {"tags": ["a"]}
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve", metadata=told)
    told["tags"].append("b")
    assert memory.evidence()[0].metadata == {"tags": ["a"]}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("apollo", "metadata must be a mapping of texts to JSON values, got 'apollo'"),
        ({1: "a"}, "metadata must be texts as names of its values, got 1"),
        ({"a": {"b": object}}, "metadata.a.b must be a JSON value"),
        ({"a": [1, {2}]}, r"metadata.a\[1\] must be a JSON value"),
        ({"a": float("nan")}, "metadata.a must be a finite number, got nan"),
        ({"a": 2**63}, "metadata.a must be a whole number of 64 bits"),
        ({"a": nested(3000)}, "must be lists and mappings within at most 16 others"),
        ({"a": "x" * MOST_BYTES}, "at most 4,096 bytes as JSON"),
        ({"a": "é" * (MOST_BYTES // 2)}, "at most 4,096 bytes as JSON"),
    ],
)
def test_what_is_no_metadata_is_named_and_nothing_is_stored(given: Any, message: str) -> None:
    memory = SlotMemory(**OPTIONS)
    with pytest.raises(InvalidInput, match=message):
        memory.ingest("the boiler has a brass valve", metadata=given)
    with pytest.raises(
        InvalidInput, match=rf"^turns\[1\]\.metadata.*{message.removeprefix('metadata')}"
    ):
        memory.ingest_many([{"text": "a bow"}, {"text": "a valve", "metadata": given}])
    assert len(memory) == 0


def test_four_kilobytes_are_taken() -> None:
    exactly = MOST_BYTES - len('{"a":""}')
    assert len(metadata_field("metadata", {"a": "x" * exactly}).text) == MOST_BYTES
    assert metadata_field("metadata", {}) is metadata_field("metadata", None) is NO_METADATA


def test_numbers_are_compared_as_json_has_them() -> None:
    frozen = Metadata({"one": 1, "float": 1.0, "true": True, "list": [1, {"a": 1}]})
    assert same(frozen["one"], frozen["float"])
    assert not same(frozen["one"], frozen["true"])
    assert same(frozen["list"], Metadata({"x": [1.0, {"a": 1.0}]})["x"])
    assert not same(frozen["list"], Metadata({"x": [1.0, {"a": True}]})["x"])


# In a memory


@pytest.mark.parametrize("url", ["memory://", "sqlite:///a.db"])
def test_it_comes_back_in_evidence_readings_copies_and_exports(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SlotMemory.open(url, **OPTIONS) as memory:
        memory.ingest("the boiler has a brass valve", metadata=TOLD)
        memory.ingest_many([Turn("the violin has a broken bow", metadata={"lone": "\ud800"})])
        reading = memory.read("Which valve has the boiler?")
        assert TOLD in [item.metadata for item in reading.evidence]
        restored = SlotMemory.restore(json.loads(json.dumps(memory.export())), **OPTIONS)
        for other in (copy.copy(memory), restored):
            assert other.evidence() == memory.evidence()
            assert other.fingerprint() == memory.fingerprint()
        assert hash(memory.evidence()[0]) == hash(restored.evidence()[0])
        assert "metadata=Metadata({'done': True, 'project'" in repr(memory.evidence()[0])
    if url != "memory://":
        with SlotMemory.open(url, **OPTIONS) as again:
            assert again.evidence() == restored.evidence()


def test_an_item_as_plain_values_is_json() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve", metadata=TOLD)
    assert json.loads(json.dumps(asdict(memory.evidence()[0])))["metadata"] == TOLD


def test_a_reading_never_shows_it() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve", metadata={"secret": "zanzibar"})
    assert "zanzibar" not in memory.read("zanzibar boiler valve").text


def test_it_is_forgotten_with_its_item(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, **OPTIONS) as memory:
        memory.ingest("the boiler has a brass valve", metadata={"secret": "zanzibar"})
        memory.forget("e1")
        assert "zanzibar" not in json.dumps(memory.export())
        assert all(b"zanzibar" not in file.read_bytes() for file in tmp_path.iterdir())


def test_it_counts_as_kept() -> None:
    memory = SlotMemory(storage=100, **OPTIONS)
    memory.ingest("a brass valve", metadata={"a": "b"})
    assert memory.storage().evidence == len("a brass valve") + len('{"a":"b"}')
    with pytest.raises(InvalidInput, match="text must be at most"):
        memory.ingest("a brass valve", metadata={"a": "b" * 90})


# Earlier versions


def test_a_turn_without_it_is_hashed_as_before_there_was_any() -> None:
    """So a key that an earlier version stored still stands for the same turn."""
    turn = as_turn(Turn("I moved to Lisbon.", speaker="Ana", at="2024-03-02", key="k"))
    known = "d2ad74e651339182d6765fb53d6ba107"
    assert request_hash("ingest", turn)[:32] == known
    assert (
        request_hash("ingest", as_turn({"text": turn.text, **ABOUT, "metadata": {}}))[:32] == known
    )


def test_a_key_stands_for_the_metadata_as_well() -> None:
    memory = SlotMemory(**OPTIONS)
    first = memory.ingest("a brass valve", key="k", metadata={"a": [1]})
    assert memory.ingest("a brass valve", key="k", metadata={"a": (1,)}) == first
    for other in ({"a": [2]}, {"a": [True]}, None):
        with pytest.raises(IdempotencyConflict):
            memory.ingest("a brass valve", key="k", metadata=other)


def test_an_export_without_any_is_as_earlier_versions_wrote_it() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("a brass valve")
    assert "metadata" not in json.dumps(memory.export())


#: The last version without metadata.
BEFORE = 5


def test_a_file_of_the_version_before_opens_and_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    about: dict[str, Any] = {"speaker": "Ana", "key": "k"}
    with SlotMemory.open(f"sqlite:///{file}", **OPTIONS) as memory:
        memory.ingest("the boiler has a brass valve", **about)
        before = memory.export()
    made_earlier(file, BEFORE)
    with SlotMemory.open(f"sqlite:///{file}", **OPTIONS) as memory:
        assert memory.export() == before
        assert memory.ingest("the boiler has a brass valve", **about).evidence_id == "e1"
        memory.ingest("the violin has a broken bow", metadata=TOLD)
        memory.check()
    with SlotMemory.open(f"sqlite:///{file}", **OPTIONS) as memory:
        assert [item.metadata for item in memory.evidence()] == [{}, TOLD]


@pytest.mark.parametrize("raw", ["[1]", "{", '{"a": NaN}'])
def test_damaged_metadata_is_a_damaged_row(tmp_path: Path, raw: str) -> None:
    file = tmp_path / "a.db"
    with SlotMemory.open(f"sqlite:///{file}", **OPTIONS) as memory:
        memory.ingest("the boiler has a brass valve", metadata=TOLD)
    altered(file, "evidence", 1, {"metadata": raw})
    with pytest.raises(StoreError, match="damaged rows: evidence 1"):
        SlotMemory.open(f"sqlite:///{file}", **OPTIONS)
