# Two commands: `make demo` shows the main job on real data, `make test` runs all that CI runs.
PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
ENV    := $(VENV)/.stamp-env
DEMO   := $(VENV)/.stamp-demo
MAKE_VENV = @command -v $(PYTHON) >/dev/null 2>&1 && py=$(PYTHON) || py=python3; \
	$$py -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "scumble needs Python 3.11 or newer; set PYTHON=..."; exit 1; }; \
	test -x $(BIN)/python || $$py -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Nothing where the machine has a C compiler; else one from the package index, with a word about it.
COMPILER = $$($(BIN)/python tools/compiler.py)
# The kernels are compiled again when one of them has changed, has come or has gone.
KERNELS := $(sort $(shell find src -name '*.pyx' -o -name '*.pxd' -o -name '*.h'))
BUILT   := $(VENV)/.stamp-built-$(firstword $(shell echo $(KERNELS) | cksum))
TOUCH_BUILT = rm -f $(VENV)/.stamp-built-* && touch $(BUILT)

.NOTPARALLEL:  # two recipes must not install into one environment at a time
.DEFAULT_GOAL := help
.PHONY: help demo test lint types imports unit docs bench env build sanitize fuzz wheel clean

help:            ## this list
	@grep -E '^[a-z]+: .*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(DEMO) $(BUILT)    ## the report, REMEDIAL, before and after, and what helps, on the embedded data
	$(BIN)/scumble demo --output scumble-demo

test: lint types imports unit docs   ## everything CI runs: style, types, import order, tests, doctests, docs
	@echo "make test: all checks passed"

lint: $(ENV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	PATH="$(abspath $(BIN)):$$PATH" cython-lint src

types: $(ENV)
	$(BIN)/mypy

imports: $(ENV)
	$(BIN)/lint-imports

unit: $(ENV) $(BUILT)
	$(BIN)/pytest -n auto --dist loadfile

docs: $(ENV) $(BUILT)    ## the documentation, docs/_build/html/index.html
	$(BIN)/sphinx-build -W --keep-going -j auto -q -b html docs docs/_build/html

bench: $(ENV) $(BUILT)    ## speed and memory, as ratios against a peer measured in the same run
	$(BIN)/python -m benchmarks

build: $(ENV) $(BUILT)    ## compile the kernels that have changed, in place

sanitize: $(ENV)    ## the tests of the kernels with checks of every index, then with sanitizers
	$(BIN)/python tools/sanitize.py

fuzz: $(ENV) $(BUILT)    ## a million damaged files and models, on two processes; FUZZ="--count 5000" for fewer
	$(BIN)/python tools/fuzz.py $(FUZZ)

wheel: $(ENV)    ## dist/*.tar.gz and dist/*.whl
	$(BIN)/python -m build

env: $(ENV)

# A first command may find python3 only; both are fine as long as it is 3.11 or newer.
$(ENV): pyproject.toml constraints.txt
	$(MAKE_VENV)
	@$(INSTALL) -e ".[dev]" $(COMPILER)
	@touch $@ $(DEMO) && $(TOUCH_BUILT)

# The demo waits for what it needs and no more; what the tests need is ten times as much.
$(DEMO): pyproject.toml constraints.txt
	$(MAKE_VENV)
	@$(INSTALL) -e ".[plots]" $(COMPILER)
	@touch $@ && $(TOUCH_BUILT)

# Installing compiles too. Make asks for this file before it installs, so we look again.
$(BUILT): $(KERNELS) setup.py | $(DEMO)
	@if test ! -e $@ || test -n "$$(find $(KERNELS) setup.py -newer $@)"; then \
		$(BIN)/python -c 'import Cython, setuptools' 2>/dev/null || $(INSTALL) Cython setuptools; \
		echo "compiling the kernels that have changed"; \
		$(BIN)/python tools/build_backend.py && $(TOUCH_BUILT); \
	fi

clean:
	rm -rf $(VENV) build dist src/*.egg-info docs/_build docs/generated docs/gallery
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src -name '*.so' -delete -o -name '*.pyd' -delete
