#!/usr/bin/env bash
# Fetch the wheels that a GPU machine without a registry needs (Python 3.12 there; torch, transformers, peft,
# accelerate and pyarrow are expected to be installed). About 30 MB into .gpu-wheels/, which git ignores.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p .gpu-wheels
pinned() { grep -E "^$1==" requirements.txt requirements-dev.txt -h | head -n 1 | cut -d';' -f1; }
python3 -m pip download --quiet --no-deps --only-binary=:all: --dest .gpu-wheels --python-version 3.12 \
  --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --platform any \
  "$(pinned trl)" "$(pinned datasets)" "$(pinned sqlalchemy)" "$(pinned alembic)" "$(pinned pysqlite3)" \
  "$(pinned pydantic)" "$(pinned psutil)" "$(pinned filelock)" "$(pinned tsdownsample)" "$(pinned pyyaml)" \
  "$(pinned pytest)" "$(pinned pytest-timeout)" pydantic-core==2.50.5 mako greenlet 'dill<0.4.2' \
  'multiprocess<0.70.20' xxhash 'fsspec<=2026.9.0' pandas tzdata python-dateutil six typing-extensions \
  annotated-types typing-inspection pluggy iniconfig pygments
du -sh .gpu-wheels
