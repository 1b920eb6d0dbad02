"""Measure how the code reads: what functions hold, how packed statements are, how rooms fill.

    python benchmarks/house.py                          the library and its adapters
    python benchmarks/house.py demem_agent/stores       one room
    python benchmarks/house.py --worst 20               with the functions that hold most

Content is counted in nodes of the syntax tree, as ``ast.walk`` gives them, of function bodies
without their docstrings. It is for looking, not a gate: a number that is met by packing is a fault
of the number.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEFAULT = ("demem_agent", "adapters/demem_adapters")
COLUMNS = 100
POSITIONS = 6
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Counts:
    """What is counted over many files.

    Attributes:
        functions: (nodes, file and line, name) of each.
        statements: in function bodies; nested functions count in both.
        public, documented: functions and methods without a leading underscore in modules and public
            classes; those among them with a docstring.
    """

    functions: list[tuple[int, str, str]] = field(default_factory=list)
    statements: int = 0
    comprehensions: int = 0
    nested: int = 0
    lines: int = 0
    long: int = 0
    positions: int = 0
    anys: int = 0
    public: int = 0
    documented: int = 0
    rooms: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the table shows; shares and rates are of code lines that are not blank."""

    functions: int
    nodes_median: float
    nodes_p90: float
    nodes_a_statement: float
    comprehensions_per_1000: float
    nested_per_1000: float
    nested: int
    lines_over_100: int
    calls_of_six_positions_per_1000: float
    any_per_1000: float
    public_with_docstring: float
    most_modules_in_a_room: tuple[str, int]
    lines: int


def count(paths: list[Path]) -> Counts:
    """Count what stands in files of Python."""
    counts = Counts()
    for path in paths:
        source = path.read_text(encoding="utf-8")
        shown = str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
        lines = [line for line in source.splitlines() if line.strip()]
        counts.lines += len(lines)
        counts.long += sum(len(line) > COLUMNS for line in lines)
        counts.rooms[str(Path(shown).parent)] += 1
        tree = ast.parse(source)
        for node in ast.walk(tree):
            _count_node(node, shown, counts)
        for function in _public(tree):
            counts.public += 1
            counts.documented += ast.get_docstring(function) is not None
    return counts


def _count_node(node: ast.AST, shown: str, counts: Counts) -> None:
    if isinstance(node, FUNCTIONS):
        _count_function(node, shown, counts)
    if isinstance(node, COMPREHENSIONS):
        counts.comprehensions += 1
        counts.nested += len(node.generators) > 1
        inside = (part for part in ast.walk(node) if part is not node)
        counts.nested += any(isinstance(part, COMPREHENSIONS) for part in inside)
    if isinstance(node, ast.Call):
        counts.positions += len(node.args) >= POSITIONS
    if isinstance(node, ast.Name):
        counts.anys += node.id == "Any"


def _count_function(function: Function, shown: str, counts: Counts) -> None:
    body: list[ast.AST] = []
    for statement in _body(function):
        body += ast.walk(statement)
    counts.functions.append((len(body), f"{shown}:{function.lineno}", function.name))
    counts.statements += sum(isinstance(part, ast.stmt) for part in body)


def _body(function: Function) -> list[ast.stmt]:
    """Return the statements of a function without its docstring."""
    has_docstring = ast.get_docstring(function, clean=False) is not None
    return function.body[1:] if has_docstring else function.body


def _public(tree: ast.Module) -> Iterator[Function]:
    for node in tree.body:
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_"):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for part in node.body:
                if isinstance(part, FUNCTIONS) and not part.name.startswith("_"):
                    yield part


def measured(counts: Counts) -> Measured:
    """Turn counts into the figures of the table."""
    sizes = [nodes for nodes, _, _ in counts.functions]
    thousands = counts.lines / 1000
    return Measured(
        functions=len(sizes),
        nodes_median=statistics.median(sizes),
        nodes_p90=round(statistics.quantiles(sizes, n=10)[8], 1),
        nodes_a_statement=round(sum(sizes) / counts.statements, 1),
        comprehensions_per_1000=round(counts.comprehensions / thousands, 1),
        nested_per_1000=round(counts.nested / thousands, 1),
        nested=counts.nested,
        lines_over_100=counts.long,
        calls_of_six_positions_per_1000=round(counts.positions / thousands, 2),
        any_per_1000=round(counts.anys / thousands, 1),
        public_with_docstring=round(counts.documented / max(counts.public, 1), 3),
        most_modules_in_a_room=counts.rooms.most_common(1)[0],
        lines=counts.lines,
    )


def readme_words() -> int:
    """Count the words of the README, code and tables included."""
    return len(re.findall(r"\S+", (ROOT / "README.md").read_text(encoding="utf-8")))


def files_of(places: list[str]) -> list[Path]:
    """Return the Python files under places, each a file or a folder."""
    found: list[Path] = []
    for place in places:
        path = Path(place) if Path(place).is_absolute() else ROOT / place
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return found


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", default=list(DEFAULT))
    parser.add_argument(
        "--worst", type=int, default=0, help="functions to list, those with most nodes first"
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Count, and print the figures."""
    given = options()
    counts = count(files_of(given.places))
    figures = asdict(measured(counts)) | {"readme_words": readme_words()}
    if given.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):34} {value}")
    for nodes, place, name in sorted(counts.functions, reverse=True)[: given.worst]:
        print(f"{nodes:6} {place}  {name}")


if __name__ == "__main__":
    main()
