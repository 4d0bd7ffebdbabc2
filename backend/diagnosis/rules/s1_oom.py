"""S1 oom: the run ended for want of memory; in which phase, what was largest there, and what needs less.

From the event that the worker leaves (backend/workers/memory.py: the phase and the mildest change that fits), or from
the reason of the run's end, where the kernel killed it and there was no time for words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from backend.diagnosis.base import CLEAR, Cause, Change, Reading, Rule
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _ends
from backend.diagnosis.rules._settings import change
from backend.text import Text

PERHAPS = re.compile(r"perhaps out of memory", re.IGNORECASE)  # a signal 9 that nobody explains
LARGEST = re.compile(r"largest part (?:there )?is (.+?)(?:\. (?:Set|Take)|; set |$)", re.DOTALL)
PHASE_PART = re.compile(r"during \w+ the largest part is ")
PHASE = re.compile(r"during (\w+)")
PHASES: Mapping[str, Text] = {
    "generation": Text("generation", "생성"),
    "update": Text("the update", "업데이트"),
    "sft": Text("the supervised warm-up", "SFT 준비 학습"),
    "reward": Text("the reward", "보상 계산"),
    "load": Text("loading the model", "모델 불러오기"),
    "checkpoint": Text("saving a checkpoint", "체크포인트 저장"),
}


def check(window: Window) -> Reading | None:
    records = window.records
    event = next((e for e in reversed(records.events) if e.kind == "out_of_memory"), None)
    reason = records.reason or ""
    if records.state not in ("failed", "lost") or (event is None and not _ends.MEMORY.search(reason)):
        return CLEAR
    if event is not None and reason and not (_ends.MEMORY.search(reason) or PHASE_PART.search(reason)):
        return CLEAR  # the event is of an attempt before a resume
    said = event.message if event is not None else reason
    phase = str(event.data.get("phase")) if event is not None else _found(PHASE, said)
    part = _found(LARGEST, said)
    changed = _changes(window, event.data.get("change") if event is not None else None, phase)
    where = PHASES.get(phase or "", Text("an evaluation", "평가") if (phase or "").startswith("eval") else None)
    perhaps = event is None and PERHAPS.search(reason) is not None
    ran, ran_ko = ("may have run out", "부족했을 수 있습니다") if perhaps else ("ran out", "부족했습니다")
    en = f"Memory {ran}{f' during {where.en}' if where else ''}"
    ko = f"{f'{where.ko} 중 ' if where else ''}메모리가 {ran_ko}"
    if part:
        en, ko = f"{en}. The largest part there is {part}", f"{ko}. 가장 큰 부분: {part}"
    causes = [Cause("memory", Text(f"{part} does not fit.", f"{part}이(가) 들어가지 않습니다."))] if part else []
    return Reading(
        "fire",
        Text(f"{en}.", f"{ko}."),
        {"phase": phase, "largest": part, "reason": reason[:300], "step": window.step},
        (),
        (*causes, *_others(window, phase)),
        changed,
    )


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match.group(1).strip() if match else None


def _changes(window: Window, proposed: Any, phase: str | None) -> tuple[Change, ...]:
    """What the worker proposed; else half the micro-batch with twice the accumulation, which learns the same: only an
    update needs less by it, a generation holds as many completions as before."""
    if isinstance(proposed, Mapping) and proposed:
        return change(window.facts, **{str(name): value for name, value in proposed.items()})
    config = window.facts.config
    size, steps = config.get("per_device_train_batch_size"), config.get("gradient_accumulation_steps")
    if phase not in (None, "update") or not size or not steps or int(size) % 2:
        return ()
    new = {"per_device_train_batch_size": int(size) // 2, "gradient_accumulation_steps": int(steps) * 2}
    if config.get("steps_per_generation"):
        new["steps_per_generation"] = int(config["steps_per_generation"]) * 2
    return change(window.facts, **new)


def _others(window: Window, phase: str | None) -> list[Cause]:
    facts = window.facts
    found = []
    shares = facts.get("vllm_mode", "colocate") == "colocate"
    if facts.get("use_vllm", False) and shares and not facts.get("vllm_enable_sleep_mode", False):
        text = Text(
            "vLLM keeps its memory during the update: its sleep mode gives it back.",
            "vLLM이 업데이트 중에도 메모리를 잡고 있습니다. 슬립 모드가 이를 돌려줍니다.",
        )
        found.append(Cause("vllm", text))
    if float(facts.get("beta", 0.0)) > 0 and not facts.uses_lora:
        text = Text(
            "beta above 0 keeps a second model as the reference: beta 0 or LoRA saves it.",
            "beta가 0보다 크면 기준 모델이 하나 더 필요합니다. beta 0 또는 LoRA면 필요 없습니다.",
        )
        found.append(Cause("reference", text))
    return found


RULE = Rule(
    id="S1",
    name="oom",
    title=Text("Out of memory", "메모리가 부족했습니다"),
    severity="stop",
    means="broken",
    check=check,
    when="end",
    confirm=1,
)
