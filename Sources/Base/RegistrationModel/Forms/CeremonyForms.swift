package import Identity
package import WebAuthn

/// The form by which a program without passkeys begins a ceremony that a person completes on a page.
package struct BeginCeremonyForm: Codable, Hashable, Sendable {
    /// The kinds of ceremonies.
    package enum Purpose: String, Codable, Sendable, CaseIterable {
        case register
        case authenticate
    }

    package let purpose: Purpose
    /// The handle; without one, the person chooses a passkey.
    package let handle: Handle?
    /// The DID of a registration.
    package let did: DIDKey?
    /// The challenge of a registration, in base64url.
    package let challenge: String?
    /// The signature of the DID's key over the challenge.
    package let didProof: DIDProof?

    package init(
        purpose: Purpose,
        handle: Handle? = nil,
        did: DIDKey? = nil,
        challenge: String? = nil,
        didProof: DIDProof? = nil
    ) {
        self.purpose = purpose
        self.handle = handle
        self.did = did
        self.challenge = challenge
        self.didProof = didProof
    }
}

extension BeginCeremonyForm {
    private enum CodingKeys: String, CodingKey {
        case purpose
        case handle
        case did
        case challenge
        case didProof
    }

    /// Reads the form.
    ///
    /// A reserved handle is read for either purpose, because a sign-in may be to an account that is older than the
    /// reservation. The server refuses it for a registration.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        purpose = try container.decode(Purpose.self, forKey: .purpose)
        do {
            handle = try container.decodeIfPresent(Handle.self, forKey: .handle)
        } catch HandleError.reserved(let text) {
            handle = try Handle(existing: text)
        }
        did = try container.decodeIfPresent(DIDKey.self, forKey: .did)
        challenge = try container.decodeIfPresent(String.self, forKey: .challenge)
        didProof = try container.decodeIfPresent(DIDProof.self, forKey: .didProof)
    }
}

/// A ceremony that began.
package struct CeremonyReport: Codable, Hashable, Sendable {
    /// The public name, which the link has.
    package let id: String
    /// The text with which the program alone fetches the result.
    package let secret: String
    /// The six digits that page and program show.
    package let number: String
    /// The address of the page.
    package let link: String
    /// The second since 1970 at which it ends.
    package let expires: UInt64

    package init(id: String, secret: String, number: String, link: String, expires: UInt64) {
        self.id = id
        self.secret = secret
        self.number = number
        self.link = link
        self.expires = expires
    }
}

extension CeremonyReport: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows the public name and not the secret.
    package var description: String { "CeremonyReport(\(id), secret: redacted)" }

    /// Shows the public name and not the secret.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The state of a ceremony for the program that began it.
package struct CeremonyStateReport: Codable, Sendable {
    package enum State: String, Codable, Sendable, CaseIterable {
        case waiting
        case done
        case failed
    }

    package let state: State
    /// The session of a completed ceremony; it is reported once.
    package let signedIn: SignedInReport?
    /// The word of a failure.
    package let code: String?
    /// The sentence of a failure.
    package let message: String?

    package init(state: State, signedIn: SignedInReport? = nil, code: String? = nil, message: String? = nil) {
        self.state = state
        self.signedIn = signedIn
        self.code = code
        self.message = message
    }
}

/// A ceremony for its page.
package struct CeremonyPageReport: Codable, Sendable {
    package let purpose: BeginCeremonyForm.Purpose
    package let handle: QualifiedHandle?
    package let number: String
    /// The address at which the program runs, as the server sees it.
    package let address: String?
    /// Whether the page is at the address of the program.
    package let isSameAddress: Bool
    /// The options of a registration.
    package let creation: CredentialCreationOptions?
    /// The options of a sign-in.
    package let request: CredentialRequestOptions?

    package init(
        purpose: BeginCeremonyForm.Purpose,
        handle: QualifiedHandle?,
        number: String,
        address: String?,
        isSameAddress: Bool,
        creation: CredentialCreationOptions? = nil,
        request: CredentialRequestOptions? = nil
    ) {
        self.purpose = purpose
        self.handle = handle
        self.number = number
        self.address = address
        self.isSameAddress = isSameAddress
        self.creation = creation
        self.request = request
    }
}
