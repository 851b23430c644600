public import Identity

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a service stands.
public enum RunarServiceState: String, CaseIterable, Codable, Sendable {
    /// It was added and runs as soon as the node does.
    case initialized
    /// It answers.
    case running
    /// The node stopped.
    case stopped
    /// It was told to pause and answers when it is told to resume.
    case paused
    /// Its start failed; the log says why.
    case error
    /// Nobody knows such a service.
    case unknown
}

/// What a service says about one of its actions.
public struct RunarActionInfo: Codable, Hashable, Sendable {
    /// Its name behind the service's path, with `{name}` for parameters.
    public let name: String
    /// What it does.
    public let description: String
    /// What it takes, in words or as a schema.
    public let input: String
    /// What it returns, in words or as a schema.
    public let output: String
    /// Whether asking twice does no harm.
    public let isIdempotent: Bool
    /// Whether it takes or returns a stream of values.
    public let isStreaming: Bool
}

/// What is known of a service.
public struct RunarServiceInfo: Codable, Hashable, Sendable {
    /// In which network: its id, or a name that is no network yet.
    public let networkId: String
    /// By which path it is asked.
    public let servicePath: String
    /// What people call it.
    public let name: String
    /// Its version.
    public let version: String
    /// What it is for.
    public let description: String
    /// How it stands.
    public let state: RunarServiceState
    /// What can be asked of it.
    public let actions: [RunarActionInfo]
    /// When it was added; nil for one that only other devices offer.
    public let registeredAt: Date?
    /// When it started last.
    public let startedAt: Date?
    /// Which connected devices offer it beside the one that says so, ascending.
    public let providers: [PeerId]
}

/// What an action promises beside its name.
public struct ActionOptions: Sendable {
    /// What it does.
    public var description: String
    /// What it takes, in words or as a schema.
    public var input: String
    /// What it returns, in words or as a schema.
    public var output: String
    /// Whether asking twice does no harm, so that callers may ask another provider when one goes away.
    public var isIdempotent: Bool
    /// How long an answer may be given again to the same payload without asking the handler; nil for never.
    ///
    /// Whoever asks gets it: an action whose answer depends on the caller must keep this nil.
    public var cacheAge: Duration?

    /// Describes an action.
    public init(
        description: String = "",
        input: String = "",
        output: String = "",
        isIdempotent: Bool = false,
        cacheAge: Duration? = nil
    ) {
        self.description = description
        self.input = input
        self.output = output
        self.isIdempotent = isIdempotent
        self.cacheAge = cacheAge
    }

    /// An action whose answers are kept for 30 seconds.
    public static let cached = ActionOptions(isIdempotent: true, cacheAge: .seconds(30))
}
