/// The result of looking up whether a handle is free; only the registration itself decides.
package enum HandleAvailability: Hashable, Sendable {
    /// The status 404: no account has the handle.
    case available
    /// The status 200: an account has it.
    case taken
    /// The status 400: the server does not accept the handle.
    case invalid(reason: String)
    /// No answer, or any other one. It does not keep a person from registering.
    case unknown(reason: String)
}
