"""A hook of the site: names that docstrings refer to, as in :class:`~demem_agent.Turn`, become links."""

from __future__ import annotations

import re
from typing import Any

_ROLE = re.compile(r":(?:class|func|meth|attr|data|mod|exc):<code>(~?)([\w.]+)</code>")


def on_page_content(html: str, **_: Any) -> str:
    """Return a page with each role replaced by its name, linked where the site has that name."""
    return _ROLE.sub(_linked, html)


def _linked(match: re.Match[str]) -> str:
    short, full = match[1], match[2]
    shown = full.rpartition(".")[2] if short else full
    return f'<autoref optional identifier="{full}"><code>{shown}</code></autoref>'
