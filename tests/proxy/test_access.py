"""Who may ask for which memory through the proxy, and what never comes through."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator

import pytest
from proxied import Proxied, of_provider, proxied, sent

from demem_adapters.proxy import Upstream
from demem_agent.server import KeyRing, Limits
from demem_agent.server.keys import Scope
from demem_agent.testing import Provider

CHAT = "openai/v1/chat/completions"
BOTH: tuple[Scope, ...] = ("read", "write")
Got = tuple[int, list[tuple[bytes, bytes]], bytes]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider("Noted.") as made:
        yield made


@pytest.fixture
def ring() -> KeyRing:
    return KeyRing()


@pytest.fixture
def proxy(provider: Provider, ring: KeyRing) -> Iterator[Proxied]:
    with proxied(*of_provider(provider), keys=ring) as made:
        yield made


def ask(
    proxy: Proxied, path: str, key: str | None, text: str = "Hello!", **headers: str
) -> tuple[int, str]:
    """Ask; return the status, and the problem, or which memory it was."""
    told = [(name.replace("_", "-"), value) for name, value in headers.items()]
    if key is not None:
        told.append(("authorization", f"Bearer {key}"))
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    status, came, _ = sent(proxy.url, "POST", path, told, body)
    about = dict(came)
    return status, (about.get(b"demem-problem") or about.get(b"demem-memory") or b"").decode()


def test_a_key_reaches_what_begins_with_its_prefix_and_nothing_else(
    proxy: Proxied, ring: KeyRing
) -> None:
    _, key = ring.make("team-a/", BOTH)
    assert ask(proxy, f"/m/team-a%2Fana/{CHAT}", key) == (200, "team-a%2Fana")
    assert ask(proxy, f"/{CHAT}", key, demem_memory="team-a/ben") == (200, "team-a%2Fben")
    assert ask(proxy, f"/m/team-b%2Fana/{CHAT}", key) == (403, "forbidden")
    assert ask(proxy, f"/{CHAT}", key, demem_memory="team-b/ana") == (403, "forbidden")
    assert ask(proxy, f"/{CHAT}", key) == (400, "no-memory")
    assert ask(proxy, f"/m/team-a%2Fana/{CHAT}", None) == (401, "unauthorised")
    assert ask(proxy, f"/m/team-a%2Fana/{CHAT}", "dm_no_such") == (401, "unauthorised")
    assert proxy.memory("team-b/ana") is None


def test_the_path_comes_before_the_header(proxy: Proxied, ring: KeyRing) -> None:
    _, key = ring.make("", BOTH)
    assert ask(proxy, f"/m/ana/{CHAT}", key, demem_memory="ben") == (200, "ana")
    _, key = ring.make("an", BOTH)
    assert ask(proxy, f"/m/ana/{CHAT}", key, demem_memory="ben") == (200, "ana")


def test_who_asks_too_often_is_told_so_in_the_providers_way(provider: Provider) -> None:
    with proxied(*of_provider(provider), limits=Limits(rate=0.01)) as proxy:
        asked = [ask(proxy, f"/m/ana/{CHAT}", None) for _ in range(2)]
    assert asked == [(200, "ana"), (429, "too-often")]


def test_a_key_of_one_memory_needs_no_name_and_takes_no_other(
    proxy: Proxied, ring: KeyRing
) -> None:
    _, key = ring.make("ana", BOTH, exact=True)
    assert ask(proxy, f"/{CHAT}", key) == (200, "ana")
    assert ask(proxy, f"/m/ana/{CHAT}", key) == (200, "ana")
    assert ask(proxy, f"/m/anabel/{CHAT}", key) == (403, "forbidden")
    assert ask(proxy, f"/{CHAT}", key, demem_memory="ben") == (200, "ana")


@pytest.mark.parametrize("scopes", [["read"], ["write"], ["feedback", "forget"]])
def test_a_key_needs_to_read_and_to_write(
    proxy: Proxied, ring: KeyRing, scopes: list[Scope]
) -> None:
    _, key = ring.make("", scopes)
    assert ask(proxy, f"/m/ana/{CHAT}", key) == (403, "forbidden")
    assert ask(proxy, f"/{CHAT}", key, demem_off="1") == (403, "forbidden")
    assert ask(proxy, "/openai/v1/embeddings", key) == (403, "forbidden")


def test_a_key_of_this_server_may_go_beside_that_of_the_provider(
    proxy: Proxied, ring: KeyRing, provider: Provider
) -> None:
    _, key = ring.make("", BOTH)
    assert ask(proxy, f"/m/ana/{CHAT}", "sk-own", demem_key=key) == (200, "ana")
    assert provider.requests[-1].key == "sk-own"
    assert ask(proxy, f"/m/ana/{CHAT}", key) == (200, "ana")
    assert provider.requests[-1].key == ""
    assert ask(proxy, f"/m/ana/{CHAT}", "sk-own") == (401, "unauthorised")


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "forwarded", "via", "x-real-ip", "cf-connecting-ip"]
)
def test_without_keys_who_comes_by_a_proxy_is_not_let_in(proxy: Proxied, header: str) -> None:
    assert ask(proxy, f"/m/ana/{CHAT}", None) == (200, "ana")
    assert ask(proxy, f"/m/ana/{CHAT}", None, **{header: "127.0.0.1"}) == (401, "unauthorised")


def test_another_name_of_the_server_or_a_page_of_another_site_is_not_let_in(
    proxy: Proxied,
) -> None:
    page = {"origin": "https://evil.example"}
    assert ask(proxy, f"/m/ana/{CHAT}", None, **page) == (403, "cross-origin")
    with proxied(Upstream("openai", "http://127.0.0.1:9")) as other:
        host, _, port = other.url.removeprefix("http://").partition(":")
        asking = http.client.HTTPConnection(host, int(port))
        asking.request("GET", "/openai/v1/models", headers={"Host": "evil.example"})
        assert asking.getresponse().status == 421
        asking.close()


@pytest.mark.parametrize("memory", ["a%0d%0aset-cookie:%20b", "a%00b", "%20", "%ed%a0%80"])
def test_no_name_of_a_memory_makes_a_header(proxy: Proxied, memory: str) -> None:
    for path, headers in ((f"/m/{memory}/{CHAT}", {}), (f"/{CHAT}", {"demem_memory": memory})):
        body = b'{"messages": [{"role": "user", "content": "Hello!"}]}'
        told = [(name.replace("_", "-"), value) for name, value in headers.items()]
        status, came, _ = sent(proxy.url, "POST", path, told, body)
        assert status in (200, 400, 404)
        assert b"set-cookie" not in dict(came)


def test_the_body_names_the_memory_where_that_was_asked_for(provider: Provider) -> None:
    for field, body in (
        ("safety_identifier", {"safety_identifier": "ana"}),
        ("metadata.user_id", {"metadata": {"user_id": "ana"}}),
    ):
        with proxied(*of_provider(provider), proxy={"identity": field}) as proxy:
            told = {"model": "m", "messages": [{"role": "user", "content": "Hello!"}]}
            data = json.dumps({**told, **body}).encode()
            status, came, _ = sent(proxy.url, "POST", f"/{CHAT}", body=data)
            assert (status, dict(came)[b"demem-memory"]) == (200, b"ana")
            assert ask(proxy, f"/{CHAT}", None) == (400, "no-memory")


def test_with_the_providers_key_of_the_server_its_account_is_for_admins_alone(
    provider: Provider, ring: KeyRing
) -> None:
    _, key = ring.make("", BOTH)
    _, admin = ring.make("", ["admin", "read", "write"])
    with proxied(Upstream("openai", provider.url, key="sk-server"), keys=ring) as proxy:

        def got(method: str, path: str, body: bytes | None, by: str, off: str = "0") -> int:
            headers = [("authorization", f"Bearer {by}"), ("demem-off", off)]
            status, came, _ = sent(proxy.url, method, path, headers, body)
            return status if b"demem-problem" in dict(came) else 0

        assert ask(proxy, f"/m/ana/{CHAT}", key) == (200, "ana")
        assert provider.requests[-1].key == "sk-server"
        for path in ("/openai/v1/responses/r1", "/openai/v1/files", "/openai/v1/chat/completions"):
            assert got("GET", path, None, key) == 403
            assert got("GET", path, None, admin) == 0
        kept = b'{"model": "m", "input": "Hello!", "previous_response_id": "r1"}'
        hidden = kept[:-1] + b', "previous_response_id": null}'
        for body in (kept, hidden, b'{"input": "x", '):
            for off in ("0", "1"):
                assert got("POST", "/m/ana/openai/v1/responses", body, key, off) == 403
        assert got("POST", "/m/ana/openai/v1/responses", kept, admin) == 0
        assert got("POST", "/m/ana/openai/v1/responses", kept.replace(b"r1", b""), key) == 0


def test_what_one_is_told_never_reaches_another(
    proxy: Proxied, ring: KeyRing, provider: Provider
) -> None:
    """Eight users at once, each with a word of their own, over both protocols."""
    keys = {f"u{number}": ring.make(f"u{number}/", BOTH)[1] for number in range(8)}

    def talk(user: str) -> None:
        for turn in range(6):
            surface = CHAT if turn % 2 else "anthropic/v1/messages"
            question = f"My secret is secret{user}. What is the secret? {turn}"
            path = f"/m/{user}%2Fown/{surface}"
            assert ask(proxy, path, keys[user], question)[0] == 200

    threads = [threading.Thread(target=talk, args=(user,)) for user in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bodies = [json.dumps(one.body) for one in provider.requests]
    told = [{user for user in keys if f"secret{user}." in body} for body in bodies]
    assert sum(map(len, told)) == 48
    assert max(map(len, told)) == 1
    for user in keys:
        words = " ".join(text for _, text in proxy.said(f"{user}/own"))
        assert not [other for other in keys if other != user and f"secret{other}." in words]
