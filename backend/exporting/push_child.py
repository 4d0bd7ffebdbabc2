"""Uploads files to the hub: `python -m backend.exporting.push_child REQUEST.json`, the token in HF_TOKEN.

REQUEST: {"folder", "files", "repo", "private", "message", "description"}. Progress and the end are JSON lines on
standard output. The large files go first, one after the other; one commit at the end makes them all visible at once.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from backend.errors import Refused, StudioError
from backend.processes.redact import Redactor, secrets_of
from backend.text import Text


def say(**message: Any) -> None:
    OUT.write(json.dumps(message) + "\n")
    OUT.flush()


def push(request: dict[str, Any], token: str) -> dict[str, Any]:
    """{"commit": its hash}. Refused where the repository is public and was to be private; the hub's own errors."""
    from huggingface_hub import CommitOperationAdd, HfApi

    api = HfApi(token=token)
    repo, folder = request["repo"], Path(request["folder"])
    api.create_repo(repo, private=request["private"], repo_type="model", exist_ok=True)
    if request["private"] and not api.repo_info(repo, repo_type="model").private:
        raise Refused(
            Text(
                en=f"{repo} exists and is public. Say that you want that (--public), or choose another name.",
                ko=f"{repo} 저장소가 이미 있고 공개 상태입니다. 공개로 올리려면 --public을 지정하고, 아니면 다른 "
                "이름을 고르세요.",
            )
        )
    operations = [
        CommitOperationAdd(path_in_repo=name, path_or_fileobj=str(folder / name)) for name in request["files"]
    ]
    done = 0
    for operation in operations:
        api.preupload_lfs_files(repo, [operation], repo_type="model", free_memory=False)
        done += (folder / operation.path_in_repo).stat().st_size
        say(stage="upload", done=done)
    made = api.create_commit(
        repo,
        operations,
        commit_message=request["message"],
        commit_description=request["description"],
        repo_type="model",
    )
    return {"commit": made.oid}


def in_words(error: Exception) -> Text:
    """The hub's refusal, without secrets."""
    if isinstance(error, StudioError):
        return error.text
    status = getattr(getattr(error, "response", None), "status_code", None)
    said = str(error).strip() or type(error).__name__
    said = Redactor(secrets_of(os.environ)).clean(said.splitlines()[0].encode("utf-8", "replace")).decode()[:300]
    if status in (401, 403):
        return Text(
            en=f"the hub refuses this token ({status}): it must be valid and may write to this name. {said}",
            ko=f"허브가 토큰을 거부했습니다({status}). 유효하고 이 이름에 쓰기 권한이 있어야 합니다. {said}",
        )
    if status is None:
        return Text(en=f"the hub could not be reached: {said}", ko=f"허브에 연결하지 못했습니다: {said}")
    return Text(en=f"the hub answered {status}: {said}", ko=f"허브 응답 {status}: {said}")


def _end_with_who_asked() -> None:
    while os.read(0, 4096):  # not through sys.stdin, whose lock would abort the interpreter's own end
        pass
    os._exit(3)


if __name__ == "__main__":
    OUT = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not stand among our lines
    threading.Thread(target=_end_with_who_asked, daemon=True).start()
    code = 0
    try:
        say(end=push(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), os.environ["HF_TOKEN"]))
    except Exception as error:
        say(error=in_words(error).to_json())
        code = 1
    os._exit(code)
