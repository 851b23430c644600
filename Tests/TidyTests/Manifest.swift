internal import Foundation

/// The targets that `Package.swift` declares, read from its text.
struct Manifest {
    struct Target {
        let name: String
        let path: String
        let dependencies: [String]
        /// Whether it is below `Tests/`: a test target or its support.
        let isTest: Bool
    }

    let targets: [Target]

    /// Reads the declarations that the manifest uses: its two helper functions and the plain ones of SwiftPM.
    init(text: String) {
        let products = Self.products(in: text)
        var found: [Target] = []
        let openers = ["module(", ".target(", ".executableTarget(", ".testTarget(", ".systemLibrary(", "tests("]
        var rest = text[...]
        if let list = rest.range(of: "targets: [\n", options: .backwards) { rest = rest[list.upperBound...] }
        while let (opener, range) = Self.first(of: openers, in: rest) {
            let body = Self.balanced(rest[range.upperBound...])
            rest = rest[body.endIndex...]
            if let target = Self.target(opener: opener, body: String(body), products: products) {
                found.append(target)
            }
        }
        targets = found
    }

    func target(_ name: String) -> Target? { targets.first { $0.name == name } }

    /// The names behind `let crypto = Target.Dependency.product(name: "Crypto", ...)`, and behind such targets.
    private static func products(in text: String) -> [String: String] {
        let pattern = /let (\w+) = Target\.Dependency\.(?:product|target)\(name: "([^"]+)"/
        var names: [String: String] = [:]
        for match in text.matches(of: pattern) { names[String(match.1)] = String(match.2) }
        return names
    }

    private static func first(of openers: [String], in text: Substring) -> (String, Range<String.Index>)? {
        openers.compactMap { opener in text.range(of: opener).map { (opener, $0) } }
            .min { $0.1.lowerBound < $1.1.lowerBound }
    }

    /// The text up to the parenthesis that closes the one before it.
    private static func balanced(_ text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            switch text[index] {
            case "(": depth += 1
            case ")": depth -= 1
            default: break
            }
            if depth == 0 { return text[..<index] }
        }
        return text
    }

    private static func target(opener: String, body: String, products: [String: String]) -> Target? {
        guard let name = body.firstMatch(of: /"([^"]+)"/).map({ String($0.1) }) else { return nil }
        let isTest = opener == "tests(" || opener == ".testTarget("
        let full = opener == "tests(" ? name + "Tests" : name
        var path = isTest ? "Tests/\(full)" : "Sources/\(full)"
        if opener == "module(", let layer = body.firstMatch(of: /in: "([^"]+)"/) { path = "Sources/\(layer.1)/\(name)" }
        if let given = body.firstMatch(of: /path: "([^"]+)"/) { path = String(given.1) }
        let dependencies = dependencies(in: body, products: products)
        return Target(name: full, path: path, dependencies: dependencies, isTest: path.hasPrefix("Tests/"))
    }

    /// The entries of the first list that is a list of dependencies: behind `dependencies:`, or the bare one.
    private static func dependencies(in body: String, products: [String: String]) -> [String] {
        let list =
            body.firstMatch(of: /dependencies:\s*\[([^\]]*)\]/)?.1
            ?? body.firstMatch(of: /,\s*\[([^\]]*)\]/)?.1
        guard let list else { return [] }
        return list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            .filter { !$0.isEmpty }
            .map { $0.hasPrefix("\"") ? $0.trimmingCharacters(in: ["\""]) : products[$0] ?? $0 }
    }
}
