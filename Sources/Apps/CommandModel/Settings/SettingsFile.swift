internal import Foundation
internal import Platform

/// A file of settings: a JSON object with any of the keys.
package struct SettingsFile<Key: SettingKey>: Sendable {
    private let path: String

    package init(path: String) {
        self.path = path
    }

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

    /// Reads the file; no file is no settings.
    ///
    /// - Throws: ``FileError``; ``CommandFailure`` that names the line of trouble or the unknown key and its neighbour.
    package func read() throws -> [Key: [String]] {
        try AtomicFile.read(path, limit: settingsByteLimit).map { try parse($0) } ?? [:]
    }

    /// Reads the settings in the bytes of a file.
    package func parse(_ bytes: [UInt8]) throws(CommandFailure) -> [Key: [String]] {
        let found: [String: Value]
        do {
            found = try JSONDecoder().decode([String: Value].self, from: Data(bytes))
        } catch DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty {
            let key = context.codingPath.first?.stringValue ?? ""
            throw failure(
                "the value of \"\(key)\" must be a text, a whole number, true or false, or a list of texts"
            )
        } catch {
            throw failure("it is not a JSON object; check commas and quotation marks")
        }
        var settings: [Key: [String]] = [:]
        for (key, value) in found.sorted(by: { $0.key < $1.key }) {
            guard let setting = Key(rawValue: key) else {
                let nearest = Nearest.name(to: key, among: Key.allCases.map(\.rawValue))
                throw failure("there is no setting \"\(key)\"; did you mean \"\(nearest ?? "")\"?")
            }
            let texts = value.texts
            guard setting.isList || texts.count == 1 else { throw failure("\"\(key)\" takes one value") }
            settings[setting] = texts
        }
        return settings
    }

    /// Writes a setting into the file, or takes it out for no texts; what else is in it stays.
    ///
    /// - Throws: ``CommandFailure`` when the file is no longer readable, ``FileError``.
    package func set(_ setting: Key, to texts: [String]) throws {
        let bytes = try AtomicFile.read(path, limit: settingsByteLimit) ?? Array("{}".utf8)
        _ = try parse(bytes)
        guard var found = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw failure("it is not a JSON object; check commas and quotation marks")
        }
        found[setting.rawValue] = texts.isEmpty ? nil : setting.isList ? texts as Any : texts[0]
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        var written = Array(try JSONSerialization.data(withJSONObject: found, options: options))
        written.append(UInt8(ascii: "\n"))
        try AtomicFile.write(written, to: path)
    }

    private func failure(_ why: String) -> CommandFailure {
        CommandFailure("bad-configuration", .configuration, "\(path): \(why)")
    }
}

/// The most bytes of a file of settings.
private let settingsByteLimit = 64 * 1024
