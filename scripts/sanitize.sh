#!/usr/bin/env bash
# sanitize.sh: the transport suites under the address sanitizer (with leaks) and under the thread sanitizer.
#
# The system's ngtcp2 and GnuTLS are not instrumented; our C and Swift are. Each sanitizer has its own build folder.
set -u
cd "$(dirname "$0")/.."

# Reports name functions and lines by the debug information.
export RUNAR_DEBUG_INFO=dwarf
export SUITES=${SUITES:-"ConcurrencyTests TransportTests QUICTests InteropTests"}
export LSAN_OPTIONS="suppressions=$PWD/scripts/sanitize-leaks.txt:print_suppressions=0"
export TSAN_OPTIONS="suppressions=$PWD/scripts/sanitize-races.txt:print_suppressions=0"
status=0
for kind in address thread; do
    python3 -B scripts/gate suites "$kind sanitizer" .build-$kind --sanitize=$kind || status=1
done
[ "$status" -eq 0 ] && echo "both sanitizers: clean"
exit "$status"
