# One command does all its set-up: Python 3.11 or newer, git and make are enough (bundles: Node 20).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Passed on to the program a target runs: make test ARGS="-k isolation", make lab ARGS=--no-browser
ARGS ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help lab test check lint types bench reliability notebooks bare coverage bundles lock audit sbom fuzz fuzzrest mutants clean

help: ## Print this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

lab: $(VENV)/.lab ## Open JupyterLab on the notebook to start with
	$(BIN)/jupyter lab $(ARGS) notebooks/04_curate_by_hand.ipynb

test: $(VENV)/.dev ## Run the tests
	$(BIN)/python -m pytest $(ARGS)

check: lint types bare notebooks test ## Run everything that must pass before a change lands

lint: $(VENV)/.dev ## Check style, floors, spelling and files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/python tools/check_files.py

types: $(VENV)/.dev ## Check types with mypy --strict
	$(BIN)/mypy

bench: $(VENV)/.bench $(VENV)/.dev ## Measure the figures that README quotes
	$(BIN)/python -m bench $(ARGS)
	$(BIN)/python -m bench.panel

reliability: $(VENV)/.dev ## Try to lose something, and print what docs/reliability.md shows
	$(BIN)/python -m reliability $(ARGS)

fuzzrest: $(VENV)/.dev ## Throw 20,000 requests at the server, described ones and others
	$(BIN)/python -W ignore -m bench.fuzz $(ARGS)

# In order of writing: shuffled, a notebook's cells would meet unknown names. In a store of their
# own: what somebody curated under `make lab` would show in their outputs.
notebooks: $(VENV)/.dev ## Run README and the notebooks and compare every output
	$(BIN)/python -m pytest -p no:randomly --doctest-glob=README.md README.md
	MEMORIES_URL="$$(mktemp -d)/notebooks.db" $(BIN)/python -m pytest -p no:randomly --nbval --nbval-sanitize-with tests/nbval.cfg $(ARGS) notebooks

bare: $(VENV)/.dev ## Install the wheel without extras in a fresh environment and use it
	$(BIN)/python tools/bare.py

coverage: $(VENV)/.dev ## Run the tests and list the lines and branches they miss
	$(BIN)/coverage run -m pytest $(ARGS)
	$(BIN)/coverage report

bundles: ## Rebuild the widgets' browser half (needs Node 20)
	npm --prefix widgets ci
	npm --prefix widgets run build

lock: $(VENV)/.dev ## Write the lock files anew: make lock ARGS=--upgrade
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/lock.py $(ARGS)

audit: $(VENV)/.dev ## Ask the advisory services about every locked package
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/audit.py

sbom: $(VENV)/.dev ## Write what a release is made of to dist/sbom.cdx.json
	$(BIN)/python tools/sbom.py $(ARGS)

fuzz: $(VENV)/.dev ## Throw random input at readers, ten minutes each: make fuzz ARGS="--seconds 60 render"
	$(BIN)/python tests/fuzz.py $(ARGS)

mutants: $(VENV)/.dev ## Change the pure rules and the tools, one at a time, and print what no test noticed
	$(BIN)/mutmut run $(ARGS)
	$(BIN)/mutmut results

clean: ## Remove what the other targets leave behind, the environment excepted
	rm -rf build dist htmlcov mutants .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests tools bench reliability -name __pycache__ -prune -exec rm -rf {} +

# A stamp is newer than what it was made from, or its environment is brought up to date.
$(VENV)/.%: requirements/%.txt pyproject.toml tools/environment.py
	$(PYTHON) tools/environment.py $(VENV) $< $@
