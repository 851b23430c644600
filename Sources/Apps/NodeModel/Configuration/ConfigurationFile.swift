internal import CommandModel
internal import Platform

/// The settings of a node in its home.
package enum ConfigurationFile {
    package static let name = HomeFile.settings.rawValue

    /// Reads the file in `home`; no file is no settings.
    ///
    /// - Throws: ``CommandFailure``.
    package static func read(in home: String) throws -> [Setting: [String]] {
        do {
            return try file(in: home).read()
        } catch let error as FileError {
            throw NodeDirectory.failure(error, at: home)
        }
    }

    /// Writes a setting into the file in `home`, or takes it out for no texts.
    ///
    /// - Throws: ``CommandFailure`` when the file is no longer readable, ``FileError``.
    package static func set(_ setting: Setting, to texts: [String], in home: String) throws {
        try file(in: home).set(setting, to: texts)
    }

    private static func file(in home: String) -> SettingsFile<Setting> {
        SettingsFile(path: FilePath.joining(home, name))
    }
}
