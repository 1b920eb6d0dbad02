"""Changes to files of a host: what is added and taken out, and nothing else of them is touched."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from demem_agent.cli.faults import UsageError

__all__ = ["SERVER", "Edit", "edit_of", "with_hooks", "with_server", "with_toml_server"]

#: The name of the server in the files of a host.
SERVER = "demem"
#: What a document that was made for this holds beside it.
_BARE = {"version"}
_INDENT = re.compile(r"\n([ \t]+)\S")
_TABLE = re.compile(r"^[ \t]*\[")
_OUR_TABLE = re.compile(rf"^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*{SERVER}[ \t]*(\.[^\]]*)?\]")

Document = dict[str, Any]
#: Makes a document of one.
Change = Callable[[Document], Document]


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of a file.

    Attributes:
        before: its text; None where there is none.
        after: its text then; None where it is taken away.
    """

    path: Path
    before: str | None
    after: str | None

    @property
    def does(self) -> Literal["make", "change", "remove", "leave"]:
        """What is done."""
        if self.before == self.after:
            return "leave"
        if self.before is None:
            return "make"
        return "remove" if self.after is None else "change"

    @property
    def difference(self) -> str:
        """The lines that go and come: no others, since there may be secrets in them."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(), (self.after or "").splitlines(), lineterm="", n=0
        )
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))

    def carry_out(self) -> None:
        """Write the file, or take it away: a reader finds the old one or the new one."""
        if self.does == "leave":
            return
        path = self.path.resolve()  # of a link, what it leads to
        if self.after is None:
            path.unlink()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.demem-{os.getpid()}")
        beside.write_text(self.after, encoding="utf-8")
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.replace(path)


def edit_of(path: Path, change: Change) -> Edit:
    """Return what a change makes of a file of JSON; one that then holds nothing is taken away.

    Raises:
        UsageError: where the file cannot be changed without loss.
    """
    before = _text(path)
    document = {} if before is None or not before.strip() else _document(path, before)
    try:
        after = change(json.loads(json.dumps(document)))
    except UsageError as error:
        raise UsageError(f"{path}: {error}; edit it by hand") from None
    if after == document:
        return Edit(path, before, before)
    if not after.keys() - _BARE:
        return Edit(path, before, None)
    return Edit(path, before, _written(after, before or ""))


def with_server(server: Mapping[str, Any] | None) -> Change:
    """Return the change that names our server among others; None takes it out."""

    def change(document: Document) -> Document:
        servers = _part(document, "mcpServers", {})
        if server is not None:
            return {**document, "mcpServers": {**servers, SERVER: dict(server)}}
        if SERVER not in servers:
            return document
        del servers[SERVER]
        return _put(document, "mcpServers", servers)

    return change


def with_hooks(
    entries: Mapping[str, Mapping[str, Any]],
    is_ours: Callable[[object], bool],
    *,
    version: int | None = None,
) -> Change:
    """Return the change that puts our hooks beside others, in the place of those that are ours.

    Args:
        entries: by event; none takes ours out.
        version: that the file of a host must name.
    """

    def change(document: Document) -> Document:
        hooks = {**_part(document, "hooks", {})}
        held = {event: listed for event, listed in hooks.items() if isinstance(listed, list)}
        for event, listed in held.items():
            others = [*_others(listed, is_ours)]
            if others != listed:
                _put(hooks, event, others)
        for event, entry in entries.items():
            hooks[event] = [*_part(hooks, event, []), dict(entry)]
        if version is not None and entries:
            document.setdefault("version", version)
        return document if hooks == document.get("hooks", {}) else _put(document, "hooks", hooks)

    return change


def with_toml_server(path: Path, server: Mapping[str, Any] | None) -> Edit:
    """Return what naming our server, or taking it out, makes of Codex's configuration.

    The rest of the file stays as it is, with its comments.

    Raises:
        UsageError: where the file cannot be changed without loss.
    """
    before = _text(path)
    old = _toml(path, before or "")
    kept = _without_table(before or "")
    text = kept
    if server is not None:
        text = f"{kept.rstrip()}\n\n{_table(server)}" if kept.strip() else _table(server)
    new = _toml(path, text)
    known = dict(old.get("mcp_servers", {}))
    expected = {**{name: known[name] for name in known if name != SERVER}}
    if server is not None:
        expected[SERVER] = dict(server)
    told = {**old, "mcp_servers": expected}
    if {**new, "mcp_servers": new.get("mcp_servers", {})} != told:
        raise UsageError(
            f"{path} names its servers in a way that cannot be edited; edit it by hand"
        )
    if SERVER in known and server == known[SERVER]:
        return Edit(path, before, before)
    return Edit(path, before, text if text.strip() else None)


def _others(listed: Iterable[Any], is_ours: Callable[[object], bool]) -> Iterable[Any]:
    """Yield the entries of an event without our handlers; a group that had no other drops out."""
    for entry in listed:
        handlers = entry.get("hooks") if isinstance(entry, Mapping) else None
        if not isinstance(handlers, list):
            if not is_ours(entry):
                yield entry
            continue
        kept = [handler for handler in handlers if not is_ours(handler)]
        if kept or not handlers:
            yield {**entry, "hooks": kept}


def _part(document: Document, name: str, empty: Any) -> Any:
    """Return a part of a document, made if there is none.

    Raises:
        UsageError: if it is of another kind.
    """
    found = document.get(name, empty)
    if not isinstance(found, type(empty)):
        raise UsageError(f"{name!r} is {type(found).__name__} there, not {type(empty).__name__}")
    return found


def _put(document: Document, name: str, part: Any) -> Document:
    """Put a part back; an empty one is left out."""
    if part:
        document[name] = part
    else:
        document.pop(name, None)
    return document


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {type(error).__name__}") from None


def _document(path: Path, text: str) -> Document:
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except ValueError as error:
        raise UsageError(f"{path} is no plain JSON ({error}); edit it by hand") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} holds no object; edit it by hand")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> Document:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name twice")
    return made


def _written(document: Document, before: str) -> str:
    """Return a document as the text of a file, indented as it was."""
    indented = _INDENT.search(before)
    indent = indented[1] if indented else "  "
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


def _toml(path: Path, text: str) -> Document:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is no TOML ({error}); edit it by hand") from None


def _without_table(text: str) -> str:
    """Return a text of TOML without the table of our server and those within it."""
    kept: list[str] = []
    before_next: list[str] = []  # what stands between our table and the next is of the next
    is_ours = False
    for line in text.splitlines(keepends=True):
        if _TABLE.match(line):
            is_ours = bool(_OUR_TABLE.match(line))
            kept += before_next
            before_next = []
        if not is_ours:
            kept.append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            before_next.append(line)
        else:
            before_next = []
    return "".join([*kept, *before_next])


def _table(server: Mapping[str, Any]) -> str:
    # JSON's texts and lists of texts are TOML's as well.
    lines = [f"{name} = {json.dumps(value)}" for name, value in server.items()]
    return "\n".join([f"[mcp_servers.{SERVER}]", *lines, ""])
