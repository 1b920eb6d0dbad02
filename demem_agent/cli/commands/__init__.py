"""The commands by name, in the order of ``demem --help``: one file each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from demem_agent.cli.commands.arranging.hide import hide
from demem_agent.cli.commands.arranging.keep import keep
from demem_agent.cli.commands.arranging.merge import merge
from demem_agent.cli.commands.arranging.pin import pin
from demem_agent.cli.commands.arranging.rename import rename
from demem_agent.cli.commands.arranging.share import share
from demem_agent.cli.commands.arranging.slots import slots
from demem_agent.cli.commands.arranging.undo import undo
from demem_agent.cli.commands.ask import ask
from demem_agent.cli.commands.certificates import certificates
from demem_agent.cli.commands.chat import chat
from demem_agent.cli.commands.check import check
from demem_agent.cli.commands.decide import decide
from demem_agent.cli.commands.decisions import decisions
from demem_agent.cli.commands.demo import demo
from demem_agent.cli.commands.explain import explain
from demem_agent.cli.commands.export import export
from demem_agent.cli.commands.feedback import feedback
from demem_agent.cli.commands.forget import forget
from demem_agent.cli.commands.history import history
from demem_agent.cli.commands.hook import hook
from demem_agent.cli.commands.ingest import ingest
from demem_agent.cli.commands.looking.audit_log import audit_log
from demem_agent.cli.commands.looking.items import items
from demem_agent.cli.commands.looking.show import show
from demem_agent.cli.commands.looking.stats import stats
from demem_agent.cli.commands.mcp import mcp
from demem_agent.cli.commands.notes import notes
from demem_agent.cli.commands.outcome import outcome
from demem_agent.cli.commands.read import read
from demem_agent.cli.commands.replay_decisions import replay_decisions
from demem_agent.cli.commands.restore import restore
from demem_agent.cli.commands.serving.keys import keys
from demem_agent.cli.commands.serving.serve import serve
from demem_agent.cli.commands.setup import setup
from demem_agent.cli.commands.supersede import supersede
from demem_agent.cli.commands.update import update
from demem_agent.cli.commands.whole.backup import backup
from demem_agent.cli.commands.whole.copy import copy
from demem_agent.cli.commands.whole.delete import delete
from demem_agent.cli.commands.whole.doctor import doctor
from demem_agent.cli.commands.whole.memories import memories
from demem_agent.cli.commands.whole.rename_memory import rename_memory
from demem_agent.cli.commands.whole.rotate_key import rotate_key
from demem_agent.cli.commands.whole.verify_receipt import verify_receipt
from demem_agent.cli.measuring.audit import audit
from demem_agent.cli.measuring.bench import bench
from demem_agent.cli.measuring.eval import evaluate_own
from demem_agent.cli.measuring.lab import lab

__all__ = ["COMMANDS"]

COMMANDS: Mapping[str, Callable[..., None]] = {
    "demo": demo,
    "chat": chat,
    "ingest": ingest,
    "ask": ask,
    "read": read,
    "notes": notes,
    "feedback": feedback,
    "decide": decide,
    "outcome": outcome,
    "decisions": decisions,
    "replay-decisions": replay_decisions,
    "items": items,
    "show": show,
    "stats": stats,
    "audit-log": audit_log,
    "slots": slots,
    "rename": rename,
    "pin": pin,
    "merge": merge,
    "share": share,
    "explain": explain,
    "certificates": certificates,
    "update": update,
    "history": history,
    "supersede": supersede,
    "keep": keep,
    "hide": hide,
    "forget": forget,
    "undo": undo,
    "export": export,
    "import": restore,
    "backup": backup,
    "restore": restore,
    "doctor": doctor,
    "rotate-key": rotate_key,
    "verify-receipt": verify_receipt,
    "check": check,
    "memories": memories,
    "copy": copy,
    "rename-memory": rename_memory,
    "delete": delete,
    "eval": evaluate_own,
    "bench": bench,
    "audit": audit,
    "lab": lab,
    "serve": serve,
    "keys": keys,
    "mcp": mcp,
    "setup": setup,
    "hook": hook,
}
