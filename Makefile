# Two commands do everything on a fresh machine with Python 3.11 or newer: `make demo` and `make test`.
PYTHON ?= python3
ADDRESS ?= http://localhost:8000/
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
STAMP := $(VENV)/.installed-alone
GROUPS_STAMP := $(VENV)/.installed
SITE_STAMP := $(VENV)/.installed-for-the-site
NEIGHBOURS := .venv-neighbours
ifdef UV
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
else
INSTALL := $(BIN)/python -m pip install --quiet
endif

.DEFAULT_GOAL := help
unexport PYTHONDONTWRITEBYTECODE  # hundreds of tests start the program, which is to be compiled once
.PHONY: help demo test neighbours screens release-check check types layers doctests fuzz mutants bench reproduce docs site check-site clean

help:  ## list what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(STAMP): pyproject.toml
	@echo "setting up $(VENV) (once) ..."
ifdef UV
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) $(VENV)
else
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --upgrade "pip>=25.1"
endif
	@$(INSTALL) --editable .
	@touch $@

$(GROUPS_STAMP): $(STAMP)
	@echo "setting up what the tests need (once) ..."
	@$(INSTALL) --group test --group check
	@touch $@

demo: $(STAMP)  ## cluster the bundled newsroom sample and print where the report is
	$(BIN)/doccluster demo --output demo

test: $(GROUPS_STAMP)  ## run the test suite; SEED=fresh runs it in random order with fresh examples
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --durations 20 $(if $(SEED),--seed $(SEED)) $(ONLY)

neighbours:  ## run the pages on other libraries beside these, and the tests of rows with pandas 2.2 and 3, in .venv-neighbours
	@test -x $(NEIGHBOURS)/bin/python || $(PYTHON) -m venv $(NEIGHBOURS)
	@$(NEIGHBOURS)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(NEIGHBOURS)/bin/python -m pip install --quiet --upgrade --editable . --group neighbours
	@$(NEIGHBOURS)/bin/python -m pip install --quiet --upgrade --no-deps bertopic  # its own encoder needs torch, no block does
	$(NEIGHBOURS)/bin/python -m pytest -o filterwarnings=default docs/how-to/from-your-table.md docs/how-to/beside-other-libraries.md
	@for version in "==2.2.*" ">=3"; do \
		$(NEIGHBOURS)/bin/python -m pip install --quiet --upgrade "pandas$$version" && \
		$(NEIGHBOURS)/bin/python -m pytest -o filterwarnings=default tests/test_rows_come_back.py || exit 1; \
	done

screens: $(GROUPS_STAMP)  ## write tests/golden/cli again, after a change of what a command prints; review the diff
	$(BIN)/python -m tests.golden.screens

check: $(GROUPS_STAMP)  ## lint, words, types, import layers, doctests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.plain_words
	$(BIN)/python -m tests.vague_names
	$(BIN)/python -m tests.core_lines
	@$(MAKE) --no-print-directory --jobs 2 types layers doctests

types:  # one processor is enough for each, so that the others go on beside it
	$(BIN)/mypy

layers:
	$(BIN)/lint-imports

doctests:
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal -p no:cacheprovider \
		--doctest-modules doccluster \
		website/examples website/versions.py website/formulas.py website/docstrings.py website/finishing.py

fuzz: $(GROUPS_STAMP)  ## read thousands of damaged inputs of every kind (an hour); what fails is kept in fuzz-failures
	$(BIN)/python -m tests.fuzz

mutants: $(GROUPS_STAMP)  ## change the program at random, N times (30), and see whether a test notices
	$(BIN)/python -m tests.mutants $(or $(N),30) $(if $(SEED),--seed $(SEED)) $(if $(SINCE),--since $(SINCE))

bench: $(GROUPS_STAMP)  ## time doccluster beside its peers and write docs/evidence/performance.md
	$(BIN)/python -m experiments.benchmarks

reproduce: $(GROUPS_STAMP)  ## print every number of the papers beside ours, and keep tables and figures
	$(BIN)/python -m experiments all --keep

docs: $(GROUPS_STAMP)  ## write the generated reference pages
	$(BIN)/python -m experiments.reference_pages

$(SITE_STAMP): $(GROUPS_STAMP)
	@$(INSTALL) --group docs
	@touch $@

site: $(SITE_STAMP)  ## build the site in out/site, without a network
	$(BIN)/python -m website --output out/site --address "$(ADDRESS)"

check-site: site  ## build the site, then open it in a browser and look for what is wrong with it
	@npm install --silent --no-audit --no-fund --prefix out/browser axe-core@4.14 || echo "no npm: tests with axe-core are skipped"
	DOCCLUSTER_SITE=out/site $(BIN)/python -m pytest -n0 tests/website

release-check: $(GROUPS_STAMP)  ## build wheel and sdist, check both, use the wheel in a new environment; TESTS=1: all tests too
	@$(INSTALL) --group release
	$(BIN)/python -m tests.release_check --output out/dist $(if $(TESTS),--tests)

clean:  ## remove what was made
	rm -rf $(VENV) $(NEIGHBOURS) demo doccluster-demo out/site out/site-sources out/dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
