"""Several processes that serve the same memories at one address: workers, and who watches them.

Workers have no state that others would need: what is remembered is in the store, and what else must
be the same for all is asked of the one that watches (:mod:`demem_agent.server.common`).
"""

from __future__ import annotations

from demem_agent.server.workers.supervising import serve_workers

__all__ = ["serve_workers"]
