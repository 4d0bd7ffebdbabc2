"""The source of rewards as one piece, for a script that runs where this project is not installed."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from backend.rewards.base import check_args, spec

SHARED = ("verdict", "said", "extract")  # files that a portable reward may import from; never renamed
FOR_US = {"LABEL", "HELP", "BOUNDS", "OPTIONAL_COLUMNS", "ISOLATED", "PORTABLE", "LOADED_BY_WORKER"}
HOOKS = {"check", "bounds", "unreadable", "warm"}

FUNCTION = '''
def {function}(prompts, completions, **columns):
    """One score a completion, in order; None where the reward does not apply."""
    scores = []
    for row, completion in enumerate(completions):
        values = {{column: columns[column][row] for column in {columns!r}}}
        values |= {{column: columns[column][row] for column in {optional!r} if columns.get(column) is not None}}
        scores.append({judge}(completion_text(completion), **values, **{args!r}).score)
    return scores


{function}.__name__ = {name!r}
'''

IMPORTED = """
# {name} needs more than can stand in a script (a package, or a process that can be killed): it is taken from GRPO
# Studio, so run this script in that project's folder or with it on PYTHONPATH.
def {function}(prompts, completions, **columns):
    from backend import rewards

    if not hasattr({function}, "made"):
        {function}.made = rewards.get({name!r}, {args!r})
    return {function}.made(prompts, completions, **columns)


{function}.__name__ = {name!r}
"""

BY_MODEL = """
# {name}: TRL loads a sequence classifier by its name or folder. Unlike a run of GRPO Studio it takes the policy's
# model_init_kwargs for it, and its metric is named after the model.
{function} = {model!r}
"""


def function_name(name: str) -> str:
    """The reward's name in the script, where `json` or `math` would hide a module."""
    taken = name in sys.stdlib_module_names or hasattr(builtins, name)
    return f"{name}_reward" if taken else name


def source(rewards: Sequence[str], args: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Python that defines one function a reward (`function_name`), named as the reward, with the call that TRL makes.

    Needs only the standard library, but for rewards that are not portable with their arguments: those are imported from
    this project. The script it goes into must start with `from __future__ import annotations`.
    """
    own: list[str] = []
    shared: set[str] = set()
    for name in dict.fromkeys(rewards):
        described, bound = spec(name), check_args(name, (args or {}).get(name))
        words: dict[str, Any] = {"name": name, "function": function_name(name), "args": bound}
        if described.loaded_by_worker:
            own.append(BY_MODEL.format(**words, model=bound.get("model")))
        elif described.is_portable(bound) and not described.many:
            tree = _Suffix(name).visit(_tree(name))
            shared |= _imported(name)
            own.append(ast.unparse(tree))
            optional = described.optional_columns
            own.append(FUNCTION.format(**words, judge=f"judge_{name}", columns=described.columns, optional=optional))
        else:
            own.append(IMPORTED.format(**words))
    shared |= {"said"} if "extract" in shared else set()
    common = [ast.unparse(_tree(module)) for module in SHARED if module in shared]
    return "\n\n\n".join(piece.strip("\n") for piece in (*common, *own)) + "\n"


def _parsed(name: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(f"backend.rewards.{name}")))


def _imported(name: str) -> set[str]:
    """The shared files that a reward needs; `verdict` always, for the text of a completion."""
    found = {"verdict"}
    for node in ast.walk(_parsed(name)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("backend.rewards."):
            found.add((node.module or "").rpartition(".")[2])
    return found


def _tree(name: str) -> ast.Module:
    """A file of this package without its docstring, its texts and hooks for us, and its imports of ours."""
    tree = _parsed(name)
    tree.body = [node for node in tree.body if not _left_out(node, name)]
    return tree


def _left_out(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.ImportFrom(module=module):
            return module == "__future__" or (module or "").startswith("backend.")
        case ast.Assign(targets=[ast.Name(id=target)]):
            return target in FOR_US
        case ast.FunctionDef(name=function):
            return function in HOOKS and name not in SHARED
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
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                self.defined.add(statement.target.id)
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
