"""The file of keys: what is kept of a key, how it is known again, rotated, taken back."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from demem_agent import InvalidInput
from demem_agent.errors import NotFound, StoreError
from demem_agent.server import KeyRing


def test_a_key_is_known_by_what_was_shown_and_by_nothing_else() -> None:
    ring = KeyRing()
    key, written = ring.make("team-a/", ["write", "read"], name="bot")
    assert ring.key_of(written) == key
    assert written.startswith(f"dm_{key.id}_")
    assert ring.key_of(written[:-1]) is None
    assert ring.key_of(written.replace(key.id, "0" * len(key.id))) is None
    assert (key.prefix, key.scopes, key.name) == ("team-a/", ("read", "write"), "bot")


def test_the_file_has_no_secret_and_its_owner_alone_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "bot.keys"
    with KeyRing(str(path)) as ring:
        _, written = ring.make("", ["read"])
    _, _, rest = written.partition("_")
    secret = rest.partition("_")[2]
    assert len(secret) >= 40
    assert secret.encode() not in path.read_bytes()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_another_process_sees_what_is_done_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "bot.keys")
    with KeyRing(path) as server, KeyRing(path) as other:
        assert not server.has_any()
        key, written = other.make("", ["read"])
        assert server.key_of(written) == key
        other.revoke(key.id)
        assert server.key_of(written) is None
        assert server.has_any()
        assert server.signing_secret() == other.signing_secret()


def test_a_key_expires() -> None:
    ring = KeyRing()
    key, written = ring.make("", ["read"], days=1)
    assert ring.key_of(written) == key
    assert key.expires is not None
    assert key.is_valid(key.expires - timedelta(seconds=1))
    assert not key.is_valid(key.expires)


def test_a_rotated_key_holds_beside_the_new_one_for_as_long_as_was_said() -> None:
    ring = KeyRing()
    old, written = ring.make("team-a/", ["read"], name="bot")
    new, rewritten = ring.rotate(old.id, hours=1)
    assert (new.prefix, new.scopes, new.name) == (old.prefix, old.scopes, old.name)
    kept = ring.key_of(written)
    assert kept is not None
    assert kept.expires is not None
    assert kept.expires <= datetime.now(UTC) + timedelta(hours=1)
    assert ring.key_of(rewritten) == new
    ring.rotate(new.id, hours=0)
    assert ring.key_of(rewritten) is None


def test_rotation_makes_no_key_live_longer() -> None:
    ring = KeyRing()
    old, _ = ring.make("", ["read"], days=1)
    new, _ = ring.rotate(old.id, hours=1000)
    assert old.expires is not None
    assert new.expires is not None
    assert abs(new.expires - old.expires) < timedelta(minutes=1)
    assert ring.all()[0].expires == old.expires


def test_a_key_that_is_not_valid_is_neither_rotated_nor_revoked() -> None:
    ring = KeyRing()
    key, _ = ring.make("", ["read"])
    ring.revoke(key.id)
    for act in (ring.revoke, ring.rotate):
        with pytest.raises(NotFound):
            act(key.id)


@pytest.mark.parametrize(
    ("prefix", "scopes", "days", "field"),
    [
        (5, ["read"], None, "prefix"),
        ("a\nb", ["read"], None, "prefix"),
        ("a\x9b31m", ["read"], None, "prefix"),
        ("a\x7f", ["read"], None, "prefix"),
        ("x" * 201, ["read"], None, "prefix"),
        ("", [], None, "scopes"),
        ("", "read", None, "scopes"),
        ("", ["all"], None, "scopes"),
        ("", ["read"], 0, "days"),
    ],
)
def test_what_cannot_be_of_a_key_is_refused(
    prefix: object, scopes: object, days: float | None, field: str
) -> None:
    ring = KeyRing()
    with pytest.raises(InvalidInput) as caught:
        ring.make(prefix, scopes, days=days)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert ring.all() == []


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (text)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="no file of keys"):
        KeyRing(str(path))
    assert path.read_bytes() == before


def test_threads_may_share_it(tmp_path: Path) -> None:
    ring = KeyRing(str(tmp_path / "bot.keys"))
    known: list[bool] = []

    def make_some() -> None:
        for _ in range(5):
            key, written = ring.make("", ["read"])
            known.append(ring.key_of(written) == key)

    threads = [threading.Thread(target=make_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert known == [True] * 20
    assert len(ring.all()) == 20


def test_a_key_of_one_memory_reaches_no_other_of_which_it_is_the_beginning() -> None:
    ring = KeyRing()
    key, written = ring.make("ana", ["read"], exact=True)
    assert key.reaches("ana")
    assert not key.reaches("anabel")
    assert not key.reaches("an")
    known = ring.key_of(written)
    assert known is not None
    assert known.exact
    again, _ = ring.rotate(key.id)
    assert again.exact


def test_a_key_of_one_memory_covers_no_prefix() -> None:
    ring = KeyRing()
    key, _ = ring.make("ana", ["admin"], exact=True)
    wide, _ = ring.make("ana", ["admin"])
    assert wide.covers("anabel", exact=False)
    assert wide.covers("ana", exact=True)
    assert not key.covers("ana", exact=False)
    assert not key.covers("anabel", exact=True)
    with pytest.raises(InvalidInput, match="prefix"):
        ring.make("", ["admin"], exact=True)
