#!/usr/bin/env bash
# run-long.sh [ARGUMENTS OF simulations.py]: builds the command twice, and runs the big simulations.
set -eu
cd "$(dirname "$0")/.."

./scripts/install-dependencies.sh build
./scripts/stage.sh "build runar (release)" swift build --configuration release --product runar
./scripts/stage.sh "build runar-bench (release)" swift build --configuration release --product runar-bench
./scripts/stage.sh "build runar (debug)" ./scripts/debug-build.sh --product runar
mkdir -p Benchmarks/.build
case " ${ONLY:-accounts} " in
*" accounts "*) python3 Benchmarks/identities.py --runar "$(swift build --configuration release --show-bin-path)/runar-bench" ;;
esac
[ "${ONLY:-}" != accounts ] || exit 0
exec python3 Benchmarks/simulations.py --long --runar "$(swift build --configuration release --show-bin-path)/runar" \
    --other "$(swift build --show-bin-path)/runar" --output Benchmarks/.build/simulations.jsonl "$@"
