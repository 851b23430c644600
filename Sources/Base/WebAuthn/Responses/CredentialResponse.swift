internal import Bytes

/// The members that the responses to both ceremonies have.
package protocol CredentialResponse: Sendable {
    /// The text `id`, which must be the base64url form of ``rawId``.
    var id: String { get }
    var rawId: [UInt8] { get }
    /// The type of the credential, which must be `public-key`.
    var type: String { get }
    /// The JSON text of the client data, over whose exact bytes the authenticator signed.
    var clientDataJSON: [UInt8] { get }
}

/// The names of the outer members of both responses.
enum CredentialResponseKeys: String, CodingKey {
    case id
    case rawId
    case type
    case response
    case clientExtensionResults
}

extension KeyedDecodingContainer<CredentialResponseKeys> {
    /// Decodes the text `id`, of at most the length of the longest credential id.
    func decodeId() throws -> String {
        try decodeText(forKey: .id, limit: Base64URL.characterCount(ofBytes: AuthenticatorData.credentialIdByteLimit))
    }

    func decodeType() throws -> String {
        try decodeText(forKey: .type, limit: 64)
    }
}
