"""The report as one HTML file: templates with autoescape, every text made visible before it is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from backend.report import curves, events, numbers, settings, table
from backend.report.facts import Source, facts_of
from backend.report.samples import CHARACTERS, messages
from backend.report.shown import exact, visible
from backend.report.words import Words

TEMPLATES = Path(__file__).with_name("templates")
OPEN = 3  # samples of a kind that are not folded away
VALUE = 2000  # characters of a setting's value


def page(services: Source, run_id: str, lang: str) -> str:
    facts, t = facts_of(services, run_id), Words(lang)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            facts=facts,
            run=facts.run,
            config=facts.config,
            report=facts.report,
            t=t,
            charts=curves.charts(services.reader, facts, t) if facts.trains else [],
            measures=table.measures(facts.report, t) if facts.report else [],
            parts=table.parts(facts.report) if facts.report else [],
            fresh=sorted((e for e in facts.evaluations if e.when in ("best", "last")), key=lambda e: e.when),
            changed=settings.changed(facts),
            groups=settings.grouped(facts),
            rewards=settings.rewards(facts.config),
            events=events.told(facts.events),
        )
    )


@cache
def environment() -> jinja2.Environment:
    """Jinja with autoescape for everything, and each plain text made visible first."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.ChainableUndefined,  # a record of an older version may lack a key
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=inert,
    )
    made.filters |= {
        "exact": clip,
        "percent": numbers.percent,
        "points": numbers.points,
        "number": numbers.number,
        "signed": numbers.signed,
        "count": numbers.count,
        "probability": numbers.probability,
        "duration": numbers.duration,
        "moment": numbers.moment,
        "gigabytes": numbers.gigabytes,
        "value": settings.value,
    }
    made.globals |= {
        "CHARACTERS": CHARACTERS,
        "OPEN": OPEN,
        "VALUE": VALUE,
        "comparison": table.comparison,
        "interval": numbers.interval,
        "messages": messages,
        "percent": numbers.percent,
        "signed": numbers.signed,
        "wilson": wilson,
        "style": Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),  # our own file
    }
    return made


def inert(value: Any) -> Any:
    """What jinja writes out: plain text with its hidden characters as symbols. Escaping comes after this."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def clip(text: str | None, most: int = CHARACTERS) -> Markup:
    """Exact text of a model, escaped, at most so many characters of it; the template says what is left out."""
    return exact((text or "")[:most])


def wilson(share: float, n: int) -> tuple[float, float] | None:
    from backend.headline import wilson as interval

    return interval(share, n) if numbers.known(share) and n > 0 else None
