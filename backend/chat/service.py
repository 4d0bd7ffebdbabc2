"""What the page may ask of the chat."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any

from backend.chat import history, limits, memory, request, rows, sides
from backend.chat.exchange import Event, Exchange
from backend.chat.judging import Judge, parted
from backend.chat.request import Question, SideName, refused
from backend.chat.sides import Spec
from backend.demo import visitors
from backend.errors import StudioError, WrongState
from backend.settings import Settings
from backend.text import Text
from storage.db import Database
from storage.reader import Reader
from storage.records import Run, RunState

AT_WORK = (RunState.STARTING, RunState.RUNNING, RunState.STOPPING)


class ChatService:
    """One process for the server, one question at a time, in order; and the history. Thread-safe."""

    def __init__(self, settings: Settings, db: Database, reader: Reader) -> None:
        self.settings = settings
        self.db = db
        self.reader = reader
        self._exchange = Exchange(settings)

    # --- asking ---

    def sides(self, run_id: str | None = None) -> dict[str, Any]:
        """What may be chosen: {"runs": [{"run", "name", "model", "checkpoints": [{"checkpoint", "step", "default"?}],
        "rewards", "why"}], "models": [{"model", "title", "ready"}], "limits", and for `run_id` "left", "right",
        "defaults", "rows", "system"}. NotFound for no such run."""
        from backend import models

        chosen = sides.need_run(self.reader, run_id) if run_id else None
        trained = [run for run in self.reader.runs() if {"grpo", "sft"} & set(run.config.get("stages") or ["grpo"])]
        bounds = limits.current()
        named = models.entries(self.settings.models_dir)
        found: dict[str, Any] = {
            "runs": [sides.choices(self.settings, run) for run in trained],
            "models": [
                {"model": entry.name, "title": entry.title.to_json(), "ready": entry.ready}
                for entry in named
                if bounds.models or entry.source == "built"
            ],
            "limits": bounds.to_json(),
        }
        if chosen is not None:
            mine = next((each for each in found["runs"] if each["run"] == chosen.id), None)
            best = next((c["checkpoint"] for c in mine["checkpoints"] if c.get("default")), None) if mine else None
            found |= {
                "left": {"run": chosen.id, "checkpoint": "base"},
                "right": {"run": chosen.id, "checkpoint": best} if best else None,
                "defaults": self._defaults(chosen),
                **rows.about(self.settings.run_dir(chosen.id)),
            }
        return found

    @staticmethod
    def _defaults(run: Run) -> dict[str, Any]:
        """The run's own way of sampling, within the limits."""
        config, bounds = run.config, limits.current()
        return {
            "temperature": config.get("temperature", 1.0),
            "top_p": config.get("top_p", 1.0),
            "top_k": config.get("top_k") or 0,
            "max_new_tokens": min(int(config.get("max_completion_length") or 128), bounds.max_new_tokens),
            "seed": config.get("seed", 0),
            "n": min(4, bounds.n),
        }

    def problem(self, run_id: str, index: int) -> dict[str, Any]:
        """One held-out row: {"index", "total", "prompt", "system", "ground_truth", "columns"}."""
        return rows.problem(self.settings.run_dir(sides.need_run(self.reader, run_id).id), index)

    def ask(self, body: Mapping[str, Any]) -> Iterator[Event]:
        """Both sides' answers to one question, as events: those of ui/api_chat.py. What is wrong with the question is
        raised here, before the first event; what goes wrong later is an "error" event. Closing the iterator stops the
        answer at the next token."""
        bounds = limits.current()
        question = request.read_question(body, bounds)
        history.require_room(self.db, question.chat, bounds.turns)
        run = sides.need_run(self.reader, question.run) if question.run else None
        row = self._row(question, run)
        prompt = self._asked(question, row)
        specs = self._specs(question.left, question.right)
        self._require_memory(specs, question, len(_all_text(prompt)))
        judge = Judge(self.settings, run, row)
        chat = question.chat or visitors.prefix(visitors.current.get()) + secrets.token_hex(6)
        return self._answers(question, prompt, specs, judge, chat)

    def _row(self, question: Question, run: Run | None) -> dict[str, Any] | None:
        """The columns that rewards are given: of the held-out row, or of a question with its answer beside it."""
        if question.index is not None and run is not None:
            return rows.row(self.settings.run_dir(run.id), question.index)
        if question.ground_truth is not None:
            return {"prompt": self._prompt(question), "ground_truth": question.ground_truth}
        return None

    def _asked(self, question: Question, row: Mapping[str, Any] | None) -> Any:
        """The prompt as the template takes it: of the row where one is meant, else as typed."""
        if question.index is None or row is None:
            return self._prompt(question)
        request.check_text("prompt", _all_text(row["prompt"]), limits.current())
        return row["prompt"]

    @staticmethod
    def _prompt(question: Question) -> Any:
        """As the template takes it: messages, or the text as it is (`raw`)."""
        prompt = question.prompt
        if question.raw or prompt is None:
            return prompt
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        if not question.system:
            return messages
        if messages[0]["role"] == "system":
            raise refused("system", question.system, "the messages begin with one", "메시지에 이미 있습니다")
        return [{"role": "system", "content": question.system}, *messages]

    def _specs(self, left: SideName, right: SideName | None) -> dict[str, Spec]:
        named = {"left": left} | ({"right": right} if right else {})
        return {name: sides.resolve(self.settings, self.reader, side) for name, side in named.items()}

    def _require_memory(self, specs: Mapping[str, Spec], question: Question, characters: int) -> None:
        loaded = self._exchange.loaded()
        held = {each["key"]: each["bytes"] for each in loaded or []}
        active = [run.name for run in self.reader.runs() if run.state in AT_WORK]
        facts = sides.device_for(specs.values())
        memory.require(
            specs, question.sampling, characters, facts, held=held, started=loaded is not None, active=active
        )

    def _answers(
        self, question: Question, prompt: Any, specs: Mapping[str, Spec], judge: Judge, chat: str
    ) -> Iterator[Event]:
        began = time.monotonic()
        wanted = self._message("ask", specs, prompt) | {"settings": question.sampling.to_json()}
        kept: dict[str, Event] = {}
        answers: list[Event] = []
        messages = not isinstance(prompt, str)
        with contextlib.closing(self._exchange.exchange(wanted)) as events:
            for event in events:
                kind = event["type"]
                if kind == "start":
                    kept[event["side"]] = event
                    yield event
                    if judge.why is not None and event["side"] == "left":
                        yield {"type": "unscored", "words": judge.why.to_json()}
                elif kind == "answer":
                    event |= parted(event["completion"], event.pop("opened", False))
                    event |= judge.scores([event], messages=messages)[0]
                    answers.append(event)
                    yield {name: value for name, value in event.items() if name != "ids"}
                elif kind == "done":
                    turn = self._turn(question, prompt, kept, answers, event)
                    number = history.keep(self.db, chat, turn)
                    yield {**event, "chat": chat, "turn": number, "seconds": time.monotonic() - began}
                else:
                    yield event

    @staticmethod
    def _turn(
        question: Question, prompt: Any, kept: Mapping[str, Event], answers: list[Event], done: Event
    ) -> dict[str, Any]:
        def side(name: str, chosen: SideName | None) -> dict[str, Any] | None:
            start = kept.get(name)
            if start is None or chosen is None:
                return None
            facts = {k: v for k, v in start.items() if k not in ("type", "side", "rendered", "ask", "key", "bytes")}
            return {"side": chosen.to_json(), **facts}

        return {
            "prompt": prompt,
            "system": question.system,
            "raw": question.raw,
            "run": question.run or None,
            "index": question.index,
            "ground_truth": question.ground_truth,
            "settings": question.sampling.to_json(),
            "sides": {"left": side("left", question.left), "right": side("right", question.right)},
            "answers": [{k: v for k, v in answer.items() if k != "type"} for answer in answers],
            "max_logit_difference": done.get("max_logit_difference"),
            "warnings": done.get("warnings", []),
        }

    def logprobs(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """{"tokens": [{"text", "left", "right"}], "weights"}: log-probability (nats) of each token of one completion
        under both sides. Of a kept answer ("turn", "side", "sample"; in "chat", where one is named), whose very tokens
        are taken, or of the text "completion" after a prompt as in `ask`. "left" and "right" choose other sides for a
        kept answer."""
        bounds = limits.current()
        if body.get("turn") is not None:
            question, prompt, completion, ids = self._kept(body)
        else:
            question, ids, completion = request.read_question(body, bounds), None, body.get("completion")
            if not isinstance(completion, str) or not completion:
                raise refused("completion", completion, "a text is needed", "문자열이 필요합니다")
            request.check_text("completion", completion, bounds)
            run = sides.need_run(self.reader, question.run) if question.index is not None else None
            prompt = self._asked(question, self._row(question, run))
        specs = self._specs(question.left, question.right)
        self._require_memory(specs, question, len(_all_text(prompt)) + len(completion))
        message = self._message("logprobs", specs, prompt) | {"ids": ids, "completion": completion}
        for event in self._exchange.exchange(message):
            if event["type"] == "logprobs":
                return {"tokens": event["tokens"], "weights": event["weights"]}
            if event["type"] == "error":
                raise StudioError(Text(**event["error"]))
        raise WrongState(Text(en="it was stopped", ko="중지되었습니다"))

    def _kept(self, body: Mapping[str, Any]) -> tuple[Question, Any, str, list[int]]:
        """(whose sides are meant, prompt, completion, its token ids) of an answer in the history."""
        number, sample = (request.whole(body, name, 0, 0, 2**62) for name in ("turn", "sample"))
        chat = body.get("chat")
        turn, answer = history.answer_of(
            self.db, number, str(body.get("side")), sample, None if chat is None else str(chat)
        )
        kept = {name: side["side"] for name, side in turn["sides"].items() if side}
        chosen = {name: body[name] for name in ("left", "right") if body.get(name)}
        question = request.read_question({**kept, **chosen, "prompt": "-", "raw": True}, limits.current())
        return question, turn["prompt"], answer["completion"], answer["ids"]

    @staticmethod
    def _message(do: str, specs: Mapping[str, Spec], prompt: Any) -> dict[str, Any]:
        found = {name: spec.to_json() for name, spec in specs.items()}
        return {"do": do, "left": None, "right": None, **found, "prompt": prompt}

    def stop(self, number: int) -> dict[str, Any]:
        """Stop the question with this "ask" number, also one that waits; its partial answers come first."""
        return self._exchange.stop(number)

    def state(self) -> dict[str, Any]:
        """See Exchange.state."""
        return self._exchange.state()

    def free(self) -> dict[str, Any]:
        """End the process now, whatever it is doing, and so free its memory."""
        return self._exchange.free()

    # --- the history ---

    def chats(self, prefix: str = "") -> list[dict[str, Any]]:
        """See history.conversations; those whose id begins with `prefix`."""
        return history.conversations(self.db, prefix)

    def chat(self, chat: str) -> dict[str, Any]:
        return history.conversation(self.db, chat)

    def forget(self, chat: str) -> int:
        return history.forget(self.db, chat)

    def export(self, chat: str) -> Iterator[str]:
        """The conversation as JSONL, exact."""
        return history.jsonl(self.db, chat)

    def close(self) -> None:
        """End the process; questions that wait are told."""
        self._exchange.close()


def _all_text(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    return "".join(message["content"] for message in prompt if isinstance(message.get("content"), str))
