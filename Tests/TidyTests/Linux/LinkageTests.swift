#if os(Linux)
internal import Foundation
internal import Testing

/// The libraries that the compiled base and protocol targets link, read from their object files.
///
/// Each Swift object lists the libraries that its imports bring (`-lFoundationEssentials` ...) and the mangled names
/// that it uses of other modules. The whole of Foundation costs 40 MB of internationalisation data, and one careless
/// import anywhere below would bring it into every app.
@Suite("Linkage") struct LinkageTests {
    /// The directory that has this test bundle and the objects of all targets.
    private static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    /// The object files of a target's present sources.
    private static func objects(of target: Manifest.Target) -> [URL] {
        SourceTree.paths(below: target.path, suffixes: [".swift"]).map { path in
            let name = path.split(separator: "/").last ?? ""
            return products.appending(path: "\(target.name).build/\(name).o")
        }
    }

    @Test func `base and protocol targets link no more of Foundation than its essentials`() throws {
        let manifest = Manifest(text: try SourceTree.text(of: "Package.swift"))
        let targets = manifest.targets.filter {
            $0.path.hasPrefix("Sources/Base/") || $0.path.hasPrefix("Sources/Protocols/")
        }
        #expect(targets.count >= 4)
        // A library of the system has no sources here.
        for target in targets where SourceTree.paths(below: target.path, suffixes: [".modulemap"]).isEmpty {
            let objects = Self.objects(of: target)
            #expect(!objects.isEmpty)
            for object in objects {
                let bytes = try Data(contentsOf: object)
                for trace in Self.traces {
                    #expect(bytes.range(of: trace) == nil, "\(object.lastPathComponent) of \(target.name)")
                }
            }
        }
    }

    @Test func `the whole of Foundation leaves the traces that are looked for`() throws {
        // This very target imports it; with whole-module optimisation, its objects share its parts.
        let manifest = Manifest(text: try SourceTree.text(of: "Package.swift"))
        let target = try #require(manifest.targets.first { $0.name == "TidyTests" })
        let bytes = try Self.objects(of: target).reduce(into: Data()) { $0 += try Data(contentsOf: $1) }
        for trace in Self.traces { #expect(bytes.range(of: trace) != nil, "\(String(decoding: trace, as: UTF8.self))") }
    }

    @Test(.enabled(if: LinkageTests.areProgramsBuilt, "the programs are not built"))
    func `a program that uses the library links no web server, and the command does`() throws {
        func links(_ name: String, _ module: String) throws -> Bool {
            let program = try Data(contentsOf: products(name), options: .mappedIfSafe)
            let mark = Array("$s\(module.utf8.count)\(module)".utf8)
            // A program has a hundred megabytes, through which the search of Data takes many seconds.
            return unsafe program.withUnsafeBytes { bytes in
                bytes.indices.contains { unsafe bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
            }
        }
        func products(_ name: String) -> URL { Self.products.appending(path: name) }
        for module in ["Hummingbird", "NIOCore", "NIOPosix"] {
            #expect(try !links("two-nodes", module), "\(module)")
            #expect(try links("runar", module), "\(module)")
        }
    }

    private static let areProgramsBuilt = ["two-nodes", "runar"].allSatisfy {
        FileManager.default.fileExists(atPath: products.appending(path: $0).path)
    }

    /// The linker option that brings the library, and the beginning of every mangled name of the module.
    private static let traces = [Data("-lFoundation\u{0}".utf8), Data("$s10Foundation".utf8)]
}
#endif
