internal import Failures
internal import Foundation
internal import Platform

/// The settings in effect, each with its origin: flag before environment before file before default.
package struct SettingValues<Key: SettingKey>: Sendable {
    private let values: [Key: SettingValue]

    /// Decides every setting.
    ///
    /// - Parameters:
    ///   - flags: The values on the command line.
    ///   - environment: Returns a variable's text.
    ///   - file: The values in the file of settings.
    ///   - name: The file's name in messages.
    /// - Throws: ``CommandFailure`` that names the place of an unfit value.
    package init(
        flags: [Key: [String]],
        environment: (String) -> String?,
        file: [Key: [String]],
        named name: String
    ) throws {
        var values: [Key: SettingValue] = [:]
        for setting in Key.allCases {
            if let texts = flags[setting], !texts.isEmpty {
                values[setting] = try Self.checked(setting, texts, .flag, at: setting.flag)
            } else if let text = environment(setting.variable), !text.isEmpty {
                let texts =
                    setting.isList
                    ? text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } : [text]
                values[setting] = try Self.checked(setting, texts, .environment, at: setting.variable)
            } else if let texts = file[setting] {
                values[setting] = try Self.checked(setting, texts, .file, at: "\(name): \(setting.rawValue)")
            } else if let texts = setting.defaultValues {
                values[setting] = SettingValue(texts: texts, source: .standard)
            }
        }
        self.values = values
    }

    private static func checked(
        _ setting: Key,
        _ texts: [String],
        _ source: SettingSource,
        at place: String
    ) throws -> SettingValue {
        do {
            try setting.check(texts)
        } catch {
            let failure = CommandFailure(error)
            let status = source == .flag ? ExitStatus.usage : .configuration
            throw CommandFailure("bad-setting", status, "\(place): \(failure.message)")
        }
        return SettingValue(texts: texts, source: source)
    }

    package subscript(setting: Key) -> SettingValue? { values[setting] }

    /// The single text of a setting, if it has a value.
    package func text(_ setting: Key) -> String? { values[setting]?.texts.first }
}

extension SettingValues {
    /// Decides every setting from flags, the environment of this process, and the file of settings at `path`.
    ///
    /// `texts` returns the values of a setting on the command line.
    ///
    /// - Throws: ``CommandFailure`` that names the place of an unfit value; ``FileError``.
    package init(flags texts: (Key) -> [String], file path: String) throws {
        var flags: [Key: [String]] = [:]
        for setting in Key.allCases { flags[setting] = texts(setting) }
        try self.init(
            flags: flags,
            environment: SystemProcess.environment,
            file: SettingsFile<Key>(path: path).read(),
            named: path
        )
    }
}

/// The origin of a setting's value.
package enum SettingSource: String, CaseIterable, Codable, Sendable {
    case flag
    case environment
    case file
    case standard = "default"
}

/// A value in effect.
package struct SettingValue: Hashable, Sendable {
    package let texts: [String]
    package let source: SettingSource

    package init(texts: [String], source: SettingSource) {
        self.texts = texts
        self.source = source
    }
}
