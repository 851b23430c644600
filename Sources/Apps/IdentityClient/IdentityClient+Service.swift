package import Bytes
internal import Essentials
package import Identity
package import Registration
package import RegistrationModel
package import WebAuthn
internal import WebClient

extension IdentityClient: IdentityService {
    private static let tokenByteLimit = 8_192

    // MARK: Handles

    package func resolve(_ handle: QualifiedHandle) async throws(IdentityServiceError) -> String? {
        struct Answer: Decodable { let did: String }
        let path = "/xrpc/com.atproto.identity.resolveHandle?handle=\(handle.text)"
        let response = try await respond("GET", path, to: .handleCheck)
        switch response.status {
        case 200:
            let did = try Self.decode(Answer.self, response.body).did
            guard did.utf8.count <= DIDKey.textByteLimit, did.hasPrefix("did:") else {
                throw .malformedAnswer(reason: "it has no DID")
            }
            return did
        case 404: return nil
        default: throw Self.refusal(response)
        }
    }

    // MARK: Registration and sign-in

    package func creationOptions(
        handle: Handle,
        did: DIDKey
    ) async throws(IdentityServiceError) -> CredentialCreationOptions {
        let path = "/register/\(handle)?handle=\(handle)&did=\(did)"
        return try await send("GET", path, as: CreationOptionsReport.self).publicKey
    }

    package func register(_ form: RegisterForm) async throws(IdentityServiceError) -> SignedIn {
        try Self.signedIn(await send("POST", "/register", body: form))
    }

    package func requestOptions(handle: Handle?) async throws(IdentityServiceError) -> CredentialRequestOptions {
        let path = handle.map { "/authenticate/\($0)" } ?? "/authenticate"
        return try await send("GET", path, as: RequestOptionsReport.self).publicKey
    }

    package func authenticate(_ form: AuthenticateForm) async throws(IdentityServiceError) -> SignedIn {
        try Self.signedIn(await send("POST", "/authenticate", body: form))
    }

    // MARK: Ceremonies on a page

    package func beginCeremony(_ form: BeginCeremonyForm) async throws(IdentityServiceError) -> CeremonyNotice {
        let report = try await send("POST", "/ceremonies", body: form, as: CeremonyReport.self)
        guard Self.isToken(report.id), Self.isToken(report.secret), report.link.utf8.count <= 2_048,
            report.link.unicodeScalars.allSatisfy({ ("!"..."~").contains($0) }),
            report.number.utf8.count <= 16,
            report.number.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { throw .malformedAnswer(reason: "the ceremony cannot be shown") }
        return CeremonyNotice(
            id: report.id,
            secret: SecretBytes(copying: Array(report.secret.utf8)),
            number: report.number,
            link: report.link,
            expires: report.expires
        )
    }

    package func poll(_ ceremony: CeremonyNotice) async throws(IdentityServiceError) -> CeremonyProgress {
        let path = "/ceremonies/\(ceremony.id)"
        let report = try await send("GET", path, [Self.secretField(ceremony)], as: CeremonyStateReport.self)
        switch report.state {
        case .waiting: return .waiting
        case .done:
            guard let signedIn = report.signedIn else { throw .malformedAnswer(reason: "it has no account") }
            return .signedIn(try Self.signedIn(signedIn))
        case .failed:
            let failure = IdentityServiceError.refused(by: report.code, message: report.message, status: 403)
            return .failed(code: failure.refusalCode ?? "refused", message: "\(failure)")
        }
    }

    package func cancel(_ ceremony: CeremonyNotice) async throws(IdentityServiceError) {
        let _: Nothing = try await send("DELETE", "/ceremonies/\(ceremony.id)", [Self.secretField(ceremony)])
    }

    // MARK: With a token

    package func refresh(_ token: SecretBytes) async throws(IdentityServiceError) -> SignedIn {
        try Self.signedIn(await send("POST", "/token/refresh", [Self.field(token)]))
    }

    package func revoke(_ token: SecretBytes, everywhere: Bool) async throws(IdentityServiceError) {
        let form = RevokeForm(everywhere: everywhere)
        let _: Nothing = try await send("POST", "/token/revoke", [Self.field(token)], body: form)
    }

    package func account(_ token: SecretBytes) async throws(IdentityServiceError) -> AccountReport {
        try await send("GET", "/account", [Self.field(token)])
    }

    package func passkeys(_ token: SecretBytes) async throws(IdentityServiceError) -> PasskeysReport {
        try await send("GET", "/passkeys", [Self.field(token)])
    }

    package func confirmationOptions(
        for action: ConfirmedAction,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> CredentialRequestOptions {
        let path = "/passkeys/confirm/\(action.rawValue)"
        return try await send("GET", path, [Self.field(token)], as: RequestOptionsReport.self).publicKey
    }

    package func passkeyOptions(
        _ assertion: AuthenticationResponse,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> CredentialCreationOptions {
        struct Form: Encodable { let assertion: AuthenticationResponse }
        let (form, fields) = (Form(assertion: assertion), [Self.field(token)])
        return try await send("POST", "/passkeys/options", fields, body: form, as: CreationOptionsReport.self)
            .publicKey
    }

    package func addPasskey(
        _ response: RegistrationResponse,
        label: String?,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> PasskeysReport {
        let form = LabelledPasskey(response: response, label: label)
        return try await send("POST", "/passkeys", [Self.field(token)], body: form)
    }

    package func removePasskey(
        _ form: RemovePasskeyForm,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> PasskeysReport {
        try await send("POST", "/passkeys/remove", [Self.field(token)], body: form)
    }

    package func deleteAccount(_ form: DeleteAccountForm, _ token: SecretBytes) async throws(IdentityServiceError) {
        let _: Nothing = try await send("POST", "/account/delete", [Self.field(token)], body: form)
    }

    // MARK: Parts

    /// An answer whose content does not matter.
    private struct Nothing: Decodable {}

    /// The response to a registration with a name, in one object.
    private struct LabelledPasskey: Encodable {
        enum CodingKeys: String, CodingKey { case label }

        let response: RegistrationResponse
        let label: String?

        func encode(to encoder: any Encoder) throws {
            try response.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(label, forKey: .label)
        }
    }

    private static func signedIn(_ report: SignedInReport) throws(IdentityServiceError) -> SignedIn {
        guard isToken(report.token) else { throw .malformedAnswer(reason: "it has no token") }
        return SignedIn(report)
    }

    /// Whether a text can be the value of a header field: base64url, which RFC 6750 allows.
    private static func isToken(_ text: String) -> Bool {
        1...tokenByteLimit ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func field(_ token: SecretBytes) -> WebField {
        WebField("Authorization", "Bearer " + text(of: token))
    }

    private static func secretField(_ ceremony: CeremonyNotice) -> WebField {
        WebField("x-ceremony-secret", text(of: ceremony.secret))
    }

    private static func text(of secret: SecretBytes) -> String {
        secret.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
