"""The arguments of further commands, one file a command, found by itself.

A file has `declare(add, common, settings)`: `add(name, module, help, *parents)` makes the command `name` that
`backend.cli.<module>.<name>(args, out)` runs; `common` (--home, --json; without defaults, since both may stand before
the action, too) and `settings` (--preset, --config, --set) are parents for the parsers of sub-commands. It imports
nothing heavy: every --help reads it.
"""
