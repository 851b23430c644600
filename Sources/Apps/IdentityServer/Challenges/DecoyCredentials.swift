internal import Bytes
internal import Crypto
internal import Identity
internal import IdentityStore
internal import Platform
internal import RegistrationModel
internal import WebAuthn

/// The credentials that a handle without an account seems to have.
///
/// They follow from a key that outlives the process, so that a handle has the same ones at each request, as one with an
/// account does (WebAuthn Level 3, section 14.6.2).
struct DecoyCredentials: Sendable {
    private static let label = Array("runar/identity-decoy/v1".utf8)
    /// The lengths of the ids that authenticators make: iCloud Keychain and Google Password Manager, Chromium, security keys.
    private static let lengths = [20, 20, 16, 32, 32, 48, 64]

    private let key: SymmetricKey
    /// The public key of passkeys that do not exist; its private half is gone.
    private let publicKey = COSEKey(.es256(P256PrivateKey().publicKey)).encoded

    /// The account that does not exist.
    private let userId: UserId
    private let handle: Handle

    /// Derives the key from a secret of the server.
    ///
    /// - Throws: ``HandleError`` if the handle of the decoy breaks the rules, which it does not.
    init(from secret: SecretBytes) throws {
        key = secret.withBytes { bytes in
            HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: bytes), info: Self.label, outputByteCount: 32)
        }
        var random = SystemRandom()
        userId = UserId(using: &random)
        handle = try Handle(existing: "decoy")
    }

    /// Returns the credential of a handle.
    func credential(of handle: String) -> NamedCredential {
        let seed = Array(HMAC<SHA256>.authenticationCode(for: [0] + Array(handle.utf8), using: key))
        let length = Self.lengths[Int(seed[0]) % Self.lengths.count]
        var id: [UInt8] = []
        var block: UInt8 = 1
        while id.count < length {
            id += HMAC<SHA256>.authenticationCode(for: [block] + Array(handle.utf8), using: key)
            block += 1
        }
        return NamedCredential(id: Array(id.prefix(length)), transports: length > 32 ? "usb" : "hybrid,internal")
    }

    /// Returns a record for an assertion by a passkey that does not exist: everything but the signature fits it.
    func record(for response: AuthenticationResponse) -> AssertedCredential {
        let data = try? AuthenticatorData(response.authenticatorData)  // the verification refuses it
        return AssertedCredential(
            userId: userId,
            handle: handle,
            publicKey: publicKey,
            signCount: 0,
            isBackupEligible: data?.flags.contains(.backupEligible) ?? false,
            isBackedUp: false
        )
    }
}
