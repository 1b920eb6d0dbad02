"""What records look like: in print, in a notebook, and as members of a set."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import demem_agent
from demem_agent import Answer, FeedbackReport, Reading, SlotMemory
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Candidate, Evidence, Line, SplitCertificate


def records() -> dict[str, type]:
    """Return every record that is public."""
    found = {}
    for module in demem_agent.__public__:
        made = importlib.import_module(module)
        for name in getattr(made, "__all__", ()):
            kind = getattr(made, name)
            if inspect.isclass(kind) and dataclasses.is_dataclass(kind):
                found[f"{kind.__module__}.{kind.__qualname__}"] = kind
    return found


#: What a field is that cannot be hashed, as its type is written.
MUTABLE = re.compile(r"\b(dict|list|set|Mapping|MutableMapping|Sequence|NDArray|Floats|Labels)\b")
#: How a docstring says that it is not, or when.
WHY_NOT = re.compile(r"Not hashable|can\s+be\s+hashed")


@pytest.mark.parametrize("name", records())
def test_a_public_record_is_hashable_or_says_why_not(name: str) -> None:
    kind: Any = records()[name]
    source = inspect.getsource(kind)
    says_why = WHY_NOT.search(kind.__doc__ or "")
    if says_why or "eq=False" in source.partition("class ")[0]:
        return
    assert kind.__dataclass_params__.frozen
    held = [str(field.type) for field in dataclasses.fields(kind)]
    is_plain = not any(map(MUTABLE.search, held))
    assert is_plain or "def __hash__" in source


def learned() -> tuple[Answer, FeedbackReport]:
    """Return an answer, and a feedback that split a slot."""
    right = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
    memory = SlotMemory(
        clock=None, slots=3, initial_slots=1, slot_limit=44, read_limit=90, encoder=BagEncoder(),
        answerer=ReadingAnswerer(), scorers=(right, right),
    )  # fmt: skip
    memory.ingest_many(
        [{"text": "the boiler has a brass valve"}, {"text": "the violin has a broken bow"}]
    )
    memory.feedback(memory.answer("Which valve has the boiler?"), reference="a brass valve")
    answer = memory.answer("Which bow has the violin?")
    return answer, memory.feedback(answer, reference="a broken bow")


class Page(HTMLParser):
    """What is in a page: its tags, which must be closed in order, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def shown() -> Iterator[Any]:
    """Yield one of each record that a notebook shows."""
    answer, report = learned()
    memory = SlotMemory(encoder=BagEncoder())
    memory.ingest("I live in Porto.", speaker="Ana", at="2024-03-01", source="chat")
    memory.update("e1", "I live in Lisbon.")
    yield from (answer, report, report.certificate, memory.read("Where do I live?"))
    yield from (memory.evidence()[0], memory.slots[0])
    yield SlotMemory(encoder=BagEncoder()).read("Nothing?")


def test_what_a_notebook_shows_is_sound_and_fetches_nothing() -> None:
    for record in shown():
        page = Page(record._repr_html_())
        assert page.attributes <= {"style"}
        assert not page.tags & {"script", "link", "img", "iframe"}
        assert "url(" not in record._repr_html_()


@given(st.text(), st.text(max_size=5))
def test_what_was_said_is_shown_as_it_was_said(text: str, speaker: str) -> None:
    item = Evidence("e1", f"<b>{text}", speaker)
    assert "<b>&lt;" not in item._repr_html_().replace("<b>e1</b>", "")
    reading = Reading(
        text, 1, 2, "chars", "evidence", (item,), (0,), (Line(item, 0, len(item.text)),)
    )
    for record in (item, reading):
        page = Page(record._repr_html_())
        if len(item.text) <= 600 and text.isprintable():
            assert f"<b>{text}" in page.text
    assert "script" not in Page(item._repr_html_()).tags


def test_a_reading_shows_how_full_it_is_and_its_lines() -> None:
    memory = SlotMemory(encoder=BagEncoder(), read_limit=200)
    memory.ingest("I live in Porto.", speaker="Ana", at="2024-03-01")
    memory.update("e1", "I live in Lisbon.", at="2024-07-06")
    reading = memory.read("Where do I live?")
    page = Page(reading._repr_html_())
    assert f"width:{100 * reading.size / 200:.1f}%" in reading._repr_html_()
    assert "I live in Porto. superseded by e2" in page.text
    assert "1 March 2024" in page.text


def test_print_gives_the_text_and_repr_stays_short() -> None:
    memory = SlotMemory(encoder=BagEncoder())
    memory.ingest_many([{"text": f"The boiler {n} has a valve. " * 20} for n in range(9)])
    reading, answer = memory.read("Which boiler?"), memory.answer("Which boiler?")
    assert (str(reading), str(answer)) == (reading.text, answer.text)
    assert str(memory.evidence()[0]) == memory.evidence()[0].text
    assert str(Evidence("e1", "Hello.", "Ana")) == "Ana: Hello."
    assert max(len(repr(reading)), len(repr(answer))) < 160


def test_equal_records_have_equal_hashes_also_where_they_hold_a_mapping() -> None:
    (one, report), (other, same) = learned(), learned()
    assert one == other
    assert hash(one) == hash(other)
    assert hash(report) == hash(same)
    assert len({one, other, one.route, other.route, one.reading, other.reading}) == 3


def test_certificates_say_what_each_content_costs() -> None:
    _, report = learned()
    assert isinstance(report.certificate, SplitCertificate)
    page = Page(report._repr_html_())
    for candidate in report.certificate.candidates:
        assert isinstance(candidate, Candidate)
        assert candidate.name in page.text


def test_what_shows_records_is_loaded_where_one_is_shown() -> None:
    script = (
        "import sys; from demem_agent import SlotMemory; memory = SlotMemory();"
        "memory.ingest('x'); r = memory.read('x'); print(repr(r) and 'demem_agent.notebook' in"
        " sys.modules); r._repr_html_(); print('demem_agent.notebook' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
