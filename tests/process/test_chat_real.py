"""Side by side on a run that was really trained: the embedded model before and after the quickstart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from backend.chat.service import ChatService
from backend.models import embedded
from backend.settings import Settings
from storage.db import Database
from storage.reader import Reader
from tests.chat_support import answers, greedy, only
from tests.embedded_home import trained_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1600)]


@pytest.fixture(scope="module")
def trained() -> Iterator[tuple[ChatService, str]]:
    home, run = trained_home()
    settings = Settings(home)
    db = Database(settings.database_url)
    service = ChatService(settings, db, Reader(db))
    yield service, run
    service.close()
    db.close()


def test_base_and_trained_answer_as_plain_loads_do_and_the_rewards_tell_them_apart(
    trained: tuple[ChatService, str],
) -> None:
    from transformers import AutoTokenizer

    service, run = trained
    run_dir = service.settings.run_dir(run)
    base = embedded.folder(service.settings.models_dir)
    tokenizer = AutoTokenizer.from_pretrained(base)
    scores: dict[str, list[float]] = {"left": [], "right": []}
    done: dict[str, Any] = {}
    for index in range(8):
        body: dict[str, Any] = {
            "left": {"run": run, "checkpoint": "base"}, "right": {"run": run, "checkpoint": "final"}, "run": run,
            "index": index, "max_new_tokens": 64,
        }  # fmt: skip
        events = list(service.ask(body))
        done = only(events, "done")
        assert done["warnings"] == []
        assert done["max_logit_difference"] > 0.01
        prompt = service.problem(run, index)["prompt"]
        for side, folder in (("left", base), ("right", run_dir / "final")):
            expected = tokenizer.decode(greedy(folder, prompt=prompt, tokens=64), skip_special_tokens=True)
            assert answers(events, side) == [expected]
            answer = next(e for e in events if e["type"] == "answer" and e["side"] == side)
            assert answer["eos"]
            scores[side].append(answer["scores"]["accuracy"]["score"])
    assert sum(scores["right"]) > sum(scores["left"]), scores
    tokens = service.logprobs({"turn": done["turn"], "side": "right"})["tokens"]
    assert sum(each["right"] for each in tokens) >= sum(each["left"] for each in tokens)
    state = service.state()
    assert len(state["loaded"]) == 2
    rate, first = done["tokens_per_s"], done["first_token_s"]
    print(f"memory {state['memory_bytes'] / 1e6:.0f} MB, tokens/s {rate}, first token {first} s")  # noqa: T201
