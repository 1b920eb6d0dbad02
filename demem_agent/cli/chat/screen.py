"""Where a chat is printed: for a person, or one JSON object a turn, each on a line of its own."""

from __future__ import annotations

import json

from rich.console import RenderableType

from demem_agent.cli.output import Output
from demem_agent.cli.printing import on_one_line, print_line, shown
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import DeMemError

__all__ = ["PROMPT_OF_ANSWERS", "Screen"]

PROMPT_OF_ANSWERS = "demem> "


class Screen:
    """Where a chat is printed: for a person, or one JSON object a turn."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self._open = False

    def piece(self, text: str) -> None:
        """Print a piece of an answer as it comes; as JSON the whole answer comes at once, later."""
        if self.output.json:
            return
        words = shown(text)
        if not self._open:
            words = f"{PROMPT_OF_ANSWERS}{words}"
        try:
            print(words, end="", flush=True)
        except BrokenPipeError as gone:
            # This runs inside an answerer, whose exceptions would be taken for its own.
            raise SystemExit from gone
        self._open = True

    def end_pieces(self) -> bool:
        """End the line of an answer that came in pieces; return whether there was one."""
        was_open = self._open
        self._open = False
        if was_open:
            print_line("")
        return was_open

    def show(self, document: object, *parts: RenderableType) -> None:
        """Print the document as one line of JSON, or the parts for a person."""
        if self.output.json:
            print(json.dumps(document, default=str, allow_nan=False), flush=True)
        else:
            self.output.show(document, *parts)

    def fault(self, error: DeMemError) -> None:
        """Say what went wrong; the chat goes on."""
        message = on_one_line(str(error))
        document = {"error": {"kind": type(error).__name__, "message": message}}
        self.show(document, cell(f"({message})", "yellow"))
