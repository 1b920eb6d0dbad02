"""The page that ``demem inspect`` writes: all in one file, and nothing asked for elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from typing import Any

import pytest

from demem_agent import SlotMemory
from demem_agent.server.page.bundling import document
from demem_agent.server.page.snapshot import snapshot
from demem_agent.testing import BagEncoder

HOSTILE = '</script><script>alert(1)</script><!-- \u202e <img src=x onerror="alert(2)">'
LINK = re.compile(r'\b(?:src|href|action|content)="([^"]*)"')
ONE = "/v1/memories/default"


@pytest.fixture(scope="module")
def memory() -> SlotMemory:
    made = SlotMemory(slots=3, initial_slots=2, clock=None, encoder=BagEncoder())
    for text in (HOSTILE, "the boiler has a brass valve", "the violin has a broken bow"):
        made.ingest(text, speaker="Ana", at="2024-03-02")
    made.feedback(made.answer("Which valve has the boiler?"), reference="a brass valve")
    made.update("e3", "the violin has a new bow")
    made.decided("a flaky test", "retry", actions=["retry", "skip"])
    return made


@pytest.fixture(scope="module")
def shown(memory: SlotMemory) -> dict[str, Any]:
    return snapshot(memory.export(), "default", encoder=BagEncoder())


def part(page: str, kind: str) -> str:
    """Return what the one inline element of a kind holds."""
    found = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_it_answers_as_the_server_would(memory: SlotMemory, shown: dict[str, Any]) -> None:
    answers = shown["answers"]
    assert [one["id"] for one in answers[f"{ONE}/items"]["records"]] == [
        item.id for item in memory.evidence()
    ]
    assert answers[ONE]["settings"]["slots"] == 3
    assert len(answers[f"{ONE}/items/e4/history"]["records"]) == 2
    assert answers[f"{ONE}/decisions/d1"]["decision"]["action"] == "retry"
    query = "Which valve has the boiler?"
    assert shown["questions"] == [query]
    read = answers[f"POST {ONE}/weigh {query}"]["reading"]
    assert read["text"] == memory.read(query).text
    ids = [{"id": item.id} for item in memory.read(query, limit=shown["limits"][0]).evidence]
    assert answers[f"POST {ONE}/read {query} {shown['limits'][0]}"] == {"evidence": ids}


def test_no_text_ends_the_element_that_it_stands_in(shown: dict[str, Any]) -> None:
    page = document(shown)
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    assert json.loads(found[0]) == json.loads(json.dumps(shown))
    assert HOSTILE in json.loads(found[0])["answers"][f"{ONE}/items"]["records"][0]["text"]
    assert page.count("</script>") == 2
    assert "<img" not in page


def test_the_policy_knows_the_two_parts_by_their_digests_and_allows_nothing_else(
    shown: dict[str, Any],
) -> None:
    page = document(shown)
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    assert f"script-src {digest(part(page, 'script'))};" in policy
    assert f"style-src {digest(part(page, 'style'))};" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_it_refers_to_nothing_outside_of_itself(shown: dict[str, Any]) -> None:
    page = document(shown)
    head = page[: page.index("<body>")]
    links = [link for link in LINK.findall(head) if "/" in link and "none" not in link]
    assert links == []
    assert "url(" not in part(page, "style")
    assert "@import" not in part(page, "style")
