"""Turns such as people paste them: prose, code, JSON, CSV, Markdown, quotations, and all mixed.

What is bracketed, quoted or fenced in them is closed again in the same turn, so that a reading in
which something is open has cut it open.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

__all__ = ["turn"]

_NOUNS = "valve boiler violin lease ticket report garden invoice router salary".split()
_VERBS = "fixed moved lost sold signed checked".split()
_TIMES = ["yesterday", "last Friday", "on 5 May 2023", "two weeks ago", "at 10:30", "tomorrow"]
_TAKEN_BACK = ["Not any more.", "But that changed.", "Just kidding.", "Actually, no."]


def turn(chance: random.Random) -> str:
    """Make up a turn of one to four parts, of some 30 to 1,800 characters."""
    parts = [chance.choice(_PARTS)(chance) for _ in range(chance.choice((1, 1, 2, 3, 4)))]
    return chance.choice(("\n", "\n\n", " ")).join(parts) if len(parts) > 1 else parts[0]


def _words(chance: random.Random) -> str:
    noun, other = chance.sample(_NOUNS, 2)
    told = f"I {chance.choice(_VERBS)} the {noun} {chance.choice(_TIMES)}"
    ends = ["", f" for {chance.randint(1, 999)} euros", f", not the {other}", " (again)"]
    return told + chance.choice(ends)


def _prose(chance: random.Random) -> str:
    said = [f"{_words(chance)}{chance.choice('.!?')}" for _ in range(chance.randint(1, 9))]
    if not chance.randrange(3):
        said.insert(chance.randrange(len(said)) + 1, chance.choice(_TAKEN_BACK))
    return " ".join(said)


def _bracketed(chance: random.Random) -> str:
    opens, closes = chance.choice(["()", "[]", "“”", "«»", '""', "„“"[:1] + "”"])
    if opens == "„":
        opens = "“"
    return f"{_words(chance)}: {opens}{_prose(chance)}{closes} {_prose(chance)}"


def _quotation(chance: random.Random) -> str:
    lines = [f"> {_words(chance)}." for _ in range(chance.randint(1, 6))]
    return "\n".join([f"{_words(chance)}:", *lines, "", _prose(chance)])


def _python(chance: random.Random) -> str:
    made = []
    for _ in range(chance.randint(1, 9)):
        name = f"{chance.choice(_NOUNS)}_{chance.randint(1, 99)}"
        body = [f"    x = ({chance.randint(0, 9)}, [1, {{2: 'yesterday'}}])"] * chance.randint(1, 4)
        made.append("\n".join([f"def {name}(a, b):", *body, "    return x"]))
    if chance.randrange(2):
        return "\n\n\n".join(made)
    indented = "\n\n".join(made).replace("\n", "\n    ")
    return f"class {chance.choice(_NOUNS).title()}:\n    {indented}"


def _javascript(chance: random.Random) -> str:
    made = []
    for _ in range(chance.randint(1, 8)):
        name = f"{chance.choice(_NOUNS)}{chance.randint(1, 99)}"
        calls = "\n".join(f"  run({n}, [{n}]);" for n in range(chance.randint(1, 30)))
        made.append(f"export async function {name}(a) {{\n{calls}\n}}")
    return "\n".join(made)


def _sql(chance: random.Random) -> str:
    line = "DELETE FROM t WHERE d = 'yesterday' AND n IN (1, 2);"
    return "\n".join([line] * chance.randint(1, 14))


def _fenced(chance: random.Random) -> str:
    made = chance.choice((_python, _javascript, _sql, _json, _csv))(chance)
    return f"{_words(chance)}:\n```{chance.choice(('', 'python', 'js'))}\n{made}\n```\nSo it is."


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(6 if depth else 3)
    if kind == 0:
        return chance.choice([None, True, chance.randint(-99, 9999), 2.5])
    if kind <= 2:
        return " ".join([_words(chance).replace(" (again)", "")] * chance.choice((1, 1, 1, 9)))
    count = chance.randint(0, 6)
    if kind == 3:
        return [_value(chance, depth - 1) for _ in range(count)]
    names = [f"{chance.choice(_NOUNS)}{n}" for n in range(count)]
    return {name: _value(chance, depth - 1) for name in names}


def _json(chance: random.Random) -> str:
    value = {"rows": [_value(chance, 2) for _ in range(chance.randint(1, 6))]}
    return json.dumps(value, indent=chance.choice((None, None, 2)))


def _csv(chance: random.Random) -> str:
    rows = [f"{n},{_words(chance)},{n * 7}.50" for n in range(chance.randint(2, 14))]
    return "\n".join(["id,what,price", *rows])


def _table(chance: random.Random) -> str:
    rows = [f"| {n} | {_words(chance)} |" for n in range(chance.randint(2, 12))]
    return "\n".join(["| id | what |", "|---|---|", *rows])


def _outline(chance: random.Random) -> str:
    items = [f"- **{_words(chance)}**" for _ in range(chance.randint(2, 9))]
    return "\n".join([f"# {_words(chance)}", "", *items, "", _prose(chance)])


_PARTS: list[Callable[[random.Random], str]] = [
    _prose,
    _bracketed,
    _quotation,
    _python,
    _javascript,
    _fenced,
    _fenced,
    _json,
    _csv,
    _table,
    _outline,
]
