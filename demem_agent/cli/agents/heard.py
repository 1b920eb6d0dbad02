"""What a hook is told, in one shape: a prompt that was sent, or an answer that came to its end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demem_agent.cli.agents.hosts import Host

__all__ = ["Ended", "Said", "Sent", "answer_for", "heard"]

#: How a text begins that the host has put among what a user said.
_OF_THE_HOST = (
    "<command-", "<local-command", "<task-notification", "<system-reminder", "<bash-",
    "[Request interrupted", "Caveat: The messages below", "This session is being continued",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """What a user said.

    Attributes:
        id: of the message, by which it is known again.
        at: when, as the host wrote it.
    """

    text: str
    id: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A prompt that a user is sending.

    Attributes:
        said: the prompt as it is to be remembered; None where its end tells it better.
    """

    session: str
    prompt: str
    said: Said | None


@dataclass(frozen=True, slots=True)
class Ended:
    """An answer that has come to its end.

    Attributes:
        answer: its text; "" where it is not known.
        id: of the turn.
        said: what the user said in the session, as far as the host tells it here.
        fault: why the host's transcript could not be read, by its kind; "" where it was.
    """

    session: str
    answer: str
    id: str
    said: tuple[Said, ...] = ()
    fault: str = ""


def heard(host: Host, told: Mapping[str, Any]) -> Sent | Ended | None:
    """Return what a host tells a hook; None for an event that is of no interest."""
    event = _text(told, "hook_event_name")
    if host == "cursor":
        return _from_cursor(event, told)
    session = _text(told, "session_id")
    if event == "UserPromptSubmit":
        prompt, turn = _text(told, "prompt"), _text(told, "turn_id")
        # Claude Code sends what its agents say to each other as prompts too, and marks that only
        # in the transcript.
        said = Said(prompt, turn) if host == "codex" else None
        return Sent(session, prompt, said)
    if host == "codex" and event == "Stop":
        return Ended(session, _text(told, "last_assistant_message"), _text(told, "turn_id"))
    if host == "claude-code" and event in ("Stop", "SessionEnd"):
        return _from_transcript(session, told, ended_well=event == "Stop")
    return None


def answer_for(host: Host, recalled: str) -> str:
    """Return what a hook prints, for what was recalled to reach the model; "" for nothing."""
    if not recalled:
        return ""
    if host == "cursor":
        return json.dumps({"continue": True, "additional_context": recalled})
    told = {"hookEventName": "UserPromptSubmit", "additionalContext": recalled}
    return json.dumps({"hookSpecificOutput": told})


def _from_cursor(event: str, told: Mapping[str, Any]) -> Sent | Ended | None:
    session, turn = _text(told, "conversation_id"), _text(told, "generation_id")
    if event == "beforeSubmitPrompt":
        prompt = _text(told, "prompt")
        return Sent(session, prompt, Said(prompt, turn))
    if event == "afterAgentResponse":
        return Ended(session, _text(told, "text"), turn)
    return None


def _from_transcript(session: str, told: Mapping[str, Any], *, ended_well: bool) -> Ended:
    """Return what Claude Code's transcript tells of a session, and the answer that has just ended.

    The answer's last message may not be written yet: the host tells it beside. A session that is
    left has no answer that ended there.
    """
    said: list[Said] = []
    answer = fault = ""
    try:
        for entry in _entries(Path(_text(told, "transcript_path"))):
            text = _spoken(entry)
            if entry.get("type") == "assistant":
                answer = text or answer
            elif text and not text.startswith(_OF_THE_HOST):
                said.append(Said(text, _text(entry, "uuid"), _text(entry, "timestamp") or None))
                answer = ""
    except OSError as error:
        fault = type(error).__name__
    answer = _text(told, "last_assistant_message") or answer
    last = said[-1].id if said else ""
    return Ended(session, answer if ended_well else "", last, tuple(said), fault)


def _entries(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield what user and assistant said in the main line of a session; broken lines are none.

    Raises:
        OSError: if there is no such file.
    """
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            # Most lines are results of tools, and long.
            if '"assistant"' not in line and '"user"' not in line:
                continue
            entry = _object(line)
            aside = any(entry.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary"))
            if entry.get("type") in ("user", "assistant") and not aside:
                yield entry


def _object(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _spoken(entry: Mapping[str, Any]) -> str:
    """Return the text in a message, "" for one that has none, such as a result of a tool."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    texts = [_text(part, "text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if text.strip()).strip()


def _text(told: Mapping[str, Any], name: str) -> str:
    found = told.get(name)
    return found if isinstance(found, str) else ""
