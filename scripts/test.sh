#!/usr/bin/env bash
# Runs every test. One that cannot run here fails, unless TRIPTIME_ALLOW_SKIPS=1: then it is named at the end.
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
# Tests of the kernel's tracers read here; what is mounted for them is unmounted again.
mounted=
if [ "$(id -u)" -eq 0 ] && [ ! -e /sys/kernel/tracing/available_tracers ]; then
    mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null && mounted=/sys/kernel/tracing
fi
trap 'rm -f "$log"; [ -z "$mounted" ] || umount "$mounted"' EXIT
# Every failure is shown in one run.
scripts/run_tests.py 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

# Ignored is what another test runs (`#[ignore]`), and what this kernel is built without: named all the same.
ignored=$({ grep -aE '^test .* \.\.\. ignored' "$log" | sed -E 's/^test (.*) \.\.\. ignored,? ?/IGNORED \1: /'
    grep -ao 'IGNORED [^ ].*' "$log"; } | sort -u)
skipped=$(grep -ao 'SKIPPED [^ ].*' "$log" | sort -u)
unsteady=$(grep -a '^UNSTEADY ' "$log")
passed=$(sed '/^== again$/,$d' "$log" | grep -aE '^test result:' | sed -E 's/.* ([0-9]+) passed.*/\1/' | paste -sd+ | bc 2>/dev/null || echo "?")
echo "----------------------------------------------------------------"
lines() { printf '%s' "$1" | grep -c . || true; }
echo "passed: $passed, skipped: $(lines "$skipped"), ignored: $(lines "$ignored"), unsteady: $(lines "$unsteady")"
[ -n "$ignored" ] && printf '%s\n' "$ignored"
[ -n "$unsteady" ] && printf '%s\n' "$unsteady"
[ -n "$skipped" ] && printf '%s\n' "$skipped"
grep -a '^FAILED: ' "$log"
exit "$status"
