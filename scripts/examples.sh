#!/usr/bin/env bash
# examples.sh FOLDER: runs the examples that were built in FOLDER as a person would, two devices each, and checks what
# they print.
set -u
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
cd "$work" || exit 1
pids=()
cleanup() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    wait 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT

# Waits until FILE has a line that matches PATTERN, for at most a minute; prints the line.
line() {
    local tries
    for tries in $(seq 600); do
        grep -a -m 1 -E "$2" "$1" 2>/dev/null && return 0
        sleep 0.1
    done
    printf 'error: no line like "%s" in:\n' "$2" >&2
    cat "$1" >&2
    return 1
}
invitation() { line "$1" '^invitation: ' | sed 's/^invitation: //'; }

# A background program that reads from a pipe, which descriptor $2 keeps open.
begin() {
    local name=$1 input=$2
    shift 2
    mkfifo "$work/$name.in"
    "$@" <"$work/$name.in" >"$work/$name.out" 2>"$work/$name.err" &
    pids+=("$!")
    eval "exec $input>\"$work/$name.in\""
}

failed=0
check() { if [ "$1" -eq 0 ]; then printf '   %s: as it should be\n' "$2"; else failed=1; cat "$work"/*.err >&2; fi; }

chat() {
    begin ada 3 "$bin/chat" ada
    begin bob 4 "$bin/chat" bob "$(invitation "$work/ada.out")"
    line "$work/bob.out" '^joined' >/dev/null || return 1
    printf 'hello, Bob\n' >&3
    line "$work/bob.out" '^ada: hello, Bob$' >/dev/null || return 1
    printf 'hello, Ada\n' >&4
    line "$work/ada.out" '^bob: hello, Ada$' >/dev/null || return 1
    exec 3>&- 4>&-
}

clipboard() {
    printf 'old' >"$work/one"
    printf 'old' >"$work/two"
    begin one 3 "$bin/clipboard" one "cat '$work/one'" "cat >'$work/one.new' && mv '$work/one.new' '$work/one'"
    begin two 4 "$bin/clipboard" two "cat '$work/two'" "cat >'$work/two.new' && mv '$work/two.new' '$work/two'" \
        "$(invitation "$work/one.out")"
    line "$work/two.out" '^joined' >/dev/null || return 1
    # In one step, as a clipboard changes: a reader must not see half of it.
    printf 'copied on one' >"$work/copy" && mv "$work/copy" "$work/one"
    line "$work/two.out" '^got 13 bytes$' >/dev/null || return 1
    line "$work/two" '^copied on one$' >/dev/null || return 1
    exec 3>&- 4>&-
}

sensor() {
    begin measure 3 "$bin/sensor" measure
    "$bin/sensor" show "$(invitation "$work/measure.out")" 5 >"$work/show.out" 2>"$work/show.err" &
    pids+=("$!")
    local tries
    for tries in $(seq 600); do
        [ "$(grep -a '°C' "$work/show.out" 2>/dev/null | wc -l)" -eq 5 ] && break
        sleep 0.1
    done
    exec 3>&-
    [ "$tries" -lt 600 ]
}

chat
check $? chat
clipboard
check $? "a shared clipboard"
sensor
check $? "a sensor and its dashboard"
exit "$failed"
