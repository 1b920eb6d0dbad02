"""The address that a rival asks by its own client: a model answers, and what it uses is counted."""

from __future__ import annotations

import json
import re
import threading
import weakref
from collections.abc import Mapping
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from demem_agent.errors import CollaboratorError, ModelError
from demem_agent.evaluate.rivals.encoding import shipped
from demem_agent.llms.model import ChatModel, Completion, Prompt, Usage

__all__ = ["Gate"]

Json = dict[str, Any]
#: Ids that a program draws anew each time it runs, with dashes or without.
_DRAWN = re.compile(
    r"(?<![0-9a-f])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})(?![0-9a-f])"
)


class Gate:
    """Serve OpenAI's chat completions and embeddings to one rival, on the loopback interface alone.

    Chat completions are asked of the model, as whole requests (:class:`~demem_agent.llms.passing.
    Passing`). Ids that the rival draws at random are numbered in them, and put back in the answer:
    so the same dialogue is asked about in the same words again, and a recording of it is found.
    Where it writes today's date, it is told that of the conversation. Embeddings are those of the
    encoder that ships here.

    Attributes:
        fault: the first failure of the model; from then on it is not asked any more. Rivals pass
            over such failures, and would be measured without what failed.
    """

    def __init__(self, model: ChatModel) -> None:
        self.model = model.name
        self._calls = _Calls(model)
        server = _Server(self._calls)
        self.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        serve = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        serve.start()
        weakref.finalize(self, _end, server)

    @property
    def fault(self) -> CollaboratorError | None:
        """The first failure of the model."""
        return self._calls.fault

    def set_today(self, today: date | None) -> None:
        """Set the day on which the conversation is; None where that is not known."""
        self._calls.today = today

    def newly_used(self) -> Usage:
        """Return what calls used since this was asked last; recorded ones as when made."""
        return self._calls.newly_used()


class _Calls:
    """Answers requests, and keeps what they came to."""

    def __init__(self, model: ChatModel) -> None:
        self.fault: CollaboratorError | None = None
        self.today: date | None = None
        self._used = Usage()
        self._model = model
        self._lock = threading.Lock()

    def newly_used(self) -> Usage:
        """Return what was used since this was asked last."""
        with self._lock:
            used, self._used = self._used, Usage()
        return used

    def answer(self, path: str, request: Json) -> tuple[int, Json]:
        """Return an HTTP status and the body of a reply."""
        if path.endswith("/embeddings"):
            return 200, _embeddings(request)
        if not path.endswith("/chat/completions") or request.get("stream"):
            asked = "a stream" if request.get("stream") else path
            self._failed(ModelError("rejected", self._model.name, note=f"{asked} is not served"))
        if self.fault is None:
            try:
                return 200, self._asked(request)
            except CollaboratorError as error:
                self._failed(error)
        # A status that no client tries again.
        return 400, {"error": {"message": str(self.fault), "type": "invalid_request_error"}}

    def _asked(self, request: Json) -> Json:
        text, drawn = _numbered(self._dated(json.dumps(request)))
        completion = self._model.complete(Prompt("", text))
        with self._lock:
            self._used += completion.usage
        return _reply(completion, json.loads(_put_back(completion.text, drawn)))

    def _dated(self, text: str) -> str:
        """Put the day of the conversation where the rival wrote today's."""
        if self.today is None:
            return text
        return text.replace(datetime.now(UTC).date().isoformat(), self.today.isoformat())

    def _failed(self, error: CollaboratorError) -> None:
        with self._lock:
            self.fault = self.fault or error


def _numbered(text: str) -> tuple[str, Mapping[str, str]]:
    """Return a text with its drawn ids numbered as they come, and which number stands for which."""
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        drawn = match[0]
        plain = f"{len(numbers):032x}"
        if "-" in drawn:
            plain = "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))
        return numbers.setdefault(drawn, plain)

    numbered = _DRAWN.sub(number, text)
    return numbered, {plain: drawn for drawn, plain in numbers.items()}


def _put_back(text: str, drawn: Mapping[str, str]) -> str:
    return _DRAWN.sub(lambda match: drawn.get(match[0], match[0]), text)


def _reply(completion: Completion, message: Json) -> Json:
    used = completion.usage
    return {
        "id": "chatcmpl-gate",
        "object": "chat.completion",
        "created": 0,
        "model": completion.model,
        "choices": [{"index": 0, "message": message, "finish_reason": completion.finish}],
        "usage": _counted(used.prompt_tokens, used.completion_tokens),
    }


def _counted(prompt: int, answer: int) -> Json:
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def _embeddings(request: Json) -> Json:
    given = request["input"]
    texts = given if isinstance(given, list) else [given]
    data = []
    for number, row in enumerate(shipped(texts).tolist()):
        data.append({"object": "embedding", "index": number, "embedding": row})
    model = request.get("model", "")
    return {"object": "list", "model": model, "data": data, "usage": _counted(0, 0)}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, calls: _Calls) -> None:
        self.calls = calls
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients close their connections as they like."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request on each connection: nobody closes the clients of rivals."""

    disable_nagle_algorithm = True
    wbufsize = -1  # so that a reply goes out whole
    server: _Server

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer one request."""
        length = int(self.headers.get("Content-Length") or 0)
        status, reply = self.server.calls.answer(self.path, json.loads(self.rfile.read(length)))
        raw = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def _end(server: _Server) -> None:
    server.shutdown()
    server.server_close()
