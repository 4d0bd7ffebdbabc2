from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from storage.db import Database, migrate
from storage.errors import DatabaseForeign, DatabaseTooNew, DatabaseUnwritable, MigrationFailed
from storage.migrate import SCRIPTS, newest
from storage.models import metadata
from storage.reader import Reader
from storage.records import Completion, EvaluationItem, Generation, Group
from storage.sqlite import make_engine
from storage.writer import Writer
from tests.storage_support import RUN, open_store

PROJECT = Path(__file__).resolve().parents[2]

FIRST = """
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "0001", None, None, None
def upgrade():
    op.create_table("parent", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.Text))
    op.create_table("child", sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("parent_id", sa.Integer, sa.ForeignKey("parent.id", ondelete="CASCADE"), nullable=False))
"""
REBUILD = """
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "0002", "0001", None, None
def upgrade():
    with op.batch_alter_table("parent", recreate="always") as batch:
        batch.alter_column("name", new_column_name="title")
"""
ORPHANS = """
from alembic import op
revision, down_revision, branch_labels, depends_on = "0002", "0001", None, None
def upgrade():
    op.execute("CREATE TABLE extra (id INTEGER PRIMARY KEY)")
    op.execute("DELETE FROM parent WHERE id = 1")
"""


def test_what_the_names_of_the_scripts_say_is_where_they_lead() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert newest() == ScriptDirectory.from_config(config).get_current_head()


def test_a_database_of_today_is_opened_without_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'studio.db'}"
    code = "import sys; from storage.db import migrate; migrate(sys.argv[1]); print('alembic' in sys.modules)"
    said = [
        subprocess.run(
            [sys.executable, "-c", code, url], cwd=PROJECT, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert said == ["True\n", "False\n"]


def scripts(folder: Path, *versions: str) -> Path:
    """A folder of migrations as ours, with other versions in it."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "versions").mkdir(parents=True)
    for name in ("env.py", "script.py.mako"):
        shutil.copy(SCRIPTS / name, folder / name)
    for number, body in enumerate(versions, 1):
        (folder / "versions" / f"v{number}.py").write_text(body)
    return folder


def words(sql: object) -> list[str]:
    """A table's definition whatever the order of its constraints; a table that was rebuilt has its name quoted."""
    return sorted(word.strip('"') for word in re.split(r"[\s,()]+", str(sql)))


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A database at 0001 with 3 parents and 300 children, on a schema that cascades."""
    path = tmp_path / "studio.db"
    migrate(f"sqlite:///{path}", scripts(tmp_path / "scripts", FIRST))
    db = Database(f"sqlite:///{path}")
    with db.begin() as connection:
        connection.execute(text("INSERT INTO parent (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c')"))
        for parent in (1, 2, 3):
            values = [{"p": parent}] * 100
            connection.execute(text("INSERT INTO child (parent_id) VALUES (:p)"), values)
    db.close()
    return path


def test_from_blank_the_migrations_give_the_models(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.db.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, metadata) == []
    made = {
        table: sql
        for table, sql in rows(store.path, "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        if table in metadata.tables
    }
    assert set(made) == set(metadata.tables)
    twin = make_engine(f"sqlite:///{tmp_path / 'twin.db'}")
    metadata.create_all(twin)
    for table, sql in rows(tmp_path / "twin.db", "SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
        if table in made:
            assert words(sql) == words(made[table])
    growing = {name for name in made if name != "writer_mark"}
    assert {name for name, sql in made.items() if "AUTOINCREMENT" in str(sql)} == growing


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    before = rows(store.path, "SELECT * FROM run")
    assert migrate(store.url) == migrate(store.url)
    assert rows(store.path, "SELECT * FROM run") == before
    assert not list(tmp_path.glob("*.backup"))


def test_a_table_that_is_rebuilt_keeps_the_rows_that_point_to_it(tmp_path: Path, family: Path) -> None:
    migrate(f"sqlite:///{family}", scripts(tmp_path / "scripts", FIRST, REBUILD))
    assert rows(family, "SELECT title FROM parent ORDER BY id") == [("a",), ("b",), ("c",)]
    assert rows(family, "SELECT count(*) FROM child") == [(300,)]


def test_a_copy_is_made_before_a_change(tmp_path: Path, family: Path) -> None:
    migrate(f"sqlite:///{family}", scripts(tmp_path / "scripts", FIRST, REBUILD))
    (copy,) = tmp_path.glob("studio.db.before-0001-*.backup")
    assert rows(copy, "SELECT name FROM parent ORDER BY id") == [("a",), ("b",), ("c",)]
    assert rows(copy, "SELECT count(*) FROM child") == [(300,)]


def test_a_change_that_leaves_orphans_is_undone(tmp_path: Path, family: Path) -> None:
    with pytest.raises(MigrationFailed, match=r"100 rows without their parent.*nothing was changed.*a copy is at"):
        migrate(f"sqlite:///{family}", scripts(tmp_path / "scripts", FIRST, ORPHANS))
    assert rows(family, "SELECT count(*) FROM parent") == [(3,)]
    assert rows(family, "SELECT version_num FROM alembic_version") == [("0001",)]
    assert rows(family, "SELECT name FROM sqlite_master WHERE name = 'extra'") == []


def test_foreign_keys_are_on_again_afterwards(tmp_path: Path, family: Path) -> None:
    migrate(f"sqlite:///{family}", scripts(tmp_path / "scripts", FIRST, REBUILD))
    db = Database(f"sqlite:///{family}")
    with db.begin() as connection:
        connection.execute(text("DELETE FROM parent WHERE id = 1"))
    assert rows(family, "SELECT count(*) FROM child") == [(200,)]


def test_a_database_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    """As the first version wrote it (tests/data/studio-0001.sql): its completions come back with no verdicts."""
    path = tmp_path / "studio.db"
    connection = sqlite3.connect(path)
    connection.executescript((PROJECT / "tests" / "data" / "studio-0001.sql").read_text(encoding="utf-8"))
    connection.close()
    before = rows(path, "SELECT id FROM sample_group ORDER BY id"), rows(path, "SELECT count(*) FROM completion")
    migrate(f"sqlite:///{path}")
    assert rows(path, "SELECT id FROM sample_group ORDER BY id") == before[0]
    assert rows(path, "SELECT sum(completions) FROM sample_block") == before[1]
    (copy,) = tmp_path.glob("studio.db.before-0001-*.backup")
    assert rows(copy, "SELECT version_num FROM alembic_version") == [("0001",)]
    db = Database(f"sqlite:///{path}")
    first, second = Reader(db).groups(RUN, newest_first=False)
    assert [c.text for c in second.completions] == ["한글 답 <answer>3</answer>", "x" * 300]
    assert {(c.extracted, c.reasons) for group in (first, second) for c in group.completions} == {((), ())}
    fresh = Completion("3", 1, False, (1.0, None), 1.0, 0.5, ("3", None), ("equal", "no gold: 한글"), True)
    group = Group("row-3", "1+2", "text", "3", (fresh,))
    writer = Writer(f"sqlite:///{path}", RUN, 1, tmp_path / "spill.jsonl", 0.02)
    writer.generation(Generation(3, "train", ("accuracy", "format"), (group,)))
    assert writer.close()
    assert Reader(db).groups(RUN, step=3)[0].completions == (fresh,)
    db.close()


def test_samples_of_an_older_schema_are_told_apart(tmp_path: Path) -> None:
    """Schema 0005 works out kinds, places and right answers; ids are kept and never used again."""
    path = tmp_path / "studio.db"
    connection = sqlite3.connect(path)
    connection.executescript((PROJECT / "tests" / "data" / "studio-0001.sql").read_text(encoding="utf-8"))
    for group, scores in enumerate(["[1.0,1.0]", "[0.0,0.0]", "[null,0.5]", "[null,null]"], 3):
        totals = {3: 2.0, 4: 0.0, 5: 0.5, 6: None}
        connection.execute(
            "INSERT INTO sample_group VALUES (?, 1, 1, 3, 'train', 'row-1', ?, 'text', ?, ?)",
            (group, b"\0001+1=?", b"\0002", '["accuracy","format"]'),
        )
        for place in range(2):
            total = "nan" if (group, place) == (6, 1) else totals[group]
            connection.execute(
                "INSERT INTO completion VALUES (NULL, ?, ?, ?, 5, 1, ?, ?, NULL)",
                (group, place, b"\000" + b"x" * place, scores, total),
            )
    connection.execute("UPDATE sqlite_sequence SET seq = 40 WHERE name = 'sample_group'")
    connection.commit()
    connection.close()
    migrate(f"sqlite:///{path}")
    db = Database(f"sqlite:///{path}")
    groups = Reader(db).groups(RUN, newest_first=False)
    told = [(g.id, g.step, g.place, g.kind, g.solved, g.unique) for g in groups]
    assert told == [
        (1, 1, 0, "live", 1, 2), (2, 2, 0, "live", 1, 2), (3, 3, 0, "all_right", 2, 2), (4, 3, 1, "all_wrong", 0, 2),
        (5, 3, 2, "tied", None, 2), (6, 3, 3, "live", None, 2),
    ]  # fmt: skip
    assert [c.rewards for c in groups[4].completions] == [(None, 0.5)] * 2
    assert [repr(c.total) for c in groups[5].completions] == ["None", "nan"]
    with db.read() as open_one:
        assert open_one.execute(text("SELECT count(*) FROM prompt")).scalar() == 2, "row-1 and row-2"
    writer = Writer(f"sqlite:///{path}", RUN, 1, tmp_path / "spill.jsonl", 0.02)
    writer.generation(Generation(4, "train", ("accuracy", "format"), (Group("row-3", "1+2", "text", "3", ()),)))
    assert writer.close()
    assert [g.id for g in Reader(db).groups(RUN, step=4)] == [41]
    db.close()


@pytest.mark.parametrize(
    ("rewards", "verdicts", "read"),
    [
        ('["1.0",null]', None, ((None, None), (), ())),
        ("[true,1]", None, ((1.0, 1.0), (), ())),
        ("[1" + "0" * 400 + ",0.5]", None, ((None, 0.5), (), ())),
        ('"none"', None, ((), (), ())),
        ("[1.0,0.0]", '[[5,{"a":1}],["equal",null]]', ((1.0, 0.0), ("5", "{'a': 1}"), ("equal", None))),
        ("[1.0,0.0]", '[5,"no"]', ((1.0, 0.0), (), ())),
        ("[1.0,0.0]", '{"a":1}', ((1.0, 0.0), (), ())),
    ],
)  # fmt: skip
def test_odd_values_of_an_older_schema_keep_no_database_shut(
    tmp_path: Path, rewards: str, verdicts: str | None, read: Any
) -> None:
    """Nothing looked at what stood in columns of JSON when they were written."""
    path = tmp_path / "studio.db"
    connection = sqlite3.connect(path)
    connection.executescript((PROJECT / "tests" / "data" / "studio-0001.sql").read_text(encoding="utf-8"))
    connection.execute(
        "INSERT INTO sample_group VALUES (3, 1, 1, 3, 'train', 'row-1', ?, 'text', ?, ?)",
        (b"\0001+1=?", b"\0002", '["accuracy","format"]'),
    )
    connection.commit()
    connection.close()
    older = tmp_path / "older"
    shutil.copytree(SCRIPTS, older, ignore=shutil.ignore_patterns("0005_*", "__pycache__"))
    assert migrate(f"sqlite:///{path}", older) == "0004"
    connection = sqlite3.connect(path)
    said = None if verdicts is None else b"\0" + verdicts.encode()
    connection.execute(
        "INSERT INTO completion (group_id, position, text, tokens, truncated, rewards, total, advantage, verdicts) "
        "VALUES (3, 0, ?, 5, 1, ?, 1.0, 0.5, ?)",
        (b"\0x", rewards, said),
    )
    connection.commit()
    connection.close()
    migrate(f"sqlite:///{path}")
    db = Database(f"sqlite:///{path}")
    one = Reader(db).groups(RUN, step=3)[0].completions[0]
    assert (one.text, one.total, one.advantage) == ("x", 1.0, 0.5)
    assert (one.rewards, one.extracted, one.reasons) == read
    db.close()


def test_evaluations_of_an_older_schema_are_kept(tmp_path: Path) -> None:
    """Schema 0003 rebuilds the table of items: what stood in it is all there, under the same ids."""
    path = tmp_path / "studio.db"
    connection = sqlite3.connect(path)
    connection.executescript((PROJECT / "tests" / "data" / "studio-0001.sql").read_text(encoding="utf-8"))
    connection.execute(
        "INSERT INTO evaluation VALUES (7, (SELECT key FROM run LIMIT 1), 1, 1.0, 'before', 0, 1, 0.5, 1.0, 2.0, 1.0, "
        "NULL, 'd', 0.1)"
    )
    packed = [bytes([0]) + word.encode() for word in ("1+2", "3", "셋")]
    connection.execute("INSERT INTO evaluation_item VALUES (9, 7, 0, ?, 'text', ?, ?, 0, 1, 2, 1, 0.5)", packed)
    connection.commit()
    connection.close()
    migrate(f"sqlite:///{path}")
    db = Database(f"sqlite:///{path}")
    (evaluation,) = Reader(db).evaluations(RUN)
    assert (evaluation.id, evaluation.complete, evaluation.settings) == (7, True, {})
    assert Reader(db).evaluation_items(7) == [EvaluationItem("1+2", "text", "3", "셋", False, True, 2, True, 0.5)]
    assert rows(path, "SELECT id FROM evaluation_item") == [(9,)]
    db.close()


def test_a_newer_database_is_refused_in_words(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.db.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    before = store.path.read_bytes()
    with pytest.raises(DatabaseTooNew, match=r"schema 9999, newer than the \d+ .*git pull.*--home") as caught:
        migrate(store.url)
    assert "9999" in caught.value.ko
    assert store.path.read_bytes() == before


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "studio.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE customers (id INTEGER)")
    connection.close()
    with pytest.raises(DatabaseForeign, match="customers"):
        migrate(f"sqlite:///{path}")
    assert rows(path, "SELECT name FROM sqlite_master") == [("customers",)]


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "studio.db"
    path.write_text("dear diary\n" * 500)
    with pytest.raises(DatabaseForeign, match="not a SQLite database"):
        migrate(f"sqlite:///{path}")
    assert path.read_text() == "dear diary\n" * 500


@pytest.mark.parametrize("existing", [False, True])
def test_a_read_only_folder_is_named(tmp_path: Path, existing: bool) -> None:
    """In a child that gives up root's rights, since root may write everywhere."""
    home = tmp_path / "home"
    home.mkdir()
    if existing:
        open_store(home).db.close()
    code = (
        "import os, sys\n"
        "from storage.db import migrate\n"
        "from storage.errors import DatabaseUnwritable\n"
        "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try: migrate(sys.argv[1])\n"
        "except DatabaseUnwritable as error: sys.stdout.write(str(error)); sys.exit(7)\n"
    )
    for folder in (home, *list(home.parents)[:3]):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(0o755)
    home.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, f"sqlite:///{home / 'studio.db'}"],
            cwd=PROJECT, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    finally:
        home.chmod(0o755)
    assert done.returncode == 7, done.stderr
    assert "studio.db cannot be written" in done.stdout
    assert "--home" in done.stdout


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseUnwritable, match="cannot be written"):
        migrate(f"sqlite:///{tmp_path / 'file' / 'studio.db'}")


def test_a_home_with_a_percent_sign_and_hangul(tmp_path: Path) -> None:
    path = tmp_path / "100% 한글" / "studio.db"
    migrate(f"sqlite:///{path}")
    engine = make_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM run")).scalar() == 0
