internal import Foundation

/// The files of the package as they lie on the disk.
enum SourceTree {
    /// The root of the package, found from where this file was compiled.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The paths, relative to the root and sorted, of the files below `folder` that end in one of `suffixes`.
    static func paths(below folder: String, suffixes: [String]) -> [String] {
        let start = root.appending(path: folder)
        guard let walk = FileManager.default.enumerator(atPath: start.path(percentEncoded: false)) else { return [] }
        var found: [String] = []
        while let relative = walk.nextObject() as? String {
            let path = folder.isEmpty ? relative : "\(folder)/\(relative)"
            if isForeign(path) {
                walk.skipDescendants()
            } else if suffixes.contains(where: path.hasSuffix) {
                found.append(path)
            }
        }
        return found.sorted()
    }

    /// The Swift sources below `folder`.
    static func sources(below folder: String) throws -> [SourceText] {
        try everySource.get().filter { $0.path.hasPrefix(folder + "/") }
    }

    /// Every Swift source of the package, read once.
    private static let everySource = Result {
        try paths(below: "", suffixes: [".swift"]).map { SourceText(path: $0, text: try text(of: $0)) }
    }

    /// The text of a file of the package.
    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Whether a file or folder exists at the path.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path(percentEncoded: false))
    }

    /// Whether the file may be run.
    static func isExecutable(_ path: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: root.appending(path: path).path(percentEncoded: false))
    }

    /// Whether a path is made by tools rather than written: build folders, environments, a release, the repository itself.
    private static func isForeign(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.hasPrefix(".build") || name == ".git" || name.hasPrefix(".venv") || name == "__pycache__"
            || name == ".swiftpm" || path == "dist"
    }
}

/// One place that breaks a rule.
struct Finding: CustomStringConvertible, Equatable {
    let path: String
    let line: Int
    let rule: String

    var description: String { "\(path):\(line): \(rule)" }
}

extension [Finding] {
    /// The findings one below the other, for the message of a failed expectation.
    var listing: String { "\n" + map(\.description).joined(separator: "\n") }
}
