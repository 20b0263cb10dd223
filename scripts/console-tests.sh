#!/usr/bin/env bash
# Tests the web console: types and lints, view models, then the real program in a real browser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/target/tools/node/bin:$PATH"
# The binary that the end-to-end tests run: with a test chosen beside it, it has the features that `make test` built.
cargo build --locked --workspace --bin holdpoint --test cli
cd console
npm run --silent check
npx --no-install vitest run --reporter=default --reporter=json --outputFile.json=../target/console-tests.json || failed=1
node -e '
const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(require("fs").readFileSync("../target/console-tests.json"));
console.log(`console: ${numPassedTests} passed, ${numFailedTests} failed${numPendingTests ? `, ${numPendingTests} not run` : ""}`);
'
exit "${failed:-0}"
