"""Compress_L: folding in equals compressing at once, L is never exceeded, and what decides is kept
first.
"""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import Evidence, SlotMemory
from demem_agent.summaries.compress import (
    EXCERPT_CHARS,
    Excerpt,
    Summary,
    compress,
    excerpts,
    summary_text,
)
from demem_agent.testing import BagEncoder, ReadingAnswerer
from demem_agent.text.units import Measure

WORDS = [
    "Rex",
    "the dog",
    "in 2023",
    "yesterday",
    "why?",
    "fine.",
    "x" * 90,
    "é\n",
    "7:30",
    "and so on",
    "Lisbon!",
    "字",
]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
TIMES = st.none() | st.datetimes(datetime(2020, 1, 1), datetime(2024, 1, 1))
ITEMS = st.lists(st.tuples(TEXTS, TIMES, st.integers(0, 3)), max_size=12)
LIMITS = st.integers(40, 400)


def in_bytes(text: str) -> int:
    return len(text.encode())


# Counters as a user may plug in: none of them adds up over lines, and each is monotone.
ODD_COUNTERS: dict[str, Measure] = {
    "thirds, rounded up": lambda text: -(-len(text) // 3),
    "words": lambda text: len(text.split()),
    "three more for every ten": lambda text: len(text) + 3 * (len(text) // 10),
    "seven to begin with": lambda text: len(text) + 7,
    "line breaks are dear": lambda text: len(text) + 20 * text.count("\n"),
}


def cut(
    items: list[tuple[str, datetime | None, int]], limit: int, measure: Measure
) -> list[list[Excerpt]]:
    return [
        list(excerpts(Evidence(f"e{n}", text, "Ana", at), n, used, limit, measure))
        for n, (text, at, used) in enumerate(items, 1)
    ]


def fold(parts: list[list[Excerpt]], limit: int, measure: Measure) -> Summary:
    summary = Summary()
    for part in parts:
        summary = compress([*summary.kept, *part], limit, measure, summary.gate)
    return summary


@given(ITEMS, LIMITS, st.sampled_from([len, in_bytes]))
def test_folding_items_in_one_by_one_equals_compressing_all_at_once(
    items: list[tuple[str, datetime | None, int]], limit: int, measure: Measure
) -> None:
    parts = cut(items, limit, measure)
    assert fold(parts, limit, measure) == compress(
        [e for part in parts for e in part], limit, measure
    )


@given(ITEMS, LIMITS)
def test_excerpts_beyond_the_gate_are_left_out_without_a_difference(
    items: list[tuple[str, datetime | None, int]], limit: int
) -> None:
    parts = cut(items, limit, len)
    summary = Summary()
    for n, (text, at, used) in enumerate(items, 1):
        fresh = excerpts(Evidence(f"e{n}", text, "Ana", at), n, used, limit, len, summary.gate)
        summary = compress([*summary.kept, *fresh], limit, len, summary.gate)
    assert summary == fold(parts, limit, len)


@given(ITEMS, LIMITS, st.sampled_from([len, in_bytes, *ODD_COUNTERS.values()]))
def test_a_summary_is_never_above_the_limit(
    items: list[tuple[str, datetime | None, int]], limit: int, measure: Measure
) -> None:
    summary = Summary()
    for part in cut(items, limit, measure):
        summary = compress([*summary.kept, *part], limit, measure, summary.gate)
        assert measure(summary.text) <= limit or not summary.kept


@settings(max_examples=often(25), deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8), LIMITS, st.sampled_from(sorted(ODD_COUNTERS)))
def test_a_memory_in_tokens_keeps_to_the_limit_whatever_the_counter(
    texts: list[str], limit: int, name: str
) -> None:
    counter = ODD_COUNTERS[name]
    memory = SlotMemory(
        unit="tokens", counter=counter, slot_limit=limit, slots=2, encoder=BagEncoder()
    )
    for text in texts:
        memory.ingest(text, speaker="Ana", at="2023-05-08")
        assert all(counter(slot.summary) == slot.size <= limit for slot in memory.slots)
    memory.check()


@given(ITEMS, LIMITS)
def test_the_cover_is_exactly_what_is_in_the_text(
    items: list[tuple[str, datetime | None, int]], limit: int
) -> None:
    summary = fold(cut(items, limit, len), limit, len)
    assert sorted(e.line for e in summary.kept) == sorted(_lines(summary.text))


def _lines(text: str) -> list[str]:
    """Take a summary apart: a line begins with "- ", what is indented continues it."""
    return [("- " + part).rstrip("\n") for part in ("\n" + text).split("\n- ")[1:]]


@given(ITEMS, LIMITS)
def test_what_is_kept_is_a_prefix_by_rank(
    items: list[tuple[str, datetime | None, int]], limit: int
) -> None:
    every = sorted((e for part in cut(items, limit, len) for e in part), key=lambda e: e.rank)
    kept = compress(every, limit, len).kept
    assert list(kept) == every[: len(kept)]


@given(ITEMS)
def test_no_two_excerpts_share_a_rank(items: list[tuple[str, datetime | None, int]]) -> None:
    ranks = [e.rank for part in cut(items, 200, len) for e in part]
    assert len(set(ranks)) == len(ranks)


@given(TEXTS, LIMITS)
def test_no_excerpt_is_longer_than_240_characters(text: str, limit: int) -> None:
    found = excerpts(Evidence("e1", text), 1, 0, limit, len)
    assert all(0 < e.end - e.start <= EXCERPT_CHARS for e in found)


def keeps(*texts: str, used: dict[int, int] | None = None) -> str:
    """Compress items of about forty characters into room for one; return what is kept."""
    marks = used or {}
    parts = [
        list(excerpts(Evidence(f"e{n}", t), n, marks.get(n, 0), 70, len))
        for n, t in enumerate(texts)
    ]
    return fold(parts, 70, len).text.removeprefix("- ")


PLAIN = "that one was rather nice, they all said"
PLAIN_TOO = "they all said that it was nice to be in"


def test_evidence_that_was_rewarded_is_kept_before_anything_else() -> None:
    specific = "on 8 May 2023 Ana and Rex flew to Lisbon"
    assert keeps(PLAIN, specific) == specific
    assert keeps(PLAIN, specific, used={0: 1}) == PLAIN


def test_what_was_rewarded_last_is_kept_before_what_was_rewarded_earlier() -> None:
    assert keeps(PLAIN, PLAIN_TOO, used={0: 2, 1: 1}) == PLAIN
    assert keeps(PLAIN, PLAIN_TOO, used={0: 1, 1: 2}) == PLAIN_TOO


@pytest.mark.parametrize(
    "specific",
    [
        "they all said that Rex has seen it again",
        "they all said it will be on 8/5/2023 too",
        "there were exactly 14 of them in a queue",
        "they all said so yesterday, in a whisper",
    ],
    ids=["name", "date", "number", "relative time"],
)
def test_names_dates_and_numbers_are_kept_before_plain_words(specific: str) -> None:
    assert keeps(specific, PLAIN) == specific


def test_a_question_gives_way_to_a_statement() -> None:
    assert keeps(PLAIN, "was that one rather nice, as they all said?") == PLAIN


def test_of_two_plain_excerpts_the_newer_is_kept() -> None:
    assert keeps(PLAIN, PLAIN_TOO) == PLAIN_TOO
    assert keeps(PLAIN_TOO, PLAIN) == PLAIN


def test_a_summary_is_in_the_order_of_events() -> None:
    late, early = (
        Evidence("e1", "later", None, datetime(2023, 6, 9)),
        Evidence("e2", "sooner", None, datetime(2023, 5, 8)),
    )
    undated = Evidence("e3", "undated")
    every = [
        e for n, item in enumerate((late, early, undated)) for e in excerpts(item, n, 0, 200, len)
    ]
    assert summary_text(every) == "- undated\n- 8 May 2023, sooner\n- 9 June 2023, later"


def test_rewarded_evidence_enters_the_summary_of_a_full_slot() -> None:
    # A reading of 90 characters has room for one line, and ReadingAnswerer rests on what it reads.
    memory = SlotMemory(
        slots=1, slot_limit=120, read_limit=90, encoder=BagEncoder(), answerer=ReadingAnswerer()
    )
    memory.ingest("the spare key is under a flat stone")
    for n in range(12):
        memory.ingest(f"Ana met Rex on {n + 1} May 2023 in Lisbon near Rua {n}")
    assert "e1" not in memory.slots[0].cover
    memory.feedback(memory.answer("spare key"), reward=1.0)
    assert "flat stone" in memory.slots[0].summary
    assert "e1" in memory.slots[0].cover
    memory.check()


def test_a_slot_covers_the_items_whose_words_are_in_its_summary() -> None:
    memory = SlotMemory(slots=1, slot_limit=200, unit="bytes", encoder=BagEncoder())
    names = "wren robin crow owl jay gull tern rook kite".split()
    texts = {memory.ingest(f"Élise saw a bird, {name}").evidence_id: name for name in names}
    slot = memory.slots[0]
    assert set(slot.cover) == {item for item, name in texts.items() if name in slot.summary}
    assert 0 < len(slot.cover) < len(texts)


def test_of_an_item_only_what_a_summary_can_have_is_cut() -> None:
    text = " ".join(f"On day {n} we walked {n} miles to Lake {n}." for n in range(300))
    limit = 400
    found = list(excerpts(Evidence("e1", text), 1, 0, limit, len))
    assert [one.rank for one in found] == sorted(one.rank for one in found)
    assert sum(one.size for one in found[:-1]) <= limit < sum(one.size for one in found)
