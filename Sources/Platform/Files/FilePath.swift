/// Operations on paths as text.
package enum FilePath {
    /// The directory in which `path` lies.
    package static func directory(of path: String) -> String {
        let trimmed = trimmingSlashes(path)
        guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let directory = trimmingSlashes(String(trimmed[..<slash]))
        return directory.isEmpty ? "/" : directory
    }

    /// The last component of `path`.
    package static func name(of path: String) -> String {
        let trimmed = trimmingSlashes(path)
        guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return trimmed }
        return String(trimmed[trimmed.utf8.index(after: slash)...])
    }

    /// `name` inside `directory`.
    package static func joining(_ directory: String, _ name: String) -> String {
        directory.utf8.last == UInt8(ascii: "/") ? directory + name : directory + "/" + name
    }

    /// Whether `name` names something directly in a directory: it is not empty, neither `.` nor `..`, and has no
    /// slash and no NUL byte.
    package static func isComponent(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    /// The path as one word of a shell command.
    package static func shellQuoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "/._-".utf8.contains(byte)
            }
        }
        guard !isPlain || path.isEmpty else { return path }
        // Among scalars: an apostrophe with a mark after it is another `Character`, and ends the word for a shell.
        var quoted = String.UnicodeScalarView()
        for scalar in path.unicodeScalars {
            if scalar == "'" { quoted.append(contentsOf: #"'\''"#.unicodeScalars) } else { quoted.append(scalar) }
        }
        return "'" + Terminal.escaped(String(quoted)) + "'"
    }

    private static func trimmingSlashes(_ path: String) -> String {
        var trimmed = path[...]
        while trimmed.utf8.count > 1, trimmed.utf8.last == UInt8(ascii: "/") { trimmed = trimmed.dropLast() }
        return String(trimmed)
    }
}
