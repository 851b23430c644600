internal import Bytes
internal import Identity
internal import RegistrationModel

/// An entry of the audit log: a change of an account, or a refusal.
///
/// It names an account by the random id of its user, never by handle or DID, so that the entries of a deleted account lead
/// to no person. Challenges that are issued are not logged.
struct AuditEvent: Sendable {
    /// The kinds of entries.
    enum Kind: String, Sendable, CaseIterable {
        case registered
        case signedIn = "signed-in"
        case refreshed
        case revoked
        case passkeyAdded = "passkey-added"
        case passkeyRemoved = "passkey-removed"
        case deleted
        /// A refusal, with its code.
        case refused
        /// A failure of the server.
        case failed
    }

    let kind: Kind
    var user: UserId?
    /// The slug of a refusal.
    var code: String?
    /// The details that the client does not receive.
    var detail: String?
    var address: IPAddress?

    init(
        _ kind: Kind,
        user: UserId? = nil,
        code: String? = nil,
        detail: String? = nil,
        address: IPAddress? = nil
    ) {
        self.kind = kind
        self.user = user
        self.code = code
        self.detail = detail
        self.address = address
    }
}
