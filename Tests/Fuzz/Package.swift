// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because every module in it is compiled for the fuzzer: scripts/fuzz.sh.
let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "runar", path: "../..")],
    targets: [.executableTarget(name: "fuzz", dependencies: [.product(name: "NanoTDF", package: "runar")])]
)
