"""The files of a new adapter, and the lines that others get."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

__all__ = ["Refused", "written"]

#: Short enough for the lines in which it stands.
MOST_LETTERS = 24
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.\-]*(\[[\w,\-]+\])?\s*([<>=!~]=?[\w.*,<>=!~ ]+)?")
#: Of a module, its files by the template that each is made from.
_FILES = {
    "adapter": "adapters/demem_adapters/contrib/{name}.py",
    "test": "tests/adapters/test_{name}.py",
    "page": "docs/adapters/{name}.md",
    "example": "examples/{name}_memory.py",
}
#: Between these stand the extras of adapters.
_EXTRAS = ("# One extra an adapter", "# No adapters from here on.")
#: Between these stands the second table.
_TOLD = ("## When, where and until", "## What all keep")
_PLUGS_IN = (
    "| [{name}](adapters/{name}.md) | contributed | a model around yours "
    "| `memories.feedback(reply.id, namespace=...)` |"
)
_WHEN = (
    "| {name} | what the user says as the model is called, the answer when it is whole "
    "| a message of the user's before the question; "
    '`inject="system"`: after the first ones of the system\'s '
    "| [the table of endings](#what-is-remembered-when) | nothing |"
)


class Refused(Exception):
    """An adapter that cannot be written, and why."""


def written(root: Path, name: str, requires: Sequence[str] = ()) -> list[Path]:
    """Write the files of a new adapter, and its lines in those that are there.

    Either all is written, or nothing.

    Args:
        root: of a checkout of DeMem.
        name: of the framework, as a module of Python's: small letters and digits, with underscores
            between words.
        requires: what its extra installs; nothing as long as it is none.

    Returns:
        What was written or changed.

    Raises:
        Refused: for a folder that is no checkout, a name that cannot be, or one that is taken.
    """
    _check_root(root)
    _check_name(name)
    for requirement in requires:
        if not _REQUIREMENT.fullmatch(requirement):
            raise Refused(f"{requirement!r} is no requirement such as 'x-y>=1.2'")
    _check_free(root, name)
    texts = {root / path.format(name=name): _made(kind, name) for kind, path in _FILES.items()}
    texts |= _changed(root, name, requires)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return [*texts]


def _check_root(root: Path) -> None:
    project = root / "pyproject.toml"
    is_ours = project.is_file() and 'name = "demem-agent"' in _read(project)
    if not is_ours or not (root / "adapters" / "demem_adapters" / "contrib").is_dir():
        raise Refused(f"{root.resolve()} is no checkout of DeMem: run it in one, or give --root")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        meant = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        hint = f", such as {meant}" if _NAME.fullmatch(meant) else ""
        raise Refused(
            f"{name!r} must be small letters and digits, with an underscore between words{hint}"
        )
    if len(name) > MOST_LETTERS:
        raise Refused(f"{name!r} has {len(name)} letters: at most {MOST_LETTERS}")
    if keyword.iskeyword(name):
        raise Refused(f"{name!r} is a word of Python's own")


def _check_free(root: Path, name: str) -> None:
    """Refuse a name that an adapter, another part of the adapters or an extra has already."""
    room = root / "adapters" / "demem_adapters"
    taken = [folder / end for folder in (room, room / "contrib") for end in (name, f"{name}.py")]
    taken += [root / path.format(name=name) for path in _FILES.values()]
    for path in taken:
        if path.exists():
            raise Refused(f"{name!r} is taken: {path.relative_to(root)} is there")
    extra = _hyphened(name)
    project = _read(root / "pyproject.toml")
    if re.search(rf"^{re.escape(extra)} = \[", project, re.MULTILINE):
        raise Refused(f"{name!r} is taken: there is an extra {extra!r} already")


def _made(kind: str, name: str) -> str:
    text = (files(__package__) / "templates" / f"{kind}.txt").read_text(encoding="utf-8")
    text = text.replace("x_y", name).replace("x-y", _hyphened(name))
    return text.replace("X Y", name.replace("_", " ").title())


def _hyphened(name: str) -> str:
    return name.replace("_", "-")


def _changed(root: Path, name: str, requires: Iterable[str]) -> dict[Path, str]:
    """Return the files that list adapters, with the new one among the others."""
    project, site, docs = (
        root / "pyproject.toml",
        root / "mkdocs.yml",
        root / "docs" / "adapters.md",
    )
    needed = ", ".join(f'"{requirement}"' for requirement in requires)
    text = docs.read_text(encoding="utf-8")
    others = re.findall(r"^\| \[(\w+)\]\(\S+\) \| contributed \|", text, re.MULTILINE)
    text = _with_line(text, _PLUGS_IN.format(name=name), r"\| \[\w+\]\(\S+\) \| contributed \|")
    return {
        project: _with_line(
            _read(project),
            f"{_hyphened(name)} = [{needed}]",
            r"[a-z0-9\-]+ = \[",
            between=_EXTRAS,
        ),
        site: _with_line(
            _read(site), f"      - {name}: adapters/{name}.md", r"      - \w+: adapters/\w+\.md"
        ),
        docs: _with_line(
            text, _WHEN.format(name=name), rf"\| ({'|'.join(others)}) \|", between=_TOLD
        ),
    }


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _with_line(text: str, line: str, like: str, *, between: tuple[str, str] = ("", "")) -> str:
    """Return a text with a line more, among those like it in their order.

    Args:
        like: how such lines begin, as a regular expression.
        between: how the lines begin between which they stand; "" for the ends of the text.

    Raises:
        Refused: where there are no such lines.
    """
    lines = text.splitlines()
    begin = _place_of(lines, between[0], 0)
    end = _place_of(lines, between[1], begin) if between[1] else len(lines)
    places = [n for n in range(begin, end) if re.match(like, lines[n])]
    if not places:
        raise Refused(f"no line to put {line.strip()!r} next to was found")
    behind = [n for n in places if lines[n] < line]
    lines.insert(behind[-1] + 1 if behind else places[0], line)
    return "\n".join(lines) + "\n"


def _place_of(lines: Sequence[str], begins: str, start: int) -> int:
    for number in range(start, len(lines)):
        if lines[number].startswith(begins):
            return number
    raise Refused(f"no line that begins with {begins!r} was found")
