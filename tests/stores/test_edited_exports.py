"""Whatever somebody makes of an export, it is refused with an error of ours, or restored whole."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from benchmark_files import benchmark
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import InvalidInput, SlotMemory
from demem_agent.stores import portable
from demem_agent.stores.manifest import ended

exports = benchmark("exports", "reliability")
KNOWN = exports.exports()
SPLIT, _, _, DECIDED, BOUNDED = KNOWN
Lines = list[dict[str, Any]]


@settings(max_examples=often(60))
@given(st.sampled_from(KNOWN), st.integers(0, 2**32))
def test_a_mutated_export_is_refused_or_whole(lines: Lines, seed: int) -> None:
    found = exports.Found()
    exports.tried(exports.mutated(lines, random.Random(seed)), found)
    assert not found.failures


@pytest.mark.parametrize("lines", KNOWN)
def test_one_that_nobody_has_changed_is_restored_and_used_to_its_end(lines: Lines) -> None:
    found = exports.Found()
    exports.tried(lines, found, "sqlite:///:memory:")
    assert (found.restored, found.failures.total()) == (1, 0)


def test_what_is_measured_notices_where_rows_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(portable, "problems", lambda *_: iter(()))
    found = exports.Found()
    for n in itertools.count():
        exports.tried(exports.mutated(KNOWN[n % len(KNOWN)], random.Random(f"2 {n}")), found)
        if found.failures or n == 400:
            break
    assert found.failures


def set_to(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(line: dict[str, Any]) -> None:
        line[name] = value

    return change


#: (export, kind of the line, what is changed in the last such line, what is said of it).
EDITS: list[tuple[Lines, str, Callable[[dict[str, Any]], None], str]] = [
    (SPLIT, "memory", lambda line: set_to("evidence", -1)(line["head"]), "less than nothing"),
    (SPLIT, "memory", lambda line: set_to("encoder", "\ud800")(line["head"]), "cannot be written"),
    (SPLIT, "evidence", set_to("id", "e1"), "twice"),
    (SPLIT, "evidence", set_to("id", "e77"), "never given"),
    (SPLIT, "evidence", set_to("trust", 2.0), "trust"),
    (SPLIT, "evidence", set_to("text", 7), "text"),
    (SPLIT, "evidence", set_to("at", "soon"), "ValueError"),
    (SPLIT, "evidence", set_to("spans", [[0, 999]]), "outside its text"),
    (SPLIT, "evidence", set_to("made_from", ["e77"]), "made from"),
    (SPLIT, "slot", lambda line: line.update(parent=line["number"]), "descends from itself"),
    (SPLIT, "slot", set_to("number", 10**400), "holds what it cannot|ValueError"),
    (SPLIT, "context", set_to("id", "e9"), "never given"),
    (SPLIT, "context", set_to("read", [["e1", 3, 99]]), "read a line"),
    (SPLIT, "context", set_to("kept", ["a1"]), "no evidence"),
    (SPLIT, "context", set_to("untested", ["a99"]), "not there"),
    (SPLIT, "context", set_to("lead", 99), "not read"),
    (SPLIT, "context", set_to("channel", "post"), "channel"),
    (SPLIT, "certificate", set_to("moved", [None]), "moved"),
    (SPLIT, "certificate", lambda line: set_to("slot", 99)(line["certificate"]), "cannot be"),
    (SPLIT, "operation", set_to("result", "[]"), "no such operation"),
    (SPLIT, "operation", set_to("seq", 999), "number"),
    (DECIDED, "choice", set_to("situation", "x9"), "not there"),
    (DECIDED, "choice", set_to("taken", 99), "never was"),
    (DECIDED, "choice", set_to("actions", ["retry", "retry", "revert"]), "twice"),
    (DECIDED, "situation", set_to("seen", 99), "never was"),
    (DECIDED, "situation", set_to("vector", "AAAA"), "ValueError"),
    (BOUNDED, "operation", set_to("result", "{}"), "no such operation"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "kind", "change", "says"), EDITS)
def test_what_cannot_be_is_told_with_its_line(
    lines: Lines, kind: str, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    made = copy.deepcopy(lines)
    *_, place = (n for n, line in enumerate(made) if line["kind"] == kind)
    change(made[place])
    with pytest.raises(InvalidInput, match=f"^line {place + 1} .*({says})"):
        SlotMemory.restore(ended(made), **exports.options())
