#!/bin/sh
# Makes a home with many runs and events, to measure and to look at. Usage: bench/generate.sh FOLDER [RUNS]
set -eu
if [ $# -lt 1 ]; then
    echo "usage: bench/generate.sh FOLDER [RUNS]" >&2
    exit 64
fi
root=$(cd "$(dirname "$0")/.." && pwd)
cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml" --bin holdpoint
exec "$root/target/release/holdpoint" bench --make-home "$1" --runs "${2:-100000}"
