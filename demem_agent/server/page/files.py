"""The files of the page, as they are in the package, and how they are sent.

They are all read when a server starts: nothing that is not among them can be asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from demem_agent.later import dataclass
from demem_agent.server.sending import Response

__all__ = ["File", "page_files", "page_response"]

_ROOT = files("demem_agent.server.page") / "static"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INDEX = "index.html"
_UNDER = "/page/"
#: Nothing from elsewhere, nothing inline, no markup made of strings, in no frame.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True, slots=True)
class File:
    """A file of the page.

    Attributes:
        tag: its ETag.
    """

    kind: str
    body: bytes
    tag: str


@cache
def page_files() -> Mapping[str, File]:
    """Return every file of the page by its name, such as ``views/ask.js``."""
    return {name: _file(name, found.read_bytes()) for name, found in _found(_ROOT, "")}


def page_response(method: str, path: bytes, headers: Mapping[str, str]) -> Response | None:
    """Return the file that a request asks for; None where it asks for none."""
    if method not in ("GET", "HEAD"):
        return None
    file = page_files().get(_name(path))
    if file is None:
        return None
    told = {**_HEADERS, "Content-Type": file.kind, "ETag": file.tag}
    if file.tag in headers.get("if-none-match", ""):
        return Response(304, told)
    return Response(200, told, file.body)


def _name(path: bytes) -> str:
    """Return which file a path means: a name is looked up, and leads nowhere else."""
    text = path.decode("latin-1")
    if text == "/":
        return _INDEX
    name = text.removeprefix(_UNDER)
    return "" if name in (text, _INDEX) else name


def _found(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _found(one, f"{prefix}{one.name}/")
        elif one.name.endswith(tuple(_KINDS)):
            yield prefix + one.name, one


def _file(name: str, body: bytes) -> File:
    kind = _KINDS[name[name.rindex(".") :]]
    return File(kind, body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
