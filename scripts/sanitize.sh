#!/usr/bin/env bash
# sanitize.sh: the transport suites under the address sanitizer (with leaks) and under the thread sanitizer.
#
# The system's ngtcp2 and GnuTLS are not instrumented; our C and Swift are. Each sanitizer has a build folder of its own.
set -u
cd "$(dirname "$0")/.."

suites=${SUITES:-"LockingTests TransportTests QUICTests InteropTests"}
filter="^($(echo "$suites" | tr ' ' '|'))\\."

./scripts/install-dependencies.sh test || exit 1
if [ -x scripts/python-env.sh ]; then
    ./scripts/stage.sh "python environment" ./scripts/python-env.sh || exit 1
fi
export LSAN_OPTIONS="suppressions=$PWD/scripts/sanitize-leaks.txt:print_suppressions=0"
status=0
for kind in address thread; do
    ./scripts/stage.sh "$kind sanitizer: build" \
        swift build --build-tests --sanitize=$kind --scratch-path .build-$kind || exit 1
    ./scripts/stage.sh "$kind sanitizer: $suites" \
        swift test --skip-build --disable-xctest --sanitize=$kind --scratch-path .build-$kind --filter "$filter" ||
        status=1
done
[ "$status" -eq 0 ] && echo "both sanitizers: clean"
exit "$status"
