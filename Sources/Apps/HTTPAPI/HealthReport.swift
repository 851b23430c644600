/// Whether a server can store changes.
package struct HealthReport: Codable, Sendable {
    package enum Status: String, Codable, Sendable, CaseIterable {
        case ok
        case failing
    }

    package let status: Status
    /// The failure in words.
    package let message: String?

    /// Reports a failure; without one, the server is well.
    package init(failure: String?) {
        status = failure == nil ? .ok : .failing
        message = failure
    }

    /// The answer: status 200, or 503 for a failure.
    package var answer: RouteAnswer { .json(JSONBody.bytes(self), status: status == .ok ? 200 : 503) }
}
