"""What stands in a reading was said: in these words, with nothing cut open."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from generated_turns import turn

from demem_agent import SlotMemory, Turn
from demem_agent.testing import BagEncoder
from demem_agent.text.quoting.cutting import CUT, through_turn
from demem_agent.text.quoting.fences import FENCE
from demem_agent.types import Evidence, Reading

TURNS_A_MEMORY = 50
LIMITS = (300, 900, 2500)
QUERIES = ("the valve of the boiler yesterday", "return x run rows", "not any more")
_ENTRY = re.compile(r"- (?:\[[^\]\n]*\] )*(?P<speaker>S\d+):\s(?P<words>.*)", re.DOTALL)
#: What may stand in an entry beside what was said: signs of cuts, fences, brackets, keys of JSON,
#: the line of a class.
_ADDED = re.compile(r'(?:\[…\]|```\w*|[()\[\]{}"“”«»\s]|"\w+": |class \w+:)*')
#: A fence of its own that a stretch ends with, or begins with, and has nothing of its code.
_BARE = re.compile(r"\A```\s|\s```\w*\Z")
_ALONE = re.compile(r"```\w*")
_BRACKETS = ("()", "[]", "{}", "“”", "«»")


def entries(reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield who speaks and the words of each entry of a reading."""
    body = reading.text.removeprefix("<demem:memory>\n").removesuffix("\n</demem:memory>")
    entry: list[str] = []
    for line in [*body.split("\n"), "#"]:
        if line.startswith("  "):
            entry.append(line[2:])
            continue
        found = _ENTRY.fullmatch("\n".join(entry))
        if found:
            yield found["speaker"], found["words"]
        entry = [line]


def runs(reading: Reading) -> Iterator[tuple[str | None, str]]:
    """Yield who speaks and what was said in each stretch that was read, to its end."""
    found: list[tuple[Evidence, int, int]] = []
    for line in reading.lines:
        item = line.evidence
        end = through_turn(item.text, line.end)
        if found and found[-1][0] is item and not item.text[found[-1][2] : line.start].strip():
            found[-1] = (item, found[-1][1], max(found[-1][2], end))
        else:
            found.append((item, line.start, end))
    for item, start, end in found:
        yield item.speaker, item.text[start:end]


def wrong_in(words: str, said: str, whole: str) -> str:
    """Return what is wrong with an entry that tells a stretch of a turn; "" for nothing."""
    said = said if said in words else _BARE.sub("", said)
    if said not in words:
        return "the words were changed"
    first, _, last = words.partition(said)
    if not (_ADDED.fullmatch(first) and _ADDED.fullmatch(last)):
        return "something was added"
    if said != whole and CUT not in first + last:
        return "a cut is not marked"
    if not all(map(_ALONE.fullmatch, (line for line in words.split("\n") if FENCE in line))):
        return "a fence is not alone on its line"
    if words.count(FENCE) % 2:
        return "a fence is open"
    for opens, closes in _BRACKETS:
        if words.count(opens) != words.count(closes):
            return f"{opens} is open"
    return "a quotation is open" if words.count('"') % 2 else ""


def wrong(turns: int, seed: int) -> list[str]:
    """Read many made-up turns, and return what is wrong in the readings."""
    chance = random.Random(seed)
    found: list[str] = []
    for _ in range(turns // TURNS_A_MEMORY):
        memory = SlotMemory(encoder=BagEncoder(), floor=0)
        told = {f"S{n}": turn(chance) for n in range(TURNS_A_MEMORY)}
        memory.ingest_many([Turn(text, speaker, "2024-05-15") for speaker, text in told.items()])
        for limit, query in zip(LIMITS, QUERIES, strict=True):
            reading = memory.read(query, limit=limit)
            for (who, words), (speaker, said) in zip(entries(reading), runs(reading), strict=True):
                assert who == speaker
                flaw = wrong_in(words, said, told[who])
                if flaw:
                    found.append(f"{flaw}: {words!r}")
    return found


def test_generated_turns_are_read_as_they_were_said() -> None:
    assert wrong(300, seed=1) == []


@pytest.mark.slow
def test_a_hundred_thousand_generated_turns_are_read_as_they_were_said() -> None:
    assert wrong(100_000, seed=2) == []


@pytest.mark.parametrize(
    ("words", "flaw"),
    [
        ("I moved.", ""),
        (f"I moved. {CUT}", ""),
        ("I moved (yesterday: 14 May).", "the words were changed"),
        ("I moved. And so.", "something was added"),
        (f"{FENCE}\nI moved.", "a fence is open"),
        (f"{FENCE}\nI moved.\n{FENCE} […]", "a fence is not alone on its line"),
        ("(I moved.", "( is open"),
    ],
)
def test_what_is_wrong_is_seen(words: str, flaw: str) -> None:
    assert wrong_in(words, "I moved.", "I moved.") == flaw


def test_a_cut_without_a_sign_is_seen() -> None:
    assert wrong_in("I moved.", "I moved.", "I moved. So.") == "a cut is not marked"


@pytest.mark.parametrize("speaker", [None, "Ana"])
@pytest.mark.parametrize("limit", [100, 300, 1000])
def test_code_in_a_reading_is_code_in_markdown(speaker: str | None, limit: int) -> None:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    loops = "\n\n".join(f"def run_{n}(rows):\n    return rows[{n}]" for n in range(20))
    memory.ingest(f"{FENCE}python\n{loops}\n{FENCE}\nThat is how I run the rows.", speaker=speaker)
    text = memory.read("run_7 rows", limit=limit).text
    fenced = [line for line in text.split("\n") if FENCE in line]
    assert fenced[::2] == [f"  {FENCE}python"] * (len(fenced) // 2)
    assert fenced[1::2] == [f"  {FENCE}"] * (len(fenced) // 2)
    assert limit < 300 or "def run_7(rows):" in text


def test_a_margin_stands_on_the_line_above_a_fence() -> None:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    for day in ("2024-05-15", "2024-05-16"):
        memory.ingest(f"{FENCE}\nrun(rows)\n{FENCE}", at=day)
    body = memory.read("run the rows").text.split("\n")[2:-1]
    assert body == [
        "- [said 2 times, last on 16 May 2024] [no speaker]",
        f"  {FENCE}",
        "  run(rows)",
        f"  {FENCE}",
    ]
