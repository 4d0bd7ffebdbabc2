"""What a public Space allows is one list, and nothing stands outside of it."""

from __future__ import annotations

import math
import shutil
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.routing import Route

from backend import config
from backend.attaching.service import AttachService
from backend.chat.service import ChatService
from backend.compare.service import CompareService
from backend.custom.service import CustomService
from backend.data.service import DataService
from backend.demo import limits, visitors, words
from backend.demo.door import SERVICES, DemoDoor
from backend.demo.policy import POLICY, rule_of
from backend.demo.service import DemoService
from backend.demo.services import DemoServices, SpaceDemo
from backend.demo.slots import Slots
from backend.demo.values import limited
from backend.diagnosis.service import DiagnosisService
from backend.errors import Forbidden, NotFound, Refused, StudioError, TooMany, WrongState
from backend.evaluation.service import EvaluationService
from backend.exporting.service import ExportService
from backend.lab.service import LabService
from backend.models import embedded
from backend.samples.service import SampleService
from backend.settings import Settings
from backend.sweeps.service import SweepService
from storage import chats
from storage.records import RunState
from storage.results import put_result
from storage.runs import delete_run, transition
from tests.support import wait_for
from ui.api import api_routes
from ui.closed import CLOSED, OPEN, for_public, names

CLASSES: dict[str, list[type]] = {
    "": [DemoServices],
    "demo": [DemoService, SpaceDemo],
    "data": [DataService],
    "custom": [CustomService],
    "lab": [LabService],
    "evaluation": [EvaluationService],
    "chat": [ChatService],
    "exports": [ExportService],
    "explorer": [SampleService],
    "diagnosis": [DiagnosisService],
    "compare": [CompareService],
    "sweeps": [SweepService],
    "attaching": [AttachService],
}
HOSTILE: list[dict[str, Any]] = [
    {"model": "../../etc"},
    {"model": "/etc"},
    {"model": "file:///etc/passwd"},
    {"model": "http://169.254.169.254/latest"},
    {"model": "org/name"},
    {"model": "smollm2-135m"},
    {"model_args": {"hidden": 100_000}},
    {"model_name_or_path": "org/name"},
    {"model_init_kwargs": {"trust_remote_code": True}},
    {"model_init_kwargs": {"torch_dtype": "float32", "trust_remote_code": True}},
    {"trust_remote_code": True},
    {"generation_kwargs": {"num_beams": 10_000}},
    {"chat_template_kwargs": {"x": "{{ cycler.__init__ }}"}},
    {"dataset": "../../../etc/passwd"},
    {"dataset": "/etc/passwd"},
    {"dataset": "file:///etc/passwd"},
    {"dataset": "org/name"},
    {"dataset": "arithmetic/../x.jsonl"},
    {"dataset_args": {"rows": 10**9}},
    {"dataset_args": {"system_prompt": "<script>"}},
    {"dataset_args.rows": 10**9},
    {"rewards": ["my_reward"]},
    {"rewards": ["evil.py:f"]},
    {"rewards": ["code"]},
    {"rewards": ["sql"]},
    {"rewards": ["reward_model"], "reward_args": {"reward_model": {"model": "/etc"}}},
    {"reward_args": {"format": {"pattern": "(a+)+$" * 100}}},
    {"reward_args": {"format": {"limit_s": 1e9}}},
    {"reward_args": {"accuracy": {"x": "y" * 10_000}}},
    {"reward_versions": {"accuracy": 1}},
    {"max_steps": 10**6},
    {"max_steps": -1},
    {"max_steps": None},
    {"per_device_train_batch_size": 10**6},
    {"num_generations": 10**6},
    {"max_completion_length": 10**6},
    {"eval_size": 10**6},
    {"save_steps": 1},
    {"report_to": ["wandb"]},
    {"use_vllm": True, "vllm_server_base_url": "http://169.254.169.254"},
    {"stages": ["sft", "grpo"]},
    {"stages": ["evaluate"], "evaluation": {"run": "x"}},
    {"sft_dataset": "/etc/passwd"},
    {"name": "a text that everybody would see"},
    {"dataloader_num_workers": 64},
    {"log_completions_hub_repo": "org/name"},
    {"torch_compile": True},
    {"evaluate_batch_size": 10**6},
    {"probe_prompts": 10**6},
    {"no_such_setting": 1},
    {"learning_rate": float("nan")},
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServices]:
    """A Space's services with a built model, for tests that change nothing; nothing is started by itself."""
    home = tmp_path_factory.mktemp("space")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backend.demo.recordings.take_in_all", lambda db: {})
        folder = embedded.folder(home / "models")
        folder.mkdir(parents=True)
        (folder / "model.safetensors").touch()
        made = DemoServices(Settings(home))
    yield made
    made.close()


@pytest.fixture
def space(shared: DemoServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[DemoServices]:
    """The same without runs and without a visitor, in a Space's environment."""
    monkeypatch.setenv("SPACE_ID", "org/space")
    monkeypatch.setattr("backend.services.reconcile", lambda settings, db: [])
    (embedded.folder(shared.settings.models_dir) / "model.safetensors").touch()
    token = visitors.current.set(None)
    shared._begins.clear()
    yield shared
    visitors.current.reset(token)
    for run in shared.reader.runs():
        shutil.rmtree(shared.settings.run_dir(run.id))
        delete_run(shared.db, run.id)


@pytest.mark.parametrize("section", CLASSES)
def test_every_method_of_every_service_has_a_rule(section: str) -> None:
    public = {name for kind in CLASSES[section] for name in dir(kind) if not name.startswith("_")}
    public = {name for name in public if callable(getattr(CLASSES[section][-1], name, None))}
    assert not public - POLICY[section].keys(), "new: say in backend/demo/policy.py whether a visitor may call it"
    assert not POLICY[section].keys() - public, "gone: take it out of backend/demo/policy.py"


def test_every_service_stands_behind_the_door(space: DemoServices) -> None:
    attributes = {name for name, value in vars(space).items() if type(value).__name__.endswith(("Service", "Demo"))}
    assert attributes == set(SERVICES) == CLASSES.keys() - {""}


def test_every_route_is_open_or_closed(space: DemoServices) -> None:
    routes = api_routes(DemoDoor(space))  # type: ignore[arg-type] -- what its __getattr__ answers
    listed = {name for route in routes for name in names(route)}
    assert not listed - OPEN - CLOSED, "new: say in ui/closed.py whether a public Space answers it"
    assert not (OPEN | CLOSED) - listed
    assert not OPEN & CLOSED
    closed = [new for old, new in zip(routes, for_public(routes), strict=True) if new is not old]
    assert {name for route in closed for name in names(route)} == CLOSED
    assert all(isinstance(route, Route) for route in closed)


def test_what_is_not_listed_is_refused(space: DemoServices) -> None:
    door: Any = DemoDoor(space)
    for call in (door.settings, door.db, door.reader, door.unheard_of, door.data.unheard_of, door.data.uploads):
        with pytest.raises(Forbidden):
            call("x", y=1)
    for private in ("_view", "__dict__x", "_services_"):
        with pytest.raises(AttributeError):
            getattr(door, private)
    assert rule_of("unheard", "of").refused is not None


@pytest.mark.parametrize("values", HOSTILE, ids=lambda v: str(v)[:60])
def test_hostile_values_are_told_at_their_field_and_never_looked_at(
    space: DemoServices, values: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []
    real = config.check
    monkeypatch.setattr("backend.config.check", lambda raw, **more: seen.append(dict(raw)) or real(raw, **more))
    found = space.check(values, preset="quickstart")
    assert not found.ok
    assert found.errors
    text = repr(seen)
    for bad in ("etc", "169.254", "org/name", "my_reward", "evil", "cycler", "<script>", "smollm2"):
        assert bad not in text


def test_the_quickstart_is_allowed_as_it_is(space: DemoServices) -> None:
    assert space.check({}, preset="quickstart").ok
    assert space.check({"evaluate_steps": 25, "seed": 7, "peft": "lora", "lora_r": 8}, preset="quickstart").ok
    with pytest.raises(NotFound):
        space.check({}, preset="math-lora")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(config.FIELDS)), JSON, max_size=5))
def test_whatever_is_kept_lies_within_the_limits(values: dict[str, Any]) -> None:
    kept, _ = limited(values)
    usual = config.defaults()
    for name, value in kept.items():
        if name in limits.VALUES and value is not None and (value != usual[name] or name == "max_steps"):
            low, high = limits.VALUES[name]
            assert low <= value <= high
            assert math.isfinite(value)
        elif name in limits.CHOICES:
            assert value in limits.CHOICES[name] or value == usual[name]
        elif name not in limits.VALUES and name not in limits.FREE:
            assert value == usual[name] or name in ("dataset_args", "rewards", "reward_weights", "reward_args")
    assert 1 <= kept["max_steps"] <= limits.VALUES["max_steps"][1]
    assert set(kept.get("rewards", ())) <= set(limits.TRAIN_REWARDS) | set(usual["rewards"])


ROW = {"completion": "<answer>1</answer>", "ground_truth": "1"}


@pytest.mark.parametrize(
    "asked",
    [
        {"rewards": ["my_reward"]},
        {"rewards": ["reward_model"], "args": {"reward_model": {"model": "/etc"}}},
        {"rewards": ["accuracy"], "versions": {"accuracy": 1}},
        {"rewards": ["accuracy"], "rows": [ROW] * 51},
        {"rewards": ["accuracy"], "rows": [{"completion": "x" * 5000}]},
        {"rewards": ["code"]},
        {"rewards": ["sql"], "rows": [ROW] * 11},
        {"rewards": ["regex"], "args": {"regex": {"pattern": "a" * 1000}}},
        {"rewards": ["regex"], "args": {"regex": {"pattern": "a", "limit_s": 100}}},
        {"rewards": ["accuracy"] * 9},
    ],
    ids=str,
)
def test_the_bench_has_limits(space: DemoServices, asked: dict[str, Any]) -> None:
    door: Any = DemoDoor(space)
    with pytest.raises(StudioError):
        door.lab.table(
            asked["rewards"], None, asked.get("args"), asked.get("rows", [ROW]), versions=asked.get("versions")
        )


def test_the_bench_works_and_a_judgement_has_little_time(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    door: Any = DemoDoor(space)
    found = door.lab.table(["accuracy", "format"], None, {}, [ROW])
    assert found["rows"][0]["cells"]["accuracy"]["score"] == 1.0
    given: dict[str, Any] = {}
    monkeypatch.setattr(space.lab, "table", lambda rewards, weights, args, rows, versions=None: given.update(args))
    door.lab.table(["regex"], None, {"regex": {"pattern": "a"}}, [ROW])
    assert given == {"regex": {"pattern": "a", "limit_s": limits.LIMIT_S}}


def test_queries_need_a_sandbox(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    from backend.sandbox.tiers import Report
    from backend.text import Text

    none = Report("none", "6", 0, "x", Text(en="no sandbox here", ko="샌드박스 없음"))
    monkeypatch.setattr("backend.sandbox.tiers.report", lambda: none)
    door: Any = DemoDoor(space)
    with pytest.raises(Forbidden, match="no sandbox here"):
        door.lab.table(["sql"], None, None, [ROW])


@pytest.mark.parametrize("values", [{"dataset": "/etc/passwd"}, {"rewards": ["x"]}, {"model": "../x"}], ids=str)
def test_the_lab_reads_no_values_that_a_run_could_not_have(space: DemoServices, values: dict[str, Any]) -> None:
    door: Any = DemoDoor(space)
    for call in (door.data.sample, door.lab.preflight):
        with pytest.raises(Refused):
            call(values)
    for call in (door.lab.audit, door.lab.made):
        with pytest.raises(Refused):
            call(values, [])


def test_the_lab_needs_no_steps(space: DemoServices) -> None:
    door: Any = DemoDoor(space)
    values = {"dataset": "arithmetic", "rewards": ["accuracy"], "max_steps": -1}
    rows = door.data.sample(values, 2)
    assert len(rows) == 2
    assert len(door.lab.made(values, rows)) == 2


def as_visitor(name: str) -> Any:
    return visitors.current.set(name * 16)


def test_a_visitor_has_one_run_and_others_cannot_touch_it(space: DemoServices) -> None:
    door: Any = DemoDoor(space)
    with pytest.raises(Forbidden):
        door.start({}, preset="quickstart")  # nobody
    as_visitor("a")
    run = door.start({}, preset="quickstart", accept=["all"])
    with pytest.raises(TooMany):
        door.start({}, preset="quickstart", accept=["all"])
    assert door.show(run.id)["can"] == {"stop": True, "stop_now": False, "resume": False, "delete": False}
    as_visitor("b")
    for what in (door.stop, door.delete):
        with pytest.raises(Forbidden):
            what(run.id)
    assert not any(door.show(run.id)["can"].values())
    door.start({}, preset="quickstart", accept=["all"])
    assert [one["position"] for one in door.demo.queue()] == [1, 2]
    as_visitor("a")
    door.stop(run.id)
    door.delete(run.id)
    assert len(door.runs()) == 1


def test_the_queue_ends(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    door: Any = DemoDoor(space)
    for n in range(limits.WAITING):
        as_visitor("abcdefgh"[n])
        door.start({}, preset="quickstart", accept=["all"])
    as_visitor("z")
    with pytest.raises(TooMany):
        door.start({}, preset="quickstart", accept=["all"])
    monkeypatch.setattr(limits, "WAITING", 100)
    monkeypatch.setattr(limits, "STARTS_AN_HOUR", limits.WAITING - 95)
    with pytest.raises(TooMany):
        door.start({}, preset="quickstart", accept=["all"])


def test_a_run_that_trained_has_a_while_and_one_that_did_not_costs_no_place_in_the_hour(
    space: DemoServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "KEPT", 1)
    monkeypatch.setattr(limits, "STARTS_AN_HOUR", 1)
    door: Any = DemoDoor(space)
    trained = []
    for name in "abc":
        as_visitor(name)
        run = door.start({}, preset="quickstart", accept=["all"])
        if name == "c":
            door.stop(run.id)
            assert not space._begins
            continue
        space._begins.clear()
        for old, new in pairwise([RunState.QUEUED, RunState.STARTING, RunState.RUNNING, RunState.SUCCEEDED]):
            assert transition(space.db, run.id, old, new)
        trained.append(run.id)
    space.reconcile()
    assert sorted(run["id"] for run in door.runs()) == sorted(trained)
    monkeypatch.setattr(limits, "LOOK_S", 0)
    space.reconcile()
    assert [run["id"] for run in door.runs()] == trained[1:]


def test_one_request_of_the_bench_ends_soon(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    """50 rows of a pattern that backtracks for ever: 50 s and more without a budget of the whole request."""
    monkeypatch.setattr("backend.lab.table.PUBLIC_S", 0.5)
    monkeypatch.setattr(limits, "LIMIT_S", 1.0)
    door: Any = DemoDoor(space)
    rows = [{"completion": "a" * 34 + "!"}] * limits.BENCH_ROWS
    began = time.monotonic()
    found = door.lab.table(["regex"], None, {"regex": {"pattern": "(a+)+$"}}, rows)
    assert time.monotonic() - began < 40
    assert "were used up" in found["rows"][-1]["cells"]["regex"]["reason"]


def test_old_runs_of_visitors_make_room_and_recorded_ones_stay(
    space: DemoServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "KEPT", 1)
    door: Any = DemoDoor(space)
    kept = None
    for name in "abc":
        as_visitor(name)
        run = door.start({}, preset="quickstart", accept=["all"])
        door.stop(run.id)
        if name == "a":
            kept = run.id
            put_result(space.db, run.id, "recording", {})
            (space.settings.run_dir(run.id) / visitors.FILE).unlink()
            with pytest.raises(Forbidden):
                door.delete(run.id)
    space.reconcile()
    ids = [run["id"] for run in door.runs()]
    assert ids == [run.id, kept]  # type: ignore[possibly-undefined]


def test_nothing_is_trained_without_a_model(space: DemoServices) -> None:
    (embedded.folder(space.settings.models_dir) / "model.safetensors").unlink()
    as_visitor("a")
    door: Any = DemoDoor(space)
    for call in (
        lambda: door.start({}, preset="quickstart"),
        lambda: door.chat.ask({}),
        lambda: door.chat.logprobs({}),
    ):
        with pytest.raises(WrongState, match="step 0 of 500"):
            call()
    assert door.demo.state()["building"] == {"step": 0, "total": 500}


def mine(name: str) -> str:
    return visitors.prefix(name * 16) + "abcd12"


def test_conversations_are_their_visitors_own(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space.chat, "ask", lambda body: iter([{"type": "start", "ask": 7}, {"type": "done"}]))
    monkeypatch.setattr(space.chat, "stop", lambda number: {})
    for name in "ab":
        chats.add_turn(space.db, mine(name), {"prompt": name})
    for n in range(600):  # of others, later: nobody's own conversation is forgotten or pushed out of the list
        chats.add_turn(space.db, visitors.prefix(f"{n:032d}") + "0123", {"prompt": "x"})
    door: Any = DemoDoor(space)
    as_visitor("a")
    assert [event["type"] for event in door.chat.ask({"prompt": "x"})] == ["start", "done"]
    assert [each["chat"] for each in door.chat.chats()] == [mine("a")]
    assert door.chat.chat(mine("a"))["turns"][0]["turn"] == {"prompt": "a"}
    door.chat.stop(7)
    as_visitor("b")
    assert [each["chat"] for each in door.chat.chats()] == [mine("b")]
    refused = [
        lambda: door.chat.chat(mine("a")),
        lambda: door.chat.forget(mine("a")),
        lambda: door.chat.export(mine("a")),
        lambda: door.chat.stop(7),
        lambda: door.chat.ask({"prompt": "x", "chat": mine("a")}),
        lambda: door.chat.logprobs({"turn": 1, "chat": mine("a")}),
    ]
    for nobody in (False, True):
        if nobody:
            visitors.current.set(None)
            assert door.chat.chats() == []
        for call in refused:
            with pytest.raises((NotFound, Forbidden)):
                call()
    with pytest.raises(Forbidden):
        door.chat.free()
    chats.keep_newest(space.db, 0)


def test_a_visitor_asks_one_question_at_a_time(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space.chat, "ask", lambda body: iter([{"type": "start", "ask": 7}, {"type": "done"}]))
    door: Any = DemoDoor(space)
    as_visitor("a")
    events = door.chat.ask({"prompt": "x"})
    with pytest.raises(TooMany):
        door.chat.ask({"prompt": "x"})
    as_visitor("b")
    door.chat.ask({"prompt": "x"})  # never read: its place is free again when nobody holds it
    list(door.chat.ask({"prompt": "x"}))
    as_visitor("a")
    next(events)
    events.close()
    list(door.chat.ask({"prompt": "x"}))


def test_what_a_visitor_asks_is_kept_as_theirs(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(space.chat, "_specs", lambda *sides: {})
    monkeypatch.setattr(space.chat, "_require_memory", lambda *more: None)
    monkeypatch.setattr(space.chat, "_answers", lambda *more: seen.append(more[-1]) or iter(()))
    door: Any = DemoDoor(space)
    as_visitor("a")
    list(door.chat.ask({"left": {"model": "embedded"}, "prompt": "x"}))
    assert seen[0].startswith(visitors.prefix("a" * 16))
    list(door.chat.ask({"left": {"model": "embedded"}, "prompt": "x", "chat": seen[0]}))
    assert seen[1] == seen[0]


def test_old_conversations_make_room(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(limits.CHATS_KEPT + 30):
        chats.add_turn(space.db, f"chat{n}", {"n": n})
    chats.add_turn(space.db, "chat5", {"n": 0})  # the oldest but one that somebody came back to
    space.reconcile()
    left = {chat for chat, _, _ in chats.chats(space.db, 1000)}
    assert left == {"chat5", *(f"chat{n}" for n in range(31, limits.CHATS_KEPT + 30))}
    chats.keep_newest(space.db, 0)


def test_recordings_are_opened_for_nobody_again(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.demo.recordings.take_in", lambda db, one: pytest.fail("opened"))
    door: Any = DemoDoor(space)
    assert door.demo.open(["learned"] * 100_000) == space.demo.recorded()
    with pytest.raises(NotFound):
        door.demo.open(["x"])


def test_slots_are_few_one_each_and_given_back() -> None:
    slots = Slots(2, 0.01, 1)
    with slots.one("a"):
        with pytest.raises(TooMany), slots.one("a"):
            raise AssertionError
        with slots.one("b"), pytest.raises(TooMany), slots.one("c"):
            raise AssertionError
    with slots.one("a"):
        pass


def test_few_wait_for_a_slot_and_the_others_are_told_at_once() -> None:
    slots, free, ended = Slots(1, 60.0, 2), threading.Event(), []

    def held(visitor: str) -> None:
        with slots.one(visitor):
            free.wait(60)
            ended.append(1)

    threads = [threading.Thread(target=held, args=(visitor,)) for visitor in "abc"]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(slots._waits) == 2, what="two that wait")
    with pytest.raises(TooMany), slots.one():
        raise AssertionError
    free.set()
    for thread in threads:
        thread.join(60)
    assert len(ended) == 3


def test_a_file_of_samples_holds_its_place_to_the_last_piece(
    space: DemoServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One export a visitor and two in all, however many ask; what nobody reads any more gives its place back."""
    monkeypatch.setitem(space.lines, "samples", Slots(2, 0.01, 1))
    monkeypatch.setattr(space.explorer, "made", lambda run: SimpleNamespace(pieces=iter(["a", "b"])))
    monkeypatch.setattr(space.explorer, "scatter", lambda run: {})
    door = DemoDoor(space)

    def made(visitor: str) -> Any:
        visitors.current.set(visitor)
        return door.explorer.made("r").pieces

    mine, other = made("a" * 36), made("b" * 36)
    assert next(mine) == "a"
    for visitor in "abc":
        with pytest.raises(TooMany):
            made(visitor * 36)
    with pytest.raises(TooMany):
        door.explorer.scatter("r")
    assert list(mine) == ["b"], "read to its end: the place is free"
    third = made("c" * 36)
    del other
    assert made("d" * 36), "dropped unread: the place is free"
    assert third

    monkeypatch.setattr(limits, "FILE_S", 0.05)
    monkeypatch.setitem(space.lines, "samples", Slots(1, 10.0, 1))
    slow = made("a" * 36)
    monkeypatch.setattr(limits, "FILE_S", 60.0)
    assert list(made("b" * 36)) == ["a", "b"], "whoever reads slowly keeps nobody waiting for long"
    with pytest.raises(TooMany):
        next(slow)


def test_work_that_fails_gives_its_place_back(space: DemoServices, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> Iterator[str]:
        yield "a"
        raise NotFound(words.REFUSED)

    monkeypatch.setitem(space.lines, "samples", Slots(1, 0.01, 1))
    monkeypatch.setattr(space.explorer, "made", lambda run: SimpleNamespace(pieces=failing()))
    visitors.current.set("a" * 36)
    pieces = DemoDoor(space).explorer.made("r").pieces
    with pytest.raises(NotFound):
        list(pieces)
    assert next(DemoDoor(space).explorer.made("r").pieces) == "a"


@pytest.mark.parametrize("header", [None, "", "short", "x" * 65, "ÿ" * 20, "a b" * 8, "../" * 8])
def test_a_visitor_has_a_form(header: str | None) -> None:
    assert visitors.read(header) is None
    assert visitors.read("a" * 36) == "a" * 36
