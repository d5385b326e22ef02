# `make demo` and `make test` do all set-up on a fresh machine: Python 3.11 or newer, pip, make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench clean

demo: $(VENV)/installed
	$(BIN)/broadfront bfs kron:20 --verify

test: $(VENV)/installed-for-tests lint
	$(BIN)/python -m pytest -n auto -q

lint: $(VENV)/installed-for-tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/installed-for-bench
	$(BIN)/python benchmarks/ground_floor.py

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

clean:
	rm -rf $(VENV)
