"""What holds now: does the later value of the same thing come first, and no other thing's?

    pip install demem-agent
    python benchmarks/changes.py --data FOLDER [--only moulds chats ...] [--json]

FOLDER has ``chats`` (conversations with an assistant and ``changes.jsonl``) and ``letta``. Nothing
in it was fitted on; neither was ``written/moulds.jsonl``. What the network was fitted on stands in
``written/changes`` and ``written/chats`` (``fit_changes.py``). It takes a minute of one core.

Each pair of lines is said by one speaker on two days, among forty lines of somebody else, or all of
them by nobody; then its question is asked.

* ``moulds``: the same sentence with another value. "Old answered": the answer has the old value
  and not the new one; "swapped": told in the other order, the answer is the other value.
* ``others``: the same about another subject. "Taken over": the answer is the newer line; or the
  older one is marked.
* ``pairs``: all pairs of ``changes.jsonl``: area under the curve of "replaces" against all else,
  how often the new line stands first where it replaces, and what of the marks is right.
* ``judged``: the same with ``judge_change`` that is always right: of which pairs it is asked, and
  what is marked.
* ``letta``: does a fact stand before those that it contradicts? All are undated, of nobody.
* ``manual``: of 300 passages of a document, how many no longer hold?
* ``corrections``: 30 in five plain wordings, and the same once an assistant has said the old values
  again: is the answer the new one?
* ``backfill``, ``trust``: an older log that is imported after a newer one; contradictions by the
  same speaker that are trusted less.
* ``chats``: does an outdated line stand ahead of the current one, is the line with the highest
  score right, is one of the first three, and does the answer rest on gold and on nothing outdated?
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent import SlotMemory
from demem_agent.changes.network import VERDICTS, default_network
from demem_agent.changes.pairs import compare
from demem_agent.testing import ScriptedChangeJudge
from demem_agent.types import ChangeTask, ChangeVerdict, Reading

Row = dict[str, Any]

HERE = Path(__file__).resolve().parent
BESIDE = [
    f"{who} {what}."
    for who in (
        "The bakery on Elm Road",
        "My cousin Dara",
        "The tram line",
        "Our choir",
        "The library",
        "A parcel from Leeds",
        "The garden fence",
        "Uncle Phil",
    )
    for what in (
        "was mentioned at lunch",
        "came up in the call",
        "needs a look next week",
        "is fine as it is",
        "was late again",
    )
]
#: Things with an old and a new value, for what is made up here.
THINGS = [
    ("recycling day", "Tuesday", "Friday"),
    ("alarm code", "2231", "9046"),
    ("yoga fee", "24 euros", "31 euros"),
    ("plumber", "Mr Osei", "Mrs Brandt"),
    ("storage unit", "P2", "P4"),
    ("band room", "B12", "C3"),
]
MORE_THINGS = [
    *THINGS,
    ("ferry cabin", "418", "522"),
    ("landlord", "Mr Quist", "Ms Adeyemi"),
    ("market stall", "row F", "row K"),
    ("swimming lane", "lane 2", "lane 6"),
]
WORDINGS = (
    "The {thing} is now {new}.",
    "Correction: the {thing} is {new}, not {old}.",
    "We switched: the {thing} is {new}.",
    "Our {thing} changed to {new}.",
    "Forget what I said about the {thing}, it is {new}.",
)
PARTS = "fan display handle hinge lamp pump filter valve belt motor".split()
MODELS = "Ember 5|Ember 7|Frost 2|Frost 4|Gale 1|Gale 3".split("|")
SAYINGS = (
    "The {part} of the {model} is covered for {n} years.",
    "The {part} of the {model} weighs {n} kg.",
    "Clean the {part} of the {model} every {n} weeks.",
    "The {part} of the {model} is rated for {n} amperes.",
    "Order the {part} of the {model} under number {n}00{n}.",
)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file in JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def scene(old: str, new: str, *, nobody: bool = False, **options: Any) -> SlotMemory:
    """Return a memory of two lines of one speaker among forty of another."""
    speaker, other = (None, None) if nobody else ("Ana", "Ben")
    memory = SlotMemory(**options)
    half = len(BESIDE) // 2
    for n, text in enumerate(BESIDE[:half]):
        memory.ingest(text, speaker=other, at=f"2026-01-{n % 28 + 1:02}")
    memory.ingest(old, speaker=speaker, at="2026-01-10")
    for n, text in enumerate(BESIDE[half:]):
        memory.ingest(text, speaker=other, at=f"2026-02-{n % 28 + 1:02}")
    memory.ingest(new, speaker=speaker, at="2026-02-25")
    return memory


def first(reading: Reading) -> str:
    """Return the line with the highest score."""
    return max(reading.lines, key=lambda line: line.score).text if reading.lines else ""


def is_marked(reading: Reading, text: str) -> bool:
    """Whether a line is said to be over."""
    return any(line.superseded for line in reading.lines if line.evidence.text == text)


def has(answer: str, value: str) -> bool:
    """Whether an answer has a value, as a whole."""
    return re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", answer.lower()) is not None


def moulds(data: Path) -> dict[str, Any]:
    """The same sentence with another value."""
    found: dict[str, Any] = {}
    written = read_rows(HERE / "written" / "moulds.jsonl")
    given = read_rows(data / "chats" / "changes.jsonl")
    mould = [row for row in given if row["wording"] == "same-mould"]
    for name, rows in (("written", written), ("given", mould)):
        chosen = [row for row in rows if row["verdict"] == "replaces"]
        for nobody in (False, True):
            answers = [_of_mould(row, nobody=nobody) for row in chosen]
            found[f"{name}, {'nobody' if nobody else 'one speaker'}"] = {
                "pairs": len(answers),
                "old answered": sum(old for old, _ in answers),
                "swapped": sum(swapped for _, swapped in answers),
            }
    return found


def _of_mould(row: Row, *, nobody: bool) -> tuple[bool, bool]:
    """Return whether the old value is answered, and whether each order is answered by its last."""
    last = []
    for old, new in ((row["old"], row["new"]), (row["new"], row["old"])):
        answer = scene(old, new, nobody=nobody).answer(row["question"], at="2026-03-01").text
        has_old, has_new = (_is_said(answer, one, other) for one, other in ((old, new), (new, old)))
        last.append((has_old and not has_new, has_new and not has_old))
    return last[0][0], last[0][1] and last[1][1]


def _is_said(answer: str, line: str, other: str) -> bool:
    """Whether an answer says what a line says and another one does not."""
    if line.rstrip(".!?。") in answer:
        return True
    words = set(re.findall(r"\w+", line.lower())) - set(re.findall(r"\w+", other.lower()))
    return bool(words) and all(has(answer, word) for word in words)


def others(data: Path) -> dict[str, Any]:
    """The same about another subject."""
    found: dict[str, Any] = {}
    for name, path in (
        ("written", HERE / "written" / "moulds.jsonl"),
        ("given", data / "chats" / "changes.jsonl"),
    ):
        rows = [row for row in read_rows(path) if row["verdict"] == "other"]
        for nobody in (False, True):
            taken = marked = 0
            for row in rows:
                memory = scene(row["old"], row["new"], nobody=nobody)
                answer = memory.answer(row["question"], at="2026-03-01")
                marked += is_marked(answer.reading, row["old"])
                is_new = row["new"].rstrip(".!?。") in answer.text
                taken += is_new and row["old"].rstrip(".!?。") not in answer.text
            found[f"{name}, {'nobody' if nobody else 'one speaker'}"] = {
                "pairs": len(rows),
                "taken over": taken,
                "marked": marked,
            }
    return found


def pairs(data: Path) -> dict[str, Any]:
    """All pairs, of whatever verdict."""
    rows = read_rows(data / "chats" / "changes.jsonl")
    probable = []
    tally = {"new first": 0, "marks right": 0, "marks": 0}
    for row in rows:
        verdicts = default_network().verdicts(
            compare([row["old"], row["new"]], [(0, 1)], row["question"])
        )
        probable.append(float(verdicts[0, VERDICTS.index("replaces")]))
        reading = scene(row["old"], row["new"]).read(row["question"], at="2026-03-01")
        replaces = row["verdict"] == "replaces"
        tally["new first"] += replaces and first(reading) == row["new"]
        marked = is_marked(reading, row["old"])
        tally["marks"] += marked
        tally["marks right"] += marked and replaces
    right = np.array([row["verdict"] == "replaces" for row in rows])
    return {"AUC": round(area(np.array(probable), right), 3), "replaces": int(right.sum()), **tally}


def area(values: np.ndarray, right: np.ndarray) -> float:
    """Return the area under the curve of values that tell what is right."""
    places = values.argsort().argsort()
    ones = int(right.sum())
    return float((places[right].sum() - ones * (ones - 1) / 2) / (ones * (len(right) - ones)))


def judged(data: Path) -> dict[str, Any]:
    """All pairs with a ``judge_change`` that is always right: what it is asked, what is marked."""
    found: dict[str, Any] = {"replaces": 0, "asked about": 0, "marks": 0, "marks right": 0}
    asked = lines = 0
    for row in read_rows(data / "chats" / "changes.jsonl"):
        judge = ScriptedChangeJudge(partial(_right, row))
        memory = scene(row["old"], row["new"], judge_change=judge)
        memory.judge_changes()
        replaces = row["verdict"] == "replaces"
        marked = is_marked(memory.read(row["question"], at="2026-03-01"), row["old"])
        found["replaces"] += replaces
        found["asked about"] += replaces and any(_is_of(row, task) for task in judge.asked)
        found["marks"] += marked
        found["marks right"] += marked and replaces
        asked, lines = asked + len(judge.asked), lines + len(memory)
    return {**found, "pairs asked about per line": round(asked / lines, 2)}


def _is_of(row: Row, task: ChangeTask) -> bool:
    return task.old.endswith(row["old"]) and task.new.endswith(row["new"])


def _right(row: Row, task: ChangeTask) -> ChangeVerdict:
    replaces = _is_of(row, task) and row["verdict"] == "replaces"
    return ChangeVerdict("replaces" if replaces else "other", "by the data")


def letta(data: Path) -> dict[str, Any]:
    """Records of ten facts and one that contradicts some of them."""
    (path,) = (data / "letta").glob("*.jsonl")
    records = right = 0
    for row in read_rows(path):
        told = row["agent_args"]["extra"]
        new = told["contradicting_fact"].strip('"')
        memory = SlotMemory(clock=None)
        memory.ingest_many([{"text": text} for text in [*told["facts"], new]])
        scores = {line.evidence.text: line.score for line in memory.read(row["input"]).lines}
        old = [told["facts"][n] for n in told["supporting_fact_indices"]]
        records += 1
        right += all(scores.get(new, -99.0) > scores.get(text, -99.0) for text in old)
    return {"records": records, "the new one before all that it contradicts": right}


def manual(_: Path) -> dict[str, Any]:
    """A document of 300 passages, remembered at once."""
    turns = []
    for n, (saying, part, model) in enumerate(
        (saying, part, model) for part in PARTS for model in MODELS for saying in SAYINGS
    ):
        text = saying.format(part=part, model=model, n=n % 7 + 2)
        turns.append({"text": text, "source_id": f"manual:{n}"})
    memory = SlotMemory()
    memory.ingest_many(turns)
    over = memory.evidence(where={"holds": False})
    questions = (
        f"How long is the {part} of the {model} covered?" for part in PARTS for model in MODELS
    )
    marked = sum(is_any_marked(memory.read(question)) for question in questions)
    return {"passages": len(turns), "no longer hold": len(over), "readings with a mark": marked}


def is_any_marked(reading: Reading) -> bool:
    """Whether any line is said to be over."""
    return any(line.superseded for line in reading.lines)


def corrections(_: Path) -> dict[str, Any]:
    """Thirty corrections in plain wordings, then with an echo of the old values."""
    found = {"corrections": 0, "right": 0, "right after an echo": 0}
    for wording in WORDINGS:
        memory = SlotMemory()
        for n, (thing, old, _new) in enumerate(THINGS):
            memory.ingest(f"The {thing} is {old}.", speaker="Ana", at=f"2026-01-{n + 1:02}T09:00")
        for n, text in enumerate(BESIDE[:20]):
            memory.ingest(text, speaker="Ben", at=f"2026-01-{n + 5:02}T10:00")
        for n, (thing, old, new) in enumerate(THINGS):
            text = wording.format(thing=thing, old=old, new=new)
            memory.ingest(text, speaker="Ana", at=f"2026-02-{n + 1:02}T09:00")
        found["corrections"] += len(THINGS)
        found["right"] += sum(map(_is_new, memory_answers(memory)))
        for n, (thing, old, _new) in enumerate(THINGS):
            echo = f"As you told me, the {thing} is {old}."
            memory.ingest(echo, speaker="assistant", at=f"2026-02-{n + 10:02}T09:00")
        found["right after an echo"] += sum(map(_is_new, memory_answers(memory)))
    return found


def memory_answers(memory: SlotMemory) -> Iterator[tuple[str, str, str]]:
    """Yield the answers for all things, each with the old and the new value."""
    for thing, old, new in THINGS:
        yield memory.answer(f"What is the {thing}?", at="2026-03-01").text, old, new


def _is_new(answered: tuple[str, str, str]) -> bool:
    """Whether an answer has the new value, first if it has both."""
    answer, old, new = answered
    line = answer.split("\n")[0]
    return has(line, new) or (has(answer, new) and not has(answer, old))


def backfill(_: Path) -> dict[str, Any]:
    """A newer log first, then the older one."""
    memory = SlotMemory()
    for n, (thing, _old, new) in enumerate(MORE_THINGS):
        memory.ingest(f"The {thing} is {new}.", speaker="Ana", at=f"2024-06-{n + 1:02}")
    for n, (thing, old, _new) in enumerate(MORE_THINGS):
        memory.ingest(f"The {thing} is {old}.", speaker="Ana", at=f"2023-03-{n + 1:02}")
    answers = [memory.answer(f"What is the {thing}?").text for thing, _, _ in MORE_THINGS]
    right = sum(has(answer, new) for answer, (_, _, new) in zip(answers, MORE_THINGS, strict=True))
    marked = 0
    for thing, _old, new in MORE_THINGS:
        marked += is_marked(memory.read(f"What is the {thing}?"), f"The {thing} is {new}.")
    return {"facts": len(MORE_THINGS), "newest answered": right, "newest marked as over": marked}


def trust(_: Path) -> dict[str, Any]:
    """Contradictions that are trusted less."""
    memory = SlotMemory()
    for n, (thing, old, _new) in enumerate(MORE_THINGS):
        memory.ingest(f"The {thing} is {old}.", speaker="Ana", at=f"2024-01-{n + 1:02}")
    for n, (thing, _old, new) in enumerate(MORE_THINGS):
        text = f"The {thing} is {new}."
        memory.ingest(text, speaker="Ana", at=f"2024-06-{n + 1:02}", trust=0.0)
    taken = marked = 0
    for thing, old, _new in MORE_THINGS:
        answer = memory.answer(f"What is the {thing}?")
        taken += not has(answer.text, old)
        marked += is_marked(answer.reading, f"The {thing} is {old}.")
    return {"facts": len(MORE_THINGS), "taken over": taken, "marked": marked}


def chats(data: Path) -> dict[str, Any]:
    """Conversations with an assistant in which values change in every wording."""
    found = {
        "questions": 0,
        "first line right": 0,
        "right among three": 0,
        "with an outdated line": 0,
        "outdated line ahead": 0,
        "of values that changed": 0,
        "answers of these right": 0,
    }
    for path in sorted((data / "chats").glob("*_questions.jsonl")):
        memory = SlotMemory(clock=None)
        memory.ingest_many(read_rows(path.with_name(path.name.replace("_questions", ""))))
        for row in read_rows(path):
            if row["answerable"]:
                for name, value in _of_question(memory, row):
                    found[name] += value
    return found


def _of_question(memory: SlotMemory, row: Row) -> Iterator[tuple[str, int]]:
    reading = memory.read(row["question"], at=row["at"], limit=2000)
    ids = [line.evidence.source_id for line in sorted(reading.lines, key=lambda one: -one.score)]
    gold, stale = set(row["evidence"]), set(row["stale"])
    yield "questions", 1
    yield "first line right", ids[:1] != [] and ids[0] in gold
    yield "right among three", not gold.isdisjoint(ids[:3])
    if stale:
        yield "with an outdated line", 1
        yield "outdated line ahead", place(ids, stale) < place(ids, gold)
    if row["category"] in ("current", "changed-back", "past-value"):
        yield "of values that changed", 1
        answer = memory.answer(row["question"], at=row["at"])
        rests = [item.source_id for item in memory.evidence() if item.id in answer.evidence]
        yield "answers of these right", not gold.isdisjoint(rests) and stale.isdisjoint(rests)


def place(ids: list[Any], among: Iterable[Any]) -> int:
    """Return where the first of some ids stands; behind all where none is."""
    return min((ids.index(one) for one in among if one in ids), default=len(ids))


PARTS_OF_IT: dict[str, Callable[[Path], dict[str, Any]]] = {
    "moulds": moulds,
    "others": others,
    "pairs": pairs,
    "judged": judged,
    "letta": letta,
    "manual": manual,
    "corrections": corrections,
    "backfill": backfill,
    "trust": trust,
    "chats": chats,
}


def main() -> None:
    """Measure, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--only", nargs="+", choices=list(PARTS_OF_IT), default=list(PARTS_OF_IT))
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    found = {name: PARTS_OF_IT[name](given.data) for name in given.only}
    if given.json:
        print(json.dumps(found, indent=1))
        return
    for name, told in found.items():
        print(name)
        for key, value in told.items():
            print(f"  {key:<44} {value}")


if __name__ == "__main__":
    main()
