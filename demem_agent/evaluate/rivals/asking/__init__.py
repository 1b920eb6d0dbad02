"""Rivals that cannot do without a language model: they rewrite what they are told, or ask to read.

Each has a file with its adapter. It asks the model at a gate on this machine (``gate.py``), where
its calls can be recorded and are counted, and which has the encoder that ships here.
"""

from __future__ import annotations
