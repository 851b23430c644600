public import Failures

/// Why a connection to a peer did not come about.
public enum ConnectionError: Error, Hashable, Sendable {
    /// The connection data are for another network, or their token does not verify.
    case invalidData
}

extension ConnectionError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .invalidData:
            "the connection data do not fit this network; have the other device show its code again"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-data", .invalidParameters, .data) }
}
