"""Read lines from a terminal or a pipe, and print what comes of each."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from io import TextIOWrapper
from typing import Any

from rich.console import RenderableType

from demem_agent.cli.chat import slash
from demem_agent.cli.chat.session import Said, Session
from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Output
from demem_agent.cli.printing import print_line, shown
from demem_agent.cli.tables.cells import cell, counted, counts
from demem_agent.errors import DeMemError, StoreError

__all__ = ["Screen", "talk"]

_YOU, _IT = "you> ", "demem> "


class Screen:
    """Where a chat is printed: for a person, or one JSON object a turn, each on a line of its own."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self._open = False

    def piece(self, text: str) -> None:
        """Print a piece of an answer as it comes; as JSON the whole answer comes at once, later."""
        if self.output.json:
            return
        try:
            print(shown(text) if self._open else f"{_IT}{shown(text)}", end="", flush=True)
        except BrokenPipeError as gone:
            raise SystemExit from gone  # this runs inside an answerer, whose exceptions would be taken for its own
        self._open = True

    def end_pieces(self) -> bool:
        """End the line of an answer that came in pieces; tells whether there was one."""
        was_open, self._open = self._open, False
        if was_open:
            print_line("")
        return was_open

    def show(self, document: Any, *parts: RenderableType) -> None:
        if self.output.json:
            print(json.dumps(document, default=str, allow_nan=False), flush=True)
        else:
            self.output.show(document, *parts)

    def fault(self, error: DeMemError) -> None:
        """Say what went wrong; the chat goes on."""
        message = " ".join(shown(str(error)).split())
        self.show(
            {"error": {"kind": type(error).__name__, "message": message}},
            cell(f"({message})", "yellow"),
        )


def talk(session: Session, screen: Screen) -> None:
    """Go on until the end of the input, /quit, or an interruption; a failure costs a line, unless
    it is the store's.
    """
    if not screen.output.json:
        screen.show({}, *map(cell, _greeting(session)))
    try:
        for line in _lines(not screen.output.json):
            if _turn(session, screen, line):
                break
    except KeyboardInterrupt:
        if not screen.end_pieces() and sys.stdin.isatty():
            print_line("")
    if not screen.output.json:
        screen.show({}, cell(_farewell(session), "dim"))


def _turn(session: Session, screen: Screen, line: str) -> bool:
    """Carry out one line; tells whether it was the last."""
    try:
        if line.startswith("/") and not line.startswith("//"):
            done = slash.run(session, line)
            if done.parts or screen.output.json:
                screen.show(done.document, *done.parts)
            return done.leave
        said = session.say(line.removeprefix("/") if line.startswith("//") else line)
        _print_said(said, screen)
    except StoreError:
        raise
    except DeMemError as error:
        screen.end_pieces()
        screen.fault(error)
    return False


def _print_said(said: Said, screen: Screen) -> None:
    streamed = screen.end_pieces()
    parts: list[RenderableType] = []
    if said.trouble:
        cut = "; what stands above is not all" if streamed else ""
        parts.append(cell(f"({said.trouble}{cut}; answered from memory instead)", "yellow"))
    if said.trouble or not streamed:
        parts.append(cell(f"{_IT}{_reply(said)}"))
    if parts or screen.output.json:
        screen.show(_value(said), *parts)


def _reply(said: Said) -> str:
    if said.answer and said.answer.text:
        return said.answer.text
    if said.answer and not said.trouble:
        return "(nothing in memory answers this)"
    return (
        f"(noted, as {said.remembered})"
        if said.remembered
        else "(that is a reading of memory: not remembered again)"
    )


def _value(said: Said) -> dict[str, Any]:
    answer = said.answer
    return {
        "said": said.line,
        "remembered": said.remembered,
        "slot": said.slot,
        "answer": answer.text if answer else None,
        "answer_id": answer.id if answer else None,
        "evidence": list(answer.evidence) if answer else [],
        "routed": answer.route.slot if answer else None,
        "read": {
            "size": answer.reading.size,
            "limit": answer.reading.limit,
            "unit": answer.reading.unit,
        }
        if answer
        else None,
        "reply_id": said.reply_id,
        "trouble": said.trouble,
    }


def _greeting(session: Session) -> Iterator[str]:
    if session.talker:
        yield f"Model: {session.talker.name}."
    else:
        yield "No model (--model NAME): questions are answered by quoting memory, all else is noted."
    if session.place:
        yield f"Memory: {session.place}, {counted(counts(session.memory))}."
    else:
        yield "Memory: in RAM, and gone when you leave; --memory PATH keeps it."
    yield "/help lists the commands; Ctrl-D leaves."


def _farewell(session: Session) -> str:
    items = f"{len(session.memory)} item{'' if len(session.memory) == 1 else 's'}"
    return (
        f"Kept in {session.place}: {items}."
        if session.place
        else f"{items} forgotten: the memory was in RAM."
    )


def _lines(for_a_person: bool) -> Iterator[str]:
    """Give what is typed, without blank lines; what comes from a pipe is printed, so that the
    answers make sense.
    """
    typed = sys.stdin.isatty()
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if typed:
        _edited()
    while True:
        try:
            line = input(_YOU if typed and for_a_person else "").strip()
        except EOFError:
            if typed:
                print_line("")
            return
        except UnicodeError as error:
            raise UsageError("the input is not text") from error
        if line:
            if not typed and for_a_person:
                print_line(f"{_YOU}{shown(line)}")
            yield line


def _edited() -> None:
    """Have lines edited and called back by the arrow keys, where the platform can."""
    try:
        import readline  # noqa: F401  # importing it is all that input() needs
    except ImportError:
        return
