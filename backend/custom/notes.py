"""What works in a source, but not as its author may think: state in globals, imports of no use in the sandbox."""

from __future__ import annotations

import ast
import sys

from backend.custom.problem import Problem
from backend.text import Text


def state(tree: ast.Module) -> list[Problem]:
    """A note where a function writes globals: they live as long as its process."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            names = ", ".join(node.names)
            text = Text(
                en=f"line {node.lineno}: the global {names} lives as long as the reward's process: it begins anew when "
                "that is restarted (after a time-out, a crash, a resume)",
                ko=f"{node.lineno}번째 줄: 전역 변수 {names}은(는) 보상 프로세스가 살아 있는 동안만 유지됩니다. "
                "시간 초과, 비정상 "
                "종료, 이어서 학습 뒤에는 처음부터 다시 시작합니다",
            )
            return [Problem("state", text, node.lineno, stops=False)]
    return []


NETWORK = ("socket", "ssl", "urllib.request", "http.client", "smtplib", "ftplib", "imaplib", "xmlrpc")


def imports(tree: ast.Module) -> list[Problem]:
    """A note at each import that is no use in the sandbox."""
    problems: list[Problem] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            root = name.split(".")[0]
            if name in NETWORK:
                en, ko = (
                    f"the sandbox has no network, which {name} is for",
                    f"샌드박스에서는 {name}(네트워크)을 쓸 수 없습니다",
                )
            elif root and root != "numpy" and root not in sys.stdlib_module_names:
                en = f"the sandbox has the standard library and numpy, not {root}"
                ko = f"샌드박스에는 표준 라이브러리와 numpy만 있고 {root}은(는) 없습니다"
            else:
                continue
            text = Text(
                en=f"line {node.lineno}: {en}; it needs the level trusted",
                ko=f"{node.lineno}번째 줄: {ko}. 신뢰(trusted) 수준이 필요합니다",
            )
            problems.append(Problem("import", text, node.lineno, stops=False, offer={"level": "trusted"}))
            break
    return problems
