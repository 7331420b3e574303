# Everything works in .venv, made by plain venv and pip. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PROFILE ?=
JOBS ?=
GAMES ?=
DATA ?= SGF files
POSITIONS ?=
NET ?=
SEEDS ?=
ONLY ?=
CORES := $(shell getconf _NPROCESSORS_ONLN)
TESTERS ?= $(CORES)
# While slow tests wait for a server, or for a process to end, others run.
SLOW_TESTERS ?= $(shell expr $(CORES) + 2)
A ?= HEAD
B ?= workspace
export DO_NOT_TRACK = 1
export DVC_NO_ANALYTICS = 1
export PREFECT_SERVER_ANALYTICS_ENABLED = false
# Not activated, the environment still has to be what dvc's stages run in.
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport PYTHONPATH
# Tests and stages start many processes, and without compiled files each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup repro compare test test-slow test-all check api lock docs site build bench pictures measure-amazons_engine measure-amazons_net measure-crawl measure-gomoku_engine measure-gomoku_zero measure-growing_boards measure-joseki measure-levels measure-reliability measure-search_depth audit rehearse serve clean

help:  ## List the targets.
	@grep -hE '^[a-z0-9_-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 24

setup: $(STAMP)  ## Make .venv with the locked versions of all packages, and compile the players' kernels.

$(STAMP): pyproject.toml requirements.lock pipeline_src/project/plots_page.py
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 to 3.13 is needed; choose one: make setup PYTHON=python3.11" if not (3, 11) <= sys.version_info[:2] <= (3, 13) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint requirements.lock --editable '.[reproduce,dev,cluster,s3]'
	@# pip compiles on one core what this does on all of them, beside the kernels; some packages carry files for no Python.
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib > /dev/null & \
	$(BIN)/python -m pipeline_src.project.plots_page && $(BIN)/python -c 'from pipeline_src.project.new import write_local; write_local()' && $(BIN)/python -m pipeline_src.cli warm; status=$$?; wait; exit $$status
	touch $@

repro: $(STAMP)  ## Run the whole graph on all cores: make repro [PROFILE=NAME, a file of profiles/] [JOBS=N].
	$(if $(PROFILE),$(BIN)/zugwerk profile $(PROFILE))
	$(BIN)/zugwerk repro $(if $(JOBS),--jobs $(JOBS))

compare: $(STAMP)  ## Compare two versions: make compare A=REV B=REV; by default A is HEAD and B the working tree.
	$(BIN)/zugwerk compare '$(A)' '$(B)'

PYTEST := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder

test: $(STAMP)  ## Run the tests on all cores, without the slow ones.
	$(PYTEST) --numprocesses $(TESTERS) -m 'not slow'

test-slow: $(STAMP)  ## Run the tests that start servers, browsers, clusters or other slow processes, or compile kernels.
	$(PYTEST) --numprocesses $(SLOW_TESTERS) -m slow

test-all: test test-slow  ## Run all tests.

check: $(STAMP) api  ## Check lint rules (of Python and JavaScript), format, imports, types, digests of code and what importers of zugwerk lose.
	$(BIN)/ruff check .
	$(BIN)/oxlint pipeline_src
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/zugwerk code --check
	$(BIN)/mypy

api: $(STAMP)  ## Say what the working tree breaks for those who `import zugwerk`, against the last release.
	$(BIN)/python -m tests.released.api

build: $(STAMP)  ## Make the wheel and the sdist in dist/; the same sources give the same bytes.
	$(BIN)/python -m hatchling build

bench: $(STAMP)  ## Measure speeds and those of their references, and write bench/results.json.
	$(BIN)/python -m bench.run

pictures: $(STAMP)  ## Take the pictures of the pages for README.md, in docs/images; needs Chromium.
	$(BIN)/python -m bench.pictures

measure-amazons_engine: $(STAMP)  ## Play the matches on a clock for docs/measured/amazons_engine.json; resumes.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable '.[bench]'
	$(BIN)/python -m bench.strength.amazons_engine

measure-amazons_net: $(STAMP)  ## Play the packaged Amazons net's search against alpha-beta for docs/measured/amazons_net.json; resumes.
	$(BIN)/python -m bench.strength.amazons_net

measure-crawl: rehearse

measure-gomoku_engine: $(STAMP)  ## Measure forced wins (POSITIONS=file), matches and late moves of Gomoku's engine for docs/measured/gomoku_engine.json; resumes.
	$(BIN)/python -m bench.strength.gomoku_engine $(if $(POSITIONS),--positions '$(POSITIONS)')

measure-gomoku_zero: $(STAMP)  ## Run Gomoku's self-play with three seeds for docs/measured/gomoku_zero.json; resumes.
	$(BIN)/python -m bench.strength.gomoku_zero

measure-growing_boards: $(STAMP)  ## Compare growth with training from scratch for docs/measured/growing_boards.json (NET=lines SEEDS="1 2 3"); resumes.
	$(BIN)/python -m bench.strength.growing_boards $(if $(NET),--net $(NET)) $(if $(SEEDS),--seeds $(SEEDS))

measure-joseki: $(STAMP)  ## Measure the library on real games for docs/measured/joseki.json: GAMES=folder or tar of SGF, DATA=their origin in words.
	$(BIN)/python -m bench.strength.joseki --games '$(GAMES)' --data '$(DATA)'

measure-levels: $(STAMP)  ## Play the ladders of the levels for their Elo in pipeline_src/players/levels.yaml and docs/measured; resumes.
	$(BIN)/python -m bench.strength.levels

measure-search_depth: $(STAMP)  ## Play thousands of games on a clock for docs/measured/search_depth.json (ONLY=curve_); resumes.
	$(BIN)/python -m bench.strength.search_depth $(if $(ONLY),--only '$(ONLY)')

measure-reliability: $(STAMP)  ## Give 12,000 hostile texts to the readers for docs/measured/reliability.json.
	$(BIN)/python -m bench.hostile

audit: $(STAMP)  ## Check requirements.lock against the advisory database; needs the network.
	$(BIN)/python -m pip check
	$(BIN)/python -m venv work/audit
	work/audit/bin/pip install --quiet --disable-pip-version-check pip-audit
	work/audit/bin/pip-audit --requirement requirements.lock --no-deps --disable-pip --strict

rehearse: $(STAMP)  ## Rehearse a live crawl on a local copy of the site for docs/measured/crawl.json.
	$(BIN)/python -m tests.rehearsal.rehearse

serve: $(STAMP)  ## Start a Prefect server on loopback that runs the flows on a schedule.
	$(BIN)/python -m flows.serve

docs: $(STAMP)  ## Write the reference pages from the code, and the tables of results in README.md and docs.
	$(BIN)/python -m pipeline_src.reference

site: $(STAMP)  ## Write the pages that need no server, and the documentation beside them, to site.
	$(BIN)/zugwerk export --web site
	rm -rf site/docs && cp -R docs site/docs

lock: $(STAMP)  ## Write the installed versions to requirements.lock.
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' > requirements.lock

clean:  ## Remove the environment, caches and scratch files; artifacts and DVC's cache stay.
	rm -rf $(VENV) work build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
