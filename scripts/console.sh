#!/usr/bin/env bash
# Builds the web console, when its sources or the API's description changed since it was last built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/target/tools/node/bin:$PATH"

# What a folder holds, as one line.
print_of() { git ls-files -z --cached --others --exclude-standard -- "$@" | sort -z | xargs -0 -r sha256sum 2>/dev/null | sha256sum; }

cd console
lock="$(sha256sum package-lock.json)"
if [ "$(cat node_modules/.lock-of-last-install 2>/dev/null)" != "$lock" ]; then
    echo "console: installing packages"
    npm ci --no-audit --no-fund --loglevel=error
    echo "$lock" > node_modules/.lock-of-last-install
fi
[ "${1:-}" = "--install-only" ] && exit 0

now="$(cd .. && print_of console docs/reference/openapi.json)"
if [ "$(cat built/.sources 2>/dev/null)" != "$now" ] || [ ! -f built/site/index.html ]; then
    npm run --silent build
    echo "$now" > built/.sources
fi
