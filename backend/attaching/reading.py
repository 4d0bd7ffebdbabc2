"""The small files of a folder, read: its log, its adapter, its tokenizer. The completions come later, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.attaching.folder import Folder, look, read_json
from backend.attaching.history import History, of_state
from backend.attaching.log import of_log
from backend.errors import Refused
from backend.text import Text


@dataclass(frozen=True, slots=True)
class Read:
    """What the folder's small files hold. `broken`: those that were left out, with why; `unread`: other logs by name;
    `later`: steps of a log after the last checkpoint."""

    folder: Folder
    history: History
    adapter: Mapping[str, Any]
    count: Callable[[Sequence[str]], list[int]] | None
    broken: tuple[Refused, ...]
    unread: tuple[str, ...]
    later: int


def read_folder(path: Path) -> Read:
    """The log is that of trainer_state.json, and what the log in JSON lines of the most entries has after it."""
    found = look(path)
    broken = list(found.broken)
    logs: list[tuple[Path, History]] = []
    refused: Refused | None = None
    for log in found.logs:
        try:
            logs.append((log, of_log(log)))
        except Refused as error:
            refused = error
    logs.sort(key=lambda each: -len(each[1].rows))
    later = 0
    if found.state is not None:
        history = of_state(found.said)
        if logs:
            later = history.goes_on(logs[0][1])
            logs = logs[1:] if later else []
    elif logs:
        history, logs = logs[0][1], logs[1:]
    elif refused is not None and not found.completions:
        raise refused
    else:
        history = History()
    if not history.rows and not found.completions:
        raise Refused(
            Text(
                en=f"{found.state or path}: log_history holds no entry, and there are no completions beside it. Was "
                "the training shorter than logging_steps? Give the output_dir of one that has logged something.",
                ko=f"{found.state or path}: log_history에 항목이 없고 생성 답도 없습니다. 학습이 logging_steps보다 "
                "짧았나요? 로그가 있는 학습의 output_dir를 지정하세요.",
            )
        )
    adapter: Mapping[str, Any] = {}
    if found.adapter:
        try:
            adapter = read_json(found.adapter)
        except Refused as error:
            broken.append(error)
    unread = tuple(log.name for log, _ in logs)
    return Read(found, history, adapter, _tokenizer(found.tokenizer), tuple(broken), unread, later)


def _tokenizer(path: Path | None) -> Callable[[Sequence[str]], list[int]] | None:
    """Counts tokens as the model did; None without a tokenizer that can be read."""
    if path is None:
        return None
    try:
        from tokenizers import Tokenizer

        made = Tokenizer.from_file(str(path))
    except Exception:  # the library raises bare Exceptions
        return None
    return lambda texts: [len(found.ids) for found in made.encode_batch(list(texts), add_special_tokens=False)]
