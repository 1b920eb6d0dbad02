"""A proxy with memory: a guest of ``demem serve`` that speaks to clients as providers of models do.

What goes through it is recalled for and remembered, for any program that can be told another base
URL. ``demem serve --proxy URL`` has one; ``make_app(guests=[Proxy([Upstream(...)])])`` makes one.
"""

from __future__ import annotations

try:
    from demem_adapters.proxy.guest import Proxy
    from demem_adapters.proxy.upstreams import Upstream
except ImportError as error:
    raise ImportError("the proxy needs the server: pip install 'demem-agent[server]'") from error

__all__ = ["Proxy", "Upstream"]
