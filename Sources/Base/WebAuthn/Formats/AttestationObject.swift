package import Bytes

/// A new credential with the statement of its authenticator (Web Authentication Level 3, section 6.5.4).
package struct AttestationObject: Hashable, Sendable {
    /// The most bytes: authenticator data and a chain of certificates.
    package static let maximumByteCount = 65_536
    /// The deepest nesting in CTAP2.
    static let maximumDepth = 4

    /// The identifier of the statement's format, which is case-sensitive.
    package let format: String
    /// The fields of the statement.
    package let statement: [CBORItem: CBORItem]
    /// The exact bytes, over which signatures are made.
    package let authenticatorDataBytes: [UInt8]
    package let authenticatorData: AuthenticatorData

    /// Reads an object that takes up all of `bytes`, in CTAP2's canonical form; members of unknown names are ignored.
    package init(_ bytes: [UInt8]) throws(WebAuthnError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw .tooLong(Self.subject, limit: Self.maximumByteCount, found: bytes.count)
        }
        let item: CBORItem
        do {
            item = try CBORItem(bytes, maximumDepth: Self.maximumDepth)
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        guard let members = item.map else { throw .malformed(of: Self.subject, reason: "it is not a map") }
        guard let format = members[.text("fmt")]?.text else { throw Self.missing("fmt", "a text") }
        guard let statement = members[.text("attStmt")]?.map else { throw Self.missing("attStmt", "a map") }
        guard let data = members[.text("authData")]?.bytes else { throw Self.missing("authData", "a byte string") }
        self.format = format
        self.statement = statement
        authenticatorDataBytes = data
        authenticatorData = try AuthenticatorData(data)
    }

    private static let subject = "the attestation object"

    private static func missing(_ name: String, _ kind: String) -> WebAuthnError {
        .malformed(of: subject, reason: "\(name) is missing or not \(kind)")
    }
}
