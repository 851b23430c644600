internal import Foundation
internal import Platform

/// `config.json` in the home: an object with any of the keys of ``Setting``.
package enum ConfigurationFile {
    package static let name = HomeFile.settings.rawValue
    private static let byteLimit = 64 * 1024

    /// A value that a key may hold.
    private enum Value: Decodable {
        case text(String)
        case number(Int)
        case texts([String])
        case flag(Bool)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {  // the next kind is tried
                self = .flag(flag)
            } else if let number = try? container.decode(Int.self) {  // the next kind is tried
                self = .number(number)
            } else if let texts = try? container.decode([String].self) {  // the next kind is tried
                self = .texts(texts)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        var texts: [String] {
            switch self {
            case .text(let text): [text]
            case .number(let number): [String(number)]
            case .texts(let texts): texts
            case .flag(let flag): [flag ? SwitchText.on : SwitchText.off]
            }
        }
    }

    /// Reads the file in `home`; no file is no settings.
    ///
    /// - Throws: ``CommandFailure`` that names the line of trouble or the unknown key and its neighbour.
    package static func read(in home: String) throws -> [Setting: [String]] {
        let path = FilePath.joining(home, name)
        let bytes: [UInt8]?
        do throws(FileError) {
            bytes = try AtomicFile.read(path, limit: byteLimit)
        } catch {
            throw NodeDirectory.failure(error, at: home)
        }
        return try bytes.map { try parse($0, path: path) } ?? [:]
    }

    static func parse(_ bytes: [UInt8], path: String) throws(CommandFailure) -> [Setting: [String]] {
        let found: [String: Value]
        do {
            found = try JSONDecoder().decode([String: Value].self, from: Data(bytes))
        } catch DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty {
            let key = context.codingPath.first?.stringValue ?? ""
            throw failure(
                path,
                "the value of \"\(key)\" must be a text, a whole number, true or false, or a list of texts"
            )
        } catch {
            throw failure(path, "it is not a JSON object; check commas and quotation marks")
        }
        var settings: [Setting: [String]] = [:]
        for (key, value) in found.sorted(by: { $0.key < $1.key }) {
            guard let setting = Setting(rawValue: key) else {
                let nearest = Nearest.name(to: key, among: Setting.allCases.map(\.rawValue))
                throw failure(path, "there is no setting \"\(key)\"; did you mean \"\(nearest ?? "")\"?")
            }
            let texts = value.texts
            guard setting.isList || texts.count == 1 else { throw failure(path, "\"\(key)\" takes one value") }
            settings[setting] = texts
        }
        return settings
    }

    /// Writes a setting into the file in `home`, or takes it out for no texts; what else is in it stays.
    ///
    /// - Throws: ``CommandFailure`` when the file is no longer readable, ``FileError``.
    package static func set(_ setting: Setting, to texts: [String], in home: String) throws {
        let path = FilePath.joining(home, name)
        let bytes = try AtomicFile.read(path, limit: byteLimit) ?? Array("{}".utf8)
        _ = try parse(bytes, path: path)
        guard var found = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw failure(path, "it is not a JSON object; check commas and quotation marks")
        }
        found[setting.rawValue] = texts.isEmpty ? nil : setting.isList ? texts as Any : texts[0]
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        var written = Array(try JSONSerialization.data(withJSONObject: found, options: options))
        written.append(UInt8(ascii: "\n"))
        try AtomicFile.write(written, to: path)
    }

    private static func failure(_ path: String, _ why: String) -> CommandFailure {
        CommandFailure("bad-configuration", .configuration, "\(path): \(why)")
    }
}

/// The search for the name that a person probably meant.
package enum Nearest {
    /// The name with the fewest edits to `word`.
    static func name(to word: String, among names: [String]) -> String? {
        names.min { distance($0, word) < distance($1, word) }
    }

    /// The nearest name if `word` may be a slip of it: one edit, or one for each `letters` letters.
    package static func likelyName(for word: String, among names: [String], editPer letters: Int = 3) -> String? {
        name(to: word, among: names).flatMap { distance($0, word) <= max(1, word.count / letters) ? $0 : nil }
    }

    /// Insertions, deletions and replacements of letters (Levenshtein), whatever the case.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased().utf8.prefix(64))
        let right = Array(right.lowercased().utf8.prefix(64))
        var row = Array(0...right.count)
        for (line, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in right.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (byte == other ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
