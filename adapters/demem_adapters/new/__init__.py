"""Write a new adapter: its module, page, example and tests, and its lines in what lists adapters.

What is written passes lint, mypy and its own tests as it stands, with a small stand-in where the
framework will be. It needs a checkout of DeMem.
"""

from __future__ import annotations

from demem_adapters.new.writing import Refused, written

__all__ = ["Refused", "written"]
