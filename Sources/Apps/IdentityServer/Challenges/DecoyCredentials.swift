internal import Bytes
internal import Crypto
internal import Identity
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

    /// Derives the key from a secret of the server.
    init(from secret: SecretBytes) {
        key = secret.withBytes { bytes in
            HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: bytes), info: Self.label, outputByteCount: 32)
        }
        var random = SystemRandom()
        userId = UserId(using: &random)
    }

    /// The id of an account that does not exist.
    let userId: UserId

    /// Returns the credential of a handle.
    func credential(of handle: String) -> CredentialDescriptor {
        let seed = Array(HMAC<SHA256>.authenticationCode(for: [0] + Array(handle.utf8), using: key))
        let length = Self.lengths[Int(seed[0]) % Self.lengths.count]
        var id: [UInt8] = []
        var block: UInt8 = 1
        while id.count < length {
            id += HMAC<SHA256>.authenticationCode(for: [block] + Array(handle.utf8), using: key)
            block += 1
        }
        let transports = length > 32 ? ["usb"] : ["hybrid", "internal"]
        return CredentialDescriptor(id: Array(id.prefix(length)), transports: transports)
    }

    /// Returns a record for an assertion by a passkey that does not exist: everything but the signature fits it.
    func record(for response: AuthenticationResponse) -> CredentialRecord {
        let data = try? AuthenticatorData(response.authenticatorData)  // the verification refuses it
        return CredentialRecord(
            id: response.rawId,
            userHandle: response.userHandle ?? [0],
            publicKey: publicKey,
            signCount: 0,
            isBackupEligible: data?.flags.contains(.backupEligible) ?? false,
            isBackedUp: false
        )
    }
}
