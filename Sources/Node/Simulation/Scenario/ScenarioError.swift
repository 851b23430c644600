public import Failures

/// Why a scenario cannot be run.
public enum ScenarioError: Error, Hashable, Sendable {
    /// No scenario of this library has that name; these are there.
    case unknown(name: String, known: [String])
    /// The text is no JSON within the bounds.
    case unreadable(reason: String)
    /// A field is missing, unknown or not what it must be; the path leads to it.
    case invalid(path: String, reason: String)
    /// The number of nodes is not allowed.
    case nodeCount(Int, allowed: ClosedRange<Int>)
}

extension ScenarioError: CodedError, CustomStringConvertible {
    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .unknown(let name, let known):
            "no scenario is called \"\(name)\"; there are \(known.joined(separator: ", ")), or give the path of a file"
        case .unreadable(let reason): "the scenario cannot be read: \(reason)"
        case .invalid(let path, let reason): "the scenario's \(path) \(reason)"
        case .nodeCount(let count, let allowed):
            "\(count) nodes cannot be simulated here: choose \(allowed.lowerBound) to \(allowed.upperBound)"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .unknown: FailureCode("no-scenario", .unknown, .noInput)
        case .nodeCount: FailureCode("bad-node-count", .unknown, .usage)
        case .unreadable, .invalid: FailureCode("bad-scenario", .unknown, .data)
        }
    }
}
