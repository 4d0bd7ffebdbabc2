"""Texts for bench.explorer, from a real small model: python -m bench.texts --model DIR --out FILE [--groups N]

DIR: a folder of weights, such as `python -m backend models fetch smollm2-135m` leaves. Groups of eight answers to
problems of grade-school arithmetic at temperature 1, at most 256 tokens each; FILE is gzip with a JSON line a group.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SIZE, LONGEST = 8, 256
SYSTEM = "You are a helpful assistant. Think step by step, then give the final answer in <answer> tags."
PROBLEMS = (
    "{name} sold {things} to {a} friends in April, and then {b} times as many in May. How many did {name} sell?",
    "{name} has {a} {things}. A box holds {b} of them and costs ${c}. What do boxes for all of them cost?",
    "{name} earns ${a} an hour for {b} hours and ${c} more an hour for {b} hours of overtime. What are the earnings?",
    "A train needs {c} hours for {a} km. {name} rides it for {b} hours. How far does {name} come?",
)


def problem(rng: random.Random) -> str:
    return rng.choice(PROBLEMS).format(
        name=rng.choice(("Natalia", "Weng", "Betty", "Mark", "Albert")),
        things=rng.choice(("clips", "apples", "books", "tickets", "pencils")),
        a=rng.randint(3, 60), b=rng.randint(2, 12), c=rng.randint(2, 9),
    )  # fmt: skip


def groups(model_dir: Path, count: int) -> Iterator[dict[str, Any]]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    rng = random.Random(11)
    torch.manual_seed(11)
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    model: Any = AutoModelForCausalLM.from_pretrained(model_dir).eval()
    end = tokenizer.eos_token_id
    for _ in range(count):
        asked = problem(rng)
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        given = tokenizer([text] * SIZE, return_tensors="pt")
        with torch.inference_mode():
            out = model.generate(
                **given, do_sample=True, temperature=1.0, top_k=0, max_new_tokens=LONGEST, pad_token_id=end
            )
        written = []
        for ids in out[:, given.input_ids.shape[1] :].tolist():
            length = ids.index(end) + 1 if end in ids else len(ids)
            answer = tokenizer.decode(ids[:length], skip_special_tokens=True)
            written.append({"text": answer, "tokens": length, "truncated": end not in ids})
        yield {"prompt": asked, "completions": written}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--groups", type=int, default=100)
    options = parser.parse_args()
    with gzip.open(options.out, "wt", encoding="utf-8") as out:
        for n, one in enumerate(groups(options.model, options.groups), start=1):
            out.write(json.dumps(one, ensure_ascii=False) + "\n")
            print(f"{n} of {options.groups}", flush=True)


if __name__ == "__main__":
    main()
