"""Sets that this installation keeps: home/datasets/NAME.json says what a name means, objects/SHA256.jsonl has the rows.

An object never changes. A name moves to another object when its set is imported again; a run holds the hash.
"""

from __future__ import annotations

import array
import contextlib
import json
import re
import secrets
import time
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from backend.data.files import SUFFIXES
from backend.data.objects import ObjectWriter, abandoned
from backend.errors import NotFound, Refused, StudioError
from backend.text import Text

BUILT_IN = ("arithmetic", "article-math")
LONGEST_NAME = 80
SHA256 = re.compile(r"[0-9a-f]{64}")
RESERVED_FILES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
LOCK_S = 30.0
FORGOTTEN_S = 86_400.0


def valid_name(name: str) -> str:
    """The name in its stored form (NFC). Refused, in words, where no set may be called so."""
    plain = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
    fault: Text | None = None
    if not plain.strip() or plain != plain.strip():
        fault = Text("must not be empty or begin or end with a space", "비어 있거나 공백으로 시작·끝날 수 없습니다")
    elif len(plain) > LONGEST_NAME or len(plain.encode("utf-8", "surrogatepass")) > 200:
        fault = Text(f"has more than {LONGEST_NAME} characters", f"{LONGEST_NAME}자를 넘습니다")
    elif not all(
        letter.isalnum() or letter in "-_. ()+" or unicodedata.category(letter)[0] == "M" for letter in plain
    ) or plain.startswith((".", "-")):
        fault = Text(
            "may have letters, digits, spaces and - _ . ( ) +, and begins with a letter or digit",
            "글자, 숫자, 공백, - _ . ( ) + 만 쓸 수 있고 글자나 숫자로 시작해야 합니다",
        )
    elif plain.lower() in BUILT_IN:
        fault = Text("is the name of a built-in set", "기본 데이터셋의 이름입니다")
    elif plain.lower().split(".")[0] in RESERVED_FILES:
        fault = Text("is a name that some systems keep for devices", "일부 시스템이 장치에 쓰는 이름입니다")
    elif plain.endswith(".") or Path(plain).suffix.lower() in (*SUFFIXES, ".part"):
        fault = Text("must not end like a file", "파일처럼 끝날 수 없습니다")
    if fault is not None:
        shown = name if isinstance(name, str) and len(name) <= LONGEST_NAME else str(name)[:LONGEST_NAME] + "…"
        raise Refused(Text(f"name: {shown!r} {fault.en}", f"name: {shown!r}: {fault.ko}"))
    return plain


class Store:
    """`home`: the home folder. Reading makes no folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "datasets"
        self.objects = self.folder / "objects"

    # --- names ---

    def names(self) -> list[str]:
        """All names, alphabetically."""
        try:
            return sorted(unicodedata.normalize("NFC", path.stem) for path in self.folder.glob("*.json"))
        except OSError:
            return []

    def has(self, name: str) -> bool:
        try:
            return self._meta_path(valid_name(name)).is_file()
        except (Refused, OSError):
            return False

    def meta_file(self, name: str) -> Path | None:
        """The file that changes when the set does; None where there is no such set."""
        return self._meta_path(valid_name(name)) if self.has(name) else None

    def meta(self, name: str) -> dict[str, Any]:
        """What is known of a set. NotFound, with the names there are."""
        try:
            path = self._meta_path(valid_name(name))
            return json.loads(path.read_text(encoding="utf-8"))
        except (Refused, OSError, ValueError) as error:
            there = ", ".join(self.names()) or "-"
            shown = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
            raise NotFound(
                Text(
                    f"there is no stored set {shown!r}; the sets are: {there}",
                    f"{shown!r} 데이터셋이 없습니다. 저장된 데이터셋: {there}",
                )
            ) from error

    def metas(self) -> list[dict[str, Any]]:
        """Of all sets, the newest first."""
        found = []
        for name in self.names():
            with contextlib.suppress(NotFound):  # gone meanwhile
                found.append(self.meta(name))
        return sorted(found, key=lambda meta: meta["created_at"], reverse=True)

    def _meta_path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    # --- rows ---

    def path(self, sha256: str) -> Path:
        """The file of an object. NotFound where its rows are not kept (any more)."""
        found = self.objects / f"{sha256}.jsonl" if SHA256.fullmatch(sha256) else None
        if found is None or not found.is_file():
            raise NotFound(
                Text(
                    f"dataset_sha256: the rows {sha256[:12]}… are not kept here any more; empty means the newest",
                    f"dataset_sha256: {sha256[:12]}… 행은 더 이상 보관되어 있지 않습니다. 비워 두면 최신을 씁니다",
                )
            )
        return found

    def read(self, sha256: str, places: Collection[int] | None = None) -> Iterator[dict[str, Any]]:
        """The rows of an object (those at `places`, from 0), in order, each as it was written."""
        with self.path(sha256).open("rb") as file:
            for place, line in enumerate(file):
                if places is None or place in places:
                    yield json.loads(line)

    def keys(self, sha256: str) -> array.array[int]:
        """What each row asks (split.key), in order; without reading the rows."""
        found = array.array("Q")
        with self.path(sha256).with_suffix(".keys").open("rb") as file:
            found.frombytes(file.read())
        return found

    def write(self) -> ObjectWriter:
        with self._lock():  # so that nobody tidies up between making the file and holding it
            self.objects.mkdir(parents=True, exist_ok=True)
            return ObjectWriter(self.objects)

    # --- changing ---

    def keep(
        self,
        name: str,
        written: ObjectWriter,
        meta: Mapping[str, Any],
        *,
        replace: bool = True,
        needed: Collection[str] = (),
    ) -> dict[str, Any]:
        """Let `name` mean what was written; the whole meta. Refused where it is taken and `replace` is false, and where
        another set's name differs from it in case only.

        Objects that no name and none of the hashes `needed` means any more are removed.
        """
        with self._lock():
            self.free(name)
            path = self._meta_path(name)
            if path.is_file() and not replace:
                raise Refused(
                    Text(f"name: there is a set {name!r} already", f"name: {name!r} 데이터셋이 이미 있습니다")
                )
            earlier = self.meta(name).get("states", []) if path.is_file() else []
            size, count = written.size, written.rows
            sha256 = written.finish()
            states = [state for state in earlier if state != sha256] + [sha256]
            whole = {"name": name, "rows": count, "bytes": size, "sha256": sha256, **meta, "states": states,
                     "created_at": time.time()}  # fmt: skip
            part = self.folder / f".{secrets.token_hex(8)}.part"
            part.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
            part.replace(path)
            self._collect(needed)
        return whole

    def free(self, name: str) -> None:
        """Refused where another set has this name but for capital letters: some disks take both for one file."""
        names, plain = self.names(), name.casefold()
        other = next((each for each in names if each.casefold() == plain), None)
        if other is not None and name not in names:
            raise Refused(
                Text(
                    f"name: there is a set {other!r}; {name!r} differs from it in capital letters only",
                    f"name: {other!r} 데이터셋이 있습니다. {name!r}은(는) 대소문자만 다릅니다",
                )
            )

    def tidy(self) -> None:
        """Remove what an import that was killed has left. Makes nothing and waits for nobody."""
        if not any(self.objects.glob("*part")):
            return
        with contextlib.suppress(OSError, Timeout), self._lock(0):
            self._collect_parts()

    def delete(self, name: str, needed: Collection[str] = ()) -> None:
        """Forget `name`; its rows go unless another name or one of the hashes `needed` still means them."""
        self.meta(name)
        with self._lock():
            self._meta_path(valid_name(name)).unlink(missing_ok=True)
            self._collect(needed)

    def _collect(self, needed: Collection[str]) -> None:
        used = {meta["sha256"] for meta in self.metas()} | set(needed)
        for path in self.objects.glob("*.*"):
            if SHA256.fullmatch(path.stem) and path.stem not in used:
                path.unlink(missing_ok=True)
        self._collect_parts()

    def _collect_parts(self) -> None:
        """Under the lock, in which alone the files beside an object's own are written."""
        for path in self.objects.glob("*.part"):
            dead = abandoned(path)
            if _forgotten(path) if dead is None else dead:
                path.unlink(missing_ok=True)
        for path in (*self.objects.glob("*.keys-part"), *self.folder.glob(".*.part")):
            path.unlink(missing_ok=True)

    def _lock(self, wait_s: float = LOCK_S) -> FileLock:
        self.folder.mkdir(parents=True, exist_ok=True)
        return FileLock(self.folder / ".lock", timeout=wait_s)


def _forgotten(path: Path) -> bool:
    """Left by an import that was killed."""
    try:
        return time.time() - path.stat().st_mtime > FORGOTTEN_S
    except OSError:
        return False


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """A disk that is full, a folder that may not be written: as a StudioError."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise StudioError(Text(f"the rows could not be written: {why}", f"행을 저장하지 못했습니다: {why}")) from error
