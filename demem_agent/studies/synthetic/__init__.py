"""The laboratory: a synthetic world, learners and baselines in it, their tables and figures.

Needs the extra ``lab`` (scipy and matplotlib); nothing else of the package imports it.
"""

from __future__ import annotations

from demem_agent.studies.synthetic.environment import Block, World, make_world
from demem_agent.studies.synthetic.experiments import EXPERIMENTS
from demem_agent.studies.synthetic.run import run_lab
from demem_agent.studies.synthetic.scale import Scale

__all__ = ["EXPERIMENTS", "Block", "Scale", "World", "make_world", "run_lab"]
