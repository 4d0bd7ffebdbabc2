"""Opening a home folder and its database, with every refusal in words."""

from __future__ import annotations

from backend.errors import Refused, StudioError
from backend.settings import Settings
from backend.text import Text
from storage.db import Database, migrate
from storage.errors import DatabaseAddressBad, StorageError


def open_database(settings: Settings) -> Database:
    """The database of this home, made and migrated when needed.

    Raises Refused for an address that is none, StudioError for a folder that cannot be written and for a database
    newer than this program.
    """
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        migrate(settings.database_url)
        return Database(settings.database_url)
    except DatabaseAddressBad as error:
        raise Refused(Text(en=error.en, ko=error.ko)) from error
    except StorageError as error:
        raise StudioError(Text(en=error.en, ko=error.ko)) from error
    except OSError as error:
        raise StudioError(
            Text(
                en=f"home={settings.home}: the folder cannot be used ({error.strerror}). Give another with --home.",
                ko=f"home={settings.home}: 이 폴더는 쓸 수 없습니다({error.strerror}). --home으로 바꾸세요.",
            )
        ) from error
