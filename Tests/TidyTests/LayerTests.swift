internal import Testing

@Suite("Layers") struct LayerTests {
    let manifest: Manifest

    init() throws {
        manifest = Manifest(text: try SourceTree.text(of: "Package.swift"))
    }

    private var libraries: [Manifest.Target] { manifest.targets.filter { !$0.isTest } }

    @Test func `every target of the manifest stands in the layer table and the other way round`() {
        let declared = Set(libraries.map(\.name)).subtracting(Layers.outside)
        #expect(declared == Set(Layers.rows.joined()))
        #expect(Layers.rows.joined().count == declared.count, "a target stands in two rows")
    }

    @Test func `every target lies where the manifest says`() {
        for target in manifest.targets { #expect(SourceTree.exists(target.path), "\(target.path)") }
    }

    @Test func `every folder below Sources belongs to one target`() {
        let paths = manifest.targets.map(\.path)
        for file in SourceTree.paths(below: "Sources", suffixes: [".swift", ".c", ".h"]) {
            let owners = paths.filter { file.hasPrefix($0 + "/") }
            #expect(owners.count == 1, "\(file) belongs to \(owners)")
        }
    }

    @Test func `no import points upwards or is undeclared`() throws {
        let findings = try manifest.targets.flatMap {
            Rules.importFindings(target: $0, sources: try SourceTree.sources(below: $0.path), manifest: manifest)
        }
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `no target sees a module that it is separated from`() throws {
        let findings = try Rules.separationFindings(manifest: manifest) { try SourceTree.sources(below: $0.path) }
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `no declared dependency is unused`() throws {
        // Tests start these as processes of their own instead of importing them.
        let folders = ["Tests/Helpers/", "Examples/", "Benchmarks/"]
        let helpers = manifest.targets.filter { folders.contains(where: $0.path.hasPrefix) }.map(\.name)
        let programs = Set(helpers + ["runar"])
        for target in manifest.targets {
            let sources = try SourceTree.sources(below: target.path)
            // C targets include headers instead of importing modules.
            guard !sources.isEmpty else { continue }
            let unused = Rules.unusedDependencies(target: target, sources: sources).filter { !programs.contains($0) }
            #expect(unused.isEmpty, "\(target.name) declares \(unused) and imports none of it")
        }
    }

    @Test func `dependencies in the manifest point downwards`() {
        for target in libraries where !Layers.outside.contains(target.name) {
            for dependency in target.dependencies {
                guard let own = Layers.row(of: target.name), let other = Layers.row(of: dependency) else { continue }
                #expect(other < own, "\(target.name) depends on \(dependency)")
            }
        }
    }
}
