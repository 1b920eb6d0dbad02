"""Which headers go on: what is about this server alone does not, and a key of it never."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_adapters.proxy import Upstream
from demem_adapters.proxy.addresses import asked_by
from demem_adapters.proxy.headers import down, key_in, up
from demem_agent import InvalidInput
from demem_agent.server import KeyRing, Refusal

PLAIN = Upstream("openai", "https://api.example/v1")
NAMES = st.sampled_from(
    "authorization x-api-key api-key demem-key demem-memory x-request-id openai-organization"
    " anthropic-beta user-agent".split()
)


@given(st.lists(st.tuples(NAMES, st.booleans(), st.booleans()), max_size=6))
def test_no_key_of_this_server_goes_on_whichever_header_it_came_in(
    given_headers: list[tuple[str, bool, bool]],
) -> None:
    _, written = KeyRing().make("", ["read"])
    headers = []
    for name, is_key, is_bearer in given_headers:
        is_place = name.startswith("demem") or name in ("authorization", "x-api-key", "api-key")
        value = written if is_key and is_place else "sk-other"
        headers.append((name.encode(), f"{'bearer  ' if is_bearer else ''}{value}".encode()))
    for upstream in (PLAIN, Upstream("anthropic", "https://a.example", key="sk-server")):
        sent = up(headers, upstream, heard=True)
        assert written.encode() not in b"\n".join(value for _, value in sent)


@pytest.mark.parametrize(
    "written",
    ["Bearer\t{key}", "Bearer  {key}", "Token token={key}", "Key:{key}", '"{key}"', "x,{key}"],
)
@pytest.mark.parametrize("name", ["authorization", "x-api-key", "api-key"])
def test_a_key_that_is_oddly_written_does_not_go_on_either(name: str, written: str) -> None:
    _, key = KeyRing().make("", ["read"])
    assert up([(name.encode(), written.format(key=key).encode())], PLAIN, heard=False) == []


def test_what_is_of_one_connection_and_who_called_does_not_go_on() -> None:
    kept = [(b"x-custom", b"1"), (b"openai-beta", b"2"), (b"accept-encoding", b"br")]
    dropped = [
        (b"connection", b"keep-alive, X-Once"),
        (b"x-once", b"1"),
        (b"te", b"trailers"),
        (b"proxy-authorization", b"Basic x"),
        (b"x-forwarded-for", b"10.0.0.1"),
        (b"forwarded", b"for=10.0.0.1"),
        (b"cookie", b"session=1"),
        (b"host", b"localhost"),
        (b"demem-memory", b"ana"),
    ]
    assert up([*dropped, *kept], PLAIN, heard=False) == kept


def test_of_the_codings_of_what_is_heard_those_go_on_that_can_be_read() -> None:
    def accepted(value: bytes) -> bytes:
        return dict(up([(b"accept-encoding", value)], PLAIN, heard=True))[b"accept-encoding"]

    assert accepted(b"gzip, br;q=1.0, deflate;q=0.5, zstd") == b"gzip, deflate;q=0.5"
    assert accepted(b"br, *") == b"identity"


def test_the_providers_key_of_the_server_takes_the_place_of_what_was_sent() -> None:
    given_headers = [(b"authorization", b"Bearer unused"), (b"x-api-key", b"unused")]
    openai = up(given_headers, Upstream("openai", "http://a.example", key="sk-1"), heard=False)
    assert openai == [(b"authorization", b"Bearer sk-1")]
    anthropic = up(
        given_headers, Upstream("anthropic", "http://a.example", key="sk-2"), heard=False
    )
    assert anthropic == [(b"x-api-key", b"sk-2")]
    assert up(given_headers, PLAIN, heard=False) == given_headers


def test_what_an_upstream_says_of_memory_or_of_its_host_does_not_come_back() -> None:
    came = [
        (b"Demem-Reading", b"e1"),
        (b"Set-Cookie", b"a=1"),
        (b"Transfer-Encoding", b"chunked"),
        (b"X-Request-Id", b"r1"),
    ]
    told = {"demem-memory": "an%C3%A4", "demem-reading": "e1,e2"}
    assert down(came, told) == [
        (b"x-request-id", b"r1"),
        (b"demem-memory", b"an%C3%A4"),
        (b"demem-reading", b"e1,e2"),
    ]


@given(st.text())
def test_no_header_that_is_told_ends_a_line(text: str) -> None:
    ((_, value),) = down([], {"demem-memory": text})
    assert not {*b"\r\n\0"} & {*value}


def test_a_key_is_found_where_clients_can_put_one() -> None:
    assert key_in({"demem-key": "dm_a_b", "authorization": "Bearer sk-1"}) == "dm_a_b"
    assert key_in({"authorization": "bearer dm_a_b"}) == "dm_a_b"
    assert key_in({"x-api-key": "dm_a_b"}) == "dm_a_b"
    assert key_in({"authorization": "Bearer sk-1"}) is None


@pytest.mark.parametrize(
    "path",
    [
        "/openai/v1/../../admin",
        "/openai/v1/%2e%2e/admin",
        "/openai/v1/%252e%252e/admin",
        "/openai/v1/files/..%2f..%2fadmin",
        "/openai/v1/..\\admin",
        "/openai/v1/..;/admin",
        "/openai/v1/./models",
        "/openai/v2/models",
        "/openai",
        "/openai/v1",
        "/m/",
        "/m//openai/v1/models",
        "/m/ana",
        "/m/ana/other/v1/models",
        "/m/%ff/openai/v1/models",
        "/m/openai/v1/models",
    ],
)
def test_a_path_that_leads_out_is_none(path: str) -> None:
    with pytest.raises(Refusal) as refused:
        asked_by(path.encode())
    assert refused.value.kind.name == "no-such-path"


def test_a_path_goes_on_as_it_came() -> None:
    assert asked_by(b"/m/team%2Fana/openai/v1/files/a%2Fb//c%20") == (
        "openai",
        "team/ana",
        b"/v1/files/a%2Fb//c%20",
    )


@pytest.mark.parametrize(
    "address",
    [
        "",
        "api.example",
        "ftp://api.example",
        "https://",
        "https://u:p@api.example",
        "http://a/?b=1",
    ],
)
def test_an_upstream_has_an_address_of_http(address: str) -> None:
    with pytest.raises(InvalidInput, match="address"):
        Upstream("openai", address)


def test_no_password_is_shown_where_one_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        Upstream("openai", "https://me:secret@api.example")
    assert "secret" not in str(caught.value)


def test_an_upstream_may_be_given_with_its_version() -> None:
    for address in ("https://a.example/api/v1/", "https://a.example/api"):
        assert Upstream("openai", address).base == "https://a.example/api"
