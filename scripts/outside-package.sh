#!/usr/bin/env bash
# outside-package.sh: builds and runs a package that depends on this one as others do, by URL and version: the committed
# state, in a repository of its own with a tag. In .build-outside, where a second run builds only what changed.
set -eu
cd "$(dirname "$0")/.."

folder=$PWD/.build-outside
# A tag never stands for two commits: a package manager takes that for an attack.
version=1.0.$(date +%s)
mkdir -p "$folder/app/Sources/app"
rm -rf "$folder/runar.git"
git clone --quiet --bare . "$folder/runar.git"
git --git-dir="$folder/runar.git" tag "$version" "$(git rev-parse HEAD)"
cat >"$folder/app/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "app",
    platforms: [.macOS(.v14)],
    dependencies: [.package(url: "file://$folder/runar.git", from: "$version")],
    targets: [.executableTarget(name: "app", dependencies: [.product(name: "RunarNode", package: "runar")])]
)
END
cp Examples/two-nodes/TwoNodes.swift "$folder/app/Sources/app/"
rm -f "$folder/app/Package.resolved"
swift build --package-path "$folder/app"
"$(swift build --package-path "$folder/app" --show-bin-path)/app"
