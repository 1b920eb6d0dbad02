"""So many at once, and no key takes all of them."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack

import pytest
from served import listening

from demem_agent.server import KeyRing, Room, Seats
from demem_agent.server.endpoints import ENDPOINTS
from demem_agent.server.refusals import Refusal


def test_one_key_has_three_quarters_and_another_the_rest() -> None:
    seats = Seats(8, "full")
    for _ in range(6):
        seats.take("a")
    with pytest.raises(Refusal, match="full"):
        seats.take("a")
    with seats.seat("b"), seats.seat("b"):
        assert seats.taken == 8
        with pytest.raises(Refusal):
            seats.take("c")
    seats.leave("a")
    seats.take("a")
    assert seats.taken == 6


@pytest.mark.parametrize("most", [1, 2, 3])
def test_of_few_one_key_has_all(most: int) -> None:
    seats = Seats(most, "full")
    for _ in range(most):
        seats.take("a")
    assert seats.taken == most


def test_who_needs_no_key_has_all() -> None:
    seats = Seats(8, "full")
    for _ in range(8):
        seats.take("")
    with pytest.raises(Refusal):
        seats.take("")


def test_who_has_no_key_takes_no_seat_of_those_who_have_one() -> None:
    of_nobody = {one.lane for one in ENDPOINTS if not one.scopes}
    of_keys = {one.lane for one in ENDPOINTS if one.scopes}
    assert of_nobody & of_keys <= {""}  # where nothing is waited for


def asked(url: str, key: str, memory: str, body: bytes, said: int) -> socket.socket:
    """Begin to read a memory, with a body of which less may come than is said."""
    host, port = url.removeprefix("http://").split(":")
    sock = socket.create_connection((host, int(port)), timeout=30)
    lines = [f"POST /v1/memories/{memory}/read HTTP/1.1", "host: localhost", "connection: close"]
    lines += [f"authorization: Bearer {key}", "content-type: application/json"]
    sock.sendall("\r\n".join([*lines, f"content-length: {said}", "", ""]).encode() + body)
    return sock


def status_of(sock: socket.socket) -> bytes:
    with sock:
        return sock.recv(65536).split()[1]


def test_a_key_whose_bodies_do_not_come_keeps_no_other_out() -> None:
    ring = KeyRing()
    one, other = (ring.make(name, ["read", "write"])[1] for name in ("a", "b"))
    rooms = {"read": Room(at_once=1, waiting=7, seconds=30)}
    with listening(keys=ring, rooms=rooms) as at, ExitStack() as stack:
        at.app.house.made("b", {})
        for _ in range(6):
            stack.enter_context(asked(at.url, one, "a", b"{", 100))
        while at.app.lanes["read"].taken < 6:
            pass
        assert status_of(asked(at.url, one, "a", b"{}", 2)) == b"503"
        body = json.dumps({"query": "?"}).encode()
        assert status_of(asked(at.url, other, "b", body, len(body))) == b"200"
