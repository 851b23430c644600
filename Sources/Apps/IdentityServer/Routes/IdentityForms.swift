internal import APIDescription
internal import RegistrationModel
internal import WebAuthn

/// A report of an action that has no other result.
struct DoneReport: Codable, Sendable {
    let done: Bool
}

/// The query for revocations after a number.
struct RevocationQuery: Codable, Sendable {
    let after: UInt64?
}

/// The query of `com.atproto.identity.resolveHandle`.
struct ResolveQuery: Codable, Sendable {
    /// The full handle; AT Protocol requires it, and has its own failure for a request without one.
    let handle: String?
}

/// The form that begins a further passkey.
struct AddPasskeyForm: Codable, Sendable {
    let assertion: AuthenticationResponse
}

/// The form that completes a further passkey: the members of the client's response, and the label.
struct NewPasskeyForm: Codable, Sendable {
    let response: RegistrationResponse
    let label: String?

    private enum CodingKeys: String, CodingKey {
        case label
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        label = try container.decodeIfPresent(String.self, forKey: .label)
        response = try RegistrationResponse(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try response.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(label, forKey: .label)
    }
}

/// The file by which apps of Apple systems may use the passkeys of a domain.
struct AppleAssociationReport: Codable, Sendable {
    struct WebCredentials: Codable, Sendable {
        let apps: [String]
    }

    let webcredentials: WebCredentials
}

/// The file by which pages of other domains may use the passkeys (WebAuthn Level 3, section 5.11).
struct RelatedOriginsReport: Codable, Sendable {
    let origins: [String]
}

/// The facts that the pages show.
struct PageFactsReport: Codable, Sendable {
    struct Agreement: Codable, Sendable {
        let version: String
        let text: String
    }

    let name: String
    let rpId: String
    let handleDomain: String
    let agreement: Agreement
}
