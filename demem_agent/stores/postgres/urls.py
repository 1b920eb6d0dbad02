"""Which database a URL names, and how it is used; its password is shown to nobody."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote, unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass

__all__ = ["Place", "place_of"]

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_SWITCH = {"0": False, "1": True}
_MOST_CONNECTIONS = 1_000
_MOST_PARTS = 256


@dataclass(frozen=True, slots=True)
class Place:
    """A database, and how a store uses it.

    Attributes:
        conninfo: what libpq is given: the URL without what is ours.
        schema: that the tables are in.
        rls: whether each transaction may see one tenant's rows alone.
        connections: the most that a process has open at once.
        parts: in how many parts the tables of a new store are.
        shown: the same in words that may be shown.
        secrets: what may not.
        replica: a standby of it; None where none is named.
    """

    conninfo: str
    schema: str
    rls: bool
    connections: int
    parts: int
    shown: str
    secrets: tuple[str, ...]
    replica: Place | None = None

    def clean(self, text: object) -> str:
        """Return what a driver or a server says, without what may not be shown."""
        says = str(text).strip()
        for secret in self.secrets:
            says = says.replace(secret, "***")
        return says


def place_of(url: str) -> Place:
    """Return the database that a URL names.

    Its query may have, beside what libpq knows: ``schema`` (``demem``), ``rls`` (0 or 1),
    ``connections`` (10), ``parts`` (16) and ``replica`` (none).

    Raises:
        InvalidInput: for a URL that cannot be read, or an option out of its range.
    """
    base, _, query = url.partition("?")
    given = [part for part in query.split("&") if part]
    own = {}
    for part in given:
        name, _, value = part.partition("=")
        if name in _OWN:
            own[name] = unquote(value)
    # What is libpq's stays as it was written: it reads a + otherwise than most.
    rest = "&".join(part for part in given if part.partition("=")[0] not in _OWN)
    conninfo = f"{base}?{rest}" if rest else base
    known = _parsed(conninfo)
    schema = own.get("schema", "demem")
    if not _SCHEMA.fullmatch(schema):
        raise InvalidInput("schema", schema, "small letters, digits and _, at most 40")
    secrets = [known[name] for name in _SECRET if known.get(name)]
    host = base.removeprefix("postgresql://").rpartition("@")[2]
    place = Place(
        conninfo=conninfo,
        schema=schema,
        rls=_switch("rls", own.get("rls", "0")),
        connections=_whole("connections", own.get("connections", "10"), _MOST_CONNECTIONS),
        parts=_whole("parts", own.get("parts", "16"), _MOST_PARTS),
        shown=f"postgresql://{host} (schema {schema})",
        secrets=tuple({*secrets, *map(quote, secrets)}),
    )
    named = own.get("replica")
    return place if named is None else replace(place, replica=_replica(place, known, named))


_OWN = ("schema", "rls", "connections", "parts", "replica")
#: A name or an address (of IPv6 in brackets), or the folder of a socket, and a port.
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.%]+)\]|(?P<host>[^\[\]:,]+))(?::(?P<port>[0-9]+))?")
#: What libpq is told of a standby unless the URL says otherwise: what it does not do in this many
#: seconds, or milliseconds, the primary does instead.
_IMPATIENT = {"connect_timeout": "2", "tcp_user_timeout": "2000"}
_SECRET = ("password", "sslpassword")


def _replica(place: Place, known: dict[str, str], named: str) -> Place:
    """Return the standby that is named: all but where it is goes as for the primary.

    Args:
        known: what libpq is told of the primary.
    """
    found = _HOST.fullmatch(named)
    if found is None:
        raise InvalidInput("replica", named, "a host, or host:port")
    host = found["six"] or found["host"]
    first = known.get("port", "").partition(",")[0]
    where = {"host": host, "port": found["port"] or first}
    about = {name: value for name, value in known.items() if name not in _ONE}
    given = {**_IMPATIENT, **about, **{name: value for name, value in where.items() if value}}
    return replace(
        place,
        conninfo=make_conninfo(**given),
        shown=f"the replica {named} of {place.shown}",
    )


#: What is of one server alone.
_ONE = ("host", "hostaddr", "port", "target_session_attrs", "load_balance_hosts")


def _parsed(conninfo: str) -> dict[str, str]:
    try:
        found = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:
        # What libpq says quotes what it could not read, which may be the password.
        allowed = "postgresql://user@host:5432/database, with what libpq knows in its query"
        raise InvalidInput("url", "", allowed, f"url must be {allowed}") from None
    return {name: str(value) for name, value in found.items() if value is not None}


def _switch(name: str, value: str) -> bool:
    if value not in _SWITCH:
        raise InvalidInput(name, value, "0 or 1")
    return _SWITCH[value]


def _whole(name: str, value: str, most: int) -> int:
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= most:
        raise InvalidInput(name, value, f"a whole number from 1 to {most:,}")
    return int(value)
