"""The lines of a chat as they come from a terminal or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import TextIOWrapper

from demem_agent.cli.faults import UsageError
from demem_agent.cli.printing import print_line, shown

__all__ = ["typed_lines"]

_PROMPT = "you> "


def typed_lines(for_a_person: bool) -> Iterator[str]:
    """Yield what is typed, without blank lines.

    What comes from a pipe is printed for a person, so that the answers make sense.

    Raises:
        UsageError: if the input is not text.
    """
    typed = sys.stdin.isatty()
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if typed:
        _have_lines_edited()
    prompt = _PROMPT if typed and for_a_person else ""
    while True:
        try:
            line = input(prompt).strip()
        except EOFError:
            if typed:
                print_line("")
            return
        except UnicodeError as error:
            raise UsageError("the input is not text") from error
        if not line:
            continue
        if for_a_person and not typed:
            print_line(f"{_PROMPT}{shown(line)}")
        yield line


def _have_lines_edited() -> None:
    """Have lines edited and called back by the arrow keys, where the platform can."""
    try:
        import readline  # noqa: F401  # importing it is all that input() needs
    except ImportError:
        return
