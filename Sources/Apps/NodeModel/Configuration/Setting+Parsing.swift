package import CommandModel
package import Identity
package import Logging
package import Node
internal import Platform

extension Setting {
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
