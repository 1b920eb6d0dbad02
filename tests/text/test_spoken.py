"""What relative times mean stands in the margin, and only where the speaker means them."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import Evidence, SlotMemory
from demem_agent.text.quoting.saying import meant
from demem_agent.text.quoting.spoken import spoken
from demem_agent.text.times.dates import find

SAID = datetime(2024, 5, 15, 9)


def meanings(text: str, at: datetime | None = SAID) -> tuple[str, ...]:
    return meant(Evidence("e1", text, "Ana", at), 0, len(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I moved yesterday.", ("yesterday: 14 May 2024",)),
        (
            "Yesterday I ran, and next week I rest.",
            ("Yesterday: 14 May 2024", "next week: the week after 15 May 2024, 20 to 26 May"),
        ),
        ("Yesterday and yesterday again", ("Yesterday: 14 May 2024", "yesterday: 14 May 2024")),
        ("yesterday, yesterday", ("yesterday: 14 May 2024",)),
        ("I went (yesterday)", ("yesterday: 14 May 2024",)),
        ("'Twas good: I moved yesterday, and the kids' room", ("yesterday: 14 May 2024",)),
        ("Ana's dog died yesterday, and 'twas hers", ("yesterday: 14 May 2024",)),
        (
            "I went a few years ago.",
            ("a few years ago: a few years before 15 May 2024, 2019 to 2022",),
        ),
        (
            "I went a few months ago.",
            ("a few months ago: a few months before 15 May 2024, December 2023 to March 2024",),
        ),
        ("last\n week it rained", ("last week: the week before 15 May 2024, 6 to 12 May",)),
        ("Today I rest, this morning I ran.", ()),
        ("I never moved.", ()),
    ],
)
def test_the_margin_tells_what_relative_times_mean(text: str, found: tuple[str, ...]) -> None:
    assert meanings(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM t WHERE d = 'yesterday';",
        '{"when": "yesterday"}',
        "{when:yesterday,who:ana}",
        "id,yesterday,3",
        "x=yesterday",
        "run `git log --since yesterday` now",
        "```\nyesterday\n```",
        "```\nyesterday",
        "https://example.org/news/yesterday",
        "/var/log/yesterday.log/x",
        'She said "I leave tomorrow" and left',
        "We sang “Yesterday” all night",
        "The song Yesterday is great",
        "Read *Yesterday* by the Beatles",
        "Elle chante «Yesterday»",
    ],
)
def test_times_in_code_data_quotations_and_links_are_not_the_speaker_s(text: str) -> None:
    assert meanings(text) == ()


def test_a_part_of_a_block_of_code_is_code() -> None:
    text = "```\na = 1\nyesterday\n```\nand yesterday"
    start = text.index("yesterday")
    times = find(text[start:], date(2024, 5, 15))
    assert len(times) == 2
    assert spoken(text, start, len(text), times) == times[1:]


def test_without_a_day_no_time_means_anything() -> None:
    assert meanings("I moved yesterday.", None) == ()


PIECES = [
    *("I moved yesterday. ", "next week, maybe\n", "`d = 'today'` ", '{"at": "last week"}\n'),
    *("id,yesterday,3\n", "# Tomorrow\n", "- two days ago\n", "```sql\nSELECT 'yesterday'\n```\n"),
    *("He said “tomorrow”. ", "[yesterday: 1 May 1999] ", "Ana: last Friday ", "\t\u2028x "),
]
TURNS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join)


@given(TURNS, st.sampled_from(["Ana", None]))
def test_the_words_of_a_turn_stand_in_a_reading_as_they_were_said(
    text: str, speaker: str | None
) -> None:
    memory = SlotMemory()
    memory.ingest(text, speaker=speaker, at=SAID)
    reading = memory.read("yesterday", limit=4000)
    for line in reading.lines:
        shown = "\n  ".join(line.text.splitlines()).replace("\u2028", "\n  ")
        assert shown in reading.text


CLAUSE = "The goods are shipped and the buyer pays for them next month. "
CONTRACT = "Terms of delivery. " + CLAUSE * 20


def noted_of(evidence: Evidence) -> tuple[str, ...]:
    return meant(evidence, 0, len(evidence.text))


@pytest.mark.parametrize("speaker", ["Ana", None])
def test_a_document_that_somebody_passed_on_has_no_note(speaker: str | None) -> None:
    assert noted_of(Evidence("e1", CONTRACT, speaker, SAID)) == ()


def test_what_somebody_says_of_themselves_over_a_document_has_one() -> None:
    text = f"I signed this yesterday. {CONTRACT}"
    assert noted_of(Evidence("e1", text, "Ana", SAID)) == ("yesterday: 14 May 2024",)


def test_a_part_of_a_document_of_a_source_has_no_note() -> None:
    assert noted_of(Evidence("e1", CLAUSE, None, SAID, source="terms.pdf")) == ()


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence("e1", CLAUSE, "Ana", SAID),
        Evidence("e1", CLAUSE, None, SAID),
        Evidence("e1", CLAUSE, "Ana", SAID, source="chat"),
        Evidence("e1", f"I read this: {CLAUSE}", None, SAID, source="diary.txt"),
    ],
    ids=["a speaker", "nobody", "a channel", "a diary"],
)
def test_the_same_words_in_what_was_said_have_one(evidence: Evidence) -> None:
    assert noted_of(evidence) == ("next month: June 2024",)


@pytest.mark.parametrize(
    "text",
    [
        "# Plans for next week\nNothing yet.",
        "Ben wrote:\n> Nice. See you tomorrow\nWhat do you think?",
        "| task | when |\n|---|---|\n| call Ben | by next week |",
    ],
    ids=["a heading", "a quotation", "a table"],
)
def test_lines_that_are_not_said_have_no_note(text: str) -> None:
    assert meanings(text) == ()


@pytest.mark.parametrize(
    "text", ["1. Call Ben tomorrow\n2. Rest", "> How are you?\nI leave tomorrow", "#5 is tomorrow"]
)
def test_lines_beside_them_have_one(text: str) -> None:
    assert meanings(text) == ("tomorrow: 16 May 2024",)


@given(st.integers(0, 60))
def test_a_part_of_a_quotation_is_of_it(begun: int) -> None:
    text = f"> {'Well. ' * 10}See you tomorrow"
    assert meant(Evidence("e1", text, "Ana", SAID), begun, len(text)) == ()
