"""One page a file. A module here with a `TAB` is found by itself: its column, its place in the header, its script.

The column holds one empty element, `#<id>-root`; the page's ES module fills it (`mount(root, ctx)`), so that no text
from a model or a user ever passes through an HTML template.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field

import gradio as gr

from backend.text import Text


@dataclass(frozen=True, slots=True)
class Tab:
    """`id`: the page's name in the address; `module`: its script under ui/static/js; `needs_run`: a page of one run."""

    id: str
    title: Text
    order: int
    module: str
    needs_run: bool = False
    build: Callable[[Tab], None] = field(default=lambda tab: root(tab))

    def to_json(self) -> dict[str, object]:
        return {"id": self.id, "title": self.title.to_json(), "module": self.module, "needs_run": self.needs_run}


def root(tab: Tab) -> None:
    """The empty element that the page's script fills."""
    html = f'<div id="{tab.id}-root" class="page-root"></div>'
    gr.HTML(html, elem_id=f"{tab.id}-html", apply_default_css=False, padding=False, container=False, js_on_load=None)


def find_tabs() -> list[Tab]:
    """All pages, in the order of the header."""
    modules = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    return sorted((m.TAB for m in modules if isinstance(getattr(m, "TAB", None), Tab)), key=lambda tab: tab.order)
