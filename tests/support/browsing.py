"""A page in a real browser: Chromium, by playwright, over a server on a thread."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from demem_agent.cli.demo.household import household
from demem_agent.server import make_app
from demem_agent.server.serving import Server
from demem_agent.stores import open_store

__all__ = ["VIEWS", "axe_path", "chromium", "open_page", "serving", "serving_household", "settled"]

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: Every view of the household's page, with something in each.
VIEWS = (
    "ask",
    "ask?q=What%20must%20I%20leave%20out%20of%20a%20dinner%20for%20Noor%3F",
    "ask?q=Who%20plays%20the%20violin%3F",
    "rooms",
    "rooms/1",
    "items",
    "items/e82",
    "answers",
    "choices",
    "choices/d11",
    "splits",
    "splits/c1",
    "budget",
    "live",
    "health",
    "keys",
    "nowhere",
)


def _path() -> str:
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise RuntimeError("no Chromium: install chromium-headless-shell, or say CHROMIUM=path")
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=_path(), args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def serving(**options: Any) -> Iterator[str]:
    """Serve memories in another thread, as ``make_app`` takes them; yield the URL."""
    port = options.pop("port", 0)
    app = make_app(options.pop("url", "memory://"), **options)
    is_up = threading.Event()
    server = Server(app, port=port, on_start=lambda _: is_up.set())
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert is_up.wait(30)
    address = server.address
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(30)
        app.close()


@contextmanager
def serving_household() -> Iterator[str]:
    """Serve the demo's memory; yield the URL of its page, to which a view is added."""
    store = open_store("memory://")
    household(store)
    with serving(url=store) as url:
        yield f"{url}/#/household/"


def open_page(
    browser: Browser, *, theme: Any = "light", wide: int = 1280, tall: int = 900, **more: Any
) -> Page:
    """Open a page whose faults are listed as ``page.faults``."""
    context = browser.new_context(
        viewport={"width": wide, "height": tall},
        color_scheme=theme,
        reduced_motion="reduce",
        **more,
    )
    page = context.new_page()
    page.faults = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.faults.append(str(error)))  # type: ignore[attr-defined]
    page.on("console", lambda said: _hear(page, said.type, said.text))
    page.on("dialog", lambda dialog: page.faults.append(dialog.message))  # type: ignore[attr-defined]
    return page


def settled(page: Page) -> None:
    """Wait until nothing is looked up any more."""
    expect(page.locator("h1").first).to_be_visible()
    expect(page.get_by_text("Looking ")).to_have_count(0)
    expect(page.get_by_text("Opening …")).to_have_count(0)


def _hear(page: Any, kind: str, text: str) -> None:
    if kind in ("error", "warning") and "Failed to load resource" not in text:
        page.faults.append(text)


def axe_path() -> Path:
    """Return where axe-core lies.

    Raises:
        RuntimeError: if it is nowhere.
    """
    path = Path(os.environ.get("AXE", ""))
    if not path.is_file():
        raise RuntimeError("say where axe-core is: AXE=.../axe.min.js")
    return path
