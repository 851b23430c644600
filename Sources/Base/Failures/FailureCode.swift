/// The identity of a failure in each interface: a word, a number, an exit status and a status of HTTP.
package struct FailureCode: Hashable, Sendable {
    /// The stable word for scripts, such as `wrong-passphrase`.
    package let slug: String
    /// The number in Swift, C and Python, ``RunarErrorCode/unknown`` if the libraries have no kind for the failure.
    package let number: RunarErrorCode
    /// The exit status of a command.
    package let exitStatus: ExitStatus
    /// The status of an HTTP response.
    package let httpStatus: Int

    /// Creates a code, whose exit status determines the status of HTTP unless `http` does.
    package init(_ slug: String, _ number: RunarErrorCode, _ exitStatus: ExitStatus, http: Int? = nil) {
        self.slug = slug
        self.number = number
        self.exitStatus = exitStatus
        self.httpStatus = http ?? exitStatus.httpStatus
    }
}
