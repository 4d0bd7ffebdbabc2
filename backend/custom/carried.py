"""A custom reward in an exported script: its source as it was saved, and the call that a run makes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend import rewards as built_in
from backend.custom.library import Library
from backend.custom.look import look
from backend.custom.pinned import home_of
from backend.custom.settings import NAMES

SCRIPT = """
# {name}: a custom reward, version {version}, as it was saved. Here it runs in this very process, without limits.
def load_{function}():
    namespace = {{"__name__": "__reward__"}}
    exec(compile({source}, "<{name}>", "exec", dont_inherit=True), namespace)
    return namespace[{chosen!r}]


judge_{function} = load_{function}()


{define} {function}(prompts, completions, **columns):
    columns |= {{parameter: columns[column] for parameter, column in {columns!r}.items() if column in columns}}
    return {call}judge_{function}(prompts=prompts, completions=completions, **{{**columns, **{args!r}}})


{function}.__name__ = {name!r}
"""


def carried(run_dir: Path, home: Path, config: Any) -> dict[str, str]:
    """{name: Python} of the custom rewards of a run's configuration, for a script. NotFound where one is nowhere."""
    found = {}
    for name in config.rewards:
        version = config.reward_versions.get(name)
        library = Library(home_of(run_dir, home, name, version))
        if library.versions(name):
            kept = library.get(name, version)
            args: Mapping[str, Any] = config.reward_args.get(name) or {}
            function = look(kept.source, kept.function).function
            is_async = function is not None and function.is_async
            found[name] = SCRIPT.format(
                name=name,
                version=kept.version,
                function=built_in.function_name(name),
                source=_literal(kept.source),
                chosen=kept.function,
                columns={**kept.settings.get("columns", {}), **(args.get("columns") or {})},
                args={key: value for key, value in args.items() if key not in NAMES},
                define="async def" if is_async else "def",
                call="await " if is_async else "",
            )
    return found


def _literal(source: str) -> str:
    """A Python literal of the source that a person can read, where it can be written so."""
    text = f"r'''{source}'''"
    plain = "'''" not in source and not source.endswith(("\\", "'")) and "\r" not in source and "\0" not in source
    return text if plain else repr(source)
