#!/usr/bin/env bash
# suites.sh LABEL FOLDER [OPTIONS OF SWIFT...]: builds the test targets of SUITES and what they need in FOLDER, and runs
# them. For what is built a second time under other settings than those of `make test`.
#
# Environment: SUITES="A B", the test targets; ALSO="c", other targets to build; VERBOSE=1 shows every test.
set -u
cd "$(dirname "$0")/.."
label=$1 folder=$2
shift 2

./scripts/install-dependencies.sh test || exit 1
./scripts/stage.sh "python environment" ./scripts/python-env.sh || exit 1
export RUNAR_TARGETS="$SUITES ${ALSO:-}"
./scripts/stage.sh "$label: build" swift build --build-tests --scratch-path "$folder" "$@" || exit 1
status=0
for suite in $SUITES; do
    ./scripts/stage.sh "$label: $suite" \
        ./scripts/suite.sh "$suite" "$folder/$suite.log" --scratch-path "$folder" "$@" || status=1
done
exit "$status"
