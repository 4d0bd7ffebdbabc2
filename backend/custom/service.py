"""What the page and the command line may do with custom rewards. All of it speaks in plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.custom.description import describe, of_version
from backend.custom.dryrun import Shape, dry_run
from backend.custom.library import CONFIRM, Level, Library, Version
from backend.custom.look import look
from backend.custom.naming import ON_SPACE, name_problem, refuse_on_space
from backend.custom.problem import Problem
from backend.custom.templates import TEMPLATES
from backend.errors import Refused, StudioError
from backend.settings import Settings, on_space
from backend.text import Text


class CustomService:
    """Everything but `facts`, `names` and `describe` is Refused on a public Space."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @property
    def library(self) -> Library:
        return Library(self.settings.home)

    def facts(self) -> dict[str, Any]:
        """{"allowed", "why", "confirm"}: may custom rewards be used here, and what a trusted one must be told."""
        return {
            "allowed": not on_space(),
            "why": ON_SPACE.to_json() if on_space() else None,
            "confirm": CONFIRM.to_json(),
        }

    def names(self) -> list[str]:
        """The saved ones; none on a public Space."""
        return [] if on_space() else self.library.names()

    def describe(self, name: str, version: int | None = None) -> dict[str, Any]:
        """Description.to_json of a built-in or custom reward. NotFound."""
        return describe(self.settings.home, name, version).to_json()

    def saved(self) -> list[dict[str, Any]]:
        """Every saved reward: its description, its versions (the newest last), when the newest was saved, and
        "error" ({en, ko} or null): why it cannot be used."""
        return [self._row(name) for name in self.names()]

    def _row(self, name: str) -> dict[str, Any]:
        versions = self.library.versions(name)
        try:
            newest = self.library.get(name)
        except StudioError as error:  # somebody changed the file
            return {"name": name, "versions": versions, "error": error.text.to_json()}
        return {**of_version(newest).to_json(), "versions": versions, "created_at": newest.created_at, "error": None}

    def show(self, name: str, version: int | None = None) -> dict[str, Any]:
        """One version with its source, its description and all the versions there are. NotFound."""
        refuse_on_space()
        found = self.library.get(name, version)
        return {
            **found.to_json(),
            "versions": self.library.versions(name),
            "description": of_version(found).to_json(),
        }

    def look(
        self, source: str, function: str | None, name: str | None, level: str, columns: Sequence[str] | None
    ) -> dict[str, Any]:
        """The look before saving (Look.to_json), and at the name where there is one; nothing is run."""
        refuse_on_space()
        seen = look(source, function, name, level, columns)
        problem = name_problem(name) if name else None
        if problem is not None:
            seen = replace(seen, problems=[Problem("name", problem), *seen.problems])
        return seen.to_json()

    def save(
        self,
        name: str,
        source: str,
        level: Level,
        confirmed: bool,
        function: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Version:
        """Library.save."""
        return self.library.save(name, source, level, confirmed, function, settings)

    def choices(self) -> list[dict[str, Any]]:
        """Every reward that the form may offer, as in the schema of its field."""
        from backend.config.form import reward_choices

        return reward_choices(self.settings.home)

    def templates(self) -> list[dict[str, Any]]:
        """A source to begin with for each common shape: {"id", "title", "about", "level", "source", "rows"}."""
        return [template.to_json() for template in TEMPLATES]

    def test(
        self,
        rows: Sequence[Mapping[str, Any]] | None = None,
        *,
        name: str | None = None,
        version: int | None = None,
        source: str | None = None,
        level: Level = "sandboxed",
        confirmed: bool = False,
        function: str | None = None,
        args: Mapping[str, Any] | None = None,
        shape: Shape = "rows",
    ) -> dict[str, Any]:
        """dry_run of a source that is not saved, or of a saved reward. A trusted source must be confirmed first, since
        it runs code as the user. Refused, NotFound."""
        refuse_on_space()
        if source is None:
            return dry_run(self.library.get(name or "", version), rows, args, shape)
        if level == "trusted" and not confirmed:
            raise Refused(Text(en=f"confirmed=False: {CONFIRM.en}", ko=f"confirmed=False: {CONFIRM.ko}"))
        seen = look(source, function, name, level)
        chosen = seen.function.name if seen.function else function or ""
        return dry_run(Version(name or chosen or "reward", 0, source, level, chosen, "", ""), rows, args, shape)

    def delete(self, name: str) -> None:
        """Library.delete. Runs keep their own copies."""
        refuse_on_space()
        self.library.delete(name)
