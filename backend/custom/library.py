"""Saved custom rewards: folders of versions that never change.

    HOME/rewards/NAME/3.py     the source, byte for byte
    HOME/rewards/NAME/3.json   its sha256, level, function and limits

A run's folder has the same layout under it, with the versions that it uses. A number is never given twice, also after
a deletion: the file `last` remembers it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from backend.custom.naming import name_problem, refuse_on_space, require_name
from backend.errors import NotFound, Refused, StudioError
from backend.text import Text

Level = Literal["sandboxed", "trusted"]
LARGEST_SOURCE = 256 * 1024
CONFIRM = Text(
    en="This runs code as you: it can read and change your files, use your network and your tokens. Save it as trusted "
    "only if you wrote it or have read it.",
    ko="이 코드는 내 권한으로 실행됩니다. 내 파일을 읽고 바꿀 수 있고, 네트워크와 토큰도 쓸 수 있습니다. 직접 "
    "작성했거나 "
    "내용을 확인한 코드만 신뢰 수준으로 저장하세요.",
)


@dataclass(frozen=True, slots=True)
class Version:
    """One saved version. `settings`: limit_s, memory_mb, columns ({parameter: column}), where they were given."""

    name: str
    version: int
    source: str
    level: Level
    function: str
    sha256: str
    created_at: str
    settings: dict[str, Any] = field(default_factory=dict)

    def to_json(self, source: bool = True) -> dict[str, Any]:
        """As plain values, with or without the source."""
        values = asdict(self)
        if not source:
            del values["source"]
        return values


class Library:
    """The custom rewards of one home folder (or of one run's folder)."""

    def __init__(self, home: Path) -> None:
        self.folder = Path(home) / "rewards"

    def names(self) -> list[str]:
        """Every saved reward that has a version, in alphabetical order."""
        try:
            found = [each.name for each in self.folder.iterdir() if each.is_dir()]
        except OSError:
            return []
        return sorted(name for name in found if name_problem(name) is None and self.versions(name))

    def versions(self, name: str) -> list[int]:
        """The numbers of the versions of `name`, the oldest first; empty where there is none."""
        if name_problem(name) is not None:
            return []
        try:
            files = {each.name for each in os.scandir(self.folder / name)}
        except OSError:
            return []
        stems = (file.removesuffix(".json") for file in files if file.endswith(".json"))
        return sorted(int(stem) for stem in stems if stem.isdecimal() and f"{stem}.py" in files)

    def get(self, name: str, version: int | None = None) -> Version:
        """One version, the newest where none is named.

        NotFound, with what there is; Refused where the file on disk is not what was saved.
        """
        there = self.versions(name)
        if not there:
            raise NotFound(_none(name, self.names()))
        number = there[-1] if version is None else version
        if number not in there:
            listed = ", ".join(map(str, there))
            raise NotFound(
                Text(
                    en=f"the reward {name} has no version {number}; there are: {listed}",
                    ko=f"보상 {name}에는 버전 {number}이(가) 없습니다. 있는 버전: {listed}",
                )
            )
        path = self.folder / name / f"{number}.py"
        try:
            kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            raw = path.read_bytes()
            found = Version(source=raw.decode("utf-8"), **kept)
        except (OSError, ValueError, TypeError) as error:
            raise StudioError(
                Text(en=f"{path}: cannot be read ({error})", ko=f"{path}: 읽을 수 없습니다({error})")
            ) from error
        if hashlib.sha256(raw).hexdigest() != found.sha256:
            raise Refused(
                Text(
                    en=f"{path} was changed after it was saved (its sha256 is another): versions never change. Save "
                    "the "
                    "file as a new version.",
                    ko=f"{path} 파일이 저장된 뒤에 바뀌었습니다(sha256 불일치). 저장된 버전은 바뀌지 않아야 합니다. "
                    "새 버전으로 "
                    "저장하세요.",
                )
            )
        return found

    def save(
        self,
        name: str,
        source: str,
        level: Level = "sandboxed",
        confirmed: bool = False,
        function: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Version:
        """Keep `source` as the next version of `name`; the version that is the newest already, where nothing differs.

        Refused, in words: a name or a source that cannot be one, a trusted reward that was not confirmed, a public
        Space.
        """
        from backend.custom.look import require_function
        from backend.custom.settings import check_settings

        refuse_on_space()
        require_name(name)
        if level not in ("sandboxed", "trusted"):
            raise Refused(
                Text(en=f"level={level!r}: sandboxed or trusted", ko=f"level={level!r}: sandboxed 또는 trusted")
            )
        if level == "trusted" and not confirmed:
            raise Refused(Text(en=f"confirmed=False: {CONFIRM.en}", ko=f"confirmed=False: {CONFIRM.ko}"))
        chosen = require_function(source, function, name)
        given = check_settings(settings or {})
        there = self.versions(name)
        if there:
            with contextlib.suppress(StudioError):
                newest = self.get(name)
                if (newest.source, newest.level, newest.function, newest.settings) == (source, level, chosen, given):
                    return newest
        return self._write(name, source, level, chosen, given, max([0, *there, self._last(name)]) + 1)

    def keep(self, version: Version) -> None:
        """A copy of a version of another library, under its own number. Nothing where it is here already."""
        if version.version not in self.versions(version.name):
            v = version
            self._write(v.name, v.source, v.level, v.function, v.settings, v.version, v.created_at)

    def delete(self, name: str) -> None:
        """Remove every version. Runs that use them keep their own copies. NotFound where there is none."""
        there = self.versions(name)
        if not there:
            raise NotFound(_none(name, self.names()))
        folder = self.folder / name
        last = max([*there, self._last(name)])
        with _in_words(folder):
            aside = self.folder / f".{name}.{secrets.token_hex(4)}"
            folder.rename(aside)
            folder.mkdir()
            (folder / "last").write_text(str(last), encoding="utf-8")
            shutil.rmtree(aside)

    def _last(self, name: str) -> int:
        try:
            return int((self.folder / name / "last").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0

    def _write(
        self, name: str, source: str, level: Level, function: str, settings: dict[str, Any], number: int, at: str = ""
    ) -> Version:
        """The source first, under the first free number from `number`; the version is there once its JSON is."""
        folder = self.folder / name
        raw = source.encode("utf-8")
        with _in_words(folder):
            folder.mkdir(parents=True, exist_ok=True)
            while not _put(folder / f"{number}.py", raw):
                number += 1
            made = Version(
                name=name,
                version=number,
                source=source,
                level=level,
                function=function,
                sha256=hashlib.sha256(raw).hexdigest(),
                created_at=at or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                settings=settings,
            )
            _put(folder / f"{number}.json", json.dumps(made.to_json(source=False), ensure_ascii=False).encode())
        return made


def _put(path: Path, raw: bytes) -> bool:
    """Write a file whole, read-only; False where one of this name is there (two who save at once)."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(raw)
        temporary.chmod(0o444)
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    return True


@contextlib.contextmanager
def _in_words(folder: Path) -> Any:
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise StudioError(
            Text(en=f"{folder}: cannot be written ({why})", ko=f"{folder}: 쓸 수 없습니다({why})")
        ) from error


def _none(name: str, there: list[str]) -> Text:
    listed = ", ".join(there)
    return Text(
        en=f"there is no custom reward {name!r}; saved: {listed or 'none yet'}",
        ko=f"{name!r}라는 사용자 보상이 없습니다. 저장된 보상: {listed or '아직 없음'}",
    )
