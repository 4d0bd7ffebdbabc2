# make demo    set up, start the quickstart run, open on its live page
# make run     set up, start the page without a run
# make extras  the optional tasks of reasoning-gym (needs a C compiler)
# make test    set up, then lint, types and every test
# make bench   the benchmarks (minutes; leave the machine alone)
PYTHON ?= python3
PORT   ?= 7860
V      := .venv/bin/python

.PHONY: setup setup-dev extras demo run test lint types tests bench clean
.NOTPARALLEL:

setup:
	@$(PYTHON) scripts/setup.py

setup-dev: setup
	@$(PYTHON) scripts/setup.py --dev

extras:
	@$(PYTHON) scripts/setup.py --extras

demo: setup
	@exec $(V) app.py --demo --port $(PORT)

run: setup
	@exec $(V) app.py --port $(PORT)

test: lint types tests

lint: setup-dev
	$(V) -m ruff check .
	$(V) -m ruff format --check .

types: setup-dev
	$(V) -m pyright

tests: setup-dev
	CHROMIUM="$$($(V) scripts/browser.py)" && export CHROMIUM && $(V) scripts/tests.py

bench: setup-dev
	$(V) -m bench

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
