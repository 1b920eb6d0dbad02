"""The page to look inside: its files and nothing else are sent, under a strict policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often
from served import Ask, calling, served

from demem_agent.server import KeyRing
from demem_agent.server.page.bundling import script
from demem_agent.server.page.files import page_files

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
MOST_BYTES = 250_000
OWN = {name for name in page_files() if not name.startswith("vendor/")}
IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";$', re.MULTILINE)


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    with calling() as made:
        yield made


def path_of(name: str) -> str:
    return "/" if name == "index.html" else f"/page/{name}"


def text_of(name: str) -> str:
    return page_files()[name].body.decode()


@pytest.mark.parametrize("name", sorted(page_files()))
def test_a_file_is_sent_as_what_it_is_and_not_again_to_whom_has_it(ask: Ask, name: str) -> None:
    came = ask("GET", path_of(name))
    assert (came.status, came.body) == (200, page_files()[name].body)
    assert came.headers["content-type"] == KINDS[name.rpartition(".")[2]]
    assert came.headers["x-content-type-options"] == "nosniff"
    again = ask("GET", path_of(name), if_none_match=came.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_the_policy_lets_nothing_in_from_elsewhere_and_no_markup_be_made_of_text(ask: Ask) -> None:
    policy = ask("GET", "/").headers["content-security-policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    sources = {directives.pop(name) for name in ("script-src", "style-src", "connect-src")}
    assert sources == {"'self'"}
    assert directives.pop("img-src") == "'self'"
    assert directives.pop("require-trusted-types-for") == "'script'"
    assert set(directives.values()) == {"'none'"}
    assert {"default-src", "base-uri", "frame-ancestors", "trusted-types"} <= directives.keys()


def test_the_whole_page_is_light() -> None:
    assert sum(len(file.body) for file in page_files().values()) <= MOST_BYTES


@pytest.mark.parametrize("name", sorted(OWN))
def test_our_files_make_no_markup_of_text_and_name_no_other_place(name: str) -> None:
    text = text_of(name).replace("http://www.w3.org/2000/svg", "")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in text
    for word in ("new Function", "http:", "https:", "srcdoc", "<style", " style=", "onclick="):
        assert word not in text.replace("style=${", "")


NAMES = st.sampled_from(
    ["..", ".", "%2e%2e", "page", "static", "files.py", "NOTICE", "index.html", "main.js", "", "\\"]
)


@settings(max_examples=often(100), deadline=None)
@given(
    parts=st.lists(NAMES | st.text(max_size=6).map(lambda text: quote(text, safe="")), max_size=5)
)
def test_nothing_but_the_files_can_be_reached(ask: Ask, parts: list[str]) -> None:
    path = "/page/" + "/".join(parts)
    came = ask("GET", path)
    known = {path_of(name) for name in page_files()}
    assert (came.status == 200) == (path in known)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_a_file_is_for_reading_alone(ask: Ask, method: str) -> None:
    assert ask(method, "/").status in (404, 405)
    assert ask(method, "/page/main.js").status in (404, 405)


def test_the_page_comes_without_a_key_and_the_memories_do_not() -> None:
    ring = KeyRing()
    ring.make("", ["read"])
    with served(ring=ring) as ask:
        assert ask("GET", "/").status == 200
        assert ask("GET", "/v1/memories").problem == "unauthorised"


def test_a_link_of_another_site_leads_to_the_page_and_to_nothing_else(ask: Ask) -> None:
    assert ask("GET", "/", sec_fetch_site="cross-site").status == 200
    assert ask("GET", "/v1/memories", sec_fetch_site="cross-site").problem == "cross-origin"
    assert ask("GET", "/", host="evil.example").problem == "misdirected"


def test_a_key_is_told_what_it_allows_and_no_secret() -> None:
    ring = KeyRing()
    key, written = ring.make("team-a/", ["feedback", "read"], name="bot")
    with served(ring=ring) as ask:
        shown = ask.by(written)("GET", "/v1/key").json
        assert (shown["id"], shown["scopes"]) == (key.id, ["feedback", "read"])
        assert written.rpartition("_")[2] not in str(shown)
        assert ask("GET", "/v1/key").problem == "unauthorised"


@pytest.mark.parametrize("name", sorted(name for name in OWN if name.endswith(".js")))
def test_what_a_module_imports_another_one_exports(name: str) -> None:
    """A browser would say so too, but only where there is one."""
    for names, path in IMPORT.findall(text_of(name)):
        folder = name.rpartition("/")[0]
        target = path.removeprefix("./") if not path.startswith("../") else path[3:]
        where = f"{folder}/{target}" if folder and path.startswith("./") else target
        text = text_of(where)
        for one in names.split(","):
            wanted = re.escape(one.strip())
            declared = rf"^export (async )?(const|function|class) {wanted}\b"
            listed = rf"\bexport ?\{{[^}}]*\b{wanted}\b[^}}]*\}}"
            assert re.search(declared, text, re.MULTILINE) or re.search(listed, text), (where, one)


def test_the_modules_become_one_script_each_once_and_none_before_what_it_needs() -> None:
    text = script()
    made = re.findall(r'^modules\["([^"]+)"\] = ', text, re.MULTILINE)
    assert sorted(made) == sorted(name for name in page_files() if name.endswith(".js"))
    for needed in re.finditer(r'= modules\["([^"]+)"\]', text):
        assert f'modules["{needed[1]}"] = ' in text[: needed.start()]
    assert not re.search(r"\b(import|export)\b *[{*]", text)
