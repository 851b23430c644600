package import CommandModel
internal import Concurrency
internal import Platform
internal import RunarNode

/// The settings of a running node that were changed since it was started, which the home's file holds.
package final class SettingChanges: Sendable {
    private let started: Settings
    private let home: DataDirectory
    private let changed = Locked<[Setting: SettingValue]>([:])

    init(settings: Settings, home: DataDirectory) {
        started = settings
        self.home = home
    }

    /// The settings as the next start reads them; a change that is not yet in effect is marked as pending.
    var reports: [SettingReport] {
        let changed = changed.withLock(\.self)
        return Setting.allCases.compactMap { setting in
            (changed[setting] ?? started[setting]).map { report(setting, $0) }
        }
    }

    private func report(_ setting: Setting, _ value: SettingValue) -> SettingReport {
        let isPending = !setting.actsAtOnce && value.texts != started[setting]?.texts ?? []
        return SettingReport(setting, value, isPending: isPending)
    }

    /// Writes a setting into the home's file, or takes it out for no values, and applies it where that is possible.
    ///
    /// - Throws: ``CommandFailure`` when a flag or a variable decides or the value is unfit, ``FileError``; then the file
    ///   is as it was.
    package func change(
        _ setting: Setting,
        to texts: [String],
        applying apply: ([String]) async throws -> Void
    ) async throws -> SettingReport {
        try (changed.withLock { $0[setting] } ?? started[setting])?.source.checkChange(of: setting)
        guard setting.isEditable, texts.count <= (setting.isList ? Self.listLimit : 1) else {
            throw CommandFailure("bad-setting", .data, "\(setting.rawValue) cannot be changed to this value here")
        }
        do {
            try setting.check(texts)
        } catch {
            throw CommandFailure("bad-setting", .data, CommandFailure(error).message)
        }
        let value = SettingValue(
            texts: texts.isEmpty ? setting.defaultValues ?? [] : texts,
            source: texts.isEmpty ? .standard : .file
        )
        try await apply(value.texts)
        try changed.withLock { changed in
            try ConfigurationFile.set(setting, to: texts, in: home.path)
            changed[setting] = value
        }
        return report(setting, value)
    }

    /// The most values of any list; a setting's own check may allow fewer.
    private static let listLimit = STUNPlace.limit
}

extension Setting {
    /// Whether a change is in effect without a restart.
    var actsAtOnce: Bool { self == .discovery || self == .logLevel || isOfAccount }

    /// Whether it may be changed while the node runs: the console and the keys have ways of their own.
    var isEditable: Bool { !isOfKeys && self != .console && self != .consoleLan }
}

extension SettingSource {
    /// Refuses a change that a flag or a variable would undo.
    ///
    /// - Throws: ``CommandFailure``.
    package func checkChange(of setting: Setting) throws(CommandFailure) {
        guard self == .flag || self == .environment else { return }
        throw CommandFailure(
            "decided-elsewhere",
            .cannotCreate,
            "this node was started with \(self == .flag ? setting.flag : setting.variable), which overrides the"
                + " setting: restart it without that to change the setting here"
        )
    }
}
