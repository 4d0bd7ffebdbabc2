#!/usr/bin/env bash
# The GPU check: bf16 and LoRA training of the embedded model, memory freed after a stop and after a kill, an
# out-of-memory failure provoked and explained, throughput against the plain TRL script. Under six minutes.
# On a machine with a registry: tests/gpu/wheels.sh first. Then: tests/gpu/check.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
site="$(mktemp -d)"
trap 'rm -rf "$site"' EXIT
if [ -d .gpu-wheels ]; then
  python3 -m pip install --quiet --no-index --find-links .gpu-wheels --no-deps --target "$site" .gpu-wheels/*.whl
fi
export PYTHONPATH="$site${PYTHONPATH:+:$PYTHONPATH}" HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
python3 - <<'PY'
import torch, transformers, trl
print(f"torch {torch.__version__}, transformers {transformers.__version__}, trl {trl.__version__}, "
      f"cuda {torch.cuda.is_available()}: {torch.cuda.get_device_name() if torch.cuda.is_available() else 'no device'}")
PY
exec timeout 360 python3 -m pytest -p no:cacheprovider -m gpu tests/gpu -v "$@"
