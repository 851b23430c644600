#!/usr/bin/env bash
# documentation.sh [FOLDER [PRODUCTS]]: the reference of each public library, that for C included, as a DocC archive in
# FOLDER (.build/documentation); a warning is an error. The code of the articles, and of two pages of docs, is compiled
# first. PRODUCTS is a folder with a debug build; without it, one is made.
#
# Who writes `import RunarNode` sees the modules that it re-exports as one, and so does the reference: their symbol
# graphs are put together as that of RunarNode before DocC reads them.
set -eu
cd "$(dirname "$0")/.."

folder=${1:-.build/documentation}
work=.build/documentation-work
docc=$(command -v docc || xcrun --find docc)
# The one of the Swift toolchain, which is beside docc: others may not know how to write symbols down.
clang=$(dirname "$docc")/clang

products=${2:-}
if [ -z "$products" ]; then
    ./scripts/debug-build.sh --target RunarNode
    ./scripts/debug-build.sh --target Simulation
    ./scripts/debug-build.sh --target NanoTDF
    ./scripts/debug-build.sh --target SealedMessages
    ./scripts/debug-build.sh --target Circle
    products=$(swift build --show-bin-path)
fi
graphs=$work/graphs
plan=$(dirname "$(dirname "$products")")/$(basename "$products").yaml
extract=$(dirname "$docc")/swift-symbolgraph-extract

target=$(swiftc -print-target-info | sed -n 's/.*"triple": "\([^"]*\)".*/\1/p' | head -1)
maps=$(grep -o -- 'fmodule-map-file=[^"]*' "$plan" | sort -u | sed 's/^/-Xcc -/')

# symbols MODULE: writes the symbol graph of a module that was built.
symbols() {
    # shellcheck disable=SC2086  # several maps are several words
    "$extract" -module-name "$1" -I "$products/Modules" -target "$target" -minimum-access-level public \
        -skip-synthesized-members $maps -Xcc -ISources/Transport/CQUICShim/include \
        -Xcc -ISources/Transport/CUDPShim/include -output-dir "$graphs"
}
rm -rf "$graphs"
mkdir -p "$graphs"

# DocC copies the files of its pages together with their owner, which it may only if they are this user's.
pages=$(dirname "$(dirname "$(readlink -f "$docc")")")/share/docc/render
if [ -d "$pages" ]; then
    export DOCC_HTML_DIR=$PWD/$work/pages
    rm -rf "$DOCC_HTML_DIR"
    cp -R "$pages" "$DOCC_HTML_DIR"
fi

# compile_snippets PAGE...: compiles the Swift code of pages.
compile_snippets() {
    local snippets=$work/snippets
    rm -rf "$snippets"
    mkdir -p "$snippets"
    python3 scripts/write-snippets.py "$snippets" "$@"
    # shellcheck disable=SC2086  # several maps are several words
    find "$snippets" -name '*.swift' -print0 | xargs -0 -n 1 swiftc -typecheck -swift-version 6 -warnings-as-errors \
        -I "$products/Modules" $maps -Xcc -ISources/Transport/CQUICShim/include \
        -Xcc -ISources/Transport/CUDPShim/include
    printf '   %s pages with code compile\n' "$(find "$snippets" -name '*.swift' | wc -l | tr -d ' ')"
}

# prepare NAME: where the symbols of NAME go.
prepare() {
    rm -rf "$work/$1" "${folder:?}/$1.doccarchive"
    mkdir -p "$work/$1" "$folder"
}

# archive NAME: the reference of the symbols in its place, with the articles of the module's catalogue if it has one.
archive() {
    local name=$1 catalogue
    catalogue=$(find Sources -type d -path "*/$name/$name.docc")
    "$docc" convert ${catalogue:+"$catalogue"} --warnings-as-errors --additional-symbol-graph-dir "$work/$name" \
        --fallback-display-name "$name" --fallback-bundle-identifier "runar.$name" \
        --output-path "$folder/$name.doccarchive" >/dev/null
    printf '   %s: %s pages\n' "$folder/$name.doccarchive" \
        "$(find "$folder/$name.doccarchive/data" -name '*.json' | wc -l | tr -d ' ')"
}

# modules NAME MODULE...: the reference of these Swift modules as that of the first one.
modules() {
    local module
    prepare "$1"
    for module in "$@"; do symbols "${module%%.*}"; done
    python3 scripts/merge-symbols.py "$graphs" "$@" >"$work/$1/$1.symbols.json"
    archive "$1"
}

# headers NAME FILE...: the reference of C headers.
headers() {
    name=$1
    shift
    prepare "$name"
    "$clang" -extract-api --product-name="$name" -x c-header "${@/#/$PWD/}" -o "$work/$name/$name.symbols.json"
    archive "$name"
}

# exports FOLDER: the modules, or types of them, that the files of a module export besides its own.
exports() {
    sed -n -E 's/^@_exported public import (.* )?//p' "$1"/*.swift | sort -u
}

# shellcheck disable=SC2046  # several pages are several words
compile_snippets $(find Sources -path '*.docc/*' -name '*.md') docs/library.md docs/simulation.md

# shellcheck disable=SC2046  # several modules are several words
modules RunarNode $(exports Sources/Node/RunarNode)
modules Simulation
# shellcheck disable=SC2046  # several types are several words
modules NanoTDF $(exports Sources/Base/NanoTDF)
modules OneTimeKeys
# shellcheck disable=SC2046  # several modules are several words
modules SealedMessages $(exports Sources/Node/SealedMessages)
modules Circle CircleModel
headers RunarC Sources/Apps/CRunar/include/runar.h Sources/Apps/CRunar/include/runar_sealed.h \
    Sources/Apps/CRunar/include/runar_circle.h
