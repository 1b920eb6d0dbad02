"""A provider of models on this machine, for tests.

It is sound by default, and faulty in many ways on request.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from demem_agent.errors import InvalidInput
from demem_agent.testing.faults import FAULTS
from demem_agent.testing.forms import form_of
from demem_agent.testing.replies import Body, Json, chat_reply, embeddings_reply
from demem_agent.testing.serving import Handler, Seen, Server

__all__ = ["Provider", "Seen"]

#: What the messages of a request, each with ``role`` and ``content``, are answered with.
Reply = Callable[[Sequence[Body]], str]
#: Refusals that depend on a field of the request.
_IF_SENT = {
    "no-schema": "response_format",
    "no-temperature": "temperature",
    "no-max-tokens": "max_tokens",
}
_PREFIX = "fault-"


class Provider:
    """Serve chat completions, responses, messages of Anthropic's and contents of Gemini's.

    It serves streams of all of these, and embeddings, in threads.

    It listens on the loopback interface alone::

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
        """The address for ``base_url``.

        Raises:
            RuntimeError: while it does not serve.
        """
        if self._server is None:
            raise RuntimeError("the provider does not serve; use it in a with statement")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def root(self) -> str:
        """The address for clients that add the version to it, as Anthropic's and Google's do.

        Raises:
            RuntimeError: while it does not serve.
        """
        return self.url.removesuffix("/v1")

    def __enter__(self) -> Provider:
        self._closing.clear()
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.provider = self
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.01,), name="provider", daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.close_all()
            self._server.server_close()
            self._server = None

    def take(self, seen: Seen) -> str:
        """Note a request; return the fault that its reply must have, or an empty text."""
        with self._lock:
            self.requests.append(seen)
            self._counts[seen.model] += 1
            number = self._counts[seen.model]
        asked = self._faults.get(seen.model, _in_name(seen.model))
        if not asked:
            return ""
        fault, times = _parsed(asked, seen.model)
        if times is not None and number > times:
            return ""
        return fault if _is_due(fault, seen) else ""

    def body(self, seen: Seen, fault: str) -> Json:
        """Return the reply to a request as a JSON value."""
        if seen.path.endswith("/embeddings"):
            return self._embeddings(seen, fault)
        messages = _messages(seen)
        prompt = " ".join(str(message.get("content") or "") for message in messages)
        text = self._reply(messages) if callable(self._reply) else self._reply
        return chat_reply(seen.model, prompt, text, fault, number=len(self.requests))

    def pause(self, seconds: float) -> bool:
        """Wait; return False as soon as the provider closes."""
        return not self._closing.wait(seconds)

    def _embeddings(self, seen: Seen, fault: str) -> Json:
        given = seen.body["input"]
        texts = given if isinstance(given, list) else [given]
        dimensions = seen.body.get("dimensions") or self.dimensions
        return embeddings_reply(seen.model, texts, dimensions, fault)


def _messages(seen: Seen) -> Sequence[Body]:
    """Return the messages of a request in any form."""
    form = form_of(seen.path)
    return [] if form is None else form.asked(seen.body)


def _is_due(fault: str, seen: Seen) -> bool:
    """Whether a request has what its fault refuses; most refuse whatever comes."""
    field = _IF_SENT.get(fault)
    return field is None or field in seen.body


def _in_name(model: str) -> str:
    """Return the fault that a model has by its name, or an empty text."""
    return model.removeprefix(_PREFIX) if model.startswith(_PREFIX) else ""


def _parsed(fault: str, model: str) -> tuple[str, int | None]:
    """Read ``NAME`` or ``NAME:n``."""
    name, _, times = fault.partition(":")
    if name not in FAULTS or not (times.isdigit() or not times):
        expected = f"one of {', '.join(FAULTS)}, with :n for n times"
        raise InvalidInput(f"fault of {model!r}", fault, expected)
    return name, int(times) if times else None
