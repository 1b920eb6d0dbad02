"""Whether a role that owns nothing ever sees or writes a row of another tenant.

    python benchmarks/scale/row_security.py [--tries 100000] [--tenants 20] [--seed 0]

Memories of some tenants are in a store with row-level security. As the role that a server would
use, transactions of one tenant say what a program with a fault might: a statement whose filter is
forgotten, one into whose filter a condition was injected, and an insert, an update or a delete for
another tenant. Each must see and change none of another's rows. Afterwards all rows must be there
as they were. Leaves with 1 where anything else is seen.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter

import psycopg
from servers import own_server

from demem_agent import SlotMemory
from demem_agent.stores.postgres import PostgresStore
from demem_agent.testing import BagEncoder

ROLE = "demem_guest"
GRANTS = f"""
CREATE ROLE {ROLE} LOGIN;
GRANT USAGE ON SCHEMA demem TO {ROLE};
GRANT SELECT, INSERT, UPDATE, DELETE ON demem.memory, demem.row TO {ROLE};
GRANT SELECT, UPDATE (era) ON demem.store TO {ROLE};
"""
FORGOTTEN = (
    "SELECT tenant FROM demem.memory",
    "SELECT tenant FROM demem.row",
    "SELECT r.tenant FROM demem.memory m JOIN demem.row r ON r.memory = m.memory",
    "SELECT tenant FROM demem.row ORDER BY sealed LIMIT 50",
)
INJECTED = (
    "SELECT tenant FROM demem.memory WHERE tenant = '{own}' OR 1 = 1 --'",
    "SELECT tenant FROM demem.memory WHERE tenant = '{own}' UNION SELECT tenant FROM demem.row",
    "SELECT tenant FROM demem.row WHERE tenant = '{own}' OR tenant LIKE '%' OR tenant = '{other}'",
    "SELECT tenant FROM demem.row WHERE memory IN (SELECT memory FROM demem.memory)",
)
WRITTEN = (
    "INSERT INTO demem.row VALUES ('{other}', gen_random_uuid(), 0, 1, '') RETURNING tenant",
    "INSERT INTO demem.memory VALUES ('{other}', 'x', gen_random_uuid(), 0, 0, 0, 0, '') "
    "RETURNING tenant",
    "UPDATE demem.row SET sealed = '' WHERE tenant = '{other}' RETURNING tenant",
    "UPDATE demem.memory SET tenant = '{other}' RETURNING '{other}'",
    "DELETE FROM demem.row WHERE tenant <> '{own}' RETURNING tenant",
)
KINDS = {"forgotten filter": FORGOTTEN, "injected condition": INJECTED, "other's write": WRITTEN}


def tried(db: psycopg.Connection, own: str, other: str, statement: str) -> tuple[bool, bool]:
    """Return whether a transaction of a tenant saw another's row, and whether it was refused."""
    try:
        db.execute("SELECT set_config('demem.tenant', %s, true)", (own,))
        rows = db.execute(statement.format(own=own, other=other).encode()).fetchall()
        return any(tenant != own for (tenant,) in rows), False
    except psycopg.errors.InsufficientPrivilege:
        return False, True
    finally:
        db.rollback()


def main() -> None:
    """Try, and tell what was seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tries", type=int, default=100_000)
    parser.add_argument("--tenants", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    drawn = random.Random(options.seed)
    tenants = [f"t{n}" for n in range(options.tenants)]
    tally: Counter[str] = Counter()
    began = time.monotonic()
    with own_server(durable=False) as server:
        store = PostgresStore(f"{server.url}&rls=1")
        with psycopg.connect(server.url, autocommit=True) as db:
            for statement in filter(str.strip, GRANTS.split(";")):
                db.execute(statement.encode())
            for tenant in tenants:
                memory = SlotMemory.open(store, tenant=tenant, encoder=BagEncoder())
                memory.ingest(f"the boiler of {tenant} has a brass valve")
            before = all_rows(db)
            with psycopg.connect(server.url.replace("user=postgres", f"user={ROLE}")) as guest:
                for _ in range(options.tries):
                    kind = drawn.choice(list(KINDS))
                    own, other = drawn.sample(tenants, 2)
                    seen, refused = tried(guest, own, other, drawn.choice(KINDS[kind]))
                    tally[kind] += 1
                    tally["refused"] += refused
                    tally["seen"] += seen
            changed = all_rows(db) != before
        store.close()
    told = ", ".join(f"{tally[kind]:,} of {kind}" for kind in KINDS)
    print(
        f"{options.tries:,} tries in {time.monotonic() - began:.0f} s ({told}; "
        f"{tally['refused']:,} refused): {tally['seen']} saw another tenant's row; "
        f"{'rows were changed' if changed else 'all rows are as they were'}"
    )
    if tally["seen"] or changed:
        sys.exit(1)


def all_rows(db: psycopg.Connection) -> list[tuple[object, ...]]:
    """Return all rows, as one who sees all sees them."""
    found = []
    for table in ("memory", "row"):
        found += db.execute(f"SELECT * FROM demem.{table} ORDER BY 1, 2, 3, 4".encode()).fetchall()
    return found


if __name__ == "__main__":
    main()
