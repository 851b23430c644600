public import Logging

/// The minimum level of the messages that a node logs.
public enum RunarLogLevel: Int, CaseIterable, Codable, Sendable {
    /// Every frame.
    case trace = 0
    /// Topics, addresses and decisions.
    case debug = 1
    /// Normal events of the node.
    case info = 2
    /// Possible problems.
    case warn = 3
    /// Failures.
    case error = 4

    /// swift-log's level of the same meaning.
    public var loggerLevel: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .warn: .warning
        case .error: .error
        }
    }

    /// The nearest level that logs no less.
    public init(_ level: Logger.Level) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info, .notice: .info
            case .warning: .warn
            case .error, .critical: .error
            }
    }
}
