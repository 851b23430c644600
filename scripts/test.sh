#!/usr/bin/env bash
# test.sh: the whole gate. Dependencies, format, build, then every test target by itself, so that a crash in one does
# not hide the others; ends with a table of times and one closing line, and fails if anything failed.
#
# Environment: SUITES="A B" runs only those test targets; VERBOSE=1 shows every test.
set -u
cd "$(dirname "$0")/.."

logs=.build/test-logs

./scripts/install-dependencies.sh test || exit 1
make --no-print-directory lint || exit 1
if [ -x scripts/python-env.sh ]; then
    ./scripts/stage.sh "python environment" ./scripts/python-env.sh || exit 1
fi
./scripts/stage.sh "build with tests" swift build --build-tests || exit 1

products=$(swift build --show-bin-path)

suites=${SUITES:-}
if [ -z "$suites" ]; then
    # The tidy suite first: it is the quickest to say that something is out of place.
    suites="TidyTests"
    for folder in Tests/*Tests; do
        name=$(basename "$folder")
        [ "$name" = TidyTests ] || suites="$suites $name"
    done
fi

# What went wrong in a log, with its first words about it, for the end of the output, where it is read.
faults() {
    if [ "$2" -eq 124 ] || [ "$2" -eq 137 ]; then unended "$1"; fi
    fault='^.{1,4}Test .* recorded an issue|Fatal error|^\*\*\* '
    grep -a -m 20 -A 14 -E "$fault" "$1" | grep -a -E "$fault|^(↳|  )" || tail -5 "$1"
}

# The tests that began and did not end in the log of a run that was stopped: one of them hung.
unended() {
    sed -n -E '/Test run started/d; s/^.{1,4}Test (.*) started\.$/\1/p' "$1" | while IFS= read -r name; do
        grep -a -q -F -e "Test $name passed after" -e "Test $name failed after" -e "Test $name with" "$1" ||
            printf 'began and did not end: %s\n' "$name"
    done
}

mkdir -p "$logs"
summary=""
findings=""
total=0
failed=0
broken=0

# What is no suite. It may fail and the rest is still run, so that one look at the output says all that is wrong.
proof() {
    total=$((total + 1))
    ./scripts/stage.sh "$@" && return
    broken=$((broken + 1))
    findings="$findings$1: see above
"
}
if [ -z "${SUITES:-}" ]; then
    proof "the program of the README" "$products/two-nodes"
    proof "the examples" ./scripts/examples.sh "$products"
    proof "an app on a simulated network" "$products/simulated-network"
    proof "a service in C" "$products/hello-c"
    proof "the classes for Objective-C" ./scripts/check-objective-c.sh
    proof "20 processes work together for a minute" "$products/Soak" 60
    proof "reference documentation" ./scripts/documentation.sh
fi

for suite in $suites; do
    log="$logs/$suite.log"
    printf '\n== %s\n' "$suite"
    started=$(date +%s)
    ./scripts/suite.sh "$suite" "$log"
    status=$?
    seconds=$(($(date +%s) - started))
    count=$(sed -n 's/.*Test run with \([0-9][0-9]*\) test.*/\1/p' "$log" | tail -1)
    bad=$(grep -a -E '^.{1,4}Test [^c].* failed after' "$log" | grep -a -c -v 'Test run with')
    count=${count:-0}
    verdict=passed
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        verdict="STOPPED after $seconds s"
        broken=$((broken + 1))
    elif [ "$status" -ne 0 ]; then
        verdict="FAILED (exit $status)"
        [ "$bad" -gt 0 ] || broken=$((broken + 1))
    fi
    [ "$verdict" = passed ] || findings="$findings$(printf '%s:\n' "$suite"; faults "$log" "$status")
"
    total=$((total + count))
    failed=$((failed + bad))
    [ "$count" -ge "$bad" ] || total=$((total + bad - count))
    printf '== %s: %s, %d tests in %d s\n' "$suite" "$verdict" "$count" "$seconds"
    summary="$summary$(printf '%-22s %6d tests %5d s  %s' "$suite" "$count" "$seconds" "$verdict")
"
done

printf '\n== suites\n%s' "$summary"
[ -z "$findings" ] || printf '\n== what failed\n%s\n' "$findings"
printf 'full logs: %s\n' "$logs"
failed=$((failed + broken))
printf '%d passed, %d failed\n' "$((total - (failed < total ? failed : total)))" "$failed"
[ "$failed" -eq 0 ]
