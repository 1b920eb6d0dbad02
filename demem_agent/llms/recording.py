"""Keep every call of a model in a file, and answer from it later, without a model.

The file holds one JSON object a line: the key, what was asked, and what came of it, a failure as
well. The key is a hash of the model's name, the messages and the options. Neither addresses nor
keys of providers are ever in it; the prompts are, so it is as private as they are.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from demem_agent.errors import InvalidInput, ModelError, ModelFault
from demem_agent.llms.model import PLAIN, ChatModel, Completion, Options, Prompt, Usage
from demem_agent.turns import choice_field, text_field

__all__ = ["Recorded", "RecordingMode", "call_key"]

Outcome = TypeVar("Outcome", Completion, ModelError)
RecordingMode = Literal["record", "replay", "resume"]
#: A recorded call, as its line has it.
Row = Mapping[str, Any]
#: The rows of each key, in the order of the file.
Known = dict[str, list[Row]]

_NOT_RECORDED: ModelFault = "not recorded"
#: What every recorded call begins with: another file, given by mistake, must not be cut.
_BEGINNING = b'{"key": "'


class Recorded:
    """Record the calls of a model, or replay them; safe to use from several threads.

    A call made several times is replayed in the order in which it was recorded, then its last
    outcome again. Give repeated runs a ``seed`` each, and each has keys of its own.

    Args:
        model: the model, or for replays just its name.
        path: made when there is none; added to when there is.
        mode: ``record`` asks the model every time, ``replay`` never, ``resume`` only for what is
            not in the file or failed, so that work which was interrupted goes on where it stopped.

    Raises:
        InvalidInput: for a name where a model is needed; naming the line of the file that is no
            recorded call.
    """

    def __init__(
        self, model: ChatModel | str, path: str | Path, mode: RecordingMode = "record"
    ) -> None:
        choice_field("mode", mode, get_args(RecordingMode))
        if isinstance(model, str) and mode != "replay":
            raise InvalidInput("model", model, "a model, as only a replay does with its name")
        if isinstance(model, str):
            self.name = text_field("model", model)
            self._model = None
        else:
            self.name = model.name
            self._model = model
        self.mode = mode
        self._path = Path(path)
        self._lock = threading.Lock()
        self._given: Counter[str] = Counter()
        self._known = _opened(self._path, mode)

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Return what was recorded, or ask the model and record it.

        Raises:
            ModelError: of the kind ``not recorded``, when a replay has no such call; as it was
                recorded; or the model's own.
        """
        key = call_key(self.name, prompt, options)
        if (found := self._replayed(key)) is not None:
            return found
        try:
            completion = self._asked.complete(prompt, options)
        except ModelError as error:
            self._keep(key, prompt, options, error)
            raise
        return self._keep(key, prompt, options, completion)

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Return what was recorded, or ask the model and record it; as :meth:`complete`."""
        key = call_key(self.name, prompt, options)
        if (found := self._replayed(key)) is not None:
            return found
        try:
            completion = await self._asked.acomplete(prompt, options)
        except ModelError as error:
            self._keep(key, prompt, options, error)
            raise
        return self._keep(key, prompt, options, completion)

    @property
    def _asked(self) -> ChatModel:
        assert self._model is not None  # a name alone was refused for this mode
        return self._model

    def _replayed(self, key: str) -> Completion | None:
        """Return the next recorded outcome, or None where the model is to be asked."""
        with self._lock:
            outcomes = self._known.get(key, [])
            number = min(self._given[key], len(outcomes) - 1)
            self._given[key] += 1
        if outcomes:
            return _outcome(outcomes[number], self.name)
        if self.mode == "replay":
            note = f"no call {key[:12]} in {self._path.name}"
            raise ModelError(_NOT_RECORDED, self.name, note=note)
        return None

    def _keep(self, key: str, prompt: Prompt, options: Options, outcome: Outcome) -> Outcome:
        messages, plain = _asked(prompt, options)
        row = {
            "key": key,
            "model": self.name,
            "messages": messages,
            "options": plain,
            **_plain(outcome),
        }
        line = json.dumps(row)
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        return outcome


def call_key(model: str, prompt: Prompt, options: Options) -> str:
    """Return the key of a call, 64 hex digits.

    It is the same on every machine for the same model, messages and options.
    """
    asked = json.dumps([model, *_asked(prompt, options)], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


def _asked(prompt: Prompt, options: Options) -> tuple[list[list[str]], dict[str, object]]:
    """Return what a call is told apart by; whether it can wait has no bearing on the answer."""
    messages = [[message.role, message.text] for message in prompt.messages]
    plain = asdict(options)
    del plain["background"]
    given = {name: value for name, value in plain.items() if value is not None}
    return messages, given


def _plain(outcome: Completion | ModelError) -> dict[str, object]:
    if isinstance(outcome, Completion):
        return {"completion": asdict(outcome)}
    failed = {"kind": outcome.kind, "status": outcome.status, "requests": outcome.requests}
    return {"failed": failed}


def _outcome(row: Row, model: str) -> Completion:
    if "completion" in row:
        given = row["completion"]
        usage = Usage(**given["usage"])
        return Completion(**{**given, "usage": usage})
    failed = row["failed"]
    error = ModelError(failed["kind"], model, status=failed["status"], note="as recorded")
    error.requests = failed["requests"]
    raise error


def _opened(path: Path, mode: RecordingMode) -> Known:
    """Make the file ready to be added to, unless for a replay; read it, unless to record anew."""
    if mode != "replay":
        _without_torn_end(path)
    if mode == "record":
        return {}
    return _load(path, failures=mode == "replay")


def _load(path: Path, failures: bool) -> Known:
    """Read a file.

    A last line without its end is of a call during which the process ended, and does not count.
    """
    found: Known = defaultdict(list)
    lines = _text(path).splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        if not line.endswith("\n"):
            continue
        row = _row(line, number)
        if failures or "completion" in row:
            found[row["key"]].append(row)
    return dict(found)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        expected = f"a file that can be read ({type(error).__name__})"
        raise InvalidInput("path", path.name, expected) from error


def _row(line: str, number: int) -> Row:
    try:
        row: Row = json.loads(line)
        known = _has_outcome(row) and isinstance(row.get("key"), str)
    except (AttributeError, KeyError, TypeError, ValueError):
        known = False
    if not known:
        raise InvalidInput(f"line {number}", line.strip(), "a recorded call")
    return row


def _has_outcome(row: Row) -> bool:
    """Whether a row tells what came of a call; it may raise where it is no row at all."""
    if "failed" in row:
        return row["failed"]["kind"] in get_args(ModelFault)
    return bool(_outcome(row, ""))


def _without_torn_end(path: Path) -> None:
    """Make sure of a folder, and of whole lines to add to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        file.seek(0)
        held = file.read()
        if held and not held.startswith(_BEGINNING):
            expected = "a file of recorded calls, or one that is not there yet"
            raise InvalidInput("path", path.name, expected)
        file.truncate(held.rfind(b"\n") + 1)
