"""The data of one chart as CSV."""

from __future__ import annotations

import csv
import io
from fnmatch import fnmatchcase

from backend.export import cell, safe_header
from ui.door import Door
from ui.panels import Panel


def panel_csv(services: Door, run_id: str, panel: Panel) -> str:
    """The table of one chart: step, then a column a curve; a value that was not logged is an empty cell."""
    table: dict[int, dict[str, float]] = {}
    for phase in sorted({series.phase for series in panel.series}):
        patterns = [series.name for series in panel.series if series.phase == phase]
        for step, values in services.table(run_id, phase):
            chosen = {k: v for k, v in values.items() if any(fnmatchcase(k, p) for p in patterns)}
            if chosen:
                table.setdefault(step, {}).update(chosen)
    names = sorted({name for values in table.values() for name in values})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["step", *(safe_header(name) for name in names)])
    writer.writerows([step, *(cell(table[step].get(name)) for name in names)] for step in sorted(table))
    return out.getvalue()
