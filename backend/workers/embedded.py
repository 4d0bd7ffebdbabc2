"""Building the embedded model: a supervised warm-up from random weights, by TRL's own SFTTrainer, once for a home.

backend/models/embedded.py describes what is built and why.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from backend.data import arithmetic
from backend.data.problems import Operation
from backend.models import embedded
from backend.models.embedded import DEFAULT, EmbeddedSpec
from backend.processes.locks import FileLock
from backend.workers.stop import StopHere

OnMetrics = Callable[[int, int, dict[str, float]], None]
ShouldStop = Callable[[], bool]

# Rows come twice or more often: enough of them that the forgotten carries look like chance, few enough to tokenise
# in two seconds.
ROWS = 16_000
LOG_EVERY = 5


def build(models_dir: Path, on_metrics: OnMetrics, should_stop: ShouldStop, spec: EmbeddedSpec = DEFAULT) -> Path:
    """The folder of the embedded model, building it where it is not there yet.

    `on_metrics(step, total, metrics)` is called every few steps with TRL's own names (loss, mean_token_accuracy,
    grad_norm, learning_rate). The weights depend on `spec` alone (and on the number of threads, by rounding).
    A second process waits for the first one's result. Raises StopHere when `should_stop()`; whatever interrupts a
    build, nothing is left under the final name.
    """
    target = embedded.folder(models_dir, spec)
    if embedded.is_built(models_dir, spec):
        return target
    models_dir.mkdir(parents=True, exist_ok=True)
    with _lock(models_dir / f".{target.name}.lock", should_stop):
        if embedded.is_built(models_dir, spec):
            return target
        for leftover in models_dir.glob(f".{target.name}-*"):  # of a build that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        shutil.rmtree(target, ignore_errors=True)
        scratch = Path(tempfile.mkdtemp(dir=models_dir, prefix=f".{target.name}-"))
        try:
            _train(scratch, on_metrics, should_stop, spec)
            scratch.rename(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target


@contextlib.contextmanager
def _lock(path: Path, should_stop: ShouldStop) -> Iterator[None]:
    lock = FileLock.take(path)
    while lock is None:
        if should_stop():
            raise StopHere
        time.sleep(0.2)
        lock = FileLock.take(path)
    try:
        yield
    finally:
        lock.release()


def build_tokenizer() -> Any:
    """A PreTrainedTokenizerFast: one token a byte, a digit or a tag; every text comes back exactly."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [*embedded.SPECIAL, *embedded.TAGS, *symbols]
    core = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in embedded.SPECIAL])
    core.add_tokens([AddedToken(word, special=False, normalized=False) for word in embedded.TAGS])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=embedded.PAD,
        eos_token=embedded.END,
        padding_side="left",
        model_max_length=DEFAULT.context,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = embedded.CHAT_TEMPLATE
    return tokenizer


def new_model(spec: EmbeddedSpec, tokenizer: Any) -> Any:
    """A LlamaForCausalLM of `spec` with fresh weights drawn by its seed.

    Not a Qwen2: for that type AutoTokenizer insists on Qwen's own tokenizer class, whatever was saved, and that adds
    a token beyond the vocabulary.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=embedded.VOCABULARY,
        hidden_size=spec.hidden,
        num_hidden_layers=spec.layers,
        num_attention_heads=spec.heads,
        num_key_value_heads=spec.heads,
        intermediate_size=spec.intermediate,
        max_position_embeddings=spec.context,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(spec.seed)
    return LlamaForCausalLM(config)


def warmup_rows(spec: EmbeddedSpec) -> list[dict[str, Any]]:
    """Worked examples of training problems, by a teacher who forgets `carry_error` of the carries."""
    operations: tuple[Operation, ...] = spec.operations  # type: ignore[assignment] -- parse() allows nothing else
    settings = arithmetic.Arithmetic(operations=operations, digits=spec.digits)
    count = min(ROWS, spec.steps * spec.batch)
    return arithmetic.worked(settings, count, spec.seed, spec.carry_error)


def _train(scratch: Path, on_metrics: OnMetrics, should_stop: ShouldStop, spec: EmbeddedSpec) -> None:
    from datasets import Dataset
    from transformers import PrinterCallback, TrainerCallback
    from trl.trainer.sft_config import SFTConfig
    from trl.trainer.sft_trainer import SFTTrainer

    class Report(TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs and "loss" in logs:
                on_metrics(state.global_step, spec.steps, {name: float(value) for name, value in logs.items()})

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if should_stop():
                raise StopHere

    tokenizer = build_tokenizer()
    model = new_model(spec, tokenizer)
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(
            output_dir=str(scratch),
            seed=spec.seed,
            max_steps=spec.steps,
            per_device_train_batch_size=spec.batch,
            learning_rate=spec.learning_rate,
            lr_scheduler_type="cosine",
            warmup_steps=20,
            weight_decay=0.0,
            adam_beta2=0.99,
            max_length=spec.context,
            logging_steps=LOG_EVERY,
            logging_first_step=True,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            # On the smallest of models a GPU gains nothing, and a CPU gives the same weights everywhere.
            use_cpu=True,
            bf16=False,
            activation_checkpointing=False,
            dataloader_pin_memory=False,
        ),
        train_dataset=Dataset.from_list(warmup_rows(spec)),
        processing_class=tokenizer,
        callbacks=[Report()],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    model.save_pretrained(scratch)
    tokenizer.save_pretrained(scratch)
    # transformers keeps the arguments of the run beside its checkpoints; they are no part of the model.
    for stray in scratch.glob("training_args.bin"):
        stray.unlink()
    for path in scratch.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
