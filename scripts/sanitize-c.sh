#!/usr/bin/env bash
# sanitize-c.sh: the program in C under the address sanitizer with its leak check: every function, callbacks that come
# late, 100 000 requests, 300 nodes made and freed.
#
# Environment: RUNAR_C_REQUESTS, RUNAR_C_NODES.
set -eu
cd "$(dirname "$0")/.."

export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=0"
export LSAN_OPTIONS="suppressions=$PWD/scripts/sanitize-leaks.txt:print_suppressions=0"
folder=.build-address
./scripts/stage.sh "C under the address sanitizer: build" \
    swift build --product CProbe --scratch-path "$folder" --sanitize=address
probe=$(swift build --scratch-path "$folder" --sanitize=address --show-bin-path)/CProbe
./scripts/stage.sh "every function" "$probe" calls
./scripts/stage.sh "late callbacks" "$probe" late
./scripts/stage.sh "requests" "$probe" requests "${RUNAR_C_REQUESTS:-100000}"
./scripts/stage.sh "nodes" "$probe" nodes "${RUNAR_C_NODES:-300}"
