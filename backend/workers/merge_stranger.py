"""An export as a stranger loads it: transformers and peft, nothing of this project. `python -I THIS_FILE REQUEST.json`.

REQUEST: {"folder", "adapter": bool, "dtype", "device", "trust", "prompts": [text or messages], "template": {},
"tokens": most new tokens, "forced": [token ids whose logits are wanted, one list a prompt], "kept": positions whose
whole logits are written, "out": a folder}. It writes answers.json: [{"prompt": ids, "tokens": ids}] and
logits.safetensors: float32 (positions, vocabulary) by the prompt's number. Run with -I, so that this folder is not
among the places that Python imports from. It ends when its standard input is closed: whoever asked is gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any


def main(request: dict[str, Any]) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder, trust = request["folder"], request["trust"]
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust)
    if request["adapter"]:
        from peft import PeftConfig, PeftModel

        about = PeftConfig.from_pretrained(folder)
        base = AutoModelForCausalLM.from_pretrained(
            str(about.base_model_name_or_path),
            revision=about.revision,
            dtype=getattr(torch, request["dtype"]),
            trust_remote_code=trust,
        )
        model: Any = PeftModel.from_pretrained(base, folder)
    else:
        model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=trust)
    model = model.to(request["device"]).eval()
    answers, logits = [], {}
    for number, prompt in enumerate(request["prompts"]):
        if isinstance(prompt, str):
            ids = tokenizer(text=prompt)["input_ids"]
        else:
            ids = tokenizer.apply_chat_template(
                prompt, add_generation_prompt=True, tokenize=True, return_dict=True, **request["template"]
            )["input_ids"]
        asked = torch.tensor([ids], device=model.device)
        with torch.no_grad():
            made = model.generate(
                input_ids=asked,
                attention_mask=torch.ones_like(asked),
                do_sample=False,
                max_new_tokens=request["tokens"],
                pad_token_id=tokenizer.pad_token_id,
            )
            forced = request["forced"][number]
            whole = torch.tensor([ids + forced], device=model.device)
            place = slice(len(ids) - 1, len(ids) - 1 + max(1, len(forced)))
            found = model(input_ids=whole).logits[0, place][: request["kept"]]
        answers.append({"prompt": ids, "tokens": made[0, len(ids) :].tolist()})
        logits[str(number)] = found.float().cpu().contiguous()
        sys.stdout.write(json.dumps({"stage": "verify", "done": number + 1, "total": len(request["prompts"])}) + "\n")
        sys.stdout.flush()
    save_file(logits, str(Path(request["out"]) / "logits.safetensors"))
    (Path(request["out"]) / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    sys.stdout.write('{"end": {}}\n')
    sys.stdout.flush()


def _end_with_who_asked() -> None:
    while os.read(0, 4096):  # not through sys.stdin, whose lock would abort the interpreter's own end
        pass
    os._exit(3)


if __name__ == "__main__":
    threading.Thread(target=_end_with_who_asked, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
