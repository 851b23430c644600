#!/usr/bin/env bash
# documentation.sh [FOLDER]: the reference of each public library as a DocC archive in FOLDER (.build/documentation);
# a warning is an error.
#
# Who writes `import RunarNode` sees the modules that it re-exports as one, and so does the reference: their symbol
# graphs are put together as that of RunarNode before DocC reads them.
set -eu
cd "$(dirname "$0")/.."

folder=${1:-.build/documentation}
work=.build/documentation-work
docc=$(command -v docc || xcrun --find docc)

swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members >"$work.log" 2>&1 || {
    cat "$work.log"
    exit 1
}
graphs=$(sed -n 's/^Files written to //p' "$work.log")

# archive NAME MODULE...: the reference of these modules as that of the first one.
archive() {
    local name=$1
    rm -rf "$work/$name" "${folder:?}/$name.doccarchive"
    mkdir -p "$work/$name" "$folder"
    python3 scripts/merge-symbols.py "$graphs" "$@" >"$work/$name/$name.symbols.json"
    "$docc" convert --warnings-as-errors --additional-symbol-graph-dir "$work/$name" \
        --fallback-display-name "$name" --fallback-bundle-identifier "runar.$name" \
        --output-path "$folder/$name.doccarchive" >/dev/null
    printf '   %s: %s pages\n' "$folder/$name.doccarchive" \
        "$(find "$folder/$name.doccarchive/data" -name '*.json' | wc -l | tr -d ' ')"
}

# shellcheck disable=SC2046  # several modules are several words
archive RunarNode $(sed -n -E 's/^@_exported public import (.* )?//p' Sources/Node/RunarNode/*.swift | sort -u)
archive Simulation
