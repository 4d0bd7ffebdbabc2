"""The model card: README.md of an export, with the YAML header that the hub reads. English, as cards on the hub are."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jinja2
import yaml

from backend.errors import StudioError
from backend.models.catalogue import HUB_NAME, SMOLLM2
from backend.paths import folder_named
from backend.report import events, markdown, numbers, settings, table
from backend.report.facts import Facts, Source, facts_of
from backend.report.page import TEMPLATES
from backend.report.samples import CHARACTERS, MOST, Sample, messages
from backend.report.shown import visible
from backend.report.words import Words
from backend.settings import Settings

SMOLLM2_HUB = "HuggingFaceTB/SmolLM2-135M-Instruct"
ADAPTERS = ("lora", "qlora")
PROMPT = 500  # characters of a prompt that is still an example


def model_card(services: Source, run_id: str, merged: bool = False) -> str:
    """`merged`: for weights with the adapter merged in, which need transformers alone."""
    facts, t = facts_of(services, run_id), Words("en")
    adapter = facts.config.get("peft") in ADAPTERS and not merged
    base = base_model(facts)
    body = (
        environment()
        .get_template("card.md.j2")
        .render(
            facts=facts,
            run=facts.run,
            config=facts.config,
            report=facts.report,
            t=t,
            adapter=adapter,
            base=base,
            measures=table.measures(facts.report, t) if facts.report else [],
            rewards=settings.rewards(facts.config),
            events=events.told(facts.events),
            changed=_yaml({k: v for k, v in facts.changed.items() if k not in ("name", "evaluation")}),
            everything=_yaml(facts.config),
            won=[_sample(each) for each in facts.samples.won],
            lost=[_sample(each) for each in facts.samples.lost],
            snippet=snippet(facts, base, adapter),
        )
    )
    return f"---\n{header(facts, services.settings, base, adapter)}\n---\n\n{body.strip()}\n"


def base_model(facts: Facts) -> str | None:
    """The hub name of the model that was trained; None for one that lies in a folder or was built here."""
    model = str(facts.config.get("model") or "")
    if model == SMOLLM2:
        return SMOLLM2_HUB
    return model if HUB_NAME.fullmatch(model) and folder_named(model) is None else None


def hub_dataset(facts: Facts, home: Settings) -> str | None:
    """The hub name of the data set; None for any other kind."""
    from backend.data.sources import kind

    name = str(facts.config.get("dataset") or "")
    try:
        found = kind(name, home.home, facts.config.get("dataset_sha256"))
    except StudioError:
        return None
    return name if found == "hub" else None


def header(facts: Facts, home: Settings, base: str | None, adapter: bool) -> str:
    """The YAML between the dashes, as huggingface_hub writes it."""
    from huggingface_hub import EvalResult, ModelCardData

    hub = hub_dataset(facts, home)
    report, results = facts.report, []
    trained = (report or {}).get("trained") or {}
    for name, metric in (("accuracy", "accuracy"), ("pass_at_k", f"pass@{(report or {}).get('k')}")):
        value = trained.get(name)
        if report and value is not None:
            data = visible(_data_name(facts))
            low_high = numbers.interval((trained.get("intervals") or {}).get(name), numbers.percent)
            interval = f", 95% interval {low_high}" if low_high else ""
            rows = trained.get("n") or 0
            how = "greedy" if name == "accuracy" else f"{report['k']} samples a problem"
            results.append(
                EvalResult(
                    task_type="text-generation",
                    task_name="Text Generation",
                    dataset_type=hub or data,
                    dataset_name=data,
                    metric_type=metric,
                    metric_name=f"{metric} ({how}, n = {rows}{interval})",
                    metric_value=round(value, 4),
                    metric_args={"n": rows},
                )
            )
    name = visible(" ".join(facts.run.name.split())) or facts.run.id
    data = ModelCardData(
        base_model=base,
        library_name="peft" if adapter else "transformers",
        pipeline_tag="text-generation",
        tags=["grpo", "trl", "grpo-studio"],
        datasets=[hub] if hub else None,
        model_name=name if results else None,
        eval_results=results or None,
    )
    return data.to_yaml().strip()


def _data_name(facts: Facts) -> str:
    report = facts.report or {}
    given = report.get("data")
    own = str(facts.data.get("dataset") or facts.config.get("dataset") or "")
    return own if given in (None, "held-out") else str(given)


def snippet(facts: Facts, base: str | None, adapter: bool) -> str:
    """Python that loads the weights and asks them one question, as this run asked its own."""
    config = facts.config
    if adapter and base:
        load = ["from peft import AutoPeftModelForCausalLM", "from transformers import AutoTokenizer"]
        model = ["model = AutoPeftModelForCausalLM.from_pretrained(path)"]
    elif adapter:
        load = ["from peft import PeftModel", "from transformers import AutoModelForCausalLM, AutoTokenizer"]
        model = [
            'base = AutoModelForCausalLM.from_pretrained("FOLDER_OF_THE_BASE")  # the model that this run started from',
            "model = PeftModel.from_pretrained(base, path)",
        ]
    else:
        load = ["from transformers import AutoModelForCausalLM, AutoTokenizer"]
        model = ["model = AutoModelForCausalLM.from_pretrained(path)"]
    prompt = _example(facts)
    if isinstance(prompt, str):
        asked = [f"prompt = {prompt!a}", 'inputs = tokenizer(prompt, return_tensors="pt")']
    else:
        more = "".join(f", {name}={value!a}" for name, value in (config.get("chat_template_kwargs") or {}).items()
                       if str(name).isidentifier())  # fmt: skip
        asked = [
            f"messages = {prompt!a}",
            "inputs = tokenizer.apply_chat_template(",
            f'    messages, add_generation_prompt=True, return_dict=True, return_tensors="pt"{more}',
            ")",
        ]
    limit = config.get("max_completion_length") or 256
    lines = [
        *load,
        "",
        'path = "."  # this folder, or its name on the hub',
        "tokenizer = AutoTokenizer.from_pretrained(path)",
        *model,
        "",
        *asked,
        f"output = model.generate(**inputs, max_new_tokens={int(limit)}, do_sample=False)",
        'print(tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))',
    ]
    return "\n".join(lines)


def _example(facts: Facts) -> str | list[dict[str, str]]:
    """A prompt of the run's own, where there is a short one."""
    shown = [*facts.samples.won, *facts.samples.lost]
    for sample in shown:
        found = messages(sample.trained)
        if sum(len(text) for _, text in found) <= PROMPT:
            if found[0][0] == "":
                return found[0][1]
            return [{"role": role, "content": text} for role, text in found]
    return [{"role": "user", "content": "Your question"}]


def _sample(sample: Sample) -> dict[str, Any]:
    """Prompt, ground truth and both answers as fences, the long ones clipped with a note."""
    asked = "\n\n".join(f"[{role}]\n{text}" if role else text for role, text in messages(sample.trained))
    return {
        "row": sample.row,
        "prompt": _block(asked),
        "truth": sample.trained.ground_truth,
        "base": _block(sample.base.completion),
        "trained": _block(sample.trained.completion),
    }


def _block(text: str) -> markdown.Md:
    cut = f"\n\nThe first {CHARACTERS:,} of {len(text):,} characters." if len(text) > CHARACTERS else ""
    return markdown.Md(markdown.fence(text[:CHARACTERS]) + cut)


def _yaml(values: dict[str, Any]) -> markdown.Md:
    try:
        text = yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=110)
    except (yaml.YAMLError, UnicodeEncodeError):
        text = json.dumps(values, indent=1, default=str)
    return markdown.fence(text.strip(), "yaml")


@cache
def environment() -> jinja2.Environment:
    """Jinja that escapes as markdown whatever a filter below has not made safe."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=False,
        undefined=jinja2.ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    made.filters |= {
        "code": markdown.code,
        "cell": markdown.cell,
        "prose": markdown.prose,
        "fence": markdown.fence,
        "ours": markdown.Md,
        "figure": _figure,
        "percent": numbers.percent,
        "number": numbers.number,
        "signed": numbers.signed,
        "count": numbers.count,
        "probability": numbers.probability,
        "duration": numbers.duration,
        "moment": numbers.moment,
        "gigabytes": numbers.gigabytes,
        "value": settings.value,
    }
    made.globals |= {"comparison": table.comparison, "interval": numbers.interval, "MOST": MOST}
    return made


def _finalize(value: Any) -> Any:
    return "" if isinstance(value, jinja2.Undefined) else markdown.finalize(value)


def _figure(cell: table.Cell, unit: str = "") -> markdown.Md:
    """A figure with its interval behind it. Both are numbers of ours."""
    interval = f" ({cell.interval})" if cell.interval else ""
    return markdown.Md(f"{cell.value}{f' {unit}' if unit and cell.value != numbers.DASH else ''}{interval}")
