"""Take the pictures of the page to look inside, of the demo's memory, with a browser.

    make page-pictures        writes docs/images/inspect-*.png

A Chromium has to be there, and fonts: Inter and Noto Serif are what the page looks best with.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

from browsing import chromium, open_page, serving_household, settled
from PIL import Image
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
QUESTION = "ask?q=What%20must%20I%20leave%20out%20of%20a%20dinner%20for%20Noor%3F"
#: The page has so few colours that these are enough, for a third of the bytes.
COLOURS = 256
SCALE = 1.5


class Shot(NamedTuple):
    """One picture: its name, the view, how it looks, and its size in CSS pixels."""

    name: str
    view: str
    theme: str = "light"
    wide: int = 1160
    tall: int = 800


SHOTS = (
    Shot("ask", QUESTION, tall=860),
    Shot("ask-dark", QUESTION, theme="dark", tall=860),
    Shot("rooms", "rooms", tall=740),
    Shot("splits", "splits", tall=640),
    Shot("certificate", "splits/c1", theme="dark", tall=880),
    Shot("item", "items/e82", tall=640),
    Shot("budget", "budget", tall=780),
    Shot("phone-ask", QUESTION, wide=390, tall=800),
    Shot("phone-rooms", "rooms", theme="dark", wide=390, tall=800),
)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with chromium() as browser, serving_household() as home:
        for shot in SHOTS:
            path = IMAGES / f"inspect-{shot.name}.png"
            path.write_bytes(small(taken(browser, home, shot)))
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


def taken(browser: Browser, home: str, shot: Shot) -> bytes:
    """Return a picture as PNG."""
    page = open_page(
        browser, theme=shot.theme, wide=shot.wide, tall=shot.tall, device_scale_factor=SCALE
    )
    page.goto(home + shot.view)
    settled(page)
    if shot.view == "budget":
        page.get_by_role("button", name="Measure").click()
        page.wait_for_selector("text=Measure again")
    page.evaluate("document.activeElement.blur()")
    picture = page.screenshot()
    page.context.close()
    return picture


def small(picture: bytes) -> bytes:
    """Return a PNG of the colours that most of it has, so that none of these changes."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    counted = sorted(image.getcolors(image.width * image.height), reverse=True)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in counted[:COLOURS] for part in colour])
    kept = image.quantize(palette=palette, dither=Image.Dither.NONE)
    out = io.BytesIO()
    kept.save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    main()
