"""When a slot must be split: trigger, tests and division, and the certificate with its replay."""

from __future__ import annotations

from demem_agent.splitting.replaying import Replayed, replay

__all__ = ["Replayed", "replay"]
