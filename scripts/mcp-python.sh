#!/usr/bin/env bash
# Installs the official Python package for the Model Context Protocol, for the tests that speak with it.
# Takes no time when it is there.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.3.0
folder=target/tools/mcp-python
if [ "$(cat "$folder/.installed" 2>/dev/null || true)" = "$version" ]; then
    exit 0
fi

python3 -c 'import ensurepip' 2>/dev/null || { echo "mcp-python: python3 with venv is missing (Debian: apt-get install python3-venv)" >&2; exit 3; }
mkdir -p target/tools
# Two tests may come here at once.
exec 9>"$folder.lock"
if command -v flock >/dev/null; then flock 9; fi
[ "$(cat "$folder/.installed" 2>/dev/null || true)" = "$version" ] && exit 0
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "mcp==$version"
echo "$version" > "$folder/.installed"
