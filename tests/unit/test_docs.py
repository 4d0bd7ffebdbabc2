"""The documents are true: the file tree of the README, what it names, and what must never be named."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (PROJECT / name).exists()]


def tree() -> dict[str, str]:
    """Path -> its note, of the annotated tree: two spaces a level, folders end in a slash."""
    block = README.split("<!-- tree -->")[1].split("<!-- /tree -->")[0]
    folders: list[str] = []
    found: dict[str, str] = {}
    for line in block.splitlines():
        if not line.strip() or line.startswith("```"):
            continue
        name, _, note = line.strip().partition("  ")
        depth = (len(line) - len(line.lstrip())) // 2
        folders[depth:] = []
        path = "".join(folders) + name
        found[path] = note.strip()
        if name.endswith("/"):
            folders.append(name)
    return found


def test_every_place_in_the_tree_exists_and_says_what_it_is() -> None:
    for path, note in tree().items():
        assert (PROJECT / path).exists(), path
        assert note, f"{path} has no note"


def test_every_folder_and_every_module_of_the_main_packages_is_in_the_tree() -> None:
    listed = set(tree())
    missing = set()
    for name in tracked():
        parts = name.split("/")
        if parts[0].startswith("."):
            continue
        if len(parts) == 1:
            missing |= {name} - listed - {"LICENSE", ".gitignore"}
            continue
        # A folder that the tree names as a whole stands for what lies in it.
        inside = ["/".join(parts[:depth]) + "/" for depth in range(1, len(parts))]
        if not any(folder in listed for folder in inside):
            missing.add(name)
    assert not missing


def test_packages_that_the_tree_opens_are_listed_whole() -> None:
    """Where the tree names one module of a package, it names all: a half list misleads."""
    listed = set(tree())
    opened = {path.rsplit("/", 1)[0] + "/" for path in listed if "/" in path.rstrip("/") and path.endswith(".py")}
    for folder in opened:
        modules = {name for name in tracked() if re.fullmatch(re.escape(folder) + r"[a-z_0-9]+\.py", name)}
        assert not {name for name in modules if not name.endswith("__init__.py")} - listed, folder


def test_links_and_pictures_of_the_readme_exist() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if "://" not in target:
            assert (PROJECT / target).exists(), target


def test_the_spaces_header_names_the_pinned_gradio() -> None:
    pinned = re.search(r"^gradio==(\S+)$", (PROJECT / "requirements.txt").read_text(), re.M)
    assert pinned is not None
    assert f"sdk_version: {pinned.group(1)}\n" in README


def test_nothing_names_a_registry_host_or_a_path_of_one_machine() -> None:
    forbidden = re.compile(
        "|".join(["pypi" + r"\.org", "files" + r"\.pythonhosted", "registry" + r"\.npmjs", "/wo" + "rk/"])
    )
    for name in tracked():
        path = PROJECT / name
        if path.suffix in {".png", ".jpg", ".db", ".gz"}:
            continue
        hit = forbidden.search(path.read_text(encoding="utf-8", errors="replace"))
        assert hit is None, f"{name}: {hit.group(0) if hit else ''}"
