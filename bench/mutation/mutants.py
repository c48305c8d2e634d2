"""Mutants of a module: list the small faults that can be injected into its syntax tree, and inject one.

Annotations, decorators, docstrings, f-strings, protocols, log lines and type-checking code are not mutated. The
operators follow A. J. Offutt et al., "An experimental determination of sufficient mutant operators", TOSEM 5(2),
1996; statement and return deletion as in mutmut and PIT.
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Change = tuple[ast.AST, ast.AST]  # a node and its replacement

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_LOGGERS = {"logging", "logger", "log", "_log", "_logger"}
_NEVER = {"annotation", "returns", "decorator_list", "type_params"}
_LONGEST = 100  # longest node text in a report, in characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault in one module."""

    module: str
    line: int
    column: int
    operator: str
    number: int  # index among the operator's mutants at that place
    scope: str  # enclosing function or class
    before: str
    after: str

    @property
    def id(self) -> str:
        """An id that is stable for the same source."""
        return f"{self.module}:{self.line}:{self.column}:{self.operator}" + (f":{self.number}" if self.number else "")


def mutants_of(source: str, module: str) -> list[Mutant]:
    """Return every mutant of a module in source order."""
    return [mutant for mutant, _ in _found(ast.parse(source), module)]


def mutated(source: str, mutant: Mutant) -> ast.Module:
    """Return the module's tree with the mutant applied."""
    tree = ast.parse(source)
    old, new = next(change for found, change in _found(tree, mutant.module) if found == mutant)
    _Replace(old, ast.copy_location(new, old)).visit(tree)
    return ast.fix_missing_locations(tree)


def sampled(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Choose `count` mutants, in order; the choice is stable when lines move or other code in the module changes."""
    seen: Counter[str] = Counter()
    ranked = []
    for mutant in mutants:
        name = f"{seed}:{mutant.scope}:{mutant.operator}:{mutant.before}:{mutant.after}"
        seen[name] += 1
        ranked.append((hashlib.sha256(f"{name}:{seen[name]}".encode()).digest(), mutant))
    chosen = {mutant.id for _, mutant in sorted(ranked, key=lambda item: item[0])[:count]}
    return [mutant for mutant in mutants if mutant.id in chosen]


def _found(tree: ast.Module, module: str) -> list[tuple[Mutant, Change]]:
    numbers: Counter[tuple[int, int, str]] = Counter()
    found = []
    for scope, node in _nodes(tree, ""):
        for operator, changes in OPERATORS.items():
            for old, new in changes(node):
                place = (old.lineno, old.col_offset, operator)  # type: ignore[attr-defined]
                mutant = Mutant(
                    module=module,
                    line=place[0],
                    column=place[1],
                    operator=operator,
                    number=numbers[place],
                    scope=scope,
                    before=_shown(old),
                    after=_shown(new),
                )
                found.append((mutant, (old, new)))
                numbers[place] += 1
    return sorted(found, key=lambda item: (item[0].line, item[0].column, item[0].operator, item[0].number))


def _nodes(node: ast.AST, scope: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes to mutate, each with the name of its enclosing scope."""
    if _is_left_alone(node):
        return
    yield scope, node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope = f"{scope}.{node.name}"
    for field, value in ast.iter_fields(node):
        if field not in _NEVER:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child, scope)


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.ClassDef):
        return any("Protocol" in ast.unparse(base) for base in node.bases)
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "__all__"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func).split(".")[0] in _LOGGERS
    return isinstance(node, ast.JoinedStr)


# ---- the operators: each yields its changes of a node


def _comparison(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            ops = [*node.ops[:index], _COMPARISONS[type(op)](), *node.ops[index + 1 :]]
            yield node, ast.Compare(node.left, ops, node.comparators)


def _arithmetic(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield node, ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
        yield node, ast.AugAssign(node.target, _ARITHMETIC[type(node.op)](), node.value)


def _logic(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BoolOp):
        yield node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _sign(node: ast.AST) -> Iterator[Change]:
    """Drop `not` and unary minus."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node, node.operand


def _constant(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield node, ast.Constant(node.value + 1)


def _condition(node: ast.AST) -> Iterator[Change]:
    """Force a condition to true or false; loops only to false."""
    if isinstance(node, ast.If | ast.IfExp):
        yield node.test, ast.Constant(True)
        yield node.test, ast.Constant(False)
    elif isinstance(node, ast.While):
        yield node.test, ast.Constant(False)
    elif isinstance(node, ast.comprehension):
        yield from ((test, ast.Constant(True)) for test in node.ifs)


def _statement(node: ast.AST) -> Iterator[Change]:
    """Remove a statement that binds no name."""
    if isinstance(node, ast.Raise | ast.AugAssign) or _is_call(node) or _is_stored(node):
        yield node, ast.Pass()


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and all(isinstance(one, ast.Attribute | ast.Subscript) for one in node.targets)


def _result(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield node, ast.Return(ast.Constant(None))


def _extreme(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        yield node.func, ast.Name(_CALLS[node.func.id], ast.Load())


def _bound(node: ast.AST) -> Iterator[Change]:
    """Move a slice bound by one; constant bounds are left to the constant operator."""
    if isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper):
            if bound is not None and not isinstance(bound, ast.Constant):
                yield bound, ast.BinOp(bound, ast.Add(), ast.Constant(1))


OPERATORS: dict[str, Callable[[ast.AST], Iterator[Change]]] = {
    "comparison": _comparison,
    "arithmetic": _arithmetic,
    "logic": _logic,
    "sign": _sign,
    "constant": _constant,
    "condition": _condition,
    "statement": _statement,
    "result": _result,
    "extreme": _extreme,
    "bound": _bound,
}


class _Replace(ast.NodeTransformer):
    """Replaces one node by another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
