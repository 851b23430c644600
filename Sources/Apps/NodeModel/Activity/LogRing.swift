internal import CommandModel
internal import Concurrency
internal import DequeModule
internal import Foundation
package import Logging
internal import Platform
package import RunarNode

/// The last lines of the log, in memory, and the log levels, which can be changed while the node runs.
package final class LogRing: Sendable {
    /// Lines that are kept.
    package static let limit = 2000
    /// Characters of a message that are kept.
    static let messageLimit = 4096

    /// A line.
    package struct Line: Codable, Sendable {
        let seq: UInt64
        /// Milliseconds since 1970.
        let at: UInt64
        let level: Logger.Level
        let subsystem: String?
        let message: String
        let metadata: [String: String]
    }

    /// A query for lines.
    package struct Query: Sendable {
        var since: UInt64 = 0
        /// This level and worse ones.
        var level: Logger.Level = .trace
        var subsystem: String?
        /// A part of the message.
        var search: String?
        var limit = LogRing.limit
    }

    /// Lines, and the number for the next query.
    package struct Report: Codable {
        let lines: [Line]
        let next: UInt64
        /// Whether lines that were asked for have been dropped already.
        let missed: Bool
    }

    /// The log levels in effect.
    package struct Levels: Codable, Hashable, Sendable {
        var level: Logger.Level
        /// The levels of the subsystems that differ.
        var subsystems: [String: Logger.Level]
    }

    private struct State: Sendable {
        var lines: Deque<Line> = []
        var number: UInt64 = 0
        var levels = Levels(level: .notice, subsystems: [:])
    }

    private let state = Locked(State())

    package init(levels: (Logger.Level, [LogSubsystem: Logger.Level])) {
        let own = Dictionary(uniqueKeysWithValues: levels.1.map { ($0.key.rawValue, $0.value) })
        state.withLock { $0.levels = Levels(level: levels.0, subsystems: own) }
    }

    package var levels: Levels { state.withLock { $0.levels } }

    /// Logs from a level on from now on, everywhere or in one subsystem.
    package func set(_ level: Logger.Level, in subsystem: LogSubsystem?) {
        state.withLock { state in
            if let subsystem {
                state.levels.subsystems[subsystem.rawValue] = level
            } else {
                state.levels = Levels(level: level, subsystems: [:])
            }
        }
    }

    /// Resets a subsystem to the common level.
    package func unset(_ subsystem: LogSubsystem) {
        state.withLock { _ = $0.levels.subsystems.removeValue(forKey: subsystem.rawValue) }
    }

    func level(of subsystem: String?) -> Logger.Level {
        state.withLock { state in subsystem.flatMap { state.levels.subsystems[$0] } ?? state.levels.level }
    }

    package func lines(_ query: Query) -> Report {
        state.withLock { state in
            let oldest = state.lines.first?.seq ?? state.number + 1
            let found = state.lines.filter { line in
                line.seq > query.since && line.level >= query.level
                    && (query.subsystem == nil || line.subsystem == query.subsystem)
                    && (query.search.map { line.message.localizedCaseInsensitiveContains($0) } ?? true)
            }
            return Report(
                lines: Array(found.suffix(query.limit)),
                next: state.number,
                missed: query.since > 0 && query.since < oldest - 1
            )
        }
    }

    func keep(_ event: LogEvent, _ metadata: Logger.Metadata) {
        var words = metadata.mapValues { "\($0)" }
        let subsystem = words.removeValue(forKey: LogRing.subsystemKey)
        let message = String("\(event.message)".prefix(Self.messageLimit))
        state.withLock { state in
            state.number += 1
            state.lines.append(
                Line(
                    seq: state.number,
                    at: SystemProcess.wallMilliseconds,
                    level: event.level,
                    subsystem: subsystem,
                    message: message,
                    metadata: words
                )
            )
            if state.lines.count > Self.limit { state.lines.removeFirst() }
        }
    }

    static let subsystemKey = "subsystem"
}

/// Writes lines where they went before, and keeps them.
package struct RingLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private var output: StreamLogHandler
    private let ring: LogRing

    package init(label: String, ring: LogRing) {
        output = StreamLogHandler.standardError(label: label)
        output.logLevel = .trace
        self.ring = ring
    }

    /// The ring's level for the subsystem; setting it has no effect, because the ring was given the same level.
    package var logLevel: Logger.Level {
        get { ring.level(of: metadata[LogRing.subsystemKey].map { "\($0)" }) }
        set {}
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set {
            metadata[key] = newValue
            output[metadataKey: key] = newValue
        }
    }

    package func log(event: LogEvent) {
        output.log(event: event)
        ring.keep(event, metadata.merging(event.metadata ?? [:]) { $1 })
    }
}
