"""Write the page of modules: what each says of itself in the first sentence of its docstring.

    python docs/drawings/modules.py            writes docs/modules.md

A test holds the page to the modules, so that it is never older than they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "demem_agent"
PAGE = ROOT / "docs" / "modules.md"
HEAD = """# Modules

What every module is, in the first sentence of its docstring.
[Architecture](architecture.md) tells how they hang together.
Made by `python docs/drawings/modules.py`.
"""
#: Where a docstring's first sentence ends: a full stop before a space, but not in "e.g. this".
_END = re.compile(r"(?<!e\.g)(?<!i\.e)[.](?=\s|$)")
_ROLE = re.compile(r":\w+:`~?([\w.]+)`")


def page() -> str:
    """Return the page, a list of modules for each folder."""
    modules = sorted(PACKAGE.rglob("*.py"), key=lambda path: (path.parent, path.name))
    parts = [HEAD]
    for folder, paths in groupby(modules, key=lambda path: path.parent):
        parts.append(_section(folder, list(paths)))
    return "\n".join(parts)


def _section(folder: Path, paths: Iterable[Path]) -> str:
    name = folder.relative_to(ROOT)
    lines = [f"## {name}/", ""]
    for path, says in _told(paths):
        if path.name == "__init__.py":
            lines += [says, ""]
        else:
            lines.append(f"- `{path.stem}`: {says}")
    return "\n".join(lines) + "\n"


def _told(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield modules that say something, the folder's own first, each with its first sentence."""
    for path in paths:
        says = _first_sentence(ast.get_docstring(ast.parse(path.read_text())) or "")
        if says:
            yield path, says


def _first_sentence(docstring: str) -> str:
    text = " ".join(docstring.partition("\n\n")[0].split())
    text = _ROLE.sub(r"`\1`", text).replace("``", "`")
    end = _END.search(text)
    return text[: end.end()] if end else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
