"""A provider of models on this machine, for tests: sound by default, and faulty in many ways on
request.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.testing.faults import FAULTS
from demem_agent.testing.replies import chat_reply, embeddings_reply
from demem_agent.testing.responses import as_messages
from demem_agent.testing.serving import Handler, Seen, Server

__all__ = ["Provider", "Seen"]

#: What the messages of a request, each with ``role`` and ``content``, are answered with.
Reply = Callable[[Sequence[Mapping[str, Any]]], str]
#: Refusals that depend on a field of the request.
_IF_SENT = {
    "no-schema": "response_format",
    "no-temperature": "temperature",
    "no-max-tokens": "max_tokens",
}
_PREFIX = "fault-"


class Provider:
    """Serve chat completions, responses, streams of both and embeddings on the loopback interface,
    in threads.

    ::

        with Provider("Lisbon") as provider:
            model = OpenAIChat("fault-500:1", base_url=provider.url)  # fails once, then answers

    Args:
        reply: the text of every answer, or a function of the messages that gives it.
        faults: by name of a model, one of ``FAULTS``, with ``:n`` for the first n requests only. A
            model that is not named here has a fault if it is called ``fault-...``.
        delay_ms: before every reply.
        retry_after: seconds, as 429 gives them.
        drip: seconds between the bytes of a slow reply.
        dimensions: of embeddings, unless the request asks for others.

    Attributes:
        requests: all that came, in order.
    """

    def __init__(
        self,
        reply: str | Reply = "ok",
        *,
        faults: Mapping[str, str] | None = None,
        delay_ms: float = 0.0,
        retry_after: float = 1.0,
        drip: float = 0.05,
        dimensions: int = 16,
    ) -> None:
        for model, fault in (faults or {}).items():
            _parsed(fault, model)
        self.delay_ms = delay_ms
        self.retry_after = retry_after
        self.drip = drip
        self.dimensions = dimensions
        self.requests: list[Seen] = []
        self._reply = reply
        self._faults = dict(faults or {})
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server: Server | None = None

    @property
    def url(self) -> str:
        """Give the address for ``base_url``, while it serves."""
        if self._server is None:
            raise RuntimeError("the provider does not serve; use it in a with statement")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Provider:
        self._closing.clear()
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.provider = self
        threading.Thread(
            target=self._server.serve_forever, args=(0.01,), name="provider", daemon=True
        ).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.close_all()
            self._server.server_close()
            self._server = None

    def take(self, seen: Seen) -> str:
        """Note a request; gives the fault that its reply must have, or an empty text."""
        with self._lock:
            self.requests.append(seen)
            self._counts[seen.model] += 1
            number = self._counts[seen.model]
        asked = self._faults.get(
            seen.model, seen.model.removeprefix(_PREFIX) if _PREFIX in seen.model[:6] else ""
        )
        fault, times = _parsed(asked, seen.model) if asked else ("", None)
        if times is not None and number > times:
            return ""
        return "" if fault in _IF_SENT and _IF_SENT[fault] not in seen.body else fault

    def body(self, seen: Seen, fault: str) -> dict[str, Any]:
        """Give the reply to a request as a JSON value."""
        if seen.path.endswith("/embeddings"):
            texts = (
                seen.body["input"] if isinstance(seen.body["input"], list) else [seen.body["input"]]
            )
            return embeddings_reply(
                seen.model, texts, seen.body.get("dimensions") or self.dimensions, fault
            )
        messages = (
            as_messages(seen.body["input"])
            if seen.path.endswith("/responses")
            else seen.body["messages"]
        )
        prompt = " ".join(str(message.get("content") or "") for message in messages)
        text = self._reply(messages) if callable(self._reply) else self._reply
        return chat_reply(seen.model, prompt, text, fault, len(self.requests))

    def pause(self, seconds: float) -> bool:
        """Wait; gives False as soon as the provider closes."""
        return not self._closing.wait(seconds)


def _parsed(fault: str, model: str) -> tuple[str, int | None]:
    """Read ``NAME`` or ``NAME:n``."""
    name, _, times = fault.partition(":")
    if name not in FAULTS or not (times.isdigit() or not times):
        raise InvalidInput(
            f"fault of {model!r}", fault, f"one of {', '.join(FAULTS)}, with :n for n times"
        )
    return name, int(times) if times else None
