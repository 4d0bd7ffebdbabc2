"""What the Reward Lab says. Keys ending in `_1` are the form for one; `{n}` and its kin are filled in by the page."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "lab.title": Text("Reward Lab", "보상 실험실"),
    "lab.lead": Text(
        "Try rewards and rows here before a GPU hour is spent.",
        "GPU 시간을 쓰기 전에 보상과 데이터를 여기서 시험해 보세요.",
    ),
}
