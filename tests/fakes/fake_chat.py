"""A chat process without torch: what the page, the routes and the process that keeps them apart are tested with.

Chosen by GRPO_STUDIO_CHAT_WORKER=tests.fakes.fake_chat; it speaks the lines of backend.workers.chat. The prompt says
what it does, so that one server serves every test:

"a + b"   the base answers one too much, everything else answers right, after a short thought
HOSTILE   the answer is markup, escapes and direction marks
SAME      both sides answer the same
SLOW      a word every 20 ms, until somebody stops it (at most 2000 words)
LOADING F tells that the model loads until there is a file F
FAIL      the right side fails; BREAK ends the process in the middle of an answer
LONG      an answer of 400 lines
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.killable.child import die_with_parent

HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><style>body{display:none}</style>\n"
    "<script>document.title='owned'</script> [x](javascript:alert(1)) ${alert(1)} {{7*7}}\n"
    "\x1b[31mred\x1b[0m nul:\x00 rtl:\u202etxet 한글 🧮"
)
WORDS = 2000


class Stopped(Exception):
    """The server wants no more of this answer."""


class Talk:
    """Lines in, by a thread of their own; lines out."""

    def __init__(self) -> None:
        self.requests: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.stopped: set[int] = set()
        self.loaded: dict[str, dict[str, Any]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "stop" in message:
                self.stopped.add(message["stop"])
            else:
                self.requests.put(message)
        self.requests.put(None)

    def tell(self, **event: Any) -> None:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()


def weights(spec: dict[str, Any]) -> str:
    """Twelve digits that differ between sides that differ."""
    return hashlib.sha256(json.dumps([spec.get("folder"), spec.get("base")]).encode()).hexdigest()[:12]


def trained(spec: dict[str, Any]) -> bool:
    return spec.get("checkpoint") not in ("base", "")


def text_of(prompt: Any) -> str:
    return prompt if isinstance(prompt, str) else "\n".join(message["content"] for message in prompt)


def answer(prompt: str, spec: dict[str, Any], sample: int, temperature: float) -> str:
    if "HOSTILE" in prompt:
        return HOSTILE
    if "SLOW" in prompt:
        return " ".join(f"word{n}" for n in range(WORDS))
    if "LONG" in prompt:
        return "\n".join(f"line {n}" for n in range(400))
    if "SAME" in prompt:
        return "<answer>4</answer>"
    found = re.search(r"(\d+)\s*\+\s*(\d+)", prompt)
    total = int(found.group(1)) + int(found.group(2)) if found else 0
    wrong = not trained(spec) or (temperature > 0 and sample % 4 == 3)
    return f"<think>I add them up, {sample}.</think>It is\n<answer>{total + wrong}</answer>"


def ask(talk: Talk, request: dict[str, Any]) -> None:
    number, prompt, settings = request["id"], text_of(request["prompt"]), request["settings"]
    sides = {side: request[side] for side in ("left", "right") if request.get(side)}
    for side, spec in sides.items():
        if until := re.search(r"LOADING (\S+)", prompt):
            while not Path(until[1]).exists() and number not in talk.stopped:
                talk.tell(id=number, type="loading", side=side, model=spec["name"], checkpoint=spec["checkpoint"],
                          seconds=1.0, done=1, total=10)  # fmt: skip
                time.sleep(0.05)
        load(talk, spec)
    for side, spec in sides.items():
        talk.tell(id=number, type="start", side=side, weights=weights(spec), model=spec["name"],
                  base_weights="b" * 12 if spec.get("adapter") else None, checkpoint=spec["checkpoint"],
                  dtype="float32", adapter=bool(spec.get("adapter")), device="cpu", rendered=prompt,
                  prompt_tokens=len(prompt.split()), opened=False)  # fmt: skip
    for sample in range(settings["n"]):
        for side, spec in sides.items():
            if "FAIL" in prompt and side == "right":
                talk.tell(
                    id=number, type="error", error={"en": "the model is <b>gone</b>", "ko": "모델이 사라졌습니다"}
                )
                return
            one(talk, request, side, spec, sample)
    speed = dict.fromkeys(sides, 1.0)
    same = weights(request["left"]) == weights(request["right"]) if len(sides) == 2 else None
    talk.tell(id=number, type="done", first_token_s=speed, tokens_per_s=speed, warnings=[],
              max_logit_difference=None if same is None else 0.0 if same else 1.5)  # fmt: skip


def one(talk: Talk, request: dict[str, Any], side: str, spec: dict[str, Any], sample: int) -> None:
    number, prompt, settings = request["id"], text_of(request["prompt"]), request["settings"]
    whole = answer(prompt, spec, sample, settings["temperature"])
    tokens = re.findall(r"\s*\S+", whole) or [whole]
    kept: list[str] = []
    for token in tokens[: settings["max_new_tokens"]]:
        if number in talk.stopped:
            break
        kept.append(token)
        talk.tell(id=number, type="text", side=side, sample=sample, text=token)
        if "SLOW" in prompt:
            time.sleep(0.02)
        if "BREAK" in prompt and len(kept) == 3:
            os._exit(3)
    talk.tell(id=number, type="answer", side=side, sample=sample, completion="".join(kept), tokens=len(kept),
              eos=len(kept) == len(tokens), seconds=0.1, ids=list(range(len(kept))),
              **({"stopped": True} if number in talk.stopped else {}))  # fmt: skip
    if number in talk.stopped:
        raise Stopped


def load(talk: Talk, spec: dict[str, Any]) -> None:
    key = spec.get("key") or weights(spec)
    if key not in talk.loaded:
        talk.loaded[key] = {
            "key": key,
            "model": spec["name"],
            "checkpoint": spec["checkpoint"],
            "weights": weights(spec),
            "dtype": "float32",
            "adapter": bool(spec.get("adapter")),
            "bytes": 4000,
        }
        talk.tell(type="loaded", loaded=list(talk.loaded.values()))


def logprobs(talk: Talk, request: dict[str, Any]) -> None:
    """Every third token is likelier on the right, every fifth on the left."""
    tokens = []
    for at, piece in enumerate(re.findall(r"\s*\S+", request["completion"])):
        moved = 3.0 if at % 3 == 0 else -1.0 if at % 5 == 0 else 0.01
        tokens.append({"text": piece, "left": -4.0, "right": -4.0 + moved})
    found = {side: weights(request[side]) for side in ("left", "right")}
    talk.tell(id=request["id"], type="logprobs", tokens=tokens, weights=found)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--idle-s", required=True, type=float)
    parser.add_argument("--lifeline", required=True, type=int)
    arguments = parser.parse_args(argv)
    die_with_parent(arguments.lifeline)
    talk = Talk()
    while True:
        try:
            request = talk.requests.get(timeout=arguments.idle_s)
        except queue.Empty:
            return 0
        if request is None:
            return 0
        try:
            (logprobs if request["do"] == "logprobs" else ask)(talk, request)
        except Stopped:
            talk.tell(id=request["id"], type="stopped")


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
