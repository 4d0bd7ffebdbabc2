"""Weights for elsewhere: `python -m backend.workers.merge REQUEST.json` loads the trained weights, notes what they
answer, and, for a merged export, writes base and adapter as one model.

REQUEST: backend.exporting.making.Request. Progress and the end are JSON lines on standard output:
{"stage", "done"?, "total"?}, then {"end": {...}} or {"error": {"en", "ko"}}. It ends when its standard input closes.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, TextIO

from backend.errors import StudioError
from backend.exporting.planning import SPARE, no_room
from backend.text import Text
from backend.workers.device import prepare_environment

TOP = 5  # of each position, the likeliest tokens and their logits
NO_SPACE = "No space left"


class Told:
    """The pipe to whoever asked. What libraries print goes to standard error instead."""

    def __init__(self) -> None:
        self._out: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def __call__(self, **message: Any) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()


def make(request: dict[str, Any], tell: Told) -> dict[str, Any]:
    """Facts for the export's manifest: {"dtype", "base": "same"|"differs"|"unknown"|None, "change", "values"}."""
    import torch
    from transformers import AutoTokenizer

    tell(stage="load")
    tokenizer = AutoTokenizer.from_pretrained(request["source"], trust_remote_code=request["trust"])
    model, same = _load(request)
    device = _device(model, request["device"])
    model = model.to(device).eval()
    change = answers(model, tokenizer, request, tell)
    facts = {
        "dtype": request["dtype"],
        "base": same,
        "change": change,
        "device": device,
        "threads": torch.get_num_threads(),
        "values": sum(parameter.numel() for parameter in model.parameters()),
    }
    if request["what"] == "merged":
        tell(stage="merge")
        with torch.no_grad():
            merged = model.merge_and_unload(safe_merge=True)
        _save(merged, tokenizer, Path(request["out"]), request["dtype"], tell)
    return facts


def _load(request: dict[str, Any]) -> tuple[Any, str | None]:
    """The trained weights as they were trained: a base with the adapter on it, or a whole model."""
    import torch
    from transformers import AutoModelForCausalLM

    from backend.workers import adapter, fingerprint

    dtype = getattr(torch, request["dtype"])
    common = {**request["init"], "dtype": dtype, "trust_remote_code": request["trust"]}
    if not request["adapter"]:
        common.pop("revision", None)
        return AutoModelForCausalLM.from_pretrained(request["source"], **common), None
    base = AutoModelForCausalLM.from_pretrained(request["base"], **common)
    expected = fingerprint.recorded_base(Path(request["run_dir"]))
    same = fingerprint.compare(fingerprint.fingerprint(base), expected["fingerprint"]) if expected else "unknown"
    if same == "differs":
        raise StudioError(
            Text(
                en=f"the model under the adapter ({request['shown']}) is not the one that this run began from: its "
                "weights have changed since. Bring that model back, then export again.",
                ko=f"어댑터의 기준 모델({request['shown']})이 학습을 시작할 때의 모델과 다릅니다. 그 뒤에 가중치가 "
                "바뀌었습니다. 원래 모델로 되돌린 뒤 다시 내보내세요.",
            )
        )
    return adapter.put_on(base, Path(request["source"])), same


def _device(model: Any, asked: str) -> str:
    """The GPU where the model fits beside what is on it already (weights twice, for merging), else the CPU."""
    import torch

    if asked != "cpu" and torch.cuda.is_available():
        size = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
        if torch.cuda.mem_get_info()[0] > 2.2 * size + 2**30:
            return "cuda"
    return "cpu"


def answers(model: Any, tokenizer: Any, request: dict[str, Any], tell: Told) -> float | None:
    """Write what the trained weights answer, for the stranger to be compared with.

    answers.json: [{"prompt": ids, "tokens": ids, "top": [[ids], [logits]] a position}]; logits.safetensors: float32
    (positions, vocabulary) by the prompt's number. Returns the largest logit difference that the adapter makes, None
    without one.
    """
    import torch
    from safetensors.torch import save_file

    from backend.workers.rows import prompt_ids

    found, logits = [], {}
    change: float | None = None
    for number, prompt in enumerate(request["prompts"]):
        ids = prompt_ids(prompt, tokenizer, request["template"])
        asked = torch.tensor([ids], device=model.device)
        with torch.no_grad():
            made = model.generate(
                input_ids=asked,
                attention_mask=torch.ones_like(asked),
                do_sample=False,
                max_new_tokens=request["tokens"],
                pad_token_id=tokenizer.pad_token_id,
            )[0, len(ids) :].tolist()
            whole = torch.tensor([ids + made], device=model.device)
            place = slice(len(ids) - 1, len(ids) - 1 + max(1, len(made)))
            said = model(input_ids=whole).logits[0, place].float().cpu()
            if not torch.isfinite(said).all():
                raise _no_numbers()
            if request["adapter"]:
                with model.disable_adapter():
                    bare = model(input_ids=whole).logits[0, place].float().cpu()
                change = max(change or 0.0, float((said - bare).abs().max()))
        top = torch.topk(said, min(TOP, said.shape[-1]), dim=-1)
        pairs = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        found.append({"prompt": ids, "tokens": made, "top": [list(pair) for pair in pairs]})
        logits[str(number)] = said[: request["kept"]].contiguous()
        tell(stage="answers", done=number + 1, total=len(request["prompts"]))
    folder = Path(request["work"])
    save_file(logits, str(folder / "logits.safetensors"))
    (folder / "answers.json").write_text(json.dumps(found), encoding="utf-8")
    return change


def _no_numbers() -> StudioError:
    return StudioError(
        Text(
            en="the trained weights give logits that are no numbers (NaN or infinite): there is nothing to export. An "
            "earlier checkpoint may be sound.",
            ko="학습된 가중치의 로짓이 숫자가 아닙니다(NaN 또는 무한대). 내보낼 것이 없습니다. 이전 체크포인트는 "
            "정상일 수 있습니다.",
        )
    )


def _save(model: Any, tokenizer: Any, out: Path, dtype: str, tell: Told) -> None:
    import torch

    model = model.to("cpu", getattr(torch, dtype))
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    seen = {parameter.data_ptr(): parameter.numel() * parameter.element_size() for parameter in model.parameters()}
    needed, free = sum(seen.values()), shutil.disk_usage(out).free
    tell(stage="save", done=0, total=needed)
    if needed + SPARE > free:
        raise StudioError(no_room(needed + SPARE, free))
    model.save_pretrained(str(out))
    tokenizer.save_pretrained(str(out))


def said(error: BaseException) -> Text:
    """An error of torch, safetensors or the disk, in words."""
    from backend.workers.memory import is_out_of_memory

    if isinstance(error, StudioError):
        return error.text
    if is_out_of_memory(error):
        return Text(
            en=f"there is not enough memory to load the model: {error}",
            ko=f"모델을 불러올 메모리가 부족합니다: {error}",
        )
    if NO_SPACE in str(error):
        return Text(
            en=f"the disk is full: {error}. Make room, then export again.",
            ko=f"디스크가 가득 찼습니다: {error}. 공간을 확보한 뒤 다시 내보내세요.",
        )
    words = f"{type(error).__name__}: {str(error).strip() or '-'}"
    return Text(en=f"the export could not be made: {words}", ko=f"내보내지 못했습니다: {words}")


def _end_with_who_asked() -> None:
    while os.read(0, 4096):  # not through sys.stdin, whose lock would abort the interpreter's own end
        pass
    os._exit(3)


def main(argv: list[str]) -> int:
    threading.Thread(target=_end_with_who_asked, daemon=True).start()
    tell = Told()
    prepare_environment()
    if hasattr(os, "nice"):
        os.nice(5)  # the page and a run beside it come first
    try:
        request = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
        import transformers

        transformers.utils.logging.disable_progress_bar()
        tell(end=make(request, tell))
    except Exception as error:
        traceback.print_exc()
        tell(error=said(error).to_json())
        return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # a thread still waits for the pipe to be closed
