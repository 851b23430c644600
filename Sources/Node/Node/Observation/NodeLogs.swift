package import Logging

/// The parts of a node that log by themselves, each at a level of its own.
public enum LogSubsystem: String, CaseIterable, Codable, Hashable, Sendable {
    /// Dials, paths and streams.
    case connections
    /// Admissions, refusals, tokens, revocations and joins.
    case membership
    /// Members on the local network.
    case discovery
    /// Messages and files.
    case messages
    /// Requests and their providers.
    case services
    /// State that is kept over restarts.
    case storage
    /// Starts and stops, sleep and wake.
    case lifecycle
}

/// A node's loggers: one for each subsystem, which it names in its metadata.
package struct NodeLogs: Sendable {
    private let loggers: [Logger]

    /// Copies of `logger`, which has the level of those that are not named in `levels`.
    package init(_ logger: Logger, levels: [LogSubsystem: Logger.Level] = [:]) {
        loggers = LogSubsystem.allCases.map { subsystem in
            var logger = logger
            logger[metadataKey: "subsystem"] = "\(subsystem.rawValue)"
            if let level = levels[subsystem] { logger.logLevel = level }
            return logger
        }
    }

    /// The logger of a subsystem.
    package subscript(subsystem: LogSubsystem) -> Logger { loggers[subsystem.position] }
}

extension LogSubsystem {
    fileprivate var position: Int {
        switch self {
        case .connections: 0
        case .membership: 1
        case .discovery: 2
        case .messages: 3
        case .services: 4
        case .storage: 5
        case .lifecycle: 6
        }
    }
}
