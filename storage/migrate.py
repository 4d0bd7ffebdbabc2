"""Bringing a database to the schema of this version: one process at a time, with a copy kept, and nothing cascading."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError as SqlDatabaseError

from storage.errors import DatabaseForeign, DatabaseTooNew, DatabaseUnwritable, MigrationFailed
from storage.sqlite import READ, file_of, make_engine, make_url, module

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

SCRIPTS = Path(__file__).with_name("migrations")
ADVISORY_LOCK = 0x6772706F  # 'grpo'
LOCK_S = 120.0


def migrate(address: str, scripts: Path = SCRIPTS) -> str:
    """Create or upgrade the database at `address` and return its schema's revision.

    Raises DatabaseTooNew, DatabaseForeign, DatabaseUnwritable or MigrationFailed, all of them in words.
    """
    url = make_url(address)
    path = file_of(url)
    if path is not None:
        _require_writable(path)
    engine = make_engine(url)
    try:
        fresh = path is not None and not path.exists()
        # Every command and every run comes by here, nearly always with nothing to do: Alembic takes .2 s to import.
        if not fresh and (head := newest(scripts)) is not None and _noted(engine) == head:
            return head
        return _bring(engine, url, path, scripts, fresh)
    except (SqlDatabaseError, module().DatabaseError) as error:
        raise _in_words(error, url) from error
    finally:
        engine.dispose()


def newest(scripts: Path = SCRIPTS) -> str | None:
    """The revision that the scripts lead to, which their names begin with; None where there are none."""
    numbers = [path.name[:4] for path in (scripts / "versions").glob("[0-9][0-9][0-9][0-9]*.py")]
    return max(numbers, default=None)


def _noted(engine: Engine) -> str | None:
    """What the database says of itself, None where it says nothing, or not one thing."""
    with engine.connect().execution_options(**{READ: True}) as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    return found[0] if len(found) == 1 else None


def _bring(engine: Engine, url: URL, path: Path | None, scripts: Path, fresh: bool) -> str:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    directory = ScriptDirectory.from_config(config)
    head = directory.get_current_head()
    if fresh or _revision(engine, directory, url) != head:
        with _one_at_a_time(engine, path):
            current = _revision(engine, directory, url)
            if current != head:
                _upgrade(engine, config, path, current)
    return str(head)


def _revision(engine: Engine, directory: ScriptDirectory, url: URL) -> str | None:
    """The schema's revision, None for an empty database; refuses one that this version does not know."""
    from alembic.runtime.migration import MigrationContext

    with engine.connect().execution_options(**{READ: True}) as connection:
        current = MigrationContext.configure(connection).get_current_revision()
        tables = [] if current else inspect(connection).get_table_names()
    if current is None:
        foreign = sorted(set(tables) - {"alembic_version"})
        if foreign:
            raise DatabaseForeign(
                f"{_name(url)} holds tables that are not GRPO Studio's ({', '.join(foreign[:5])}): "
                "name another file with --home or DATABASE_URL",
                f"{_name(url)}에 GRPO Studio의 것이 아닌 테이블({', '.join(foreign[:5])})이 있습니다. "
                "--home 또는 DATABASE_URL로 다른 위치를 지정하세요.",
            )
        return None
    known = {script.revision for script in directory.walk_revisions()}
    if current not in known:
        newest = directory.get_current_head()
        raise DatabaseTooNew(
            f"{_name(url)} has schema {current}, newer than the {newest} of this version: update GRPO Studio "
            "(git pull, then make setup), or use another folder with --home",
            f"{_name(url)}의 스키마는 {current}로, 이 버전이 아는 {newest}보다 새것입니다. GRPO Studio를 업데이트하거나"
            "(git pull 후 make setup) --home으로 다른 폴더를 쓰세요.",
        )
    return current


@contextmanager
def _one_at_a_time(engine: Engine, path: Path | None) -> Iterator[None]:
    if path is not None:
        lock = FileLock(f"{path}.migrate.lock", timeout=LOCK_S)
        try:
            lock.acquire()
        except Timeout as error:
            raise DatabaseUnwritable(
                f"another process has been changing the schema of {path} for over {LOCK_S:.0f} s: wait, or end it",
                f"다른 프로세스가 {LOCK_S:.0f}초 넘게 {path}의 스키마를 바꾸고 있습니다. "
                "기다리거나 그 프로세스를 끝내세요.",
            ) from error
        try:
            yield
        finally:
            lock.release()
        return
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:n)"), {"n": ADVISORY_LOCK})
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:n)"), {"n": ADVISORY_LOCK})


def _upgrade(engine: Engine, config: Config, path: Path | None, current: str | None) -> None:
    from alembic import command

    copy = None
    if path is not None and current is not None:
        copy = _backup(engine, path, current)
    with engine.connect() as connection:
        if path is not None:
            # Alembic rebuilds a table by dropping the old one: with foreign keys on, SQLite would delete or refuse
            # the rows that point to it. The pragma does nothing inside a transaction, hence the raw cursor.
            _raw(connection, "PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                if path is not None:
                    _check_references(connection, copy)
        finally:
            if path is not None:
                _raw(connection, "PRAGMA foreign_keys=ON")


def _raw(connection: Connection, statement: str) -> None:
    cursor = connection.connection.cursor()
    cursor.execute(statement)
    cursor.close()


def _check_references(connection: Connection, copy: Path | None) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if broken:
        kept = f"; a copy is at {copy}" if copy else ""
        raise MigrationFailed(
            f"the schema change would leave {len(broken)} rows without their parent (first: {tuple(broken[0])}); "
            f"nothing was changed{kept}"
        )


def _backup(engine: Engine, path: Path, current: str) -> Path:
    """A compact copy of the whole database beside it."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    copy = path.with_name(f"{path.name}.before-{current}-{stamp}.backup")
    number = 1
    while copy.exists():
        number += 1
        copy = path.with_name(f"{path.name}.before-{current}-{stamp}-{number}.backup")
    with engine.connect() as connection:
        cursor = connection.connection.cursor()
        cursor.execute("VACUUM INTO ?", (str(copy),))
        cursor.close()
    return copy


def _require_writable(path: Path) -> None:
    """Fail with a clear message before SQLite fails with an unclear one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # SQLite keeps its journal beside the file, so the folder must be writable too.
        probe = path.with_name(f"{path.name}.migrate.lock")
        with probe.open("a"):
            pass
        if path.exists():
            with path.open("r+b"):
                pass
    except OSError as error:
        raise DatabaseUnwritable(
            f"{path} cannot be written ({error.strerror}): make the folder writable or name another with --home",
            f"{path}에 쓸 수 없습니다({error.strerror}). 폴더에 쓰기 권한을 주거나 --home으로 다른 폴더를 지정하세요.",
        ) from error


def _in_words(error: Exception, url: URL) -> Exception:
    message = str(getattr(error, "orig", None) or error)
    if "not a database" in message:
        return DatabaseForeign(
            f"{_name(url)} is not a SQLite database: name another file with --home or DATABASE_URL",
            f"{_name(url)}은(는) SQLite 데이터베이스가 아닙니다. --home 또는 DATABASE_URL로 다른 위치를 지정하세요.",
        )
    return DatabaseUnwritable(
        f"{_name(url)} could not be opened ({message}): check the disk and the folder's permissions",
        f"{_name(url)}을(를) 열지 못했습니다({message}). 디스크 공간과 폴더 권한을 확인하세요.",
    )


def _name(url: URL) -> str:
    path = file_of(url)
    return url.render_as_string() if path is None else str(path)
