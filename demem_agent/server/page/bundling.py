"""The page as one document that needs no server and reaches for nothing: styles, program, data.

A browser loads no modules from a file, so the modules become functions of one script, in the order
in which they need each other. The page's modules keep to what is read here: one import a line,
names exported where they are declared, or in a list.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any

from demem_agent.server.page.files import page_files

__all__ = ["document", "script"]

_MAIN = "main.js"
_IMPORT = re.compile(r'\bimport\s*(?:\{([^}]*)\}|(\w+))\s*from\s*"([^"]+)";?')
_LIST = re.compile(r"\bexport\s*\{([^}]*)\};?")
_DECLARED = re.compile(r"^export (?=(?:async )?(?:const|let|function|class) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"\bexport default ")
_STYLESHEET = re.compile(r'<link rel="stylesheet"[^>]*>\n?')
_ICON = re.compile(r'<link rel="icon"[^>]*>\n?')
_SCRIPT = re.compile(r"<script [^>]*></script>\n?")
#: As a server says it, but that the two inline parts are known by their digests.
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def document(data: Mapping[str, Any]) -> str:
    """Return the page over some data, as HTML."""
    style = _text("style.css")
    program = script()
    policy = _POLICY.format(script=_digest(program), style=_digest(style))
    page = _ICON.sub("", _text("index.html"))
    page = _STYLESHEET.sub(lambda _: f"<style>{style}</style>\n", page)
    page = _SCRIPT.sub("", page)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">'
    page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{meta}', 1)
    end = f'<script type="application/json" id="data">{_embedded(data)}</script>\n'
    return page.replace("</body>", f"{end}<script>{program}</script>\n</body>", 1)


def script() -> str:
    """Return all modules of the page as one script."""
    done: dict[str, str] = {}
    _add(_MAIN, done)
    return '(() => {\n"use strict";\nconst modules = {};\n' + "".join(done.values()) + "})();\n"


def _add(name: str, done: dict[str, str]) -> None:
    """Add a module behind those that it needs."""
    text = _text(name)
    for found in _IMPORT.finditer(text):
        needed = _resolved(name, found[3])
        if needed not in done:
            _add(needed, done)
    done[name] = _function(name, text)


def _function(name: str, text: str) -> str:
    """Return a module as a function that is called, and keeps what it exports."""
    given: list[str] = [found[1] for found in _DECLARED.finditer(text)]
    for found in _LIST.finditer(text):
        given += [_given(one) for one in found[1].split(",")]
    body = _IMPORT.sub(lambda found: _taken(name, found), text)
    body = _LIST.sub("", _DECLARED.sub("", body))
    if _DEFAULT.search(body):
        body = _DEFAULT.sub("const __default = ", body)
        given.append("default: __default")
    members = ", ".join(given)
    return f"modules[{json.dumps(name)}] = (() => {{\n{body}\nreturn {{ {members} }};\n}})();\n"


def _given(written: str) -> str:
    """Return ``a as b`` as a member of what a module keeps."""
    own, _, other = written.strip().partition(" as ")
    return f"{other}: {own}" if other else own


def _taken(name: str, found: re.Match[str]) -> str:
    """Return an import as a declaration."""
    module = f"modules[{json.dumps(_resolved(name, found[3]))}]"
    if found[2]:
        return f"const {found[2]} = {module}.default;"
    names = ", ".join(": ".join(one.strip().split(" as ")) for one in found[1].split(","))
    return f"const {{ {names} }} = {module};"


def _resolved(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _text(name: str) -> str:
    return page_files()[name].body.decode()


def _embedded(data: Mapping[str, Any]) -> str:
    """Return data as JSON in which no text can end the element that it stands in."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
