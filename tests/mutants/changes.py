"""All small changes of a source file: comparisons, signs, constants, conditions, arguments, statements left out."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

SWAPS = {
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
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
# what people read, and what only checkers of types read, changes no result
SAID = ("Error", "Warning", "say", "warn", "write_error", "option", "argument", "undefined", "measure")
SYMMETRIC = ("min", "max", "minimum", "maximum", "array_equal", "logical_and", "logical_or")  # in their arguments
CHECKS = ("strict", "flush", "stacklevel")  # named arguments that change nothing of a sound program
OF_TYPES = ("annotation", "returns", "decorator_list", "type_params", "bases", "keywords")
NAMES_OF_TEXT = ("__repr__", "__str__", "_repr_html_")


@dataclass(frozen=True)
class Change:
    """One change of a file: its kind, and what stands in the place of which node."""

    kind: str
    old: ast.expr | ast.stmt
    new: ast.expr | ast.stmt

    def of(self, source: str) -> str | None:
        """Return the whole file with this change; None where it cannot be parsed."""
        lines = source.encode().splitlines(keepends=True)
        first, last = self.old.lineno - 1, self.old.end_lineno - 1
        before = b"".join(lines[:first]) + lines[first][: self.old.col_offset]
        after = lines[last][self.old.end_col_offset :] + b"".join(lines[last + 1 :])
        written = ast.unparse(self.new)
        text = (before + (f"({written})" if isinstance(self.new, ast.expr) else written).encode() + after).decode()
        try:
            ast.parse(text)
        except SyntaxError:
            return None
        return text


def changes(source: str) -> Iterator[Change]:
    """Yield every change of a file."""
    for node in _places(ast.parse(source)):
        for kind, changed in _variants(node):
            # of a condition only the test is written anew, not what depends on it
            old, new = (node.test, changed.test) if isinstance(node, ast.If | ast.While) else (node, changed)
            yield Change(kind, old, new)


def _places(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield each expression and statement that counts."""
    for field, value in ast.iter_fields(node):
        if field in OF_TYPES and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _says(child) and getattr(child, "arg", None) not in CHECKS:
                if isinstance(child, ast.expr | ast.stmt):
                    yield child
                yield from _places(child)


def _says(node: ast.AST) -> bool:
    """Whether a node is only there for people or for checkers of types."""
    if isinstance(node, ast.FunctionDef):
        return node.name in NAMES_OF_TEXT or any("overload" in ast.unparse(one) for one in node.decorator_list)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr | ast.Assert):
        return True
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1].endswith(SAID)


def _variants(node: ast.expr | ast.stmt) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    def like(**fields: object) -> ast.expr | ast.stmt:
        made = copy.copy(node)
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    match node:
        case ast.Compare(ops=[operator]):
            for other in SWAPS.get(type(operator), ()):
                yield "comparison", like(ops=[other()])
        case ast.BinOp(op=operator):
            for other in SWAPS.get(type(operator), ()):
                yield "arithmetic", like(op=other())
        case ast.BoolOp(op=operator):
            yield "boolean", like(op=SWAPS[type(operator)][0]())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "sign", operand
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", ast.Constant(value + 1)
            yield "constant", ast.Constant(value - 1)
        case ast.If() | ast.While() | ast.IfExp():
            yield "negated condition", like(test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Call(func=function, args=[first, second, *others]) if not any(
            isinstance(one, ast.Starred) for one in (first, second)
        ) and not ast.unparse(function).endswith(SYMMETRIC):
            yield "swapped arguments", like(args=[second, first, *others])
        case ast.AugAssign(op=operator) if type(operator) in SWAPS:
            yield "arithmetic", like(op=SWAPS[type(operator)][0]())
            yield "dropped statement", ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.Expr(value=ast.Call()) | ast.Continue():
            yield "dropped statement", ast.Pass()
        case ast.Break():
            yield "dropped statement", ast.Pass()
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield "returns None", ast.Return(ast.Constant(None))
