# The commands that people need. Everything they do can be done by hand with cargo as well.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# rustup puts cargo here; a fresh shell may not know it yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

# Every run uses the versions that were tested.
CARGO := cargo
LOCKED := --locked

# More arguments for the program: make run ARGS="--port 8080"
ARGS ?=

# How many kill -9 cycles and simulator seeds the crash tests run.
HOLDPOINT_KILLS ?= 300
HOLDPOINT_SEEDS ?= 300
SOAK_KILLS := 20000
SOAK_SEEDS := 100000
export HOLDPOINT_KILLS HOLDPOINT_SEEDS

# A test whose name begins with `crash_` runs kill cycles or seeds (.config/nextest.toml).
IS_CRASH := test(/(^|::)crash_/)

NEXTEST := $(CARGO) nextest run $(LOCKED) --workspace

.PHONY: help run console test test-console test-api test-rules test-crash test-bugs soak bench check setup setup-tests format tidy lints supply-chain

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: setup console ## build and start the demo, which opens the browser or prints its address
	@$(CARGO) run --release $(LOCKED) --bin holdpoint -- demo $(ARGS)

console: setup ## build the web console, if its sources changed; the next build embeds it
	@scripts/console.sh

# One run for all tests, so that each crate is compiled once and every core is kept busy. Planted bugs come
# last: they run some of these tests again, from the same build.
test: setup-tests console format tidy ## all tests, with 300 kill cycles, 300 seeds and the planted bugs
	@$(CARGO) xtask doc-tests
	@if cargo nextest --version >/dev/null 2>&1; then \
		$(NEXTEST); \
	else \
		$(CARGO) test $(LOCKED) --workspace --lib --bins --tests --no-fail-fast; \
	fi
	@scripts/console-tests.sh
	@$(CARGO) xtask bugs

test-console: setup-tests console ## only the web console: lints, view models, and a real browser on the real program
	@scripts/console-tests.sh

test-rules: setup-tests ## only the quick tests: no kill cycles, seeds or planted bugs
	@$(NEXTEST) -E 'not $(IS_CRASH)'

test-crash: setup-tests ## only kill cycles and seeds (HOLDPOINT_KILLS, HOLDPOINT_SEEDS)
	@$(NEXTEST) --no-tests=warn -E '$(IS_CRASH)'

test-bugs: setup-tests ## only the planted bugs: each must make a test fail
	@$(CARGO) xtask bugs

test-api: setup-tests ## a property-based tester (schemathesis) against the API
	@scripts/api-tests.sh

soak: HOLDPOINT_KILLS := $(SOAK_KILLS)
soak: HOLDPOINT_SEEDS := $(SOAK_SEEDS)
soak: setup-tests ## kill cycles and seeds in large numbers: hours
	@$(NEXTEST) --profile soak --no-tests=warn -E '$(IS_CRASH)'
	@scripts/api-tests.sh 500

bench: setup ## measure on this machine's disk
	@$(CARGO) run --release $(LOCKED) --bin holdpoint -- bench $(ARGS)

check: setup format tidy lints supply-chain ## format, tidy, lints, licences and advisories

setup:
	@scripts/setup.sh

setup-tests:
	@scripts/setup.sh --for-tests

format:
	@if $(CARGO) fmt --version >/dev/null 2>&1; then \
		$(CARGO) fmt --all --check || { echo "hint: cargo fmt --all"; exit 1; }; \
	else \
		echo "format: not checked, rustfmt is missing (rustup component add rustfmt)"; \
	fi

tidy:
	@$(CARGO) xtask tidy

lints:
	@$(CARGO) clippy $(LOCKED) --workspace --all-targets -- --deny warnings

supply-chain:
	@if $(CARGO) deny --version >/dev/null 2>&1; then \
		$(CARGO) deny --workspace check; \
	else \
		echo "supply-chain: not checked, cargo-deny is missing (cargo install cargo-deny --locked)"; \
	fi
