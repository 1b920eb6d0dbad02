"""The commands by name, in the order of ``demem --help``: one file each, imported when called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

__all__ = ["COMMANDS"]

Command = Callable[..., None]


class _Commands(Mapping[str, Command]):
    """Commands by name, of which one is imported when it is asked for.

    Args:
        places: where each function is, below ``demem_agent.cli``.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places

    def __getitem__(self, name: str) -> Command:
        module, _, function = self.places[name].rpartition(".")
        command: Command = getattr(import_module(f"demem_agent.cli.{module}"), function)
        return command

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


COMMANDS = _Commands(
    {
        "demo": "commands.demo.demo",
        "chat": "commands.chat.chat",
        "ingest": "commands.ingest.ingest",
        "ask": "commands.ask.ask",
        "read": "commands.read.read",
        "notes": "commands.notes.notes",
        "feedback": "commands.feedback.feedback",
        "decide": "commands.decide.decide",
        "outcome": "commands.outcome.outcome",
        "decisions": "commands.decisions.decisions",
        "replay-decisions": "commands.replay_decisions.replay_decisions",
        "items": "commands.looking.items.items",
        "show": "commands.looking.show.show",
        "stats": "commands.looking.stats.stats",
        "audit-log": "commands.looking.audit_log.audit_log",
        "slots": "commands.arranging.slots.slots",
        "rename": "commands.arranging.rename.rename",
        "pin": "commands.arranging.pin.pin",
        "merge": "commands.arranging.merge.merge",
        "share": "commands.arranging.share.share",
        "explain": "commands.explain.explain",
        "certificates": "commands.certificates.certificates",
        "update": "commands.update.update",
        "history": "commands.history.history",
        "supersede": "commands.supersede.supersede",
        "keep": "commands.arranging.keep.keep",
        "hide": "commands.arranging.hide.hide",
        "forget": "commands.forget.forget",
        "undo": "commands.arranging.undo.undo",
        "export": "commands.export.export",
        "import": "commands.restore.restore",
        "backup": "commands.whole.backup.backup",
        "restore": "commands.restore.restore",
        "cool": "commands.whole.cool.cool",
        "doctor": "commands.whole.doctor.doctor",
        "rotate-key": "commands.whole.rotate_key.rotate_key",
        "verify-receipt": "commands.whole.verify_receipt.verify_receipt",
        "check": "commands.check.check",
        "memories": "commands.whole.memories.memories",
        "copy": "commands.whole.copy.copy",
        "rename-memory": "commands.whole.rename_memory.rename_memory",
        "delete": "commands.whole.delete.delete",
        "eval": "measuring.eval.evaluate_own",
        "bench": "measuring.bench.bench",
        "audit": "measuring.audit.audit",
        "lab": "measuring.lab.lab",
        "serve": "commands.serving.serve.serve",
        "open": "commands.serving.open.open_page",
        "inspect": "commands.serving.inspect.inspect",
        "keys": "commands.serving.keys.keys",
        "worker": "commands.working.worker.worker",
        "jobs": "commands.working.jobs.jobs",
        "bulk": "commands.many.bulk.bulk",
        "mcp": "commands.mcp.mcp",
        "setup": "commands.setup.setup",
        "hook": "commands.hook.hook",
    }
)
