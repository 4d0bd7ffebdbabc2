"""The rules without a planted run (C1, C4, C5, G2, K1, R1, S1, Z3) on unusual runs: what they say of each is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from backend.diagnosis.records import Records
from storage.records import Event
from tests.unit.diagnosis_runs import NONE, constant, made, ramp, standing, state


def ended(reason: str | None, step: int = 0, how: str = "failed", **changes: Any) -> Records:
    records = made(step, constant(0.4), **changes)
    records.state, records.reason = how, reason
    return records


MEMORY = (
    "killed by the kernel: out of memory; during load the largest part is weights; set per_device_train_batch_size=4"
)
TRL = "ValueError: generation_batch_size (10) must be divisible by num_generations (8)."
ROWS = "ValueError: 12 usable training rows are left, and one generation needs 16 different prompts"


@pytest.mark.parametrize(
    ("reason", "step", "how", "fires"),
    [
        (TRL, 0, "failed", True),
        ("The global eval batch size (1 * 3) must be divisible by num_generations_eval (8)", 0, "failed", True),
        (ROWS, 0, "failed", True),
        (MEMORY, 0, "failed", False),
        ("CUDA out of memory. Set per_device_train_batch_size=1", 0, "failed", False),
        ("killed (signal 9, perhaps out of memory); set per_device_train_batch_size=1", 0, "failed", False),
        (TRL, 3, "failed", False),
        (TRL, 0, "succeeded", False),
        (TRL, 0, "lost", False),
        (TRL, 0, "cancelled", False),
        (None, 0, "failed", False),
        ("", 0, "failed", False),
        ("파일이 없습니다", 0, "failed", False),
    ],
)
def test_c1_is_about_a_refusal_of_the_batch_alone(reason: str | None, step: int, how: str, fires: bool) -> None:
    assert (state(ended(reason, step, how), "C1") == "fired") == fires


def test_c1_keeps_a_long_reason_short() -> None:
    found = standing(ended(TRL + " x" * 10_000), "C1").reading
    assert found is not None
    assert found.text is not None
    assert max(len(found.text.en), len(found.text.ko), len(found.evidence["reason"])) <= 500


@pytest.mark.parametrize(
    ("reason", "fires"),
    [
        ("TypeError: accuracy() got an unexpected keyword argument 'level'", True),
        ("TypeError: my_reward() missing 1 required positional argument: 'gold'", True),
        ("TypeError: GRPOConfig.__init__() got an unexpected keyword argument 'x'", False),
        ("TypeError: LlamaForCausalLM.forward() got an unexpected keyword argument 'logits_to_keep'", False),
        ("TypeError: apply() takes 2 positional arguments but 3 were given", False),
        ("The reward accuracy returned 3 scores for 4 completions", True),
        ("The reward function 'accuracy' failed on every completion", True),
        ("ValueError: 4 != 3", False),
        ("", False),
        (MEMORY, False),
        (TRL, False),
    ],
)
def test_r1_is_about_rewards_alone(reason: str, fires: bool) -> None:
    assert (state(ended(reason, 3), "R1") == "fired") == fires


@pytest.mark.parametrize("how", ["succeeded", "lost", "cancelled", "running"])
def test_r1_wants_a_run_that_failed(how: str) -> None:
    assert state(ended("The reward accuracy returned 3 scores for 4", 3, how), "R1") != "fired"


@pytest.mark.parametrize(
    ("reason", "how", "fires"),
    [
        ("killed by the kernel: out of memory", "failed", True),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "failed", True),
        ("MPS backend out of memory", "lost", True),
        ("RuntimeError: DefaultCPUAllocator: can't allocate memory", "failed", True),
        ("OSError: [Errno 12] Cannot allocate memory", "failed", True),
        ("MemoryError", "failed", True),
        ("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate", "failed", True),
        ("ValueError: No available memory for the cache blocks", "failed", True),
        ("killed by the kernel: out of memory", "succeeded", False),
        ("ended at the limit of this demo: 500 MB of memory", "failed", False),
        ("OSError: no space left on device", "failed", False),
        (None, "failed", False),
    ],
)
def test_s1_knows_the_words_for_want_of_memory(reason: str | None, how: str, fires: bool) -> None:
    assert (state(ended(reason, 3, how), "S1") == "fired") == fires


def test_s1_does_not_claim_what_nobody_knows() -> None:
    found = standing(ended("killed (signal 9, perhaps out of memory)", 3), "S1").reading
    assert found is not None
    assert found.text is not None
    assert "may have run out" in found.text.en
    assert "부족했을 수 있습니다" in found.text.ko


def test_s1_forgets_the_event_of_an_attempt_before() -> None:
    event = Event(1, 0.0, "out_of_memory", "error", "Out of memory during update.", {"phase": "update", "change": {}})
    records = ended("ValueError during reward: no", 3)
    records.events.append(event)
    assert state(records, "S1") == "ok"
    assert state(replace(records, reason="Out of memory during update."), "S1") == "fired"


@pytest.mark.parametrize(
    ("phase", "offers"), [("update", True), ("generation", False), ("sft", False), ("load", False)]
)
def test_s1_offers_a_smaller_micro_batch_where_that_needs_less(phase: str, offers: bool) -> None:
    records = ended(f"Out of memory during {phase}.", 3, per_device_train_batch_size=16, gradient_accumulation_steps=4)
    records.events.append(Event(1, 0.0, "out_of_memory", "error", records.reason or "", {"phase": phase, "change": {}}))
    found = standing(records, "S1").reading
    assert found is not None
    assert bool(found.change) == offers


# --- C4 ---


def still(steps: int = 60, solve: float = 0.0, **changes: Any) -> Records:
    given = {"dtype": "bfloat16", "learning_rate": 1e-6, "peft": "none", **changes}
    return made(steps, constant(solve), rho=0.01, **given)


def with_settings(records: Records, **settings: Any) -> Records:
    return replace(records, facts=replace(records.facts, config={**records.facts.config, **settings}))


@pytest.mark.parametrize(
    ("settings", "applies"),
    [
        ({}, True),
        ({"dtype": "torch.bfloat16"}, True),
        ({"dtype": None, "model_init_kwargs": {"dtype": "bfloat16"}}, True),
        ({"dtype": None, "model_init_kwargs": {"torch_dtype": "bfloat16"}}, True),
        ({"dtype": None, "model_init_kwargs": "bfloat16"}, False),
        ({"dtype": None, "model_init_kwargs": ["dtype"]}, False),
        ({"dtype": None}, False),
        ({"dtype": "float32"}, False),
        ({"learning_rate": 0.0}, False),
        ({"learning_rate": 1e-4}, False),
        ({"learning_rate": 1e-5}, True),
        ({"peft": "lora"}, False),
    ],
)
def test_c4_asks_of_bfloat16_weights_at_a_low_rate(settings: dict[str, Any], applies: bool) -> None:
    found = standing(with_settings(still(), **settings), "C4")
    assert found.failed is None
    assert (found.state == "fired") == applies


def test_c4_says_nothing_while_the_reward_may_yet_rise_or_falls() -> None:
    noisy = made(60, ramp(0.3, 0.45), groups=2, dtype="bfloat16", learning_rate=1e-6, peft="none")
    assert state(noisy, "C4") in ("unknown", "ok")
    falls = made(150, ramp(0.7, 0.1), dtype="bfloat16", learning_rate=1e-6, peft="none")
    assert state(falls, "C4") in ("unknown", "ok")
    for norm in (constant(0.0), constant(math.nan), constant(math.inf)):
        run = still(curves={"grad_norm": norm})
        assert state(run, "C4") != "fired", "without a gradient nothing is rounded away"


# --- C5 ---


def grown(wrong: Callable[[int], float], right: Callable[[int], float], solve: float = 0.5, **changes: Any) -> Records:
    """Lengths of wrong and right answers by step."""
    step = 0

    def score(rng: np.random.Generator, is_right: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray]:
        nonlocal step
        step += 1
        tokens[:] = np.where(is_right, right(step), wrong(step))
        return (is_right.astype(float),)

    return made(40, constant(solve), score=score, **{"loss_type": "grpo", "rho": 0.1, **changes})


def longer(step: int) -> float:
    return 20.0 + step


def same(step: int) -> float:
    return 20.0


@pytest.mark.parametrize(
    ("make", "fires"),
    [
        (lambda: grown(longer, same), True),
        (lambda: grown(longer, longer), False),
        (lambda: grown(same, longer), False),
        (lambda: grown(same, same), False),
        (lambda: grown(lambda s: 60.0 - s, same), False),
        (lambda: grown(lambda s: 0.0 if s < 5 else 30.0, same), True),
        (lambda: grown(longer, same, solve=0.0), True),
        (lambda: grown(longer, same, solve=1.0), False),
        (lambda: grown(longer, same, loss_type="dapo"), False),
        (lambda: grown(longer, same, importance_sampling_level="sequence"), False),
        (lambda: grown(lambda s: 20.0 + 0.05 * s, same), False),
    ],
)
def test_c5_is_about_wrong_answers_that_grow_more_than_right_ones(make: Callable[[], Records], fires: bool) -> None:
    found = standing(make(), "C5")
    assert found.failed is None
    assert (found.state == "fired") == fires


# --- G2 ---


def norms(of: Callable[[int], float], steps: int = 100, every: int = 1, **changes: Any) -> Records:
    records = made(steps, constant(0.4), **changes)
    records.curves.pop("grad_norm")
    for step in range(every, steps + 1, every):
        records.add_metrics(step, {"grad_norm": of(step)})
    return records


def usual(step: int) -> float:
    return 0.3 + 0.02 * (step % 5)


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda: norms(lambda s: 30.0 if s in (70, 80, 90) else usual(s)), "fired"),
        (lambda: norms(lambda s: 30.0 if s in (70, 80) else usual(s)), "ok"),
        (lambda: norms(lambda s: 0.8 if s in (70, 80, 90) else usual(s) / 30), "fired"),
        (lambda: norms(lambda s: 1.3 if s in (70, 80, 90) else usual(s)), "ok"),
        (usual, "ok"),
        (lambda: norms(lambda s: math.nan), "unknown"),
        (lambda: norms(lambda s: math.inf if s % 2 else usual(s)), "ok"),
        (lambda: norms(lambda s: 0.0), "unknown"),
        (lambda: norms(lambda s: 0.3), "ok"),
        (lambda: norms(usual, 30), "unknown"),
        (lambda: norms(lambda s: 30.0 if s in (300, 350, 400) else usual(s // 10), 500, 10, groups=1), "fired"),
    ],
)
def test_g2_counts_gross_spikes(make: Any, wanted: str) -> None:
    found = standing(norms(usual) if make is usual else make(), "G2")
    assert found.failed is None
    assert found.state == wanted


@pytest.mark.parametrize(("now", "new"), [(1.0, 0.1), (0.0, 0.1), (0.05, None), (0.1, None)])
def test_g2_never_offers_a_looser_limit(now: float, new: float | None) -> None:
    run = norms(lambda s: 30.0 if s in (70, 80, 90) else usual(s), max_grad_norm=now)
    found = standing(run, "G2").reading
    assert found is not None
    assert [c.new for c in found.change] == ([] if new is None else [new])


# --- K1 ---


def drift(of: Callable[[float], float], steps: int = 150, **changes: Any) -> Records:
    return made(steps, constant(0.4), curves={"kl": of}, **{"beta": 0.04, **changes})


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda: drift(lambda t: 0.001 + 3 * t**4), "fired"),
        (lambda: drift(constant(0.05)), "ok"),
        (lambda: drift(constant(5.0)), "ok"),
        (lambda: drift(lambda t: 0.001 + 0.09 * t), "ok"),
        (lambda: drift(NONE), "ok"),
        (lambda: drift(lambda t: 0.0 if t < 0.5 else 0.5), "fired"),
        (lambda: drift(constant(math.nan)), "unknown"),
        (lambda: drift(lambda t: math.inf if t > 0.5 else 0.01), "unknown"),
        (lambda: drift(lambda t: 0.001 + 3 * t, beta=0.0), "unknown"),
        (lambda: drift(lambda t: -0.01), "ok"),
        (lambda: drift(lambda t: 0.001 if t < 0.5 else 0.2, warmup_steps=75), "unknown"),
        (lambda: drift(lambda t: 0.001 + 3 * t**4, 60), "unknown"),
    ],
)
def test_k1_is_about_a_drift_of_tens(make: Callable[[], Records], wanted: str) -> None:
    found = standing(make(), "K1", ended=False)
    assert found.failed is None
    if found.state != wanted:
        assert wanted == "unknown"
        assert found.state == "ok"
    assert found.reading is None or "inf" not in str(found.reading.text)


def test_k1_does_not_take_the_warm_up_for_its_base() -> None:
    """While the rate is next to nothing the KL is too: what comes after is no drift."""
    slow = drift(lambda t: 1e-4 if t < 0.4 else 0.3, 300, warmup_steps=120)
    assert state(slow, "K1", ended=False) == "ok"
    assert state(drift(lambda t: 1e-4 if t < 0.4 else 0.3, 300, warmup_steps=5), "K1", ended=False) == "fired"


def test_k1_reads_a_sparse_log() -> None:
    records = made(600, constant(0.4), groups=1, beta=0.04)
    for step in range(60, 601, 60):
        records.add_metrics(step, {"kl": 0.001 if step < 400 else 0.8})
    assert state(records, "K1", ended=False) == "fired"


# --- Z3 ---


def scored(of: Callable[[np.random.Generator, int], float], steps: int = 30, **changes: Any) -> Records:
    """Groups all of whose answers have one score, `of(rng, group)`; NaN: half of its answers have 1, half 0."""

    def score(rng: np.random.Generator, right: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray]:
        values = np.array([of(rng, g) for g in range(len(right))])
        mixed = np.tile(np.arange(right.shape[1]) % 2, (len(right), 1)).astype(float)
        return (np.where(np.isnan(values)[:, None], mixed, values[:, None]),)

    return made(steps, constant(0.5), score=score, **changes)


@pytest.mark.parametrize(
    ("of", "fires"),
    [
        (lambda rng, g: 0.5, True),
        (lambda rng, g: 0.0, False),
        (lambda rng, g: 1.0, False),
        (lambda rng, g: 0.5 if g < 4 else math.nan, False),
        (lambda rng, g: 0.5 if g < 6 else math.nan, True),
        (lambda rng, g: 0.5 if g < 4 else 0.0, False),
        (lambda rng, g: 0.5 if g < 7 else 1.0, True),
        (lambda rng, g: float(rng.choice([0.25, 0.5, 0.75])), True),
        (lambda rng, g: math.nan, False),
        (lambda rng, g: 1e-9, False),
        (lambda rng, g: 1.0 - 1e-9, False),
        (lambda rng, g: math.inf, False),
        (lambda rng, g: -math.inf, False),
    ],
)
def test_z3_is_about_groups_tied_in_between(of: Callable[[np.random.Generator, int], float], fires: bool) -> None:
    found = standing(scored(of), "Z3")
    assert found.failed is None
    assert (found.state == "fired") == fires


def test_z3_does_not_call_most_what_is_less_than_half() -> None:
    found = standing(scored(lambda rng, g: 0.5 if g < 5 else 0.0 if g < 7 else math.nan), "Z3")
    assert found.reading is None or "most groups" not in found.rule.title.en.lower()
