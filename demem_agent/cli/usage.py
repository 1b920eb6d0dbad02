"""What typer says of a command that was called wrongly, in words of our own.

Typer has these from click and pydantic, by the version: "Input should be a valid integer, unable to
parse string as an integer". What is not known here stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from demem_agent import hints
from demem_agent.cli.commands import COMMANDS
from demem_agent.cli.faults import UsageError

__all__ = ["usage_error"]

_NUMBERS = {
    "valid integer": "a whole number",
    "valid int": "a whole number",
    "valid number": "a number",
    "valid float": "a number",
}
#: What pydantic puts before the words of a check.
_OF_PYDANTIC = "Value error, "
_NO_FILE = re.compile(r"'(?P<file>[^']*)' does not exist")
_FOLDER = re.compile(r"'(?P<file>[^']*)' is a directory")
_TOO_MANY = re.compile(r"unexpected extra arguments? ?(?:\(s\))? ?\((?P<words>.*)\)")
_NO_COMMAND = re.compile(r"No such command '(?P<command>[^']*)'")
#: What the file of a memory may end in.
_FILES = (".db", ".sqlite", ".sqlite3")
#: By a method of the memory, the commands that do the same.
_COMMANDS_OF = {
    "ingest": "demem ingest, or demem import for what demem export wrote",
    "read": "demem ask for an answer, or demem read for the text to put before a model",
    "answer": "demem ask",
    "evidence": "demem items",
    "item": "demem show, or demem history",
    "forget": "demem forget",
    "update": "demem update",
    "sync": "demem ingest --name NAME, again when the file was edited",
    "feedback": "demem feedback",
    "delete": "demem delete",
    "storage": "demem stats",
    "health": "demem stats",
    "len": "demem stats",
    "list_memories": "demem memories",
}
_METHOD = re.compile("|".join(rf"\b{name}\b" for name in _COMMANDS_OF))
_NO_OPTION = re.compile(r"No such option: (?P<option>--?[\w-]+)")


def usage_error(error: Exception, arguments: Sequence[str]) -> UsageError:
    """Return typer's error as ours, which says where to find help.

    Args:
        arguments: as they were typed.
    """
    given: str = getattr(error, "format_message", error.__str__)()
    context = getattr(error, "ctx", None)
    command: str = context.command_path if context else "demem"
    said = _of_value(given, getattr(error, "param", None), arguments)
    said = said or _of_words(given, command, arguments) or given.rstrip(".")
    said = said.replace(_OF_PYDANTIC, "")
    return UsageError(f"{said} (see {command} --help)")


def _of_value(given: str, parameter: Any, arguments: Sequence[str]) -> str:
    """Say what is wrong with a value; "" where it is something else."""
    for words, wanted in _NUMBERS.items():
        if words in given and parameter is not None:
            name = parameter.opts[0]
            if not name.startswith("-"):
                return f"{parameter.metavar or name.upper()} must be {wanted}"
            return f"{name} must be {wanted}{_got(name, arguments)}"
    missing = _NO_FILE.search(given)
    if missing:
        return f"there is no file {missing['file']}"
    folder = _FOLDER.search(given)
    return f"{folder['file']} is a folder, not a file" if folder else ""


def _got(name: str, arguments: Sequence[str]) -> str:
    """Say what was typed behind an option."""
    for n, typed in enumerate(arguments):
        if typed == name and n + 1 < len(arguments):
            return f", got {arguments[n + 1]!r}"
        if typed.startswith(f"{name}="):
            return f", got {typed.removeprefix(f'{name}=')!r}"
    return ""


def _of_words(given: str, command: str, arguments: Sequence[str]) -> str:
    """Say what is wrong with the words behind a command; "" where it is something else."""
    more = _TOO_MANY.search(given)
    if more:
        words = more["words"].split()
        memory = next((word for word in (*words, *arguments) if _is_memory(word)), None)
        if memory and not _is_named(memory, arguments):
            return f"{words[-1]!r} is too much: name the memory by -m {memory}"
        return f"{more['words']!r} is too much: put a text of several words in quotation marks"
    unknown = _NO_COMMAND.search(given)
    if unknown and (meant := _commands_for(unknown["command"])):
        return f"there is no command {unknown['command']!r}: use {meant}"
    option = _NO_OPTION.search(given)
    named = next((word for word in arguments if word in COMMANDS), None)
    if option and command == "demem" and named:
        return f"options stand behind the command: demem {named} ... {option['option']} ..."
    return ""


def _is_memory(word: str) -> bool:
    return word.endswith(_FILES) or "://" in word


def _is_named(memory: str, arguments: Sequence[str]) -> bool:
    """Whether it stands behind an option."""
    at = arguments.index(memory) if memory in arguments else 0
    return at > 0 and arguments[at - 1].startswith("-")


def _commands_for(verb: str) -> str:
    """Return the commands that do what a verb of another memory does; "" where none is known."""
    method = _METHOD.search(hints.VERBS.get(verb.replace("-", "_"), ""))
    return _COMMANDS_OF[method[0]] if method else ""
