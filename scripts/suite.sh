#!/usr/bin/env bash
# suite.sh SUITE LOG [OPTIONS OF SWIFT...]: runs one test target that is built already, for at most SUITE_LIMIT
# seconds (forty minutes), with SUITE_OPTIONS for swift, if there are any.
#
# Everything it says goes to LOG; single tests that begin or pass are left out of the output unless VERBOSE=1. The
# status is that of `swift test`, 124 or 137 when it was stopped, and 65 when there was no test to run.
set -u
suite=$1 log=$2
shift 2
limit_seconds=${SUITE_LIMIT:-2400}

bounded() {
    if command -v timeout >/dev/null 2>&1; then timeout --kill-after=10 "$limit_seconds" "$@"; else "$@"; fi
}

# Single tests that begin or pass are noise in a log; suites, failures and everything unexpected are not.
visible() {
    if [ -n "${VERBOSE:-}" ]; then
        cat
    else
        grep -a --line-buffered -v -E '^(◇|✔|↳) +Test | started\.$|^never-crash:|^Build|^\[[0-9]+/[0-9]+\]'
    fi
}

# Says every now and then how far a long suite is.
watch_log() {
    while sleep 20; do
        printf '   ... %s tests after %d s\n' "$(grep -a -c -E '^✔ +Test .* passed' "$log")" "$(($(date +%s) - $1))"
    done
}

: >"$log"
watch_log "$(date +%s)" &
watcher=$!
# More tests at a time make one another late, and there is real time in what they wait for.
bounded swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width 8 \
    --filter "^$suite\\." ${SUITE_OPTIONS:-} "$@" 2>&1 | tee "$log" | visible
status=${PIPESTATUS[0]}
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
[ -n "${VERBOSE:-}" ] || grep -a -E '^✔ Test run with' "$log" | tail -1
if [ "$status" -eq 0 ] && ! grep -a -q -E 'Test run with [1-9]' "$log"; then
    echo "no test of $suite ran" >&2
    status=65
fi
exit "$status"
