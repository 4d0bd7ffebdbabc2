"""The door to it: ids and plain values in, plain values and StudioError out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.errors import NotFound
from backend.samples import filters, listing
from backend.samples import group as whole
from backend.samples.analysis import Analysis
from backend.text import Text
from storage.records import StoredGroup

if TYPE_CHECKING:
    from backend.services import Services

Given = Mapping[str, str | None]


class SampleService(Analysis):
    """Thread-safe; holds nothing that a run's records do not. A filter comes as texts by the names of
    backend.samples.filters."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)

    # --- the list and a group ---

    def find(
        self, run_id: str, given: Given, cursor: str | None = None, limit: int = 50, newest_first: bool = True
    ) -> dict[str, Any]:
        """A page of completions that fit: listing.page."""
        run = self._services.get(run_id)
        return listing.page(self._explorer, run_id, filters.parse(given, run.reward_names), cursor, limit, newest_first)

    def newer(self, run_id: str, given: Given, top: int) -> dict[str, Any]:
        """How many completions that fit came after the group `top`: listing.newer."""
        run = self._services.get(run_id)
        return listing.newer(self._explorer, run_id, filters.parse(given, run.reward_names), top)

    def group(self, run_id: str, group_id: int, given: Given | None = None) -> dict[str, Any]:
        """{"group": GroupView, "step": its neighbours in the step, "previous", "next": ids in the filter, or None}."""
        return self._whole(run_id, self._group(run_id, group_id), given)

    def at(self, run_id: str, step: int, place: int, phase: str = "train") -> dict[str, Any]:
        """The same of the group at a place (from 0) among those of a step."""
        self._services.get(run_id)
        found = self._explorer.at(run_id, step, place, phase)
        if found is None:
            raise NotFound(
                Text(
                    en=f"There is no group {place} at step {step} of {run_id}.",
                    ko=f"{run_id} 실행의 스텝 {step}에는 {place}번 그룹이 없습니다.",
                )
            )
        return self._whole(run_id, found, None)

    def completion(self, run_id: str, group_id: int, index: int) -> dict[str, Any]:
        """{"text", "surrogates"}: one text, whole."""
        found = whole.completion(self._group(run_id, group_id), index)
        if found is None:
            raise NotFound(
                Text(
                    en=f"Group {group_id} has no completion {index}.",
                    ko=f"그룹 {group_id}에는 {index}번 답변이 없습니다.",
                )
            )
        return found

    def _whole(self, run_id: str, found: StoredGroup, given: Given | None) -> dict[str, Any]:
        run = self._services.get(run_id)
        weights = run.config.get("reward_weights")
        wanted = filters.parse(given or {}, run.reward_names)
        return {
            "group": whole.group(found, weights if isinstance(weights, list) else None),
            "step": whole.step(self._explorer, run_id, found),
            **whole.beside(self._explorer, run_id, found, wanted),
        }

    def _group(self, run_id: str, group_id: int) -> StoredGroup:
        self._services.get(run_id)
        found = self._explorer.group(run_id, group_id)
        if found is None:
            raise NotFound(
                Text(
                    en=f"There is no group {group_id} in {run_id}: a resume may have taken it back.",
                    ko=f"{run_id} 실행에 그룹 {group_id}이(가) 없습니다. 재개하면서 취소되었을 수 있습니다.",
                )
            )
        return found
