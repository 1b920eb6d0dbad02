"""Two calls or more of every command, as its help shows them; a test runs them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXAMPLES", "shown"]

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("demem demo", "demem demo --json"),
    "chat": (
        "demem chat -m bot.db --asker Ana",
        "demem chat -m bot.db --model qwen3 --base-url http://localhost:11434/v1",
    ),
    "ingest": (
        "demem ingest chat.jsonl -m bot.db",
        "demem ingest notes.txt -m bot.db --at 2025-06-01 --memory-id ana",
    ),
    "ask": (
        'demem ask "Where does Ana live?" -m bot.db',
        'demem ask "What did I say last week?" -m bot.db --at 2025-06-01 --asker Ana',
    ),
    "read": (
        'demem read "Where does Ana live?" -m bot.db --limit 2000',
        'demem read "plans for June" -m bot.db --order latest --json',
        'demem read "plans" -m bot.db --where speaker=Ana --since 2024-05',
    ),
    "notes": (
        "demem notes -m bot.db --model gpt-4o-mini --price 0.15,0.60 --limit-cost 1",
        "demem notes -m bot.db --model qwen3 --base-url http://localhost:11434/v1",
    ),
    "feedback": (
        "demem feedback a1 -m bot.db --thumbs up",
        'demem feedback a1 -m bot.db --correction "In Porto."',
    ),
    "decide": (
        'demem decide "book a flight" -m bot.db --action search --action ask',
        'demem decide "book a flight" -m bot.db --action search --chose ask',
    ),
    "outcome": (
        "demem outcome d1 -m bot.db --reward 1",
        "demem outcome d1 -m bot.db --reward 0 --key run-7",
    ),
    "decisions": ("demem decisions -m bot.db", "demem decisions -m bot.db --json"),
    "replay-decisions": (
        "demem replay-decisions -m bot.db",
        "demem replay-decisions -m bot.db --slots 2 --slots 8",
    ),
    "items": ("demem items bot.db", "demem items bot.db --limit 0 --json"),
    "show": ("demem show e12 bot.db", "demem show e12 -m bot.db --json"),
    "stats": ("demem stats bot.db", "demem stats bot.db --json"),
    "slots": ("demem slots -m bot.db", "demem slots -m bot.db --full 0"),
    "rename": ('demem rename 0 "Home" -m bot.db', "demem rename 0 -m bot.db"),
    "pin": ("demem pin 0 -m bot.db", "demem pin 0 --off -m bot.db"),
    "merge": ("demem merge 1 --into 0 -m bot.db", "demem merge 1 --into 0 -m bot.db --json"),
    "share": ("demem share -m bot.db", "demem share -m bot.db --json"),
    "explain": ("demem explain a1 -m bot.db", "demem explain e1 -m bot.db --json"),
    "certificates": ("demem certificates -m bot.db", "demem certificates -m bot.db --json"),
    "update": (
        'demem update e1 "I live in Faro." -m bot.db',
        'demem update e1 "I live in Faro." -m bot.db --at 2025-06-01 --key move-1',
    ),
    "history": ("demem history e1 -m bot.db", "demem history e1 -m bot.db --json"),
    "keep": ("demem keep e1 -m bot.db", "demem keep e1 --off -m bot.db"),
    "hide": ("demem hide e1 -m bot.db", "demem hide e1 --off -m bot.db"),
    "supersede": ("demem supersede e1 e2 -m bot.db", "demem supersede e1 e2 -m bot.db --key fix-1"),
    "forget": (
        "demem forget e3 -m bot.db",
        "demem forget -m bot.db --before 2024-01-01",
        "demem forget -m bot.db --where speaker=Ana --where session=one",
    ),
    "undo": ("demem undo s1 -m bot.db", "demem undo c1 -m bot.db --json"),
    "export": ("demem export bot.jsonl -m bot.db", "demem export -m bot.db > bot.jsonl"),
    "import": (
        "demem import bot.jsonl -m copy.db",
        "demem import bot.jsonl -m copy.db --memory-id ana",
    ),
    "backup": ("demem backup bot.db bot-1.db", "demem backup bot.db bot-2.db --json"),
    "restore": (
        "demem restore bot.jsonl --verify",
        "demem restore bot.db --verify",
        "demem restore bot.db -m again.db",
    ),
    "cool": (
        "demem cool bot.db --older-than 30 --to file:///var/cold",
        "demem cool bot.db --older-than 90 --to s3://bucket/bot --json",
    ),
    "doctor": ("demem doctor bot.db", "demem doctor bot.db --repair mended.db --json"),
    "audit-log": ("demem audit-log audit.jsonl", "demem audit-log audit.jsonl --item e1 --json"),
    "verify-receipt": (
        "demem verify-receipt receipt.json -m bot.db",
        "demem verify-receipt receipt.json -m bot.db --json",
    ),
    "rotate-key": ("demem rotate-key bot.db --to new.key", "demem rotate-key bot.db --open"),
    "check": ("demem check -m bot.db", "demem check -m bot.db --json"),
    "memories": ("demem memories bot.db", "demem memories bot.db --tenant default --json"),
    "copy": (
        "demem copy bot.db --to default-2",
        "demem copy bot.db --to default --to-file backup.db",
        "demem copy bot.db all.db",
    ),
    "rename-memory": (
        "demem rename-memory bot.db --to ana",
        "demem rename-memory bot.db --to ana --to-tenant team-a",
    ),
    "delete": (
        "demem delete bot.db --yes",
        "demem delete bot.db --all-of-tenant --tenant default --yes",
    ),
    "eval": (
        "demem eval turns.jsonl questions.jsonl",
        "demem eval turns.jsonl questions.jsonl --limit 2000 --out report",
    ),
    "bench": (
        "demem bench locomo --data locomo10.json --limit 2000",
        "demem bench longmemeval --data longmemeval_s.json --model gpt-4o-mini --out lme",
        "demem bench paper locomo-main --data locomo10.json --price 0.15,0.60",
        "demem bench verify lme/results.jsonl --data longmemeval_s.json",
        "demem bench submit lme/results.jsonl --data longmemeval_s.json > hypotheses.jsonl",
    ),
    "audit": (
        "demem audit splits locomo --data locomo10.json",
        "demem audit noise locomo --data locomo10.json --out audit",
    ),
    "lab": ("demem lab --quick", "demem lab --only regret --seeds 5 --out lab"),
    "serve": (
        "demem serve -m bot.db",
        "demem serve --store memories/ --port 9000 --audit audit.jsonl",
        "demem serve -m bot.db --proxy https://api.openai.com",
        "demem serve -m bot.db --proxy anthropic=https://api.anthropic.com",
    ),
    "open": (
        "demem open bot.db",
        "demem open",
    ),
    "inspect": (
        "demem inspect bot.jsonl",
        "demem inspect bot.jsonl --out page/",
    ),
    "keys": (
        "demem keys create -m bot.db --prefix team-a/ --scope read,write",
        "demem keys list -m bot.db",
    ),
    "worker": (
        "demem worker -m bot.db --once --forget-older-than 365d",
        "demem worker -m bot.db --model qwen3 --base-url http://localhost:11434/v1",
        "demem worker -m bot.db --kinds retention --forget-older-than guests/=30d",
    ),
    "jobs": (
        "demem jobs -m postgresql://demem@db/memories",
        "demem jobs -m postgresql://demem@db/memories --off",
    ),
    "bulk": (
        "demem bulk ingest chats/ --store bot.db --workers 4",
        "demem bulk ingest turns.jsonl --by user --store postgresql://demem@db/memories --json",
        "demem bulk reembed --store bot.db --encoder model2vec:minishlab/potion-base-8M",
        "demem bulk eval locomo10.json --benchmark locomo --workers 4 --records done.jsonl",
        "demem bulk eval --store bot.db --questions asked/ --system demem --limit 2000",
    ),
    "mcp": ("demem mcp -m bot.db", "demem mcp -m bot.db --http --port 8000 --namespace-per-call"),
    "setup": (
        "demem setup claude-code --dry-run",
        "demem setup codex --user -m bot.db --no-server --yes",
        "demem setup cursor --project . --remove --yes",
    ),
    "hook": (
        "demem hook claude-code -m bot.db < told.json",
        "demem hook cursor -m bot.db --limit 1000 < told.json",
    ),
}


def shown(command: str) -> str:
    """Return the examples of a command as the end of its help; ``\\b`` keeps their lines."""
    lines = ["Examples:", *(f"  {call}" for call in EXAMPLES[command])]
    return "\b\n" + "\n".join(lines)
