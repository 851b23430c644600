public import Essentials
public import Identity

/// The state of a service.
public enum RunarServiceState: String, CaseIterable, Codable, Sendable {
    /// It was added and runs as soon as the node does.
    case initialized
    /// It answers.
    case running
    /// The node stopped.
    case stopped
    /// It was paused and answers when it is resumed.
    case paused
    /// Its start failed; the log has the reason.
    case error
    /// No such service is known.
    case unknown
}

/// The description of an action.
public struct RunarActionInfo: Codable, Hashable, Sendable {
    /// Its name behind the service's path, with `{name}` for parameters.
    public let name: String
    /// The purpose of the action.
    public let description: String
    /// The input, in words or as a schema.
    public let input: String
    /// The output, in words or as a schema.
    public let output: String
    /// Whether a repeated request does no harm.
    public let isIdempotent: Bool
    /// Whether it takes or returns a stream of values.
    public let isStreaming: Bool
}

/// The description of a service.
public struct RunarServiceInfo: Codable, Hashable, Sendable {
    /// In which network: its id, or a name that is no network yet.
    public let networkId: String
    /// The path of its requests.
    public let servicePath: String
    /// The display name.
    public let name: String
    /// Its version.
    public let version: String
    /// The purpose of the service.
    public let description: String
    /// The state of the service.
    public let state: RunarServiceState
    /// The actions that callers can request.
    public let actions: [RunarActionInfo]
    /// The time at which it was added; nil for one that only other devices offer.
    public let registeredAt: Date?
    /// The time of its last start; nil for one that has not started here.
    public let startedAt: Date?
    /// The connected devices that offer it besides the reporting one, ascending.
    public let providers: [PeerId]
}

/// The properties of an action besides its name.
public struct ActionOptions: Sendable {
    /// The purpose of the action.
    public var description: String
    /// The input, in words or as a schema.
    public var input: String
    /// The output, in words or as a schema.
    public var output: String
    /// Whether a repeated request does no harm, so that callers may try another provider when one disconnects.
    public var isIdempotent: Bool
    /// The time for which an answer to a payload is returned again without calling the handler; nil for never.
    ///
    /// Every caller gets it: an action whose answer depends on the caller must keep this nil.
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
