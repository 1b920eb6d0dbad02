"""What feedback says about an answer: its channels, and what is credited to whom."""

from __future__ import annotations

from demem_agent.channels import Signal, Told
from demem_agent.feedback.signals import signal_of

__all__ = ["Signal", "Told", "signal_of"]
