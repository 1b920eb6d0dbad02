"""The tables, as numbered migrations that are never edited once released.

A file's ``user_version`` is the number of the last migration that it has had. From the tenth on,
rows are sealed (``sealing``, ``keys``, ``tables``), and a new file begins with that one;
``migrating`` carries over what earlier ones had.
"""

from __future__ import annotations

__all__ = ["APPLICATION", "EARLIER", "MIGRATIONS", "SEALED", "VERSION"]

#: What SQLite's header says of who wrote a file: "DeMe" in ASCII. Files of before have 0.
APPLICATION = 0x44654D65

_FIRST = """
CREATE TABLE memory (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, settings TEXT NOT NULL,
    seq INTEGER NOT NULL, evidence INTEGER NOT NULL, forgotten INTEGER NOT NULL,
    contexts INTEGER NOT NULL, certificates INTEGER NOT NULL, encoder TEXT NOT NULL,
    encoder_fingerprint TEXT NOT NULL, dimensions INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id));
CREATE TABLE slot (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    parent INTEGER, revision INTEGER NOT NULL, total BLOB NOT NULL, summary BLOB NOT NULL,
    gate TEXT,
    PRIMARY KEY (tenant, memory_id, number));
CREATE TABLE evidence (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    slot INTEGER NOT NULL, text BLOB NOT NULL, speaker BLOB, at TEXT, session BLOB, source BLOB,
    source_id BLOB, trust REAL NOT NULL, spans TEXT NOT NULL, vectors BLOB NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
CREATE TABLE context (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    slot INTEGER, body TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
CREATE TABLE certificate (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
CREATE TABLE op (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, seq INTEGER NOT NULL,
    kind TEXT NOT NULL, op_key BLOB, request TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, seq));
CREATE UNIQUE INDEX op_by_key ON op (tenant, memory_id, op_key);
CREATE TABLE cover (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, slot INTEGER NOT NULL, place INTEGER NOT NULL,
    evidence INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id, slot, place));
"""

_NAMED = """
ALTER TABLE slot ADD COLUMN name BLOB;
ALTER TABLE slot ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE slot ADD COLUMN written TEXT;
"""

#: Whether forgotten text may still be in the file. Before this migration ``user_version`` told it,
#: and the table ``demem_schema`` had a row for each migration.
_ERASURE = """
CREATE TABLE erasure (owed INTEGER NOT NULL);
INSERT INTO erasure (owed) SELECT user_version FROM pragma_user_version;
DROP TABLE IF EXISTS demem_schema;
"""

#: Which line has taken the place of which.
_SUCCESSIONS = """
ALTER TABLE memory ADD COLUMN successions INTEGER NOT NULL DEFAULT 0;
CREATE TABLE succession (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
"""

#: What is decided, in which situations.
_CHOICES = """
ALTER TABLE memory ADD COLUMN situations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN choices INTEGER NOT NULL DEFAULT 0;
CREATE TABLE situation (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
CREATE TABLE choice (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
"""

#: What a caller keeps beside a text: a JSON object, NULL where it is empty.
_METADATA = """
ALTER TABLE evidence ADD COLUMN metadata TEXT;
"""

#: What notes were made from, and how far they have come.
_NOTES = """
ALTER TABLE memory ADD COLUMN noted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE evidence ADD COLUMN made_from TEXT NOT NULL DEFAULT '[]';
"""

#: Memories that come and go as a whole: ``era`` counts those that were deleted or renamed, and each
#: has the count from when it was made. ``mark`` says what stays whatever happens, and what is never
#: read.
_WHOLE = """
ALTER TABLE erasure ADD COLUMN era INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN era INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN made TEXT;
ALTER TABLE memory ADD COLUMN changed TEXT;
CREATE TABLE mark (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    kept INTEGER NOT NULL, hidden INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
"""

#: Whose file it is.
_OURS = f"PRAGMA application_id = {APPLICATION}"

#: Rows that are sealed, each with a key of its own. The id of a row has the number of its memory
#: and its own number in that; ``cell`` says where its key is. Of a memory, what tells that it has
#: changed can be read without a key. Operations that came without an idempotency key and told
#: nothing have a kind alone.
_SEALED = """
ALTER TABLE erasure ADD COLUMN sealed BLOB;
CREATE TABLE key (id INTEGER PRIMARY KEY, secrets BLOB NOT NULL);
CREATE TABLE spare_key (id INTEGER PRIMARY KEY, secrets BLOB NOT NULL);
CREATE TABLE memory (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, memory_id TEXT NOT NULL, seq INTEGER NOT NULL,
    era INTEGER NOT NULL, items INTEGER NOT NULL, cell INTEGER NOT NULL, sealed BLOB NOT NULL,
    UNIQUE (tenant, memory_id));
CREATE TABLE evidence (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE slot (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE context (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE certificate (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE succession (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE situation (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE choice (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE mark (id INTEGER PRIMARY KEY, cell INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE op (id INTEGER PRIMARY KEY, cell INTEGER, sealed BLOB, kind TEXT);
"""

#: Rows of items in which vectors are codes of a byte a number. Those of before stay as they are,
#: and are read as they were; what would not know the others refuses the file.
_CODES = ""

#: Rows packed in blocks, beside themselves: how many are in a block, and the number of the last.
_SNAPSHOT = """
CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL, cell INTEGER NOT NULL,
    sealed BLOB NOT NULL);
"""

#: Vectors of items: beside each row at first, then those of a block in one part of which ``count``
#: and ``last`` say as much as of a block. Rows of before have theirs in themselves until they are
#: packed.
_VECTORS = """
CREATE TABLE vector (id INTEGER PRIMARY KEY, sealed BLOB NOT NULL);
CREATE TABLE vector_part (
    id INTEGER PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL, cell INTEGER NOT NULL,
    sealed BLOB NOT NULL);
"""

MIGRATIONS: tuple[str, ...] = (
    _FIRST,
    _NAMED,
    _ERASURE,
    _SUCCESSIONS,
    _CHOICES,
    _METADATA,
    _NOTES,
    _WHOLE,
    _OURS,
    _SEALED,
    _CODES,
    _SNAPSHOT,
    _VECTORS,
)
#: The last version whose rows are not sealed.
EARLIER = 9
#: What a new file begins with: the tables of the tenth migration, and what is kept of others.
SEALED = f"""
CREATE TABLE erasure (owed INTEGER NOT NULL, era INTEGER NOT NULL DEFAULT 0);
INSERT INTO erasure (owed) VALUES (0);
{_OURS};
{_SEALED}
{_SNAPSHOT}
{_VECTORS}
"""
VERSION = len(MIGRATIONS)
