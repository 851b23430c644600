package import Failures

/// Why a name stands for no address.
package struct HostNameError: CodedError, Hashable, Sendable, CustomStringConvertible {
    package let name: String
    /// The system's words.
    package let reason: String

    package init(name: String, reason: String) {
        self.name = name
        self.reason = reason
    }

    package var description: String { "no address is known for \(name): \(reason)" }

    package var failureCode: FailureCode { FailureCode("unknown-host", .unknown, .unavailable) }
}

/// The addresses of names, as the system's resolver knows them.
package enum HostName {
    /// The most addresses of a name that are of interest.
    static let addressLimit = 8
}
