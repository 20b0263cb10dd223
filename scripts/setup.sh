#!/usr/bin/env bash
# Makes sure that this machine can build and test Holdpoint. Installs what is missing and says so;
# takes no time when nothing is.
set -euo pipefail

note() { echo "setup: $*"; }
fail() { echo "setup: $1" >&2; shift; for hint in "$@"; do echo "  hint: $hint" >&2; done; exit 1; }

# Runs a command as root: directly, or by sudo where that asks nothing.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n "$@"
    else return 1
    fi
}

install_packages() {
    command -v apt-get >/dev/null || return 1
    note "installing $* with apt-get"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || return 1
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

command -v cargo >/dev/null || fail "cargo is missing" \
    "install Rust $(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or newer: https://www.rust-lang.org/tools/install"

# SQLite and zstd are compiled from C, and Rust links with the C compiler.
if ! command -v cc >/dev/null; then
    install_packages gcc libc6-dev || fail "a C compiler is missing and could not be installed" \
        "on Debian: apt-get install gcc libc6-dev (as root)" "elsewhere: install gcc or clang with its C library headers"
fi

# The checks read the list of files from git.
if ! command -v git >/dev/null; then
    install_packages git || fail "git is missing and could not be installed" "on Debian: apt-get install git (as root)"
fi

# Scripts run with namespaces of their own where bubblewrap is; without it the sandbox is weaker, and says so.
if [ "$(uname -s)" = Linux ] && ! command -v bwrap >/dev/null; then
    install_packages bubblewrap || note "bubblewrap is missing and could not be installed: scripts run without namespaces"
fi

# Compiling the test runner takes minutes, so it is offered and not forced.
if [ "${1:-}" = "--for-tests" ] && ! cargo nextest --version >/dev/null 2>&1; then
    note "cargo-nextest is missing: tests run with cargo test, which is slower"
    note "to have it: cargo install cargo-nextest --locked"
fi
