"""A sweep's service without workers: what is stored of the address of alerts, and a stop while runs are being made."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend import alerting, runs
from backend.cli.main import main
from backend.custom import Library
from backend.data.stored import state
from backend.errors import Refused, WrongState
from backend.services import Services
from backend.settings import Settings
from storage import sweeps as stored

SCORE = "def judge(completions, **kwargs):\n    '''Says so.'''\n    return [{}] * len(completions)\n"
SECRET = "https://hooks.example.org/services/T0/CANARY"  # no real one
ASKED = {"preset": "quickstart", "sweep": {"temperature": [0.3, 0.5, 0.7, 0.8]}}


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """Nothing is started, and the audit of the rewards has nothing to say."""
    found = Services(Settings(tmp_path / "home"))
    monkeypatch.setattr(found, "reconcile", list)
    monkeypatch.setattr(found.lab, "preflight", lambda config: {"stops": [], "warns": []})
    yield found
    found.close()


def everything(services: Services, sweep_id: str) -> str:
    """What may be read of a sweep and its runs, and every byte of the database's files."""
    sweeps = services.sweeps
    told: list[Any] = [sweeps.list(), sweeps.show(sweep_id), sweeps.csv(sweep_id), services.runs()]
    told += [services.show(run["id"]) for run in services.runs()]
    files = b"".join(path.read_bytes() for path in sorted(services.settings.home.glob("studio.db*")))
    return json.dumps(told, default=str) + files.decode("latin-1")


def addresses(services: Services) -> set[str]:
    return {alerting.address_of(services.settings.run_dir(run["id"])) for run in services.runs()}


def test_the_address_of_alerts_reaches_each_run_and_is_in_no_row(services: Services) -> None:
    asked = {**ASKED, "values": {"alert_webhook": SECRET, "max_steps": 7}}
    assert "CANARY" not in json.dumps(services.sweeps.plan(asked))
    made = services.sweeps.start(asked)
    assert addresses(services) == {SECRET}
    assert made["values"] == {"max_steps": 7}
    assert "CANARY" not in json.dumps(made, default=str)
    assert "CANARY" not in everything(services, made["id"])
    # A run that is made again is told of where its sisters are, until nobody is.
    services.sweeps.stop(made["id"])
    services.delete(services.sweeps.show(made["id"])["rows"][0]["run"]["id"])
    services.sweeps.resume(made["id"])
    assert len(services.runs()) == 4
    assert addresses(services) == {SECRET}
    assert "CANARY" not in everything(services, made["id"])
    for run in services.runs():
        (services.settings.run_dir(run["id"]) / alerting.FIELD).unlink()
    services.sweeps.stop(made["id"])
    services.delete(services.sweeps.show(made["id"])["rows"][0]["run"]["id"])
    services.sweeps.resume(made["id"])
    assert addresses(services) == {""}


def test_an_address_that_breaks_its_rule_is_refused_without_being_shown(services: Services) -> None:
    asked = {**ASKED, "values": {"alert_webhook": "http://u:CANARY@host/x"}, "leave_out": True}
    planned = services.sweeps.plan(asked)
    assert planned["runs"] == 0
    assert planned["rules"][0]["field"] == "alert_webhook"
    with pytest.raises(Refused) as caught:
        services.sweeps.start(asked)
    assert "CANARY" not in json.dumps(planned) + caught.value.text.en + caught.value.text.ko
    assert "CANARY" not in json.dumps(caught.value.report)  # type: ignore[attr-defined]
    assert services.sweeps.list() == []


def in_the_middle(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, at: int) -> tuple[Any, Any]:
    """The `at`th call of a function waits until the second event is set, having set the first."""
    reached, go, calls, real = threading.Event(), threading.Event(), [], getattr(owner, name)

    def held(*given: Any, **more: Any) -> Any:
        calls.append(given)
        if len(calls) == at:
            reached.set()
            assert go.wait(30)
        return real(*given, **more)

    monkeypatch.setattr(owner, name, held)
    return reached, go


def while_it_is_made(make: Callable[[], Any], reached: Any, go: Any, then: Callable[[], Any]) -> None:
    faults: list[BaseException] = []

    def work() -> None:
        try:
            make()
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert reached.wait(30)
        then()
    finally:
        go.set()
        thread.join(60)
    assert faults == []
    assert not thread.is_alive()


def newest(services: Services) -> str:
    return stored.sweeps(services.db)[0].id


@pytest.mark.parametrize("at", [1, 3, 4])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_sweep_that_is_being_started_can_be_stopped(
    services: Services, monkeypatch: pytest.MonkeyPatch, at: int, elsewhere: bool
) -> None:
    """Also from another process, which shares nothing but the home, and before there is a first run."""
    other = Services(services.settings) if elsewhere else services
    monkeypatch.setattr(other, "reconcile", list)
    reached, go = in_the_middle(monkeypatch, runs, "create", at)
    stop = lambda: other.sweeps.stop(newest(services))  # noqa: E731
    while_it_is_made(lambda: services.sweeps.start(ASKED), reached, go, stop)
    found = services.sweeps.show(newest(services))
    assert found["counts"] == {"stopped": at} | ({"missing": 4 - at} if at < 4 else {})
    with pytest.raises(WrongState):
        services.sweeps.stop(found["id"])
    assert services.sweeps.resume(found["id"])["counts"] == {"queued": 4}  # an old wish stops nothing new


def test_a_sweep_that_is_being_resumed_can_be_stopped(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    made = services.sweeps.start(ASKED)
    services.sweeps.stop(made["id"])
    reached, go = in_the_middle(monkeypatch, services, "resume", 2)
    resume = lambda: services.sweeps.resume(made["id"])  # noqa: E731
    while_it_is_made(resume, reached, go, lambda: services.sweeps.stop(made["id"], now=True))
    assert services.sweeps.show(made["id"])["counts"] == {"stopped": 4}


def stored_rows(services: Services, folder: Path, start: int) -> str:
    """The hash of 60 sums, stored as the set "sums"."""
    path = folder / "sums.jsonl"
    rows = [{"prompt": f"{n}+1", "ground_truth": str(n + 1)} for n in range(start, start + 60)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["data", "import", str(path), "--name", "sums", "--home", str(services.settings.home)]) == 0
    return state("sums", services.settings.home, None)[0]


def test_a_run_that_is_made_later_is_judged_as_the_others(services: Services, tmp_path: Path) -> None:
    """One of three is deleted, its reward and its rows are saved anew, and the sweep goes on: the same experiment."""
    library = Library(services.settings.home)
    library.save("mine", SCORE.format(1.0))
    first = stored_rows(services, tmp_path, 0)
    values = {"dataset": "sums", "eval_size": 5, "num_generations": 4, "per_device_train_batch_size": 8}
    asked = {"values": {**values, "rewards": ["mine"]}, "sweep": {"temperature": [0.7, 0.8, 0.9]}}
    made = services.sweeps.start(asked)
    began = [run.config for run in services.reader.runs()]
    assert {run["dataset_sha256"] for run in began} == {first}
    services.sweeps.stop(made["id"])
    services.delete(made["rows"][1]["run"]["id"])
    library.save("mine", SCORE.format(0.5))
    assert stored_rows(services, tmp_path, 500) != first
    again = services.sweeps.resume(made["id"])
    assert again["refused"] == []
    assert again["counts"] == {"queued": 3}
    now = services.get(again["rows"][1]["run"]["id"]).config
    assert now["reward_versions"] == {"mine": 1}
    assert now["dataset_sha256"] == first


def test_names_of_runs_can_be_shown_whatever_is_swept(services: Services) -> None:
    texts = ["a\nb", "c\u202ed"]
    services.sweeps.start({"preset": "quickstart", "sweep": {"vllm_structured_outputs_regex": texts}})
    names = [run["name"] for run in services.runs()]
    assert len(names) == 2
    assert all(name.isprintable() for name in names)
