"""What cannot be taken in, in words: which path, why, and what would do."""

from __future__ import annotations

import errno
import math
from pathlib import Path

from backend.attaching import document
from backend.errors import Refused
from backend.text import Text

LONGEST_NAME = 200


def path_of(path: str) -> Path:
    try:
        return Path(path).expanduser().resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a NUL, a home of nobody, a loop of links
        raise Refused(
            Text(en=f"{path!r:.200} is no path ({error})", ko=f"{path!r:.200}: 경로가 아닙니다({error})")
        ) from error


def name_of(given: str, where: Path) -> str:
    """The run's name: as given, else the folder's. Raises Refused for one that no list could show."""
    if given and (len(given) > LONGEST_NAME or not given.isprintable()):
        raise Refused(
            Text(
                en=f"name: at most {LONGEST_NAME} characters, none of them a control character",
                ko=f"name: {LONGEST_NAME}자 이하여야 하며 제어 문자는 쓸 수 없습니다",
            )
        )
    of_folder = "".join(letter if letter.isprintable() else "_" for letter in where.name[:LONGEST_NAME])
    return given or of_folder or "attached"


def unreadable(where: Path, home: Path, error: OSError | RecursionError) -> Refused:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(
            Text(
                en=f"{home}: no room to take in {where} ({error}). Free some (python -m backend disk), or keep the "
                "groups of every n-th step only: attach --groups-every N.",
                ko=f"{home}: {where}을(를) 가져올 공간이 없습니다({error}). 공간을 비우거나(python -m backend disk) "
                "n스텝마다 하나씩만 가져오세요: attach --groups-every N.",
            )
        )
    denied = isinstance(error, PermissionError)
    en = "Let the account that runs this program read it" if denied else "Copy it to a disk of this machine"
    ko = "이 프로그램을 실행하는 계정에 읽기 권한을 주세요" if denied else "이 컴퓨터의 디스크로 복사하세요"
    return Refused(
        Text(en=f"{where}: cannot be read ({error}). {en}.", ko=f"{where}: 읽을 수 없습니다({error}). {ko}.")
    )


def too_large(where: Path, every: int, done: int, of: int) -> Refused:
    """After `done` of `of` files it was full: what would fit."""
    more = every * max(2, math.ceil(1.2 * of / max(1, done)))
    gb = f"{document.LARGEST / 1e9:g}"
    return Refused(
        Text(
            en=f"{where}: more than {gb} GB of completions. Take in the groups of every {more}-th step: "
            f"attach --groups-every {more} (the curves stay whole).",
            ko=f"{where}: 생성 답이 {gb} GB를 넘습니다. {more}스텝마다 하나씩만 가져오세요: "
            f"attach --groups-every {more} (곡선은 모두 유지됩니다).",
        )
    )
