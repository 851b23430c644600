package import CommandModel

/// The settings of a node.
package typealias Settings = SettingValues<Setting>

extension Settings {
    /// Decides every setting.
    ///
    /// - Throws: ``CommandFailure`` that names the place of an unfit value.
    package init(flags: [Setting: [String]], environment: (String) -> String?, file: [Setting: [String]]) throws {
        try self.init(flags: flags, environment: environment, file: file, named: ConfigurationFile.name)
    }
}

/// The settings in effect as `status` shows them.
package struct SettingReport: Codable, Hashable, Sendable {
    let key: Setting
    package let values: [String]
    package let source: SettingSource
    /// True for a change that is in effect from the next start only; nil for others.
    let needsRestart: Bool?

    package init(_ key: Setting, _ value: SettingValue, isPending: Bool = false) {
        self.key = key
        values = value.texts
        source = value.source
        needsRestart = isPending ? true : nil
    }
}

extension Settings {
    package var reports: [SettingReport] {
        Setting.allCases.compactMap { setting in
            self[setting].map { SettingReport(setting, $0) }
        }
    }
}
