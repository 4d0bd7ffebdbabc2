"""Where measures are reported to besides the studio (transformers.integrations, 5.x)."""

from __future__ import annotations

import os
from collections.abc import Iterable

from backend.config.report import Problem
from backend.config.rules.base import Facts, installed, rule
from backend.config.schema import RunConfig
from backend.text import Text

# What transformers knows, and the packages of which one must be there.
REPORTERS: dict[str, tuple[str, ...]] = {
    "azure_ml": ("azureml",), "clearml": ("clearml",), "codecarbon": ("codecarbon",), "comet_ml": ("comet_ml",),
    "dagshub": ("dagshub",), "dvclive": ("dvclive",), "flyte": ("flytekit",), "kubeflow": (), "mlflow": ("mlflow",),
    "neptune": ("neptune",), "swanlab": ("swanlab",), "tensorboard": ("tensorboard", "tensorboardX"),
    "trackio": ("trackio",), "wandb": ("wandb",),
}  # fmt: skip
EVERYTHING = ["all"]


@rule("report_to")
def reporters_there(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if not config.report_to or config.report_to == EVERYTHING:
        return
    rest = [name for name in config.report_to if name in REPORTERS and _there(name)]
    unknown = [name for name in config.report_to if name not in REPORTERS]
    if unknown:
        listed = ", ".join(REPORTERS)
        text = Text(
            f"transformers does not know {', '.join(unknown)}; it knows: {listed}",
            f"transformers는 {', '.join(unknown)}을(를) 모릅니다. 쓸 수 있는 것: {listed}",
        )
    elif rest != config.report_to:
        missing = ", ".join(name for name in config.report_to if name not in rest)
        text = Text(
            f"needs what is not here: {missing} is not installed or set up",
            f"{missing}이(가) 설치되거나 설정되어 있지 않습니다",
        )
    else:
        return
    yield Problem("report_to", config.report_to, text, [rest, []], "reporter")


def _there(name: str) -> bool:
    if name == "kubeflow":
        return "KUBEFLOW_TRAINER_SERVER_URL" in os.environ
    return any(installed(package) for package in REPORTERS[name])
