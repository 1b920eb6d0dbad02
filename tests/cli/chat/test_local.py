"""``demem chat --local``: with the first model that a server on this machine offers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from demem_agent.cli.chat import local
from demem_agent.cli.faults import UsageError


class Handler(BaseHTTPRequestHandler):
    """Lists models; ``told`` is what it says."""

    told = b""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.end_headers()
        self.wfile.write(self.told)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_the_first_model_of_a_server_is_taken(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"data": [{"id": "qwen2.5:3b"}, {"id": "other"}]}
    monkeypatch.setattr(Handler, "told", json.dumps(told).encode())
    assert local.found_model(url) == ("qwen2.5:3b", url)
    monkeypatch.setattr(local, "SERVERS", {"none": "http://127.0.0.1:1/v1", "here": url})
    assert local.found_model(None) == ("qwen2.5:3b", url)


@pytest.mark.parametrize("told", [b"", b"{}", b"<html>", b'{"data": []}', b'{"data": [{"id": 1}]}'])
def test_without_a_model_it_is_said_how_to_get_one(
    told: bytes, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handler, "told", told)
    with pytest.raises(UsageError, match="ollama pull"):
        local.found_model(url)


def test_an_address_where_nobody_listens_is_named() -> None:
    with pytest.raises(UsageError, match=re.escape("127.0.0.1:1/v1")):
        local.found_model("http://127.0.0.1:1/v1")
