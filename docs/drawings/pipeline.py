"""Draw the pipeline as an SVG: what a turn, a query and a feedback pass through.

    python docs/drawings/pipeline.py        writes pipeline.svg beside this file

Standard library only. A test holds the picture to what this script draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
WIDTH = 960
HEIGHT = 400
INK = "#1f2933"
QUIET = "#52606d"
PAPER = "#ffffff"
#: Colour of each path: what is told, what is asked, how it did.
TOLD = "#2f6f4f"
ASKED = "#1f5f8b"
JUDGED = "#9c4a1a"


@dataclass(frozen=True, slots=True)
class Box:
    """A station: its upper left corner, its title, a line below it, and its colour."""

    x: int
    y: int
    title: str
    note: str
    colour: str
    width: int = 150
    height: int = 56

    @property
    def left(self) -> tuple[int, int]:
        """The middle of the left edge."""
        return self.x, self.y + self.height // 2

    @property
    def right(self) -> tuple[int, int]:
        """The middle of the right edge."""
        return self.x + self.width, self.y + self.height // 2

    @property
    def top(self) -> tuple[int, int]:
        """The middle of the upper edge."""
        return self.x + self.width // 2, self.y

    @property
    def bottom(self) -> tuple[int, int]:
        """The middle of the lower edge."""
        return self.x + self.width // 2, self.y + self.height


TURN = Box(24, 40, "ingest", "a turn comes in", TOLD)
PLACE = Box(230, 40, "place", "near in words and time", TOLD)
LEDGER = Box(436, 40, "ledger", "every word kept, as said", TOLD, width=172)
QUERY = Box(24, 180, "route", "a query comes in", ASKED)
SLOTS = Box(230, 150, "K slots", "summaries of at most L", INK, width=378, height=116)
READ = Box(664, 180, "read", "at most B", ASKED, width=130)
ANSWER = Box(836, 180, "answer", "yours or ours", ASKED, width=100)
FEEDBACK = Box(836, 312, "feedback", "how it did", JUDGED, width=100)
CREDIT = Box(664, 312, "credit", "to its evidence", JUDGED, width=130)
TEST = Box(436, 312, "certificate?", "can one slot serve both", JUDGED, width=172)
SPLIT = Box(230, 312, "split", "or logged as suppressed", JUDGED, width=160)
STATIONS = (TURN, PLACE, LEDGER, QUERY, SLOTS, READ, ANSWER, FEEDBACK, CREDIT, TEST, SPLIT)
ARROWS = (
    (TURN.right, PLACE.left, TOLD),
    (PLACE.right, LEDGER.left, TOLD),
    (PLACE.bottom, (305, SLOTS.y), TOLD),
    (LEDGER.bottom, (522, SLOTS.y), TOLD),
    (QUERY.right, SLOTS.left, ASKED),
    (SLOTS.right, READ.left, ASKED),
    (READ.right, ANSWER.left, ASKED),
    (ANSWER.bottom, FEEDBACK.top, JUDGED),
    (FEEDBACK.left, CREDIT.right, JUDGED),
    (CREDIT.left, TEST.right, JUDGED),
    (TEST.left, SPLIT.right, JUDGED),
    (SPLIT.top, (310, SLOTS.y + SLOTS.height), JUDGED),
)


def drawn() -> str:
    """Return the picture as the text of an SVG file."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"',
        '     aria-label="How DeMem works" font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="{PAPER}"/>',
    ]
    for colour in (TOLD, ASKED, JUDGED):
        parts.append(_marker(colour))
    for start, end, colour in ARROWS:
        parts.append(_arrow(start, end, colour))
    parts += [_box(box) for box in STATIONS]
    parts += _small_slots()
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _marker(colour: str) -> str:
    return (
        f'<marker id="{_name(colour)}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
    )


def _name(colour: str) -> str:
    return f"tip{colour.removeprefix('#')}"


def _arrow(start: tuple[int, int], end: tuple[int, int], colour: str) -> str:
    return (
        f'<line x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}" stroke="{colour}" '
        f'stroke-width="2" marker-end="url(#{_name(colour)})"/>'
    )


def _box(box: Box) -> str:
    middle = box.x + box.width // 2
    return (
        f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="8" '
        f'fill="{PAPER}" stroke="{box.colour}" stroke-width="2"/>\n'
        + _words(middle, box.y + 24, box.title, box.colour, size=16, weight="bold")
        + "\n"
        + _words(middle, box.y + 43, box.note, QUIET, size=12)
    )


def _words(x: int, y: int, text: str, colour: str, *, size: int, weight: str = "normal") -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="middle" font-size="{size}" font-weight="{weight}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _small_slots() -> list[str]:
    """Return the slots inside the box of the slots; the last one is still free."""
    drawn = []
    for n, name in enumerate(("1", "2", "3", "...", "K")):
        left = SLOTS.x + 27 + n * 66
        dashes = ' stroke-dasharray="4 3"' if name == "K" else ""
        drawn.append(
            f'<rect x="{left}" y="{SLOTS.y + 60}" width="58" height="40" rx="5" fill="{PAPER}" '
            f'stroke="{QUIET}"{dashes}/>'
        )
        drawn.append(_words(left + 29, SLOTS.y + 85, name, QUIET, size=13))
    return drawn


if __name__ == "__main__":
    (HERE / "pipeline.svg").write_text(drawn(), encoding="utf-8")
    print(f"wrote {HERE / 'pipeline.svg'}")
