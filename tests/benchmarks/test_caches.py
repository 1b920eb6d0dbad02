"""What memory leaves of a prompt for a provider's cache, as its page tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmark_files import benchmark

from demem_adapters.common import Memories

pytest.importorskip("openai", reason="the openai adapter: pip install 'demem-agent[openai]'")
caches = benchmark("caches")
chats = benchmark("cache_chats")


def test_characters_that_two_prompts_begin_with_are_counted() -> None:
    assert caches.alike("Be brief. Which?", "Be brief. When?") == len("Be brief. Wh")


@pytest.mark.parametrize(("place", "least", "most"), [("user", 0.95, 1.0), ("system", 0.0, 0.5)])
def test_before_the_question_more_is_kept_than_before_all_that_was_said(
    place: str, least: float, most: float
) -> None:
    row = caches.measured("openai", chats.Kind(chats.openai, place), 20)
    assert least <= row.share <= most
    assert row.changed >= 18


def test_a_chat_without_memory_is_no_measurement() -> None:
    def forgets(chat: object, memories: Memories | None, place: str) -> object:
        return chats.openai(chat, None, place)

    with pytest.raises(RuntimeError, match="nothing was recalled"):
        caches.measured("openai", chats.Kind(forgets, "user"), 3)


def row(name: str, share: float, *, default: bool = True) -> object:
    return caches.Row(name, "user", default, 1, 1, share, 1)


def test_a_page_keeps_the_lines_of_frameworks_that_are_not_installed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n{caches.BEGIN}{caches.END}\nAfter.\n", encoding="utf-8")
    caches.written(page, [row("litellm", 0.5)])
    caches.written(page, [row("openai", 0.97), row("litellm", 0.96, default=False)])
    caches.written(page, [row("openai", 0.98)])
    text = page.read_text(encoding="utf-8")
    assert "| openai | **98.0%** |  |  |  |\n| litellm | 96.0% |" in text
    assert text.startswith("Before.")
    assert text.endswith("After.\n")


def test_defaults_below_the_target_are_told() -> None:
    rows = [row("a", 0.94), row("b", 0.96), row("c", 0.5, default=False)]
    assert caches.below(rows) == ["a"]
