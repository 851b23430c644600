/// A result of one check of an identity server's doctor.
package struct IdentityFinding: Codable, Hashable, Sendable {
    package enum Severity: String, Codable, Sendable, CaseIterable {
        case ok
        /// The server works, but some people or programs may not reach it, or not for long.
        case warning
        case problem
    }

    package let severity: Severity
    /// A stable word.
    package let code: String
    package let message: String
    /// The effect on people; nil if nothing is wrong.
    package let reason: String?
    /// The next step of the operator; nil if nothing is wrong.
    package let advice: String?

    package static func ok(_ code: String, _ message: String) -> IdentityFinding {
        IdentityFinding(severity: .ok, code: code, message: message, reason: nil, advice: nil)
    }

    package static func warning(
        _ code: String,
        _ message: String,
        because reason: String,
        advice: String
    ) -> IdentityFinding {
        IdentityFinding(severity: .warning, code: code, message: message, reason: reason, advice: advice)
    }

    package static func problem(
        _ code: String,
        _ message: String,
        because reason: String,
        advice: String
    ) -> IdentityFinding {
        IdentityFinding(severity: .problem, code: code, message: message, reason: reason, advice: advice)
    }
}
