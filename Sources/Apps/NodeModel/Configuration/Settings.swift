internal import Bytes
internal import Foundation
package import Identity
package import Logging
package import Node
internal import Platform

/// The settings in effect, each with its origin: flag before environment before file before default.
package struct Settings: Sendable {
    /// The origin of a value.
    package enum Source: String, CaseIterable, Codable, Sendable {
        case flag
        case environment
        case file
        case standard = "default"
    }

    /// A value in effect.
    package struct Value: Hashable, Sendable {
        package let texts: [String]
        package let source: Source

        package init(texts: [String], source: Source) {
            self.texts = texts
            self.source = source
        }
    }

    private let values: [Setting: Value]

    /// Decides every setting.
    ///
    /// - Throws: ``CommandFailure`` that names the place of an unfit value.
    package init(flags: [Setting: [String]], environment: (String) -> String?, file: [Setting: [String]]) throws {
        var values: [Setting: Value] = [:]
        for setting in Setting.allCases {
            if let texts = flags[setting], !texts.isEmpty {
                values[setting] = try Self.checked(setting, texts, .flag, at: setting.flag)
            } else if let text = environment(setting.variable), !text.isEmpty {
                let texts =
                    setting.isList
                    ? text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } : [text]
                values[setting] = try Self.checked(setting, texts, .environment, at: setting.variable)
            } else if let texts = file[setting] {
                values[setting] = try Self.checked(setting, texts, .file, at: ConfigurationFile.name)
            } else if let texts = setting.defaultValues {
                values[setting] = Value(texts: texts, source: .standard)
            }
        }
        self.values = values
    }

    private static func checked(
        _ setting: Setting,
        _ texts: [String],
        _ source: Source,
        at place: String
    ) throws -> Value {
        do {
            try setting.check(texts)
        } catch {
            let failure = CommandFailure(error)
            let status = source == .flag ? ExitStatus.usage : .configuration
            throw CommandFailure("bad-setting", status, "\(place): \(failure.message)")
        }
        return Value(texts: texts, source: source)
    }

    package subscript(setting: Setting) -> Value? { values[setting] }

    /// The single text of a setting, if it has a value.
    package func text(_ setting: Setting) -> String? { values[setting]?.texts.first }

    package static func address(_ text: String) throws(CommandFailure) -> SocketAddress {
        do {
            return try SocketAddress(parsing: text)
        } catch {
            throw CommandFailure("bad-address", .usage, "\(error); write it as in 0.0.0.0:4433 or [::]:4433")
        }
    }

    /// Parses the groups of discovery: a name such as `standard`, or groups and ports.
    static func groups(_ texts: [String]) throws(CommandFailure) -> MulticastGroups {
        if texts == [standardGroup] { return .standard }
        if texts == [mobileGroup] { return .mobileSpecification }
        let places = texts.map { try? SocketAddress(parsing: $0) }  // an invalid address is no group
        let known = places.compactMap(\.self)
        let (ipv4, ipv6) = (known.filter { !$0.isIPv6 }, known.filter(\.isIPv6))
        guard known.count == texts.count, ipv4.count <= 1, ipv6.count <= 1,
            let groups = MulticastGroups(ipv4: ipv4.first, ipv6: ipv6.first)
        else {
            throw CommandFailure(
                "bad-setting",
                .usage,
                "\"\(texts.joined(separator: ", "))\" is not a discovery group: write \(standardGroup) or"
                    + " \(mobileGroup), or at most one IPv4 and one IPv6 multicast group with a port, as in"
                    + " 239.255.42.98:4242"
            )
        }
        return groups
    }

    static let standardGroup = "standard"
    /// The group and port of the mobile specification.
    static let mobileGroup = "mobile"

    /// Parses log levels: a level, and levels of subsystems behind it, as in `notice,discovery=debug`.
    package static func levels(_ text: String) throws(CommandFailure) -> (Logger.Level, [LogSubsystem: Logger.Level]) {
        var common: Logger.Level?
        var own: [LogSubsystem: Logger.Level] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard words.count == 2 else {
                guard common == nil else {
                    throw CommandFailure("bad-setting", .usage, "\"\(text)\" has two default levels: give one")
                }
                common = try level(words[0])
                continue
            }
            guard let subsystem = LogSubsystem(rawValue: words[0]) else {
                let all = LogSubsystem.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(
                    "bad-setting",
                    .usage,
                    "\"\(words[0])\" is not a subsystem with a log of its own: use one of \(all)"
                )
            }
            own[subsystem] = try level(words[1])
        }
        return (common ?? .notice, own)
    }

    private static func level(_ text: String) throws(CommandFailure) -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            let all = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure("bad-setting", .usage, "\"\(text)\" is not a log level: use one of \(all)")
        }
        return level
    }

    /// The port of the console if no other is set and this one is free.
    static let consolePort: UInt16 = 4280

    /// Parses a port; returns nil for off.
    package static func port(_ text: String) throws(CommandFailure) -> UInt16? {
        if text == SwitchText.off { return nil }
        guard let port = UInt16(text) else {
            throw CommandFailure(
                "bad-setting",
                .usage,
                "\"\(text)\" is not a port: write a number from 1 to 65535, 0 for any free port, or off"
            )
        }
        return port
    }
}

/// The settings in effect as `status` shows them.
package struct SettingReport: Codable, Hashable, Sendable {
    let key: Setting
    package let values: [String]
    package let source: Settings.Source
    /// True for a change that is in effect from the next start only; nil for others.
    let needsRestart: Bool?

    package init(_ key: Setting, _ value: Settings.Value, isPending: Bool = false) {
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
