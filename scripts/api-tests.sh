#!/bin/sh
# Throws everything at the API that its own description allows, and much that it does not: no answer may be a
# failure of the server, and none may be one that is not described. Usage: scripts/api-tests.sh [examples]
set -eu
examples=${1:-50}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server=
end() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap end EXIT INT TERM

tools="$root/target/api-tests"
if ! "$tools/bin/schemathesis" --version >/dev/null 2>&1; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet "schemathesis==4.32.5"
fi
# The binary that the end-to-end tests run: with a test chosen beside it, it has the features that `make test` built.
(cd "$root" && cargo build --quiet --locked --workspace --bin holdpoint --test cli)
HOLDPOINT_HOME="$work/home" "$root/target/debug/holdpoint" serve --port 0 --json --quiet >"$work/told" &
server=$!
tries=0
until grep -q listening "$work/told"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ]; then
        echo "error: the server did not start" >&2
        exit 1
    fi
    sleep 0.1
done
address=$(sed 's/.*"listening":"\([^"]*\)".*/\1/' "$work/told")
token=$(cat "$work/home/keys/admin.token")
cd "$work"
"$tools/bin/schemathesis" run "$address/api/openapi.json" \
    --header "Authorization: Bearer $token" \
    --max-examples "$examples" --phases coverage,fuzzing --continue-on-failure --no-color \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    --exclude-path-regex '/api/stream|/api/sign|/api/tokens'
