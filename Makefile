# SPDX-License-Identifier: Apache-2.0
#
# `make up` runs the service and `make test` runs all checks. Both install what
# they need in .venv and .state. `make help` lists all targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV ?= .venv
STATE ?= .state
BIN := $(VENV)/bin
SERVICE := ./distributions/clustering
PROVIDERS := $(addprefix ./distributions/,docker simulated)
CLIENT := ./distributions/client
CONTRACT := ./distributions/contract
RELEASES := ./distributions/releases
SQL := ./distributions/sql
TESTING := ./distributions/testing
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Tests start many processes, and each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

# Extra arguments, for example: make up ARGS='--engines 3 --logs'
ARGS ?=

# The first of these that is new enough creates the virtual environment.
PYTHONS ?= python3 python3.14 python3.13 python3.12 python3.11
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

.PHONY: help
help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) \
		| expand -t 28

.PHONY: up
up: $(VENV)/.up ## Run the service; ARGS='--help' shows its options
	@exec $(BIN)/vobjects up --state-dir '$(STATE)' $(ARGS)

# tools/run-parts runs these, and says which test failed. `a+b,c` run b and then
# c beside a. After a failure, the stages until the next / still run. Parts that
# wait for processes, such as those of a cloud, run beside those that compute;
# the suites of clients, which wait ten seconds at most, when fewest others run.
STAGES := services+install / lint+install-newest types+docs \
	unit-all,unit-newest+test-clients-core+test-cloud-core / \
	processes+test-ports
LONG_STAGES := services+install / unit-long unit-lowest processes-long \
	test-clients test-cloud test-ports-long mutants
RUN_PARTS := PYTEST='$(BIN)/pytest' $(BIN)/python tools/run-parts

.PHONY: quick
quick: lint types ## Check style and types; test what changed, in 2 minutes
	@tests=$$($(BIN)/python tools/changed-tests); \
	if [ -z "$$tests" ]; then echo 'no unit test depends on a change'; \
	else $(PYTEST_UNIT) -m '$(WITHOUT_SERVERS)' $$tests $(ARGS); fi

.PHONY: test
test: $(BIN)/python ## Run all checks of a change, quick ones first
	@$(RUN_PARTS) --again 3 $(STAGES)

.PHONY: test-long
test-long: $(BIN)/python ## Run all checks that take long, for hours
	@$(RUN_PARTS) $(LONG_STAGES)

# Parts use the same virtual environment.
.NOTPARALLEL:

.PHONY: install install-newest
install: $(VENV)/.test
install-newest: $(VENV)/.test
	@if [ -n '$(HAS_NEWEST)' ]; then \
		$(MAKE) --no-print-directory PYTHONS='$(NEWEST)' \
			VENV='$(VENV_NEWEST)' '$(VENV_NEWEST)/.test'; \
	fi

.PHONY: lint
lint: $(VENV)/.test ## Check style, imports and release notes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@if [ -e .git ]; then \
		echo '$(BIN)/reno --quiet lint'; $(BIN)/reno --quiet lint; \
	else \
		echo 'release notes are not checked: reno needs the git repository'; \
	fi

.PHONY: types
types: $(VENV)/.test ## Check types
	$(BIN)/mypy

.PHONY: docs
docs: $(VENV)/.test ## Test the examples of the docs; build doc/build
	$(BIN)/pytest -q --doctest-glob='*.rst' doc/source
	$(BIN)/sphinx-build -W --keep-going -q -b html doc/source doc/build/html

.PHONY: changelog
changelog: $(VENV)/.test ## Print the release notes of all releases
	@$(BIN)/reno --quiet report --no-show-source

# A folder with the documentation of several releases: build each release from
# its own source with the same SITE. Pages then offer the other releases.
SITE ?= doc/build/site

.PHONY: site
site: docs ## Add this release to the site in SITE (doc/build/site)
	$(BIN)/python tools/site doc/build/html '$(SITE)'

.PHONY: dist
dist: $(VENV)/.test ## Build all distributions of this commit in dist
	@rm -rf dist
	@for source in . $(SERVICE) $(OTHERS); do \
		$(BIN)/python -m build --outdir dist "$$source"; done

.PHONY: release
release: $(VENV)/.test ## Build and check a release; ARGS='--help'
	@$(BIN)/python tools/release $(ARGS)

.PHONY: services
services: ## Provide the servers for tests, as root on Debian
	@tools/services

NEED_SERVERS := postgresql or mysql or rabbit

WITHOUT_SERVERS := not long and not ($(NEED_SERVERS))

# A worker that has finished its tests takes over those of another one.
PYTEST_UNIT := $(BIN)/pytest -q --numprocesses auto --dist worksteal

.PHONY: unit
unit: $(VENV)/.test ## Run unit tests on SQLite and in memory
	$(PYTEST_UNIT) -m '$(WITHOUT_SERVERS)' tests/unit $(ARGS)

.PHONY: unit-long
unit-long: $(VENV)/.test ## Run unit tests that take long, with more examples
	VOBJECTS_HISTORIES=20000 VOBJECTS_SIMULATION_SCHEDULES=100000 \
		VOBJECTS_SIMULATION_REQUESTS=100000 \
		$(PYTEST_UNIT) -m 'long or not ($(NEED_SERVERS))' \
		--hypothesis-profile long tests/unit $(ARGS)

VENV_LOWEST := $(VENV)-lowest

.PHONY: unit-lowest
unit-lowest: ## Run unit tests on the lowest versions of dependencies
	@$(MAKE) --no-print-directory unit VENV='$(VENV_LOWEST)' PYTHONS='$(PYTHONS)' \
		VERSIONS='--resolution lowest-direct' \
		ARGS='$(INDEPENDENT) $(ARGS)'

# What does not depend on the versions of Python and of dependencies.
INDEPENDENT := $(addprefix --ignore tests/unit/,doc etc clients \
	vobjects/rpc/simulation)

# On another Python, one case of each parametrized test, except for tests of
# values, and 20 examples: others run the same code. Neither the contract of the
# service nor the output of mypy depends on Python. The workflow runs all of them
# on each.
SECOND_PYTHON := --cases 1 --hypothesis-profile few \
	$(addprefix --ignore tests/unit/,api/test_contract.py \
	vobjects/mypy_plugin)

# Also the versions of pyenv, which are not on PATH by these names.
NEWEST = $(shell tools/newest-python $(PYTHONS))
HAS_NEWEST = $(shell newest='$(NEWEST)'; [ -z "$$newest" ] \
	|| cmp -s <("$$newest" -V) <($(BIN)/python -V) || echo yes)
VENV_NEWEST := $(VENV)-newest

.PHONY: unit-newest
unit-newest: install-newest ## Run unit tests on the newest Python found
	@if [ -z '$(HAS_NEWEST)' ]; then \
		echo 'unit-newest: no newer Python found'; \
	else \
		VOBJECTS_HISTORIES=100 $(MAKE) --no-print-directory unit \
			PYTHONS='$(NEWEST)' VENV='$(VENV_NEWEST)' \
			ARGS='$(INDEPENDENT) $(SECOND_PYTHON) $(ARGS)'; \
	fi

.PHONY: servers
servers: $(VENV)/.test ## Run unit tests on PostgreSQL, MariaDB and RabbitMQ
	$(PYTEST_UNIT) -m 'not long and ($(NEED_SERVERS))' tests/unit $(ARGS)

# To collect the tests twice would take half a minute.
.PHONY: unit-all
unit-all: $(VENV)/.test ## Run unit and servers as one
	$(PYTEST_UNIT) -m 'not long' tests/unit $(ARGS)

# These tests often wait for processes, so there are more workers than cores.
# Files begin in the given order, those that take longest first.
WORKERS ?= 4
PYTEST_PROCESSES := $(BIN)/pytest -q --numprocesses $(WORKERS) \
	--no-loadscope-reorder -m 'not long'

# One run of all of them takes less time than one after the other.
.PHONY: processes
processes: $(VENV)/.test ## Run functional, examples and upgrade as one
	$(PYTEST_PROCESSES) tests/upgrade tests/examples tests/functional $(ARGS)

# No test may be that long: pytest then exits with 5.
.PHONY: processes-long
processes-long: $(VENV)/.test ## Run those of processes that take long
	VOBJECTS_SOAK='$(SECONDS)' VOBJECTS_BROKER_CLUSTER=1 \
		$(PYTEST_PROCESSES) -m long tests/upgrade tests/examples \
		tests/functional $(ARGS) || [ $$? = 5 ]
	@$(MAKE) --no-print-directory soak SECONDS='$(SECONDS)'

.PHONY: functional
functional: $(VENV)/.test ## Run functional tests with real processes
	$(PYTEST_PROCESSES) tests/functional $(ARGS)

SECONDS ?= 600

.PHONY: soak
soak: $(VENV)/.test ## Kill engines and a broker under load; SECONDS=600
	VOBJECTS_SOAK='$(SECONDS)' $(BIN)/pytest -q tests/functional/test_soak.py

.PHONY: examples
examples: $(VENV)/.test ## Install the services in examples and upgrade them
	$(PYTEST_PROCESSES) tests/examples $(ARGS)

.PHONY: upgrade
upgrade: $(VENV)/.test ## Run upgrade tests with mixed releases
	$(PYTEST_PROCESSES) tests/upgrade $(ARGS)

.PHONY: test-clients
test-clients: $(VENV)/.test ## Run test suites of Senlin's clients; ARGS='--help'
	$(BIN)/python -m tests.clients $(ARGS)

.PHONY: test-clients-core
test-clients-core: $(VENV)/.test ## Run those that `make test` includes
	$(BIN)/python -m tests.clients --suite 'openstacksdk-*' \
		--suite 'senlin-tempest-plugin' --suite gophercloud --core $(ARGS)

# KEEP=yes leaves the cloud running for the next run.
KEEP ?=
CLOUD := PYTHON='$(BIN)/python' tools/openstack
CLOUD_DOWN := [ '$(KEEP)' = yes ] || trap "$(CLOUD) down" EXIT

# Tests that stop services run last, one after another. With ARGS, one of the
# two runs may find no tests: pytest then exits with 5.
define test_cloud
code=0; \
$(BIN)/pytest -q --numprocesses 2 -m '$(1)not exclusive' \
	tests/real_cloud $(ARGS) \
	|| [ $$? = 5 ] || code=1; \
$(BIN)/pytest -q -m '$(1)exclusive' tests/real_cloud $(ARGS) \
	|| [ $$? = 5 ] || code=1; \
exit $$code
endef

.PHONY: test-cloud
test-cloud: $(VENV)/.test ## Run the service on a real OpenStack; KEEP=yes
	@$(CLOUD_DOWN); $(CLOUD) up; $(call test_cloud,)

# The most important of these tests, in ten minutes. Like other tests, they are
# skipped if a server is missing, unless CI is set.
.PHONY: test-cloud-core
test-cloud-core: $(VENV)/.test ## Run the core of test-cloud; KEEP=yes
	@$(CLOUD_DOWN); $(CLOUD) up || { code=$$?; \
		[ "$$code" = 3 ] && [ -z "$${CI:-}" ] && exit; exit "$$code"; }; \
		$(call test_cloud,core and not long and )

# Not part of `make test`, because it installs these services (2 GB).
ADOPT ?= nova ironic cinder magnum neutron heat
ADOPT_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/vobjects/adopt

.PHONY: test-adopt
test-adopt: $(BIN)/python ## Compare objects of Nova and others when adopted
	@tools/adopt '$(BIN)/python' '$(ADOPT_CACHE)' $(ADOPT)

.PHONY: test-ports
test-ports: $(VENV)/.test ## Run Magnum and Barbican on the library
	$(BIN)/python -m ports $(or $(ARGS),magnum barbican)

.PHONY: test-ports-long
test-ports-long: $(VENV)/.test ## Run all of Senlin and Nova; upgrade Magnum
	$(BIN)/python -m ports senlin nova
	$(BIN)/pytest tests/ports

# Not part of `make test`: it installs three releases of each service.
.PHONY: test-releases
test-releases: $(BIN)/python ## Compare the last releases of OpenStack services
	@$(BIN)/python tools/state-of-versioned-objects \
		--cache '$(ADOPT_CACHE)' $(ARGS)

# Not part of `make test`: it clones the repositories of other projects.
.PHONY: recall
recall: $(VENV)/.test ## Count the known bugs of others that the tools find
	@$(BIN)/python -m recall $(ARGS)

# Not part of `make test`, because it takes about an hour.
VENV_MUTANTS := $(VENV)-mutants

.PHONY: mutants
mutants: ## Check that tests detect changes of the code; ARGS='MODULE.*'
	@$(MAKE) --no-print-directory VENV='$(VENV_MUTANTS)' \
		'$(VENV_MUTANTS)/.mutants'
	@PATH="$(abspath $(VENV_MUTANTS)/bin):$$PATH" python tools/mutants $(ARGS)

.PHONY: bench
bench: $(VENV)/.test ## Run the benchmarks
	@for script in benchmarks/[a-z]*.py; do \
		echo "== $$script"; $(BIN)/python "$$script"; \
	done

.PHONY: format
format: $(VENV)/.test ## Format the code and apply automatic fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: sample
sample: $(VENV)/.test ## Regenerate etc/vobjects.conf.sample
	$(BIN)/oslo-config-generator --config-file etc/config-generator.conf \
		--output-file etc/vobjects.conf.sample

.PHONY: clean
clean: ## Remove all generated files and the state of the service
	rm -rf '$(VENV)' '$(VENV_NEWEST)' '$(VENV_MUTANTS)' '$(VENV_LOWEST)' \
		'$(STATE)' .test-logs \
		doc/build dist mutants \
		.mypy_cache .pytest_cache .ruff_cache .hypothesis \
		.import_linter_cache .grimp_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The virtual environment. Stamp files record the installed extras and are
# renewed when pyproject.toml changes. Debian's python3 may lack ensurepip (it
# is in python3-venv, and installing that requires root). In that case, the pip
# of the system installs pip in the environment.

$(BIN)/python:
	@for python in $(PYTHONS); do \
		if "$$python" -c '$(NEW_ENOUGH)' 2>/dev/null; then \
			found="$$python"; break; \
		fi; \
	done; \
	if [ -z "$${found:-}" ]; then \
		echo 'Python 3.11 or newer is needed, and none of these is:' \
			'$(PYTHONS). Name one: make PYTHONS=/path/to/python3' >&2; \
		exit 1; \
	fi; \
	echo "making $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv --clear '$(VENV)' >/dev/null 2>&1 || { \
		"$$found" -m venv --clear --without-pip '$(VENV)' && \
		"$$found" -m pip --disable-pip-version-check --quiet \
			--python '$(BIN)/python' install pip; \
	}

TRANSPORTS := $(addprefix ./transports/,driverlib embedded pyamqp)
OTHERS := $(PROVIDERS) $(CLIENT) $(CONTRACT) $(RELEASES) $(SQL) $(TESTING) \
	$(TRANSPORTS)
PROJECTS := pyproject.toml constraints.txt \
	$(addsuffix /pyproject.toml,$(SERVICE) $(OTHERS))

# Without uv, which is several times as fast as pip, the program uses pip.
VERSIONS ?= --constraint constraints.txt
# Metadata of builds by setuptools would hide that of the installed version.
define install
@rm -rf *.egg-info {distributions,transports}/*/*.egg-info
@$(PIP) install --constraint constraints.txt uv || true
@UV_COMPILE_BYTECODE=1 tools/install-packages '$(BIN)/python' \
	'$(BIN)/python' $(VERSIONS) $(1)
@touch '$@'
endef

# A call of `install` in a recipe must be one line.
CLUSTERING := $(addprefix --editable ,$(PROVIDERS) $(CONTRACT) $(SQL) $(TRANSPORTS)) \
	--editable '$(SERVICE)[clients,docker,mysql,postgresql]'
EVERYTHING := --editable '.[test]' \
	$(addprefix --editable ,$(CLIENT) $(RELEASES) $(TESTING)) \
	$(CLUSTERING)

$(VENV)/.up: $(PROJECTS) | $(BIN)/python
	@echo 'installing the service and its clients (a minute, once)'
	$(call install,--editable . $(CLUSTERING))

$(VENV)/.mutants: $(VENV)/.test
	$(call install,'mutmut==3.8.*')

$(VENV)/.test: $(PROJECTS) | $(BIN)/python
	@echo 'installing the service and what its tests need (a minute, once)'
	$(call install,$(EVERYTHING))
	@touch '$(VENV)/.up'

# The same versions for everyone, on each Python.
.PHONY: constraints
constraints: $(VENV)/.test ## Update constraints.txt to the newest releases
	@printf '%s\n' '-e .[test]' uv 'mutmut==3.8.*' \
		'-e $(SERVICE)[clients,docker,mysql,postgresql]' \
		$(addprefix '-e ,$(addsuffix ',$(OTHERS))) \
		| $(BIN)/uv pip compile --quiet --upgrade --universal \
		--python-version 3.11 --no-annotate --no-header - \
		| sed -e '1i # `make constraints` writes this file.' -e '/^-e /d' \
		> constraints.new
	@mv constraints.new constraints.txt
