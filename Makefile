# `make demo` and `make test` do all set-up on a fresh machine: Python 3.11 or newer, pip, make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

FUZZ_SECONDS ?= 3600
FUZZ ?=

WRITTEN ?= 20000
STRESS ?= 10000
SEED ?= 0

.PHONY: demo test checked lint bench mix models written stress routing-stress fuzz interrupts failing clean

demo: $(VENV)/installed
	$(BIN)/broadfront bfs kron:20 --verify

test: $(VENV)/installed-for-tests lint
	$(BIN)/python -m pytest -n auto --dist worksteal -q

# The whole suite with every index checked in all kernels and functors; once per release.
checked: $(VENV)/installed-for-tests
	BROADFRONT_CHECKED=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/checked-cache \
	$(BIN)/python -m pytest -n auto --dist worksteal -q

lint: $(VENV)/installed-for-tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

interrupts: $(VENV)/installed-for-tests
	$(BIN)/python tests/interrupts.py 300
	$(BIN)/python tests/interrupted.py 100

bench: $(VENV)/installed-for-bench
	$(BIN)/python benchmarks/ground_floor.py

# Thousands of random runs against plain serial answers.
mix: $(VENV)/installed-for-tests
	PYTHONPATH=tests $(BIN)/python tests/mix.py

# Vertex programs and semirings on larger graphs, on 1 to 4 devices, and what their records count.
models: $(VENV)/installed-for-tests
	PYTHONPATH=examples $(BIN)/python tests/models/everywhere.py

# Programs that Hypothesis writes, on every back end; prints the smallest that is not the same.
written: $(VENV)/installed-for-tests
	PYTHONPATH=tests $(BIN)/python tests/written/run.py --templates $(WRITTEN) --seed $(SEED)

# Dataflows with random delays in every step, and every order of steps of small ones: minutes.
routing-stress: $(VENV)/installed-for-tests
	PYTHONPATH=tests $(BIN)/python tests/routing/delays.py 10000

# Asynchronous runs with random delays in every step.
stress: $(VENV)/installed-for-tests
	$(BIN)/python tests/backends/cpu/asynchronous/stress.py $(STRESS)

# Every allocation, thread and access to a file fails in turn: an hour or more.
failing: $(VENV)/installed-for-tests
	PYTHONPATH=examples $(BIN)/python tests/failures.py --full

# Every reader for FUZZ_SECONDS each, or those that FUZZ names: make fuzz FUZZ="mtx gr"
fuzz: $(VENV)/installed-for-fuzz
	$(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(FUZZ)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-for-tests: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/installed

$(VENV)/installed-for-bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@ $(VENV)/installed

$(VENV)/installed-for-fuzz: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV)
