"""``demem setup``: a memory for a coding agent, by its own files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from demem_agent.cli.agents.edits import Edit, edit_of, with_hooks, with_server, with_toml_server
from demem_agent.cli.agents.hosts import (
    Host,
    command_of,
    entries_of,
    host_of,
    is_ours,
    paths_of,
)
from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid
from demem_agent.stores.connections import must_be_alone

__all__ = ["setup"]

#: The folder of a memory that is named by none.
_FOLDER, _FILE = ".demem", "memory.db"
_DONE = {"make": "made", "change": "changed", "remove": "removed", "leave": "as it was"}
_PLANNED = {"make": "to make", "change": "to change", "remove": "to remove", "leave": "as it is"}


@dataclass(frozen=True, slots=True)
class Parts:
    """What is set up."""

    server: Annotated[
        bool, typer.Option("--server/--no-server", help="The memory's tools, by MCP.")
    ] = True
    hooks: Annotated[
        bool,
        typer.Option("--hooks/--no-hooks", help="Recall and remember without being asked."),
    ] = True


def setup(
    place: Place,
    output: Output,
    parts: Parts,
    host: Annotated[
        str,
        typer.Argument(metavar="HOST", help="claude-code, codex or cursor.", show_default=False),
    ],
    project: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Folder of the project. [this folder]")
    ] = None,
    user: Annotated[
        bool, typer.Option("--user", help="For all projects: in the files of the user.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take out what a set-up put there; memories stay.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Give Claude Code, Codex or Cursor a memory: its tools, and hooks that use it unasked.

    With every prompt the model is given what is remembered that bears on it, and what was said is
    remembered. The memory is --memory, or else .demem/memory.db in the project, or with --user in
    the home folder. Files that exist keep all else that is in them; before one is changed it is
    asked.
    """
    named = host_of(host)
    if user and project is not None:
        raise UsageError("give --project or --user, not both")
    folder = None if user else _folder(project)
    base = Path.home() if folder is None else folder
    at = _place(place, base)
    edits = [*_edits(named, folder, at, parts, remove=remove)]
    if not place.memory and not remove:
        edits.insert(0, _kept_out(base))
    if not dry_run:
        _ask(edits, output, yes=yes)
        for edit in edits:
            edit.carry_out()
    notes = [] if remove else [*_notes(named, parts, folder)]
    output.show(_document(edits, notes, written=not dry_run), _shown(edits, notes, dry_run))


def _folder(project: Path | None) -> Path:
    folder = (project or Path.cwd()).resolve()
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    return folder


def _place(place: Place, base: Path) -> Place:
    """Return the memory that is meant, so that it is the same from any folder."""
    if not place.memory:
        return replace(place, memory=str(base / _FOLDER / _FILE))
    path = place.path
    if path is None:
        return place
    return replace(place, memory=str(path.resolve()))


def _kept_out(base: Path) -> Edit:
    """Return the file by which what is remembered stays out of the project's history."""
    path = base / _FOLDER / ".gitignore"
    before = path.read_text(encoding="utf-8") if path.exists() else None
    return Edit(path, before, "*\n" if before is None else before)


def _edits(
    host: Host, project: Path | None, place: Place, parts: Parts, *, remove: bool
) -> Iterable[Edit]:
    paths = paths_of(host, project)
    if parts.server:
        command, *words = command_of(["mcp", *_words(place)])
        server = None if remove else {"command": command, "args": words}
        if host == "codex":
            yield with_toml_server(paths.servers, server)
        else:
            yield edit_of(paths.servers, with_server(server))
    if parts.hooks:
        entries = {} if remove else entries_of(host, ["hook", host, *_words(place)])
        version = 1 if host == "cursor" else None
        yield edit_of(paths.hooks, with_hooks(entries, is_ours, version=version))


def _words(place: Place) -> Sequence[str]:
    """Return the options that name a memory."""
    words = ["--memory", str(place.memory), "--id", place.memory_id]
    if place.tenant != "default":
        words += ["--tenant", place.tenant]
    if place.encoder is not None:
        words += ["--encoder", place.encoder]
    return words


def _ask(edits: Sequence[Edit], output: Output, *, yes: bool) -> None:
    """Go on only if a person says so, where a file is changed that was there before.

    Raises:
        UsageError: where nobody can be asked.
        typer.Abort: if the answer is no.
    """
    changed = [str(edit.path) for edit in edits if edit.does in ("change", "remove")]
    if yes or not changed:
        return
    question = f"Change {', '.join(changed)}?"
    if output.json or not sys.stdin.isatty():
        raise UsageError(
            f"{question} Nobody is there to be asked; add --yes, or --dry-run to see how"
        )
    typer.confirm(question, abort=True, err=True)


def _notes(host: Host, parts: Parts, project: Path | None) -> Iterable[str]:
    """Yield what is left for a person to do."""
    if parts.server and find_spec("mcp") is None:
        yield "the server needs pip install 'demem-agent[mcp]'"
    if parts.server and parts.hooks and must_be_alone():
        yield (
            "the server and the hooks share a file only with pip install 'demem-agent[sqlite]'; "
            "without it choose one of them, by --no-server or --no-hooks"
        )
    if host == "claude-code" and parts.server and project is not None:
        yield "Claude Code asks once whether the server of a project may be used"
    if host == "codex" and parts.hooks:
        yield "Codex runs hooks that were reviewed: open /hooks in it" + (
            "" if project is None else ", in a project that it trusts"
        )
    if host == "cursor" and parts.hooks:
        yield (
            "Cursor takes what a hook recalls since 3.20, as its documents do not say; where it "
            "does not, the model has the server's tools"
        )
    yield f"start {host} anew, so that it reads its files"


def _document(edits: Sequence[Edit], notes: Sequence[str], *, written: bool) -> dict[str, Any]:
    files = [
        {"file": str(edit.path), "does": edit.does, "difference": edit.difference} for edit in edits
    ]
    return {"written": written, "files": files, "notes": notes}


def _shown(edits: Sequence[Edit], notes: Sequence[str], dry_run: bool) -> Any:
    shown = grid()
    for edit in edits:
        told = (_PLANNED if dry_run else _DONE)[edit.does]
        shown.add_row(told, cell(str(edit.path)))
        if dry_run and edit.difference:
            shown.add_row("", cell(edit.difference))
    for note in notes:
        shown.add_row("note", cell(note))
    return shown
