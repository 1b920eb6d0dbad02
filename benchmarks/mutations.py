"""Small wrong changes of Python source: what ``mutants.py`` puts in, one at a time.

A change replaces the text of one expression or statement, found in the syntax tree, so that the
rest of a file stays as it is to the byte. Annotations, decorators, f-strings, assertions, error
texts and exports are left alone: whether a test sees a change of those says little.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Mutation", "mutations"]

#: What may stand in for a comparison: the boundary moved, or the whole turned round.
COMPARISONS: Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
#: Statements that can go. An assignment to a plain name cannot: whatever reads it would fail.
REMOVABLE = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)
#: Calls whose arguments cannot change places without an error at once, or may do so at will.
ORDERED = frozenset(("cast", "getattr", "hasattr", "isinstance", "issubclass", "setattr"))
UNORDERED = frozenset(("max", "min", "np.logaddexp", "np.maximum", "np.minimum"))
#: ``zip(..., strict=True)`` is a guard that no right program ever meets.
GUARDS = frozenset(("strict",))

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: A kind, and the text that a node is replaced by.
Change = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One small wrong change of a file.

    Attributes:
        kind: such as ``comparison``.
        inside: the function or method that it is in; empty at the top of a module.
        line: of the first byte that it replaces, from 1.
        start, end: the bytes that it replaces.
        was, now: the texts before and after it.
        key: hash of all this but the place. It stays when other code of the file changes.
    """

    kind: str
    inside: str
    line: int
    start: int
    end: int
    was: str
    now: str
    key: str

    def applied(self, source: str) -> str:
        """Return the source with this change in it."""
        raw = source.encode()
        return (raw[: self.start] + self.now.encode() + raw[self.end :]).decode()


def mutations(source: str) -> list[Mutation]:
    """Return every change of a source, as the walk through its syntax tree meets them."""
    walk = _Walk()
    walk.visit(ast.parse(source))
    starts = _line_starts(source)
    raw = source.encode()
    alike: Counter[str] = Counter()
    found: list[Mutation] = []
    for edit in walk.edits:
        start, end = _place(edit.node, starts)
        was = raw[start:end].decode()
        told = "\0".join((edit.kind, edit.inside, was, edit.now))
        alike[told] += 1
        key = hashlib.sha256(f"{told}\0{alike[told]}".encode()).hexdigest()
        change = Mutation(
            kind=edit.kind,
            inside=edit.inside,
            line=edit.node.lineno,
            start=start,
            end=end,
            was=was,
            now=edit.now,
            key=key,
        )
        found.append(change)
    return found


def _place(node: ast.expr | ast.stmt, starts: Sequence[int]) -> tuple[int, int]:
    """Return the bytes at which a node begins and ends."""
    start = starts[node.lineno] + node.col_offset
    end = starts[node.end_lineno or 0] + (node.end_col_offset or 0)
    return start, end


def _line_starts(source: str) -> list[int]:
    """Return the byte at which each line starts, under its number from 1."""
    starts = [0, 0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


@dataclass(frozen=True, slots=True)
class _Edit:
    """The text that a node may be replaced by."""

    node: ast.expr | ast.stmt
    inside: str
    kind: str
    now: str


class _Walk(ast.NodeVisitor):
    """Collect what may be changed, each with the function that it is in."""

    def __init__(self) -> None:
        self.edits: list[_Edit] = []
        self._names: list[str] = []
        self._in_function = False

    def visit(self, node: ast.AST) -> None:
        """Note the changes of a node, then those of its parts that no method below leaves out."""
        if isinstance(node, ast.expr):
            self._note(node, _of_expression(node, self._in_function))
        elif isinstance(node, ast.stmt) and self._in_function:
            self._note(node, _of_statement(node))
        super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Go into the defaults and the body of a function."""
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """Go into the defaults and the body of a function."""
        self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Go into the body of a class."""
        self._names.append(node.name)
        for part in node.body:
            self.visit(part)
        self._names.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Go into the value of an annotated assignment."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Go into an assignment, unless it is the table of exports."""
        if ast.unparse(node.targets[0]) != "__all__":
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """Go into a condition, unless it is for the type checker alone."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._note(node.test, _negated(node.test))
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        """Go into a loop and its condition."""
        self._note(node.test, _negated(node.test))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Go into a conditional expression and its condition."""
        self._note(node.test, _negated(node.test))
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Go into a clause of a comprehension and its conditions."""
        for test in node.ifs:
            self._note(test, _negated(test))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Go into a call, but not into guards."""
        for part in (node.func, *node.args):
            self.visit(part)
        for keyword in node.keywords:
            if keyword.arg not in GUARDS:
                self.visit(keyword.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave an assertion alone."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave what is raised alone; the statement itself can go."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave f-strings alone: older Pythons misstate where their parts stand."""

    def _function(self, node: Function) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        outer = self._in_function
        self._names.append(node.name)
        self._in_function = True
        for part in node.body:
            self.visit(part)
        self._names.pop()
        self._in_function = outer

    def _note(self, node: ast.expr | ast.stmt, changes: Iterable[Change]) -> None:
        inside = ".".join(self._names)
        for kind, now in changes:
            self.edits.append(_Edit(node, inside, kind, now))


def _of_expression(node: ast.expr, in_function: bool) -> Iterable[Change]:
    """Return the kind and the text of each change of an expression.

    Outside functions only numbers, conditions and comparisons change: the rest makes types.
    """
    if isinstance(node, ast.Compare):
        return _comparisons(node)
    if isinstance(node, ast.Constant):
        return _constants(node)
    if isinstance(node, ast.BoolOp):
        return _swapped(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [("negation", f"({ast.unparse(node.operand)})")]
    if isinstance(node, ast.BinOp) and in_function:
        return _arithmetic(node)
    if isinstance(node, ast.Call) and in_function:
        return _arguments(node)
    return ()


def _of_statement(node: ast.stmt) -> Iterator[Change]:
    if isinstance(node, ast.Return) and not _is_none(node.value):
        yield "return", "return None"
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        changed = copy.copy(node)
        changed.op = ARITHMETIC[type(node.op)]()
        yield "arithmetic", ast.unparse(changed)
    if _can_go(node):
        yield "removed", "pass"


def _comparisons(node: ast.Compare) -> Iterator[Change]:
    for place, op in enumerate(node.ops):
        for other in COMPARISONS[type(op)]:
            changed = copy.deepcopy(node)
            changed.ops[place] = other()
            yield "comparison", ast.unparse(changed)


def _constants(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield "constant", repr(not node.value)
    elif isinstance(node.value, int | float):
        yield "constant", repr(node.value + 1)
        yield "constant", f"({node.value - 1!r})"


def _swapped(node: ast.BoolOp) -> Iterator[Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "and, or", f"({ast.unparse(ast.BoolOp(other, node.values))})"


def _negated(test: ast.expr) -> Iterator[Change]:
    """Yield a condition turned round, unless another change does just that."""
    is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    is_comparison = isinstance(test, ast.Compare) and len(test.ops) == 1
    if not is_not and not is_comparison:
        yield "negation", f"(not ({ast.unparse(test)}))"


def _arithmetic(node: ast.BinOp) -> Iterator[Change]:
    other = ARITHMETIC.get(type(node.op))
    if other is not None and not _is_text(node.left) and not _is_text(node.right):
        yield "arithmetic", f"({ast.unparse(ast.BinOp(node.left, other(), node.right))})"


def _arguments(node: ast.Call) -> Iterator[Change]:
    """Yield a call with each pair of neighbouring arguments in the other order."""
    name = ast.unparse(node.func)
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    if starred or name in ORDERED | UNORDERED:
        return
    for place in range(len(node.args) - 1):
        first, second = node.args[place : place + 2]
        if ast.unparse(first) == ast.unparse(second):
            continue
        arguments = [*node.args[:place], second, first, *node.args[place + 2 :]]
        yield "arguments", ast.unparse(ast.Call(node.func, arguments, node.keywords))


def _can_go(node: ast.stmt) -> bool:
    if isinstance(node, REMOVABLE):
        return True
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)  # a docstring
    if isinstance(node, ast.Assign):
        return all(isinstance(to, ast.Attribute | ast.Subscript) for to in node.targets)
    return False


def _is_text(node: ast.expr) -> bool:
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return is_string or isinstance(node, ast.JoinedStr)


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)
