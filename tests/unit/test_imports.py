"""The import direction of the design: app -> ui -> backend -> storage, and heavy packages only where they belong."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for path in [PROJECT / "app.py", *(p for d in ("backend", "ui", "storage") for p in (PROJECT / d).rglob("*.py"))]
    if path.exists()
]
TORCH_AND_KIN = {"torch", "trl", "transformers", "peft", "datasets", "accelerate", "bitsandbytes"}


def imported(path: Path, *, top_level_only: bool = False) -> set[str]:
    """Dotted names that the file imports; with `top_level_only`, those that importing it runs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes: list[ast.AST] = []
    if top_level_only:
        queue: list[ast.AST] = list(tree.body)
        while queue:
            node = queue.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                continue
            nodes.append(node)
            queue.extend(ast.iter_child_nodes(node))
    else:
        nodes = list(ast.walk(tree))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def part(path: Path) -> str:
    relative = path.relative_to(PROJECT)
    return relative.parts[0] if len(relative.parts) > 1 else "app"


def breaks(path: Path) -> list[str]:
    """The rules that one file breaks, each in words."""
    where, names = part(path), imported(path)
    inside = path.relative_to(PROJECT).as_posix()
    roots = {name.split(".")[0] for name in names}
    forbidden = {
        "storage": {"backend", "ui", "app"},
        "backend": {"ui", "app"},
        "ui": {"storage", "app"},
        "app": {"storage"},
    }[where]
    found = [f"{inside} imports {root}" for root in sorted(forbidden & roots)]
    if where in {"ui", "app"}:
        found += [f"{inside} imports {n}" for n in names if n.startswith("backend.workers")]
    if "gradio" in roots and where not in {"ui", "app"}:
        found.append(f"{inside} imports gradio")
    if "plotly" in roots and not inside.startswith("ui/panels/"):
        found.append(f"{inside} imports plotly")
    if not inside.startswith("backend/workers/"):
        found += [f"{inside} imports {kin}" for kin in sorted(TORCH_AND_KIN & roots)]
    if "sqlalchemy" in roots and where != "storage":
        found.append(f"{inside} imports sqlalchemy")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(PROJECT).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    assert breaks(path) == []


def test_the_rule_itself_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PROJECT", tmp_path)
    (tmp_path / "storage").mkdir()
    bad = tmp_path / "storage" / "bad.py"
    bad.write_text("import torch\nfrom backend.config import RunConfig\nimport gradio\n")
    assert breaks(bad) == [
        "storage/bad.py imports backend",
        "storage/bad.py imports gradio",
        "storage/bad.py imports torch",
    ]


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(' '.join(sorted({{n.split('.')[0] for n in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_page_loads_no_torch() -> None:
    assert not TORCH_AND_KIN & loaded_by("import app")


def test_importing_the_command_line_loads_neither_torch_nor_gradio() -> None:
    assert not (TORCH_AND_KIN | {"gradio", "plotly"}) & loaded_by("import backend.cli")


def test_importing_the_worker_loads_no_page() -> None:
    assert not {"gradio", "plotly"} & loaded_by("import backend.workers.train, backend.workers.recorder")
