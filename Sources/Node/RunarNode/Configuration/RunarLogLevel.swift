public import Logging

/// What a node logs at least.
public enum RunarLogLevel: Int, CaseIterable, Codable, Sendable {
    /// Every frame.
    case trace = 0
    /// Topics, addresses and decisions.
    case debug = 1
    /// What happens to the node.
    case info = 2
    /// What may be a problem.
    case warn = 3
    /// What went wrong.
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
