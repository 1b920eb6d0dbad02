"""Measure a memory, or anything else that reads text, on public benchmarks and one's own files."""

from __future__ import annotations

from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.beam import load_beam
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.data.locomo import load_locomo
from demem_agent.evaluate.data.longmemeval import load_longmemeval
from demem_agent.evaluate.data.memoryarena import load_memoryarena
from demem_agent.evaluate.data.plain import load_jsonl, load_text
from demem_agent.evaluate.data.questions import load_own, load_questions, with_questions
from demem_agent.evaluate.deciding.estimates import PolicyValue
from demem_agent.evaluate.deciding.policies import Policy
from demem_agent.evaluate.deciding.replaying import (
    USUAL,
    DecisionReplay,
    LearnsFrom,
    Replayed,
    replay_decisions,
)
from demem_agent.evaluate.drawing.choices import draw_decisions
from demem_agent.evaluate.many import Asked, Evaluated, Evaluating, merged, tasks_of
from demem_agent.evaluate.measured import MEASURES, Measured, load, save
from demem_agent.evaluate.metrics import answer_f1, contains, extract, recall, turns_found
from demem_agent.evaluate.reporting import paired, report
from demem_agent.evaluate.run import evaluate
from demem_agent.evaluate.system import Abstains, Maker, System, Unbounded
from demem_agent.evaluate.systems import BASELINES, Slots, oracle

__all__ = [
    "BASELINES",
    "MEASURES",
    "USUAL",
    "Abstains",
    "Asked",
    "DecisionReplay",
    "Dialogue",
    "Evaluated",
    "Evaluating",
    "Interval",
    "LearnsFrom",
    "Maker",
    "Measured",
    "Policy",
    "PolicyValue",
    "Probe",
    "Replayed",
    "Slots",
    "System",
    "Unbounded",
    "answer_f1",
    "contains",
    "draw_decisions",
    "evaluate",
    "extract",
    "load",
    "load_beam",
    "load_jsonl",
    "load_locomo",
    "load_longmemeval",
    "load_memoryarena",
    "load_own",
    "load_questions",
    "load_text",
    "merged",
    "oracle",
    "paired",
    "recall",
    "replay_decisions",
    "report",
    "save",
    "tasks_of",
    "turns_found",
    "with_questions",
]
