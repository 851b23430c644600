public import Failures

/// Why something with a network did not succeed.
public enum NetworkError: Error, Hashable, Sendable {
    /// The metadata is not signed by the network's own key.
    case invalidSignature
    /// The token is not, or no longer, one for this peer in this network.
    case invalidToken
}

extension NetworkError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .invalidSignature:
            "the network's description was not signed by the network; scan it again from its owner's device"
        case .invalidToken:
            "the access token does not admit this device; ask the network's owner for one for this device's peer id"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .invalidSignature: FailureCode("bad-data", .invalidParameters, .data)
        case .invalidToken: FailureCode("bad-token", .badToken, .data)
        }
    }
}
