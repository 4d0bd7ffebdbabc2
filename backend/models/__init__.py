"""Models: the catalogue, their sizes, and where they lie. Nothing here loads weights."""

from backend.models.catalogue import Entry, entries, facts, resolve
from backend.models.facts import ModelFacts
from backend.models.fetching import fetch

__all__ = ["Entry", "ModelFacts", "entries", "facts", "fetch", "resolve"]
