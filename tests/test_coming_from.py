"""What other memories call otherwise: each row of the page is at most three lines, and does it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from documents import ROOT, blocks

from demem_agent import SlotMemory
from demem_agent.testing import ScriptedReranker
from demem_agent.types import Noting, Proposal

PAGE = (ROOT / "docs" / "coming-from.md").read_text()
CODE = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    """One row of the page."""

    there: str
    code: str


class Taker:
    """A note taker that notes the first line of what it is given."""

    name = "first line"

    def take_notes(self, task: Noting) -> Proposal:
        """Note it."""
        first = task.sources[0]
        return Proposal((first.text,), ((first.evidence_id,),))


def shared(query: str, text: str) -> float:
    return float(len(set(query.split()) & set(text.split())))


def rows() -> Iterator[Row]:
    for line in PAGE.splitlines():
        if line.startswith("| ") and not line.startswith("| there"):
            there, here = line.strip("| ").rsplit(" | ", 1)
            code = "\n".join(CODE.findall(here))
            yield Row(there, code)


ROWS = list(rows())


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Return the names that the rows go on from."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"taker": Taker(), "reranker": ScriptedReranker(shared)}
    (block, *_) = blocks(PAGE)
    exec(block.text, names)
    Path("notes.md").write_text("# Home\n\nThe key is under the mat.\n")
    chat = [{"uuid": "1", "name": "A chat", "chat_messages": [said("1")]}]
    Path("conversations.json").write_text(json.dumps(chat))
    yield names
    names["memory"].close()


def said(id: str) -> dict[str, Any]:
    text = "I play the violin."
    at = "2024-05-02T10:00:00Z"
    content = [{"type": "text", "text": text}]
    return {"uuid": id, "sender": "human", "text": text, "content": content, "created_at": at}


async def opened(given: dict[str, Any]) -> bool:
    """Open the memory as the page says, and close it."""
    memory = await given["AsyncSlotMemory"].open(given["URL"], memory_id="ana")
    found = len(memory) == 3
    await memory.close()
    return found


def state(url: str) -> str:
    """Return all that the memories of the file hold."""
    from demem_agent.memories import list_memories

    found = []
    for info in list_memories(url):
        with SlotMemory.open(url, memory_id=info.memory_id, tenant=info.tenant) as memory:
            found.append(json.dumps(memory.export(), sort_keys=True))
    return "\n".join(sorted(found))


def test_the_page_answers_for_forty_verbs_at_least() -> None:
    assert len(ROWS) >= 40
    assert len({row.there for row in ROWS}) >= 40


@pytest.mark.parametrize("row", ROWS, ids=[row.there for row in ROWS])
def test_it_works_here_in_three_lines_at_most(row: Row, given: dict[str, Any]) -> None:
    *lines, last = row.code.splitlines()
    assert len(lines) < 3
    before = state(given["URL"])
    exec("\n".join(lines), given)
    result = asyncio.run(opened(given)) if last.startswith("await ") else eval(last, given)
    assert result or state(given["URL"]) != before or "print" in last
