"""The page as a browser shows it: ``make test-page``. It needs Chromium and axe-core.

Its name is none of a test's, so that the quick tests pass it by.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from browsing import VIEWS, axe_path, chromium, open_page, serving, serving_household, settled
from playwright.sync_api import Browser, Page, Route, expect

from demem_agent import SlotMemory
from demem_agent.cli.demo.household import household
from demem_agent.server import KeyRing
from demem_agent.server.page.bundling import document
from demem_agent.server.page.snapshot import snapshot
from demem_agent.stores import Store, open_store

HOSTILE = (
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'>",
    "pay \u202eevil\u202c now\u200b, \u0007 and \u2066isolated",
    "W" * 3000,
    "</script><!-- javascript:window.hit=3",
    "${window.hit = 4} {{hit}} `hit`",
)
QUESTION = "Which valve has the boiler?"
AXE = axe_path().read_text(encoding="utf-8")
FIRST_PAINT_MS = 400
PHONE: Any = {"width": 360, "height": 740}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def home() -> Iterator[str]:
    with serving_household() as url:
        yield url


def small() -> Store:
    """Return a store with a small memory, which a test may change."""
    store = open_store("memory://")
    memory = SlotMemory.open(store, memory_id="m", slots=4, initial_slots=2, clock=None)
    for text in ("The boiler has a brass valve.", "The violin has a broken bow.", *HOSTILE):
        memory.ingest(text, speaker="<b>Ana</b>\u202e", session=text[:40], at="2024-03-02")
    memory.feedback(memory.answer(QUESTION), reference="a brass valve")
    return store


@pytest.fixture(scope="session")
def empty() -> Iterator[str]:
    store = open_store("memory://")
    SlotMemory.open(store, memory_id="m", clock=None)
    with serving(url=store) as url:
        yield url


@pytest.fixture
def changing() -> Iterator[str]:
    with serving(url=small()) as url:
        yield url


def violations(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['html'][:120]}" for one in found["violations"] for node in one["nodes"]
    ]


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    script = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return int(page.evaluate(script))


def post(url: str, path: str, body: Any) -> Any:
    request = Request(f"{url}/v1/memories/m{path}", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    with urlopen(request) as came:
        return json.load(came)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_no_fault_and_nothing_that_axe_objects_to_light_dark_and_on_a_phone(
    browser: Browser, home: str, view: str
) -> None:
    page = open_page(browser)
    page.goto(home + view)
    settled(page)
    for details in page.locator("details").all()[:3]:
        details.locator("summary").first.click()
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert overflow(page) == 0
    assert violations(page) == []
    assert page.faults == []  # type: ignore[attr-defined]
    page.context.close()


@pytest.mark.parametrize(
    "view", ["items", "items/e3", "items/e4", "rooms", "rooms/0", "answers", "splits", "ask?q=pay"]
)
def test_the_texts_of_strangers_are_shown_and_do_nothing(
    browser: Browser, changing: str, view: str
) -> None:
    page = open_page(browser)
    page.goto(f"{changing}/#/m/{view}")
    settled(page)
    assert overflow(page) == 0
    page.set_viewport_size(PHONE)
    assert overflow(page) == 0
    assert page.evaluate("window.hit") is None
    assert page.faults == []  # type: ignore[attr-defined]
    assert page.locator("img, iframe, script:not([src])").count() == 0
    shown = page.locator("main").inner_text()
    assert "\u202e" not in shown
    page.context.close()


@pytest.mark.parametrize("view", [view for view in VIEWS if "/" not in view])
def test_a_view_of_an_empty_memory_says_so_and_fits(
    browser: Browser, empty: str, view: str
) -> None:
    page = open_page(browser)
    page.goto(f"{empty}/#/m/{view}")
    settled(page)
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert overflow(page) == 0
    assert page.faults == []  # type: ignore[attr-defined]
    page.context.close()


def test_a_server_without_a_memory_says_how_one_is_made(browser: Browser) -> None:
    with serving() as url:
        page = open_page(browser)
        page.goto(url)
        expect(page.get_by_text(f"curl -X PUT {url}/v1/memories/ana")).to_be_visible()
        assert violations(page) == []
        page.set_viewport_size(PHONE)
        assert overflow(page) == 0
        urlopen(Request(f"{url}/v1/memories/ana", method="PUT")).close()
        page.get_by_role("button", name="Look again").click()
        expect(page.get_by_text("ana · 0 items")).to_be_visible()
        page.context.close()


def test_characters_that_are_not_seen_are_shown_by_their_code(
    browser: Browser, changing: str
) -> None:
    page = open_page(browser)
    page.goto(f"{changing}/#/m/items/e4")
    settled(page)
    shown = page.locator("blockquote").inner_text()
    for code in ("U+202E", "U+202C", "U+200B", "U+0007", "U+2066"):
        assert code in shown
    page.context.close()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def reach(page: Page, name: str) -> None:
    """Go by Tab until what has a name is focused."""
    for _ in range(120):
        press(page, "Tab")
        here = page.evaluate(
            "(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()"
        )
        if here == name:
            return
    raise AssertionError(f"{name} cannot be reached by Tab")


def test_a_question_is_asked_answered_and_judged_by_keyboard(
    browser: Browser, changing: str
) -> None:
    page = open_page(browser)
    page.goto(f"{changing}/#/m/ask")
    settled(page)
    reach(page, "Question")
    page.keyboard.type(QUESTION)
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Lines, the best first")).to_be_visible()
    reach(page, "Answer from memory")
    press(page, "Enter")
    reach(page, "Right")
    press(page, "Enter")
    expect(page.get_by_text("Noted:")).to_be_visible()
    assert page.faults == []  # type: ignore[attr-defined]
    page.context.close()


def test_an_item_is_forgotten_by_keyboard_after_it_was_asked_twice(
    browser: Browser, changing: str
) -> None:
    page = open_page(browser)
    page.goto(f"{changing}/#/m/items/e2")
    settled(page)
    reach(page, "Forget …")
    press(page, "Enter")
    expect(page.get_by_role("dialog", name="Forget e2?")).to_be_visible()
    assert violations(page) == []
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("document.activeElement.textContent") == "Forget …"
    press(page, "Enter")
    reach(page, "Forget for good")
    press(page, "Enter")
    expect(page.get_by_role("heading", name="e2 is forgotten")).to_be_visible()
    expect(page.get_by_role("heading", name="Receipt")).to_be_visible()
    page.goto(f"{changing}/#/m/items")
    settled(page)
    expect(page.get_by_text("The violin has a broken bow.")).to_have_count(0)
    page.context.close()


def test_what_happens_is_told_as_it_happens_and_shown_elsewhere(
    browser: Browser, changing: str
) -> None:
    page = open_page(browser)
    page.goto(f"{changing}/#/m/live")
    expect(page.get_by_text("listening")).to_be_visible()
    post(changing, "/items", {"text": "The oboe has a dry reed."})
    expect(page.get_by_text("an item was remembered")).to_be_visible()
    expect(page.locator(".where")).to_contain_text("8 items")
    page.get_by_role("link", name="Items").click()
    expect(page.get_by_text("The oboe has a dry reed.")).to_be_visible()
    page.context.close()


def test_a_room_is_named_pinned_and_merged(browser: Browser, changing: str) -> None:
    page = open_page(browser)
    page.goto(f"{changing}/#/m/rooms/0")
    settled(page)
    page.get_by_label("Name").fill("<i>Heating</i>")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="<i>Heating</i>")).to_be_visible()
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    page.get_by_role("button", name="Unpin").click()
    page.get_by_role("button", name="Merge …").click()
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_role("heading", name="Room 1")).to_be_visible()
    page.context.close()


def test_a_split_is_replayed_and_taken_back(browser: Browser) -> None:
    with serving_household() as home:
        page = open_page(browser)
        page.goto(home + "splits/c4")
        page.get_by_role("button", name="Replay").click()
        expect(page.get_by_text("Sound: worked out again")).to_be_visible()
        page.get_by_role("button", name="Take back …").click()
        page.get_by_role("button", name="Take it back").click()
        expect(page.locator("main .badge").get_by_text("taken back")).to_be_visible()
        page.goto(home + "rooms")
        expect(page.get_by_text("5 of at most 6 are open")).to_be_visible()
        page.context.close()


def test_the_curve_of_the_budget_is_drawn_and_told(browser: Browser, home: str) -> None:
    page = open_page(browser)
    page.goto(home + "budget")
    page.get_by_role("button", name="Measure").click()
    expect(page.get_by_text("is enough for 95 % of them")).to_be_visible()
    expect(page.locator("svg.curve circle")).to_have_count(8)
    assert violations(page) == []
    page.context.close()


def test_a_server_with_keys_lets_in_whoever_has_one(browser: Browser) -> None:
    ring = KeyRing()
    _, written = ring.make("m", ["read"])
    with serving(url=small(), keys=ring) as url:
        page = open_page(browser)
        page.goto(f"{url}/#/m/items/e1")
        expect(page.get_by_role("heading", name="This server needs a key")).to_be_visible()
        assert violations(page) == []
        page.set_viewport_size(PHONE)
        assert overflow(page) == 0
        page.get_by_label("Key").fill("dm_no_key")
        page.get_by_role("button", name="Enter").click()
        expect(page.get_by_role("alert")).to_be_visible()
        page.get_by_label("Key").fill(written)
        page.get_by_role("button", name="Enter").click()
        expect(page.get_by_role("heading", name="Item e1")).to_be_visible()
        expect(page.get_by_role("button", name="Forget …")).to_have_count(0)
        other = page.context.new_page()
        other.goto(f"{url}/#key={written}&memory=m")
        expect(other.get_by_role("heading", name="Ask", exact=True)).to_be_visible()
        assert written not in other.url
        page.context.close()


def test_what_is_typed_while_a_key_is_tried_stays(browser: Browser) -> None:
    ring = KeyRing()
    _, written = ring.make("m", ["read"])
    with serving(url=small(), keys=ring) as url:
        page = open_page(browser)
        page.goto(f"{url}/#/m/items/e1")
        held: list[Route] = []
        memories = re.compile("/v1/memories")
        page.route(memories, lambda route: held.append(route))
        page.get_by_label("Key").fill("dm_no_key")
        with page.expect_request(memories):
            page.keyboard.press("Enter")
        page.keyboard.insert_text(written[:9])
        held.pop().continue_()
        page.unroute(memories)
        expect(page.get_by_role("alert")).to_be_visible()
        page.keyboard.insert_text(written[9:])
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Item e1")).to_be_visible()
        page.context.close()


@pytest.mark.parametrize("view", [view for view in VIEWS if view not in ("live", "keys")])
def test_the_page_in_a_file_shows_the_same_and_asks_for_nothing(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, view: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "index.html"
    if not path.exists():
        path.write_text(document(snapshot(household().export(), "household")), encoding="utf-8")
    page = open_page(browser)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{path.as_uri()}#/household/{view.replace('?q=Who%20plays%20the%20violin%3F', '')}")
    settled(page)
    assert page.faults == []  # type: ignore[attr-defined]
    assert violations(page) == []
    assert [url for url in asked if not url.startswith(path.as_uri())] == []
    page.context.close()


def test_the_texts_of_strangers_do_nothing_in_a_file_either(
    browser: Browser, tmp_path: Path
) -> None:
    with_them = SlotMemory.open(small(), memory_id="m")
    path = tmp_path / "index.html"
    path.write_text(document(snapshot(with_them.export(), "m")), encoding="utf-8")
    page = open_page(browser)
    page.goto(f"{path.as_uri()}#/m/items")
    settled(page)
    assert page.evaluate("window.hit") is None
    assert page.faults == []  # type: ignore[attr-defined]
    expect(page.get_by_text("window.hit = 1")).to_be_visible()
    page.context.close()


#: An id of a memory that would end the element, the attribute or the address that it stands in.
ODD_ID = "m</option><img src=x onerror='window.hit = 5'>\u202e/../\""
#: Whatever a view may be asked to show, also what objects of JavaScript have from the beginning.
ASKED = (
    *("ask", "ask?q=HOSTILE", "ask?q=__proto__&limit=1e999", "rooms", "rooms/0", "rooms/__proto__"),
    *("items", "items/e1", "items/e2", "items/constructor", "answers", "answers/a1", "choices"),
    *("choices/d1", "choices/__proto__", "splits", "splits/toString", "budget", "live", "health"),
    *("keys", "__proto__", "<img src=x onerror='window.hit = 6'>"),
)


def told_everywhere() -> Store:
    """Return a store in which strangers' texts stand wherever there is place for one."""
    store = open_store("memory://")
    memory = SlotMemory.open(store, memory_id=ODD_ID, clock=None)
    for text in (*HOSTILE, "__proto__", "constructor"):
        about: dict[str, Any] = {"speaker": text[:200], "session": text[:200], "source": text[:200]}
        memory.ingest(f"{text} is lit.", **about, metadata={"__proto__": {text[:40]: text}})
    memory.update("e1", f"{HOSTILE[0]} is out.")
    memory.feedback(memory.answer(HOSTILE[0]), correction=HOSTILE[3])
    memory.feedback(memory.decide(HOSTILE[0], [HOSTILE[3], "__proto__"]), outcome=True)
    memory.rename(memory.slots[0].number, HOSTILE[0][:60])
    return store


@pytest.mark.parametrize("in_a_file", [False, True], ids=["server", "file"])
def test_in_no_view_do_the_texts_of_strangers_do_anything(
    browser: Browser, tmp_path: Path, in_a_file: bool
) -> None:
    store = told_everywhere()
    memory = SlotMemory.open(store, memory_id=ODD_ID)
    path = tmp_path / "index.html"
    path.write_text(document(snapshot(memory.export(), ODD_ID)), encoding="utf-8")
    with serving(url=store) as url:
        start = path.as_uri() if in_a_file else f"{url}/"
        for view in ASKED:
            page = open_page(browser)
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            place = view.replace("HOSTILE", quote(HOSTILE[0]))
            page.goto(f"{start}#/{quote(ODD_ID, safe='')}/{place}")
            expect(page.locator("main h1, main [role=alert]").first).to_be_visible()
            expect(page.get_by_text("Looking ")).to_have_count(0)
            assert page.evaluate("[window.hit ?? null, Object.keys({}.__proto__)]") == [None, []]
            assert page.faults == [], view  # type: ignore[attr-defined]
            assert page.locator("img, iframe, object, embed, main script").count() == 0
            links = page.eval_on_selector_all(
                "a", "all => all.map(one => one.getAttribute('href'))"
            )
            assert [link for link in links if not link.startswith("#")] == []
            assert [one for one in asked if not one.startswith(start)] == []
            page.context.close()


def test_something_is_painted_at_once(browser: Browser, home: str) -> None:
    """The best of five, since whatever else the machine does is none of the page's."""
    times = []
    for _ in range(5):
        page = open_page(browser)
        page.goto(home + "rooms")
        settled(page)
        script = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        times.append(float(page.evaluate(script)))
        page.context.close()
    print(f"first contentful paint, ms: {[round(time) for time in sorted(times)]}")
    assert min(times) <= FIRST_PAINT_MS


def test_a_server_that_was_away_is_found_again(browser: Browser) -> None:
    store = small()
    with serving(url=store) as url:
        page = open_page(browser)
        page.goto(f"{url}/#/m/live")
        expect(page.get_by_text("listening")).to_be_visible()
    expect(page.get_by_text("not connected")).to_be_visible()
    with serving(url=small(), port=int(url.rpartition(":")[2])):
        expect(page.get_by_text("listening")).to_be_visible(timeout=20_000)
    page.context.close()


def test_what_came_of_a_judgement_stays_to_be_read(browser: Browser, changing: str) -> None:
    post(changing, "/answer", {"query": "Which bow has the violin?"})
    page = open_page(browser)
    page.goto(f"{changing}/#/m/answers/a2")
    page.get_by_role("button", name="Correct it …").click()
    page.get_by_label("What is right").fill("a <b>broken</b> bow")
    page.get_by_role("button", name="Tell it").click()
    expect(page.get_by_text("The correction is remembered as")).to_be_visible()
    expect(page.get_by_text("by correction", exact=False).first).to_be_visible()
    page.wait_for_timeout(1500)
    expect(page.get_by_text("The correction is remembered as")).to_be_visible()
    page.context.close()


def test_the_first_key_is_made_shown_once_and_used(browser: Browser, changing: str) -> None:
    page = open_page(browser)
    page.goto(f"{changing}/#/m/keys")
    settled(page)
    page.get_by_text("Make a key").click()
    expect(page.get_by_text("It is the first")).to_be_visible()
    assert violations(page) == []
    page.get_by_label("Name", exact=False).first.fill("<i>me</i>")
    for scope in ("write", "feedback", "forget", "admin"):
        page.get_by_role("checkbox", name=scope).check()
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("code.secret")).to_contain_text("dm_")
    expect(page.get_by_text("<i>me</i>")).to_be_visible()
    page.get_by_role("button", name="Done").click()
    assert page.locator("code.secret").count() == 0
    page.get_by_role("button", name="Revoke …").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("button", name="Enter another key").first).to_be_visible()
    page.context.close()
