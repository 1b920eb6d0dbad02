"""Go through the lines of a chat, and print what comes of each."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.console import RenderableType

from demem_agent.cli.chat import slash
from demem_agent.cli.chat.quoting import asks
from demem_agent.cli.chat.screen import PROMPT_OF_ANSWERS, Screen
from demem_agent.cli.chat.session import Said, Session
from demem_agent.cli.chat.typed import typed_lines
from demem_agent.cli.json_values import Json
from demem_agent.cli.printing import print_line
from demem_agent.cli.tables.cells import cell, counted, counts
from demem_agent.cli.tables.route import NOT_KNOWN
from demem_agent.errors import DeMemError, StoreError
from demem_agent.types import Answer

__all__ = ["talk"]


def talk(session: Session, screen: Screen) -> None:
    """Go on until the end of the input, /quit, or an interruption.

    A failure costs a line, unless it is the store's.

    Raises:
        StoreError: if the store fails.
    """
    for_a_person = not screen.output.json
    if for_a_person:
        screen.show({}, *map(cell, _greeting(session)))
    try:
        for line in typed_lines(for_a_person):
            if _turn(session, screen, line):
                break
    except KeyboardInterrupt:
        if not screen.end_pieces() and sys.stdin.isatty():
            print_line("")
    if for_a_person:
        screen.show({}, cell(_farewell(session), "dim"))


def _turn(session: Session, screen: Screen, line: str) -> bool:
    """Carry out one line; return whether it was the last."""
    try:
        if line.startswith("/") and not line.startswith("//"):
            return _carry_out(session, screen, line)
        said = line[1:] if line.startswith("//") else line
        _print_said(session.say(said), screen)
    except StoreError:
        raise
    except DeMemError as error:
        screen.end_pieces()
        screen.fault(error)
    return False


def _carry_out(session: Session, screen: Screen, command: str) -> bool:
    done = slash.run(session, command)
    if done.parts or screen.output.json:
        screen.show(done.document, *done.parts)
    return done.leave


def _print_said(said: Said, screen: Screen) -> None:
    streamed = screen.end_pieces()
    parts: list[RenderableType] = []
    if said.trouble:
        cut = "; what stands above is not all" if streamed else ""
        parts.append(cell(f"({said.trouble}{cut}; answered from memory instead)", "yellow"))
    if said.trouble or not streamed:
        parts.append(cell(f"{PROMPT_OF_ANSWERS}{_reply(said)}"))
    if _doubtful(said):
        parts.append(cell(NOT_KNOWN, "yellow"))
    if parts or screen.output.json:
        screen.show(_said_value(said), *parts)


def _doubtful(said: Said) -> bool:
    """Whether a question has an answer that memory does not seem to hold."""
    answer = said.answer
    return answer is not None and bool(answer.text) and not answer.known and asks(said.line)


def _reply(said: Said) -> str:
    if said.answer and said.answer.text:
        return said.answer.text
    if said.answer and not said.trouble:
        return "(nothing in memory answers this)"
    if said.remembered:
        return f"(noted, as {said.remembered})"
    return "(that is a reading of memory: not remembered again)"


def _said_value(said: Said) -> Json:
    """Return what came of a line as the JSON value of its turn."""
    return {
        "said": said.line,
        "remembered": said.remembered,
        "slot": said.slot,
        **_answered_value(said.answer),
        "reply_id": said.reply_id,
        "trouble": said.trouble,
    }


def _answered_value(answer: Answer | None) -> Json:
    if answer is None:
        unanswered = dict.fromkeys(("answer", "answer_id", "known"))
        return {**unanswered, "evidence": [], "routed": None, "read": None}
    reading = answer.reading
    return {
        "answer": answer.text,
        "answer_id": answer.id,
        "known": answer.known,
        "evidence": list(answer.evidence),
        "routed": answer.route.slot,
        "read": {"size": reading.size, "limit": reading.limit, "unit": reading.unit},
    }


def _greeting(session: Session) -> Iterator[str]:
    if session.talker:
        yield f"Model: {session.talker.name}."
    else:
        yield (
            "No model (--model NAME): questions are answered by quoting memory, all else is noted."
        )
    if session.place:
        yield f"Memory: {session.place}, {counted(counts(session.memory))}."
    else:
        yield "Memory: in RAM, and gone when you leave; --memory PATH keeps it."
    yield "/help lists the commands; Ctrl-D leaves."


def _farewell(session: Session) -> str:
    items = counted({"items": len(session.memory)})
    if session.place:
        return f"Kept in {session.place}: {items}."
    return f"{items} forgotten: the memory was in RAM."
