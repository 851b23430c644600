#!/usr/bin/env bash
# stage.sh NAME COMMAND...: runs the command between a headline and a line that says how long it took.
set -u
name=$1
shift
printf '\n== %s\n' "$name"
started=$(date +%s)
"$@"
status=$?
seconds=$(($(date +%s) - started))
if [ "$status" -eq 0 ]; then
    printf '== %s: done in %d s\n' "$name" "$seconds"
else
    printf '== %s: FAILED (exit %d) after %d s\n' "$name" "$status" "$seconds" >&2
fi
exit "$status"
