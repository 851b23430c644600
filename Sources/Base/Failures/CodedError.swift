/// An error that defines its code in the command, the HTTP API and the libraries.
///
/// Every error that a function of a library, a command or a handler of the API throws to its caller conforms, in the
/// target that defines it. An error type switches over itself without `default:`, so that a new case does not compile
/// without a code. Errors that never leave their target, or that the caller wraps, do not conform; `TidyTests` lists
/// those with their reasons and refuses any other.
///
/// The description of the error is its message in the libraries.
package protocol CodedError: Error {
    /// The code of the failure.
    var failureCode: FailureCode { get }

    /// The message of the command and the API: the description, with the next step by the command `runar`.
    var commandMessage: String { get }

    /// The subject for programs: a path, a peer, a person; empty without one.
    var subject: String { get }
}

extension CodedError {
    package var commandMessage: String { "\(self)" }

    package var subject: String { "" }
}

/// An error whose message has a time, which people read in the time zone of the process.
package protocol TimedError: CodedError {
    /// The message of the command and the API, in which `time` writes a time in seconds since 1970.
    func commandMessage(showing time: (UInt64) -> String) -> String
}
