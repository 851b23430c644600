internal import Foundation
internal import HTTPAPI
internal import Testing

/// The imports and exports between the modules of the pages.
@Suite("Modules of embedded pages") struct EmbeddedModuleTests {
    /// A module: its exports, and its imports by module.
    private struct Module {
        var exports: Set<String> = []
        var imports: [String: Set<String>] = [:]
        /// Modules that it loads when they are needed; of those it may use anything.
        var later: Set<String> = []
        var text = ""

        init(_ page: PageTable.Page) {
            text = String(decoding: page.bytes, as: UTF8.self).replacing(/(?m)^ *\/\/.*$/, with: "")
            let place = { (target: Substring) in
                URL(filePath: "/" + page.path).deletingLastPathComponent().appending(path: String(target))
                    .standardizedFileURL.path.dropFirst()
            }
            for match in text.matches(of: /import \{([^}]*)\}\s+from "([^"]+)"/) {
                let names = match.1.split(separator: ",").compactMap { $0.split(whereSeparator: \.isWhitespace).first }
                imports[String(place(match.2)), default: []].formUnion(names.map(String.init))
            }
            later = Set(text.matches(of: /import\("([^"]+)"\)/).map { String(place($0.1)) })
            let exported = /(?m)^export (?:async )?(?:const|let|class|function) (\w+)/
            exports = Set(text.matches(of: exported).map { String($0.1) })
            exports.formUnion(text.matches(of: /(?m)^export \{ (\w+) \};/).map { String($0.1) })
        }
    }

    /// The exports that the frame calls in every view.
    private static let ofViews: Set = ["title", "mount"]

    private static func modules(of embedded: EmbeddedPages) -> [String: Module] {
        let pages = embedded.table.pages.filter { $0.path.hasSuffix(".js") }
        return Dictionary(uniqueKeysWithValues: pages.map { ($0.path, Module($0)) })
    }

    @Test(arguments: EmbeddedPages.all)
    func `every import is found, in the one form that these tests read`(_ embedded: EmbeddedPages) {
        let modules = Self.modules(of: embedded)
        #expect(modules.count > 15)
        for (path, module) in modules {
            let starts = module.text.matches(of: /(?m)^import\s/).count
            #expect(starts == module.text.matches(of: /(?m)^import \{[^}]*\}\s+from "/).count, "\(path)")
            let exported = module.text.matches(of: /(?m)^export\s/).count
            #expect(exported == module.exports.count, "\(path)")
            for (target, names) in module.imports {
                #expect(!names.isEmpty && names.isSubset(of: modules[target]?.exports ?? []), "\(path): \(target)")
            }
            #expect(module.later.isSubset(of: modules.keys), "\(path)")
        }
    }

    @Test(arguments: EmbeddedPages.all)
    func `every export of a module is used elsewhere`(_ embedded: EmbeddedPages) throws {
        let modules = Self.modules(of: embedded)
        // Those that two targets share have exports for the other one.
        let shared = try embedded.sharedFiles()
        for (path, module) in modules where shared[path] == nil {
            let imported = modules.values.compactMap { $0.imports[path] }.reduce(into: Set()) { $0.formUnion($1) }
            let loading = modules.values.filter { $0.later.contains(path) }
            let unused = module.exports.subtracting(imported).filter { name in
                !loading.contains { Self.ofViews.contains(name) || $0.text.contains("view.\(name)(") }
            }
            #expect(unused.isEmpty, "\(path) has unused exports: \(unused.sorted())")
        }
    }

    @Test(arguments: EmbeddedPages.all)
    func `the first page announces all modules of the first screen, so that they come in one round`(
        _ embedded: EmbeddedPages
    ) throws {
        let (modules, folder) = (Self.modules(of: embedded), embedded.folder)
        var needed: Set<String> = []
        var next = ["\(folder)app.js"] + embedded.views
        while let path = next.popLast() {
            guard needed.insert(path).inserted else { continue }
            next += try #require(modules[path]).imports.keys
        }
        let first = String(decoding: try #require(embedded.table["/"]).bytes, as: UTF8.self)
        let announced = first.matches(of: /<link rel="modulepreload" href="\/?([^"]+)">/).map { String($0.1) }
        #expect(Set(announced).count == announced.count)
        #expect(Set(announced + ["\(folder)app.js"]) == needed)
        let start = folder.isEmpty ? "app.js" : "/\(folder)app.js"
        #expect(first.contains("<script type=\"module\" src=\"\(start)\"></script>"))
    }
}
