#!/usr/bin/env bash
# Installs aimock, a third-party server that speaks the protocols of model providers, for the tests that ask it.
# Takes no time when it is there.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.43.0
folder=target/tools/aimock
found="$(sed -n 's/^ *"version": "\(.*\)".*/\1/p' "$folder/node_modules/@copilotkit/aimock/package.json" 2>/dev/null || true)"
if [ "$found" = "$version" ] && [ -x "$folder/node_modules/.bin/llmock" ]; then
    exit 0
fi

command -v npm >/dev/null || { echo "aimock: npm is missing; install Node.js 20.15 or newer" >&2; exit 3; }
mkdir -p "$folder"
# Two tests may come here at once.
exec 9>"$folder/.lock"
if command -v flock >/dev/null; then flock 9; fi
npm install --silent --no-audit --no-fund --no-save --prefix "$folder" "@copilotkit/aimock@$version" >/dev/null
