#!/usr/bin/env bash
# Runs every test, then names those that were skipped. With TRIPTIME_CI=1 a skipped test is a failure.
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# --no-fail-fast shows every failure in one run. The end-to-end tests put real-time threads on the CPUs: one at a time.
{
    cargo test --workspace --exclude triptime-tests --locked --no-fail-fast -- --nocapture || echo "FAILED: crates"
    cargo test -p triptime-tests --locked --no-fail-fast -- --nocapture --test-threads=1 || echo "FAILED: end to end"
} 2>&1 | tee "$log"
grep -aq '^FAILED: ' "$log" && status=1

skipped=$(grep -ao 'SKIPPED [^ ].*' "$log" | sort -u)
count=$(printf '%s' "$skipped" | grep -c . || true)
passed=$(grep -aE '^test result:' "$log" | sed -E 's/.* ([0-9]+) passed.*/\1/' | paste -sd+ | bc 2>/dev/null || echo "?")
echo "----------------------------------------------------------------"
echo "passed: $passed, skipped: $count"
[ "$count" -gt 0 ] && printf '%s\n' "$skipped"
if [ "${TRIPTIME_CI:-0}" = 1 ] && [ "$count" -gt 0 ]; then
    echo "a test that can run here was skipped" >&2
    status=1
fi
exit $status
