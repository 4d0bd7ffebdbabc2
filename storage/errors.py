"""What can go wrong with the database, in words that a person can act on."""

from __future__ import annotations


class StorageError(Exception):
    """A fault of the store itself. `str(error)` and `.en` are English, `.ko` is the same in Korean."""

    def __init__(self, en: str, ko: str | None = None) -> None:
        self.en = en
        self.ko = ko or en
        super().__init__(en)


class DatabaseAddressBad(StorageError):
    """What was given is not the address of a database, or there is no driver for it."""


class DatabaseTooNew(StorageError):
    """The database was written by a later version of this program."""


class DatabaseForeign(StorageError):
    """The file is a database, but not one of ours."""


class DatabaseUnwritable(StorageError):
    """The database or its folder cannot be written."""


class MigrationFailed(StorageError):
    """A change of the schema was rolled back; the message names the copy that was kept."""
