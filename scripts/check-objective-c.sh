#!/usr/bin/env bash
# check-objective-c.sh PRODUCTS: with the debug build in the folder PRODUCTS, has the compiler look at the classes for Objective-C where there is none,
# and say what in them is wrong or cannot be represented there.
#
# Not looked at: whether what throws can be represented (the compiler has no type for NSError** here) and what only iOS
# has. "Only classes that inherit from NSObject" is what it says of every class here, because NSObject is one of Swift.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(uname)" = Linux ] || exit 0

sources=Sources/Node/RunarNode
modules=$1/Modules
plan=$(dirname "$(dirname "$(dirname "$modules")")")/debug.yaml
[ -f "$plan" ] || { echo "there is no $plan: run swift build first" >&2; exit 1; }
copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT

for file in "$sources"/Apple/ObjectiveC*.swift; do
    sed -e '/#if os(iOS)/,/#endif/s/.*//' -e '/^#/s/.*//' "$file" |
        sed -z -E 's/@objc (public (init|func)[^{]*\bthrows\b)/\1/g' >"$copies/$(basename "$file")"
done
cat >"$copies/CoreFoundation.swift" <<'SWIFT'
import Foundation
func CFGetTypeID(_: NSNumber) -> Int { 0 }
func CFBooleanGetTypeID() -> Int { 0 }
SWIFT

package=$(sed -n -E 's/.*"-module-name","RunarNode",.*"-package-name","([^"]*)".*/\1/p' "$plan" | head -1)
maps=$(grep -o -- 'fmodule-map-file=[^"]*' "$plan" | sort -u | sed 's/^/-Xcc -/')
# shellcheck disable=SC2046,SC2086
said=$(swiftc -typecheck -wmo -module-name RunarNode -package-name "$package" -swift-version 6 \
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault \
    -strict-memory-safety -Xfrontend -enable-objc-interop \
    -I "$modules" $maps -Xcc -ISources/Transport/CQUICShim/include \
    "$copies"/*.swift $(find "$sources" -name '*.swift' ! -path '*/Apple/*') 2>&1 || true)
expected="only classes that inherit from NSObject"
found=$(printf '%s\n' "$said" | grep -E '^[^ ]*: (error|warning):' | grep -v "$expected" || true)
case $said in *"$expected"*) [ -z "$found" ] && exit 0 ;; esac
printf '%s\n' "${found:-$said}"
exit 1
