"""The source of rewards as one piece, for a script that runs where this project is not installed."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from backend.rewards.base import check_args, spec

FUNCTION = '''
def {name}(prompts, completions, **columns):
    """One score a completion, in order; None where the reward does not apply."""
    scores = []
    for row, completion in enumerate(completions):
        values = {{column: columns[column][row] for column in {columns!r}}}
        scores.append({judge}(completion_text(completion), **values, **{args!r}).score)
    return scores
'''


def source(rewards: Sequence[str], args: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Python that defines one function a reward, named as the reward, with the call that TRL makes.

    Needs only the standard library; the script it goes into must start with `from __future__ import annotations`.
    """
    pieces = [ast.unparse(_tree("verdict"))]
    for name in dict.fromkeys(rewards):
        bound = check_args(name, (args or {}).get(name))
        pieces.append(ast.unparse(_Suffix(name).visit(_tree(name))))
        pieces.append(FUNCTION.format(name=name, judge=f"judge_{name}", columns=spec(name).columns, args=bound))
    return "\n\n\n".join(piece.strip("\n") for piece in pieces) + "\n"


def _tree(name: str) -> ast.Module:
    """A file of this package without its docstring, its texts for the form, and its imports of ours."""
    tree = ast.parse(inspect.getsource(importlib.import_module(f"backend.rewards.{name}")))
    tree.body = [node for node in tree.body if not _left_out(node)]
    return tree


def _left_out(node: ast.stmt) -> bool:
    match node:
        case ast.ImportFrom(module=module):
            return module == "__future__" or (module or "").startswith("backend.")
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in ("LABEL", "HELP", "BOUNDS")
        case ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False


class _Suffix(ast.NodeTransformer):
    """Gives every name that a reward file defines at its top the reward's name, so that two files cannot collide."""

    def __init__(self, name: str) -> None:
        self.suffix = f"_{name}"
        self.defined: set[str] = set()

    def visit_Module(self, node: ast.Module) -> ast.Module:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self.defined.add(statement.name)
            elif isinstance(statement, ast.Assign):
                self.defined |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name in self.defined:
            node.name += self.suffix
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        if node.name in self.defined:
            node.name += self.suffix
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.defined:
            node.id += self.suffix
        return node
