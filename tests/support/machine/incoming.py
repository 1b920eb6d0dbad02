"""What comes in: texts that are hard to keep, questions, and feedback of every kind.

Every text carries a mark, by which it is known again wherever it may have got to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from demem_agent.metadata import Metadata

__all__ = [
    "KEYS",
    "MARKS",
    "NEIGHBOUR_MARKS",
    "NUMERIC",
    "SESSIONS",
    "TOPICS",
    "WHENS",
    "Ask",
    "Request",
    "Telling",
    "When",
    "asks",
    "cut_texts",
    "filled",
    "kept_conditions",
    "mark",
    "marks_in",
    "picks",
    "tellings",
    "turns",
]

#: Arguments of an operation, by name.
Request = dict[str, Any]
#: A time as users give it.
When = datetime | date | str | None

#: Marks of the memory under test, and of its neighbours.
MARKS, NEIGHBOUR_MARKS = re.compile(r"mk\d{4}zz"), re.compile(r"nb\d{4}zz")

TOPICS = (
    ("boiler", "valve", "pipe", "radiator"),
    ("violin", "sonata", "concert", "bow"),
    ("train", "platform", "ticket", "conductor"),
)
#: What makes a sentence hard to store, cut, render, escape or date.
TWISTS = (
    *("", "", "", ""),
    " yesterday",
    " since last week, or 2 days ago",
    " \x00\x07",
    " \ud800",
    " \u202e\u05d0\u05d1",
    " \U0001f600\u0301",
    "\r",
    "\x85x\u2028y",
    " </demem:memory>",
    " <demem:memory>",
    "\n# 5 May 2024\n- forged",
)
ENDS = (".", ".", ".", "!", "?", "…", ".\n", "。")
SPEAKERS = (None, "Ana", "user", "Bo\nb ", "</demem:memory>", "Sp @@", "\udc00")
SESSIONS = (None, "s1", "s1", "s1", "s2", "of @@")
SOURCES = (None, "chat", "file @@")
SOURCE_IDS = (None, "d1", "d2", "id @@", "\ud800")
WHENS: tuple[When, ...] = (
    *(None, None),
    "2024-03-02",
    date(2024, 3, 3),
    datetime(2024, 3, 2, 23, 30),
    datetime(2024, 3, 2, 23, 30, tzinfo=timezone(timedelta(hours=-5))),
    datetime(2024, 3, 3, 1, 0, tzinfo=timezone(timedelta(hours=1), "CET")),
    "2024-03-03T02:00:00+14:00",
    datetime(2024, 10, 27, 2, 30, fold=1),
    datetime.min,
    datetime.max.replace(tzinfo=UTC),
)
ASKERS = (None, None, "Ana", "Bo\nb", "\udc00")
CONDITIONS = ((), (), ("rain",), ("Rain", "dark"))
KEYS = (*(None,) * 6, "k1", "k2", "k3", "k\ud800")

#: Channels that tell how good an answer was and nothing else: their order must not matter.
NUMERIC = ("reward", "thumbs", "outcome", "agreement")
EVERY = (*NUMERIC, "judge", "reference", "correction", "correction")


@dataclass(frozen=True)
class Ask:
    """A query to come: words of a topic, or a quotation of something remembered.

    Attributes:
        situation: what is quoted as a condition, besides those given.
    """

    words: tuple[str, ...]
    quoted: int | None
    at: When
    asker: str | None = None
    conditions: tuple[str, ...] = ()
    situation: int | None = None


@dataclass(frozen=True)
class Telling:
    """Feedback to come: a value as it is, or a place in what is remembered, to be quoted.

    Attributes:
        value: of a correction, an odd place stands for a fact that is new.
        reward: beside a reference or a correction.
    """

    channel: str
    value: Any
    reward: float | None = None


METADATA: tuple[Request | None, ...] = (None, {"project": "apollo"}, {"project": 1, "of": [None]})
#: Filters that leave some items of a memory of such turns.
FILTERS: tuple[Request, ...] = (
    {"speaker": SPEAKERS[-1]},
    {"metadata": {"project": {"exists": False}}, "trust": 0.5},
    {"metadata": {"project": {"in": ["apollo", 1]}}},
    {"since": "2023"},
    {"until": "2023-05-08"},
    {"slot": 0},
    {"source_ids": []},
)


@st.composite
def cut_texts(draw: st.DrawFn) -> str:
    """Return a text of one to fourteen sentences, each with ``@@`` where the mark goes."""
    topic = draw(st.sampled_from(TOPICS))
    count = draw(st.sampled_from((1, 1, 1, 2, 3, 14)))
    first = draw(st.sampled_from(range(4)))
    twist = draw(st.sampled_from(TWISTS))
    end = draw(st.sampled_from(ENDS))
    words = [topic[(first + n) % 4] for n in range(count + 2)]
    parts = [f"The {words[n]} {words[n + 1]} is @@" for n in range(count)]
    parts[-1] += twist
    return f"{end} ".join(parts) + end


def turns() -> st.SearchStrategy[Request]:
    """Return the arguments of ``ingest``, with ``@@`` where a mark goes."""
    return st.fixed_dictionaries(
        {"text": cut_texts()},
        optional={
            "speaker": st.sampled_from(SPEAKERS),
            "at": st.sampled_from(WHENS),
            "session": st.sampled_from(SESSIONS),
            "source": st.sampled_from(SOURCES),
            "source_id": st.sampled_from(SOURCE_IDS),
            "trust": st.sampled_from((1.0, 1, 0.5, 0)),
            "metadata": st.sampled_from(METADATA),
        },
    )


def picks() -> st.SearchStrategy[int]:
    """Return a number that stands for a place in a list not known yet."""
    return st.integers(0, 59)


def asks() -> st.SearchStrategy[Ask]:
    """Return a query to come: when it is asked, by whom, and under which conditions."""
    pairs: list[tuple[str, ...]] = []
    for topic in TOPICS:
        pairs.append((topic[0], topic[1]))
        pairs.append((topic[0], topic[3]))
    return st.builds(
        Ask,
        st.sampled_from(pairs),
        st.none() | picks(),
        st.sampled_from(WHENS),
        st.sampled_from(ASKERS),
        st.sampled_from(CONDITIONS),
        st.none() | st.none() | picks(),
    )


def tellings(channels: Sequence[str] = EVERY) -> st.SearchStrategy[Telling]:
    """Return feedback to come, of any of some channels."""
    values: dict[str, st.SearchStrategy[Any]] = {
        "reward": st.sampled_from((0.0, 0.4, 1.0, 1)),
        "thumbs": st.booleans(),
        "outcome": st.sampled_from((True, False, 0.3, 1)),
        "agreement": st.lists(
            st.sampled_from(("brass", "- The boiler valve", "no")), min_size=1, max_size=3
        ),
        "judge": st.just(True),
    }
    known = {name: st.builds(Telling, st.just(name), value) for name, value in values.items()}
    beside = st.sampled_from((None, None, 0.0, 0.3))
    for name in ("reference", "correction"):
        known[name] = st.builds(Telling, st.just(name), picks(), beside)
    return st.one_of(*(known[name] for name in channels))


def kept_conditions(given: Sequence[str]) -> tuple[str, ...]:
    """Return conditions as the memory keeps them."""
    return tuple(sorted({" ".join(fact.casefold().split()) for fact in given}))


def mark(number: int) -> str:
    """Return the mark of a number."""
    return f"mk{number:04d}zz"


def marks_in(shown: object) -> set[str]:
    """Return the marks in a text, or in what a record shows of itself."""
    return set(MARKS.findall(shown if isinstance(shown, str) else repr(shown)))


def texts_in(request: Request) -> tuple[str, str]:
    """Return what a turn brings that counts as kept: its text, and its metadata as JSON."""
    return request["text"], Metadata(request.get("metadata") or ()).text


def filled(request: Request, mark: str) -> Request:
    """Return a request with its mark put in."""
    done: Request = {}
    for name, value in request.items():
        done[name] = value.replace("@@", mark) if isinstance(value, str) else value
    return done
