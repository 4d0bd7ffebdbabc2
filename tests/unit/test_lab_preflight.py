"""Pre-flight at Start: red stops, a warning is passed over by name, and what was looked at once is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from backend.custom import Library
from backend.errors import Refused
from backend.lab import preflight as module
from backend.lab.preflight import preflight, require
from backend.services import Services
from backend.settings import Settings

CORRECT = (
    "import re\n"
    "def mine(completions, ground_truth, **kwargs):\n"
    "    tag = lambda c: (re.findall('<answer>(.*?)</answer>', c) or [''])[-1].strip()\n"
    "    return [float(tag(c) == g) for c, g in zip(completions, ground_truth)]\n"
)
TAGS = "def mine(completions, **kwargs):\n    return [float('<answer>' in c) for c in completions]\n"


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Services(Settings(tmp_path))
    monkeypatch.setattr(made, "reconcile", list)  # nothing is started here
    module._known.clear()
    yield made
    made.close()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "sums.jsonl"
    write(path, str)
    return path


def write(path: Path, cast: Any) -> None:
    rows = [{"prompt": f"{n}+{n}", "ground_truth": cast(2 * n)} for n in range(10, 60)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def values(data: Path, **more: Any) -> dict[str, Any]:
    return {"dataset": str(data), "rewards": ["mine"], "eval_size": 0, "model": "embedded", "use_cpu": True, **more}


def ids(checks: list[dict[str, Any]]) -> list[str]:
    return [check["id"] for check in checks]


def test_a_correct_reward_starts(services: Services, data: Path, tmp_path: Path) -> None:
    Library(tmp_path).save("mine", CORRECT)
    run = services.start(values(data))
    assert run.config["reward_versions"] == {"mine": 1}


def test_red_cannot_be_accepted(services: Services, data: Path, tmp_path: Path) -> None:
    write(data, int)
    Library(tmp_path).save("mine", CORRECT)
    with pytest.raises(Refused, match=r"mine\.type stops: type: the ground truths are numbers") as refused:
        services.start(values(data), accept=["all", "mine.type"])
    found = refused.value.preflight  # type: ignore[attr-defined]
    assert ids(found["stops"]) == ["mine.type"]
    assert services.runs() == []


def test_a_warning_is_passed_over_by_name(services: Services, data: Path, tmp_path: Path) -> None:
    Library(tmp_path).save("mine", TAGS)
    with pytest.raises(Refused) as refused:
        services.start(values(data))
    found = refused.value.preflight  # type: ignore[attr-defined]
    assert found["stops"] == []
    assert ids(found["warns"]) == ["mine.other_gold", "config.task"]
    with pytest.raises(Refused, match=r"config\.task"):
        services.start(values(data), accept=["mine.other_gold"])
    run = services.start(values(data), accept=["mine.other_gold", "config.task"])
    told = [event for event in services.events(run.id) if event["kind"] == "accepted"]
    assert {event["data"]["id"] for event in told} == {"mine.other_gold", "config.task"}
    assert services.start(values(data), accept=["all"]).id


def test_what_was_looked_at_is_kept_until_something_changes(
    services: Services, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    whole = module.audit
    monkeypatch.setattr(module, "audit", lambda *a, **k: looked.append(1) or whole(*a, **k))
    library = Library(tmp_path)
    library.save("mine", TAGS)
    assert services.preflight(values(data))["warns"]
    assert services.preflight(values(data, learning_rate=3e-5))["warns"]
    assert len(looked) == 1
    library.save("mine", CORRECT)
    assert services.preflight(values(data))["warns"] == []
    assert len(looked) == 2
    write(data, int)
    os.utime(data, ns=(1, 1))
    assert ids(services.preflight(values(data))["stops"]) == ["mine.type"]
    assert len(looked) == 3


def test_rows_that_cannot_be_read_here_do_not_stop(services: Services, tmp_path: Path) -> None:
    found = preflight(services.settings, services.reader, values(tmp_path / "gone.jsonl", rewards=["accuracy"]))
    assert (found["stops"], found["warns"]) == ([], [])
    assert found["audit"]["checks"][0]["verdict"] == "skip"
    hub = preflight(services.settings, services.reader, {"dataset": "someone/something", "rewards": ["accuracy"]})
    assert "hub set" in hub["audit"]["checks"][0]["words"]["en"]


def test_stages_without_rewards_and_probes(services: Services, data: Path, tmp_path: Path) -> None:
    Library(tmp_path).save("mine", TAGS)
    probe = preflight(services.settings, services.reader, values(data, stages=["probe"]))
    assert (probe["stops"], probe["warns"]) == ([], [])
    sft = preflight(services.settings, services.reader, values(data, stages=["sft"]))
    assert sft["audit"]["rows"] == 0
    assert preflight(services.settings, services.reader, values(data, stages=["sft", "grpo"]))["warns"]


def test_what_is_accepted_is_not_said_again() -> None:
    warn = {"id": "a.speed", "words": {"en": "slow", "ko": "느림"}}
    stop = {"id": "a.raises", "words": {"en": "raises", "ko": "오류"}}
    require({"stops": [], "warns": [warn]}, ["a.speed"])
    with pytest.raises(Refused) as refused:
        require({"stops": [stop], "warns": [warn]}, ["a.speed"])
    assert str(refused.value) == "a.raises stops: raises"
    assert refused.value.text.ko == "a.raises 중단: 오류"
