"""The report and the model card of a run, made from the database at any time.

The same database gives the same bytes: no time of the making stands in them, only the run's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.report.facts import Source


def html(services: Source, run_id: str, lang: str = "en") -> str:
    """One self-contained page: no request, no script. `lang`: "en" or "ko". NotFound for a run that is not there."""
    from backend.report.page import page

    return page(services, run_id, lang)


def card(services: Source, run_id: str, merged: bool = False) -> str:
    """README.md for the hub, in English, with its YAML header. NotFound for a run that is not there.

    `merged`: for weights with the adapter merged in; else for what the run saves itself, an adapter or a whole model.
    """
    from backend.report.model_card import model_card

    return model_card(services, run_id, merged)
