# Two commands: `make demo` shows the main job on real data, `make test` runs all that CI runs.
PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
ENV    := $(VENV)/.stamp-env
DEMO   := $(VENV)/.stamp-demo
MAKE_VENV = @command -v $(PYTHON) >/dev/null 2>&1 && py=$(PYTHON) || py=python3; \
	$$py -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "scumble needs Python 3.11 or newer; set PYTHON=..."; exit 1; }; \
	test -x $(BIN)/python || $$py -m venv $(VENV)
KERNELS := $(shell find src -name '*.pyx' -o -name '*.pxd')
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test lint types imports unit docs bench env clean

help:            ## this list
	@grep -E '^[a-z]+: .*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(DEMO)    ## concurrence report, REMEDIAL, before and after, on the embedded data
	$(BIN)/scumble demo --output scumble-demo

test: lint types imports unit docs   ## everything CI runs: style, types, import order, tests, doctests, docs
	@echo "make test: all checks passed"

lint: $(ENV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(ENV)
	$(BIN)/mypy

imports: $(ENV)
	$(BIN)/lint-imports

unit: $(ENV)
	$(BIN)/pytest -n auto --dist loadgroup

docs: $(ENV)    ## the documentation, docs/_build/html/index.html
	$(BIN)/sphinx-build -W --keep-going -j auto -q -b html docs docs/_build/html

bench: $(ENV)    ## speed and memory, as ratios against a peer measured in the same run
	$(BIN)/python -m benchmarks

env: $(ENV)

# A first command may find python3 only; both are fine as long as it is 3.11 or newer.
$(ENV): pyproject.toml constraints.txt setup.py $(KERNELS)
	$(MAKE_VENV)
	$(INSTALL) -e ".[dev]"
	@touch $@ $(DEMO)

# The demo waits for what it needs and no more; what the tests need is ten times as much.
$(DEMO): pyproject.toml constraints.txt setup.py $(KERNELS)
	$(MAKE_VENV)
	$(INSTALL) -e ".[plots]"
	@touch $@

clean:
	rm -rf $(VENV) build dist docs/_build docs/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache
