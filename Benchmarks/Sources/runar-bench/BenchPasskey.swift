internal import Bytes
internal import Crypto
internal import Identity
internal import RegistrationModel
internal import WebAuthn

/// A person with a passkey on P-256 and a DID, whose keys exist before the clock starts.
final class BenchPasskey {
    static let rpId = "localhost"
    static let origin = "http://localhost:8443"

    private static let rpIdHash = Array(SHA256.hash(data: Array(rpId.utf8)))
    /// The person was present and verified, and the passkey is synchronised.
    private static let flags: UInt8 = 0x1D
    private static let hasCredential: UInt8 = 0x40
    /// Synchronised passkeys have no counter.
    private static let counter: [UInt8] = [0, 0, 0, 0]
    private static let assertionData = rpIdHash + [flags] + counter

    let handle: Handle
    let didKey = P256PrivateKey()
    private let did: DIDKey
    private let key = P256.Signing.PrivateKey()
    private let credentialId: [UInt8]
    private let idText: String
    private let attestationText: String
    /// The id of the account in base64url, from the options of the registration.
    private var userText = ""

    init(number: Int) throws {
        handle = try Handle("bench-\(number)")
        did = DIDKey(didKey.publicKey)
        credentialId = Array(SHA256.hash(data: key.publicKey.rawRepresentation).prefix(20))
        idText = Base64URL.encode(credentialId)
        var writer = ByteWriter()
        writer.write(Self.rpIdHash)
        writer.write(Self.flags | Self.hasCredential)
        writer.write(Self.counter)
        writer.write([UInt8](repeating: 0, count: AuthenticatorData.aaguidByteCount))
        writer.write(UInt16(credentialId.count))
        writer.write(credentialId)
        writer.write(COSEKey(.es256(try P256PublicKey(x963: key.publicKey.x963Representation))).encoded)
        let attestation: [CBORItem: CBORItem] = [
            .text("fmt"): .text("none"), .text("attStmt"): .map([:]), .text("authData"): .bytes(writer.bytes),
        ]
        attestationText = Base64URL.encode(CBORItem.map(attestation).encoded)
    }

    /// The registration of the account.
    struct Registration: LoadCeremony {
        let passkey: BenchPasskey

        func begin() -> [UInt8] {
            let handle = passkey.handle.text
            return HTTPText.get("/register/\(handle)?handle=\(handle)&did=\(passkey.did)")
        }

        func answer(to options: [UInt8]) throws -> [UInt8] { try passkey.registration(options) }
    }

    /// A sign-in of the account without its handle.
    struct SignIn: LoadCeremony {
        let passkey: BenchPasskey

        func begin() -> [UInt8] { HTTPText.get("/authenticate") }

        func answer(to options: [UInt8]) throws -> [UInt8] { try passkey.assertion(options) }
    }

    private func registration(_ options: [UInt8]) throws -> [UInt8] {
        let challenge = try HTTPText.value("challenge", in: options)
        userText = try HTTPText.value("id", in: options, after: "user")
        let clientData = Self.clientData("create", challenge)
        let proof = try DIDProof(by: didKey, challenge: Base64URL.decode(challenge), rpId: Self.rpId, handle: handle)
        return HTTPText.post(
            "/register",
            #"{"id":"\#(idText)","rawId":"\#(idText)","type":"public-key","response":{"clientDataJSON":"#
                + #""\#(Base64URL.encode(clientData))","attestationObject":"\#(attestationText)","#
                + #""transports":["internal"]},"clientExtensionResults":{},"handle":"\#(handle.text)","#
                + #""did":"\#(did)","didProof":"\#(proof.text)"}"#
        )
    }

    private func assertion(_ options: [UInt8]) throws -> [UInt8] {
        let clientData = Self.clientData("get", try HTTPText.value("challenge", in: options))
        let signature = try key.signature(for: Self.assertionData + SHA256.hash(data: clientData))
        return HTTPText.post(
            "/authenticate",
            #"{"id":"\#(idText)","rawId":"\#(idText)","type":"public-key","response":{"clientDataJSON":"#
                + #""\#(Base64URL.encode(clientData))","authenticatorData":"\#(Base64URL.encode(Self.assertionData))","#
                + #""signature":"\#(Base64URL.encode(signature.derRepresentation))","userHandle":"\#(userText)"},"#
                + #""clientExtensionResults":{}}"#
        )
    }

    private static func clientData(_ kind: String, _ challenge: String) -> [UInt8] {
        Array(
            #"{"type":"webauthn.\#(kind)","challenge":"\#(challenge)","origin":"\#(origin)","crossOrigin":false}"#.utf8
        )
    }
}
